"""Parses a model's response, streamed or not, into pieces of text and reasoning."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sleuth.answers.llm.chat import Piece, Usage
from sleuth.answers.llm.errors import (
    ModelResponseError,
    ModelUnavailableError,
    RequestTarget,
    classify,
    is_error,
    response_error,
    wrong_url,
)
from sleuth.answers.llm.sse import DONE, EventReader, EventTooLongError
from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.json import as_dict, as_list, as_number, as_text
from sleuth_providers.net.http1 import read_limited
from sleuth_providers.translatable import Translatable

if TYPE_CHECKING:
    from sleuth.answers.llm.connection import ReadTimeouts, StreamedResponse

MAX_BODY_BYTES = 20_000_000
MAX_STREAM_BYTES = 50_000_000  # every token is wrapped in hundreds of bytes
USAGE_TIMEOUT_S = 5.0  # for the usage event after the last text
ERROR_FINISHES = ("insufficient_system_resource", "error")  # finish reasons that mean failure
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
MAX_LEADING_BLANKS = 1000  # before <think>
MAX_TOKEN_COUNT = 10**9  # higher counts are bogus


class ReplyStream:
    """Parses one response and keeps its finish reason and usage."""

    def __init__(self, target: RequestTarget) -> None:
        self.target = target
        self.finish = ""  # empty until the reply is complete
        self.usage: Usage | None = None
        self.size = 0  # bytes of text and reasoning
        self._think_tags = ThinkTagParser()

    def pieces(self, response: "StreamedResponse", timeouts: "ReadTimeouts", streamed: bool) -> Iterator[Piece]:
        """Yield the reply; each line of a stream renews the timeout."""
        kind, encoding = (response.headers.get(f"content-{name}", "").lower() for name in ("type", "encoding"))
        if response.status == 200 and "event-stream" in kind:
            if encoding not in ("", "identity"):
                raise BadResponseError("unexpected Content-Encoding: {encoding!r}", encoding=encoding[:20])
            yield from self._events(response.chunks, timeouts if streamed else None)
            return
        body = read_limited(response.chunks, encoding, response.status, MAX_BODY_BYTES)
        if response.status != 200:
            raise response_error(self.target, Response(response.status, response.headers, body))
        if "html" in kind:
            raise wrong_url(self.target, "got a web page", response.status)
        if body.lstrip().startswith(b"data:"):  # events with the wrong content type
            yield from self._events([body], None)
            return
        document = self._document(body.decode("utf-8-sig", "replace"))
        if not document.get("choices"):
            raise ModelResponseError(server=self.target.server, detail=Translatable("no choices"))
        yield from self._piece(document)
        self.finish = self.finish or "stop"

    def rest(self) -> Iterator[Piece]:
        """Yield text that was held back as a possible start of a tag."""
        yield from _non_empty(self._think_tags.finish())

    def _events(self, chunks: Iterable[bytes], timeouts: "ReadTimeouts | None") -> Iterator[Piece]:
        for event in _read_events(chunks, timeouts):
            if event.strip() == DONE:
                self.finish = self.finish or "stop"
                return
            if event.strip():
                yield from self._piece(self._document(event))
            if self.finish and timeouts:
                timeouts.seconds = min(USAGE_TIMEOUT_S, timeouts.seconds)

    def _document(self, text: str) -> dict[str, Any]:
        try:
            document = parse_object(text)
        except ValueError as error:
            raise ModelResponseError(server=self.target.server, detail=Translatable("not JSON")) from error
        if is_error(document):
            raise classify(self.target, document, 200)
        return document

    def _piece(self, document: dict[str, Any]) -> Iterator[Piece]:
        piece = read_piece(document)
        if piece.finish in ERROR_FINISHES:
            raise ModelUnavailableError(server=self.target.server, detail=piece.finish)
        self.usage = piece.usage or self.usage
        self.finish = piece.finish or self.finish
        self.size += len((piece.text + piece.reasoning).encode("utf-8", "replace"))
        parsed = self._think_tags.feed(piece.text) if piece.text else Piece()
        yield from _non_empty(Piece(parsed.text, piece.reasoning + parsed.reasoning))


def _non_empty(piece: Piece) -> Iterator[Piece]:
    if piece.text or piece.reasoning:
        yield piece


def _read_events(chunks: Iterable[bytes], timeouts: "ReadTimeouts | None") -> Iterator[str]:
    """Yield events as they arrive; each complete line, even a comment, renews the timeout."""
    reader = EventReader()
    size = lines = 0
    try:
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_STREAM_BYTES:
                raise BadResponseError("larger than {size:g} MB", size=MAX_STREAM_BYTES / 1_000_000)
            yield from reader.feed(chunk)
            if timeouts and reader.lines > lines:
                timeouts.renew()
                lines = reader.lines
        yield from reader.finish()
    except EventTooLongError as error:
        raise BadResponseError("an event is too long") from error


class ThinkTagParser:
    """Separates reasoning in <think> tags at the start of a reply from the text; tags may be split over pieces."""

    def __init__(self) -> None:
        self._held = ""  # may be the beginning of a tag
        self._state = "start"  # then "thinking", then "blanks" behind the tag, then "text"

    def feed(self, text: str) -> Piece:
        """Return what is certainly text and what is certainly reasoning."""
        held, self._held = self._held + text, ""
        if self._state == "start":
            stripped = held.lstrip()
            if len(stripped) < len(THINK_OPEN) and THINK_OPEN.startswith(stripped) and len(held) < MAX_LEADING_BLANKS:
                self._held = held
                return Piece()
            has_tag = stripped.startswith(THINK_OPEN)
            self._state, held = ("thinking", stripped[len(THINK_OPEN) :]) if has_tag else ("text", held)
        reasoning = ""
        if self._state == "thinking":
            reasoning, closed, held = held.partition(THINK_CLOSE)
            if not closed:
                cut = len(reasoning) - _overlap(reasoning)
                self._held = reasoning[cut:]
                return Piece(reasoning=reasoning[:cut])
            self._state = "blanks"
        if self._state == "blanks":
            held = held.lstrip()
            self._state = "text" if held else "blanks"
        return Piece(held, reasoning)

    def finish(self) -> Piece:
        """Return what was held back, now that no tag can follow."""
        held, self._held = self._held, ""
        return Piece(reasoning=held) if self._state == "thinking" else Piece(held)


def split_unopened(text: str) -> tuple[str, str]:
    """Return text and reasoning of a complete reply that has only </think>, because the prompt had the opening tag."""
    reasoning, closed, rest = text.partition(THINK_CLOSE)
    return (rest.lstrip(), reasoning) if closed and THINK_OPEN not in reasoning else (text, "")


def _overlap(text: str) -> int:
    """Return how many characters at the end of a text may begin a closing tag."""
    return next((size for size in range(len(THINK_CLOSE) - 1, 0, -1) if text.endswith(THINK_CLOSE[:size])), 0)


def parse_object(text: str) -> dict[str, Any]:
    """Return a JSON object; ValueError for anything else."""
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(document, dict):
        raise ValueError("not an object")
    return document


def read_piece(document: dict[str, Any]) -> Piece:
    """Return the content of one document, a complete reply or a part of one; any field may be missing."""
    choice = as_dict(next(iter(as_list(document.get("choices"))), None))
    message = as_dict(choice.get("message")) or as_dict(choice.get("delta"))
    usage = document.get("usage") or choice.get("usage")
    return Piece(
        _text(message.get("content")) or _text(message.get("refusal")),
        _text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        as_text(choice.get("finish_reason")),
        read_usage(as_dict(usage)) if usage else None,
    )


def _text(value: Any) -> str:
    """Return content, which is text or a list of parts."""
    if isinstance(value, list):
        return "".join(as_text(as_dict(part).get("text")) for part in value)
    return value if isinstance(value, str) else ""


def read_usage(usage: dict[str, Any]) -> Usage:
    """Return the reported tokens, under OpenAI's or DeepSeek's names."""
    cached = usage.get("prompt_cache_hit_tokens") or as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")
    return Usage(
        1,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        _count(as_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        _count(cached),
    )


def _count(value: Any) -> int:
    return int(min(max(as_number(value) or 0, 0), MAX_TOKEN_COUNT))
