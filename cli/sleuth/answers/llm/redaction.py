"""Removes the API key from a reply, in case the server repeats it, even split over several pieces."""

from collections.abc import Generator
from contextlib import closing

from sleuth.answers.llm.chat import Piece

HIDDEN = "…"


class StreamRedactor:
    """Redacts a secret from a stream of text, holding back what may be its beginning."""

    def __init__(self, secret: str) -> None:
        self.secret, self.held = secret, ""

    def __call__(self, text: str, *, last: bool = False) -> str:
        """Return the part of the text that cannot belong to the secret."""
        whole = (self.held + text).replace(self.secret, HIDDEN)
        self.held = "" if last else self._beginning(whole)
        return whole[: len(whole) - len(self.held)]

    def _beginning(self, text: str) -> str:
        """Return the longest suffix of a text that is a prefix of the secret."""
        longest = min(len(text), len(self.secret) - 1)
        return next((text[-size:] for size in range(longest, 0, -1) if self.secret.startswith(text[-size:])), "")


def redacted(secret: str, pieces: Generator[Piece, None, None]) -> Generator[Piece, None, None]:
    """Yield the pieces with the secret redacted."""
    if not secret:
        yield from pieces
        return
    text, reasoning = StreamRedactor(secret), StreamRedactor(secret)
    with closing(pieces):  # closing this generator closes the connection
        for piece in pieces:
            last = bool(piece.finish)
            shown = piece._replace(text=text(piece.text, last=last), reasoning=reasoning(piece.reasoning, last=last))
            if shown != Piece():
                yield shown
