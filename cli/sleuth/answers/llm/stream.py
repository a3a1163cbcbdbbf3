"""A reply read as it comes, whether the server streams or not, and whether it was asked to or not."""

from collections.abc import Iterable, Iterator
from typing import Any

from sleuth.answers.llm.chat import Piece, Usage
from sleuth.answers.llm.connection import ReadTimeouts, StreamedResponse
from sleuth.answers.llm.errors import ModelResponseError, ModelUnavailableError
from sleuth.answers.llm.http_errors import Asked, is_refusal, refusal, sort, wrong_address
from sleuth.answers.llm.reply import Thoughts, read_document, read_piece
from sleuth.answers.llm.sse import DONE, EventReader, EventTooLongError
from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.net.http1 import read_limited

MAX_REPLY = 20_000_000  # bytes of a whole reply
MAX_STREAM = 50_000_000  # of a stream, where every token is wrapped in hundreds of bytes
LINGER = 5.0  # seconds for the count of tokens after the last word
OVERLOADED = ("insufficient_system_resource", "error")  # ends of a reply that are none


class ReplyStream:
    """Reads one reply and remembers how it ended."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.finish = ""  # nothing as long as the reply has no end
        self.usage: Usage | None = None
        self.size = 0  # of all that was said, in bytes
        self._thoughts = Thoughts()

    def pieces(self, response: StreamedResponse, patience: ReadTimeouts, streamed: bool) -> Iterator[Piece]:
        """Yield what is said; the patience for a stream is renewed by every sign of life."""
        kind, encoding = (response.headers.get(f"content-{name}", "").lower() for name in ("type", "encoding"))
        if response.status == 200 and "event-stream" in kind:
            if encoding not in ("", "identity"):
                raise BadResponseError(f"compressed in a way nobody asked for: {encoding[:20]!r}")
            yield from self._events(response.chunks, patience if streamed else None)
            return
        body = read_limited(response.chunks, encoding, response.status, MAX_REPLY)
        if response.status != 200:
            raise refusal(self.asked, Response(response.status, response.headers, body))
        if "html" in kind:
            raise wrong_address(self.asked, "a web page came back", response.status)
        if body.lstrip().startswith(b"data:"):  # events by another name
            yield from self._events([body], None)
            return
        document = self._document(body.decode("utf-8-sig", "replace"))
        if not document.get("choices"):
            raise ModelResponseError(server=self.asked.server, detail="no choices")
        yield from self._said(document)
        self.finish = self.finish or "stop"

    def rest(self) -> Iterator[Piece]:
        """Yield what was held back because it might have been the beginning of a tag."""
        yield from _worth(self._thoughts.finish())

    def _events(self, chunks: Iterable[bytes], patience: ReadTimeouts | None) -> Iterator[Piece]:
        for event in _read_events(chunks, patience):
            if event.strip() == DONE:
                self.finish = self.finish or "stop"
                return
            if event.strip():
                yield from self._said(self._document(event))
            if self.finish and patience:
                patience.seconds = min(LINGER, patience.seconds)

    def _document(self, text: str) -> dict[str, Any]:
        try:
            document = read_document(text)
        except ValueError as problem:
            raise ModelResponseError(server=self.asked.server, detail="not JSON") from problem
        if is_refusal(document):
            raise sort(self.asked, document, 200)
        return document

    def _said(self, document: dict[str, Any]) -> Iterator[Piece]:
        piece = read_piece(document)
        if piece.finish in OVERLOADED:
            raise ModelUnavailableError(server=self.asked.server, detail=piece.finish)
        self.usage = piece.usage or self.usage
        self.finish = piece.finish or self.finish
        self.size += len((piece.text + piece.reasoning).encode("utf-8", "replace"))
        parted = self._thoughts.feed(piece.text) if piece.text else Piece()
        yield from _worth(Piece(parted.text, piece.reasoning + parted.reasoning))


def _worth(piece: Piece) -> Iterator[Piece]:
    """Yield a piece unless there is nothing in it."""
    if piece.text or piece.reasoning:
        yield piece


def _read_events(chunks: Iterable[bytes], patience: ReadTimeouts | None) -> Iterator[str]:
    """Yield events as they come; every whole line, be it a comment, is a sign of life."""
    reader = EventReader()
    size = lines = 0
    try:
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_STREAM:
                raise BadResponseError(f"larger than {MAX_STREAM / 1_000_000:g} MB")
            yield from reader.feed(chunk)
            if patience and reader.lines > lines:
                patience.renew()
                lines = reader.lines
        yield from reader.finish()
    except EventTooLongError as problem:
        raise BadResponseError("an event without an end") from problem
