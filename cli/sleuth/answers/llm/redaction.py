"""A key that a server repeats is taken out of what it says, also where it is cut into pieces."""

from collections.abc import Generator
from contextlib import closing

from sleuth.answers.llm.chat import Piece

HIDDEN = "…"


class StreamRedactor:
    """Hands a text on without the secret; what may be its beginning waits for the next piece."""

    def __init__(self, secret: str) -> None:
        self.secret, self.held = secret, ""

    def __call__(self, text: str, *, last: bool = False) -> str:
        """Return as much of the text as can be told not to be the secret."""
        whole = (self.held + text).replace(self.secret, HIDDEN)
        self.held = "" if last else self._beginning(whole)
        return whole[: len(whole) - len(self.held)]

    def _beginning(self, text: str) -> str:
        """Return the longest end of a text that the secret begins with."""
        longest = min(len(text), len(self.secret) - 1)
        return next((text[-size:] for size in range(longest, 0, -1) if self.secret.startswith(text[-size:])), "")


def redacted(secret: str, pieces: Generator[Piece, None, None]) -> Generator[Piece, None, None]:
    """Yield pieces without the secret in them."""
    if not secret:
        yield from pieces
        return
    text, reasoning = StreamRedactor(secret), StreamRedactor(secret)
    with closing(pieces):  # whoever stops listening ends the connection
        for piece in pieces:
            last = bool(piece.finish)
            shown = piece._replace(text=text(piece.text, last=last), reasoning=reasoning(piece.reasoning, last=last))
            if shown != Piece():
                yield shown
