"""Parses a model's response, streamed or not, into pieces of text and reasoning."""

import json
import re
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from io import IncrementalNewlineDecoder
from itertools import chain
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
from sleuth.base import logs
from sleuth.base.text import is_common, possible_start, redact, secret_start
from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.json import as_dict, as_list, as_number, as_text
from sleuth_providers.net.http1 import read_limited
from sleuth_providers.net.httpx_transport import headers_of
from sleuth_providers.translatable import Translatable

if TYPE_CHECKING:
    import httpx

MAX_BODY_BYTES = 20_000_000
DONE = "[DONE]"  # the last event
MAX_EVENT_CHARS = 4_000_000  # normal events have a few hundred
MAX_STREAM_CHARS = 50_000_000  # every token is wrapped in hundreds of characters
MAX_KEEP_ALIVE = 10  # between two pieces of a reply, in multiples of the timeout
USAGE_TIMEOUT_S = 5.0  # for the usage event after the last text
ERROR_FINISHES = ("insufficient_system_resource", "error")  # finish reasons that mean failure
PARTIAL_CODE = re.compile(
    r"(?:(?:%[0-9a-f]{2}){1,4}(?:%[0-9a-f]?)?|%[0-9a-f]?|&[#\w]{0,41}|\\{1,2}(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?)\Z",
    re.IGNORECASE,
)
MAX_CODE_CHARS = 50
MAX_HELD_CHARS = 200
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
MAX_LEADING_BLANKS = 1000  # before <think>
MAX_TOKEN_COUNT = 10**9  # higher counts are bogus


class ReadTimeouts:
    """The deadline of a reply, extended while the server keeps sending."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.restart()

    def restart(self) -> None:
        """Restart the timeout after a piece of the reply."""
        self._latest = time.monotonic() + MAX_KEEP_ALIVE * self.seconds
        self.renew()

    def renew(self) -> None:
        """Extend the timeout after any other line, such as a keep-alive comment."""
        self.until = min(time.monotonic() + self.seconds, self._latest)


class ReplyStream:
    """Parses one response and keeps its finish reason and usage."""

    def __init__(self, target: RequestTarget) -> None:
        self.target = target
        self.finish = ""  # empty until the reply is complete
        self.usage = Usage()  # no calls: not reported
        self.size = 0  # bytes of text and reasoning
        self._think_tags = ThinkTagParser()

    def pieces(self, response: "httpx.Response", timeouts: ReadTimeouts, streamed: bool) -> Iterator[Piece]:
        """Yield the reply; each line of a stream renews the timeout."""
        kind, encoding = (response.headers.get(f"content-{name}", "").lower() for name in ("type", "encoding"))
        status = response.status_code
        if status == 200 and "event-stream" in kind:
            if encoding not in ("", "identity"):
                raise BadResponseError("unexpected Content-Encoding: {encoding!r}", encoding=logs.safe(encoding)[:20])
            yield from self._events(response.iter_raw(), timeouts if streamed else ReadTimeouts(0))
            return
        body = read_limited(response.iter_raw(), encoding, status, MAX_BODY_BYTES)
        if status != 200:
            raise response_error(self.target, Response(status, headers_of(response), body))
        if "html" in kind:
            raise wrong_url(self.target, "got a web page", status)
        if body.lstrip().startswith(b"data:"):  # events with the wrong content type
            yield from self._events([body], ReadTimeouts(0))
            return
        document = self._document(body.decode("utf-8-sig", "replace"))
        if not document.get("choices"):
            raise ModelResponseError(server=self.target.server, detail=Translatable("no choices"))
        yield from self._piece(document)
        self.finish = self.finish or "stop"

    def rest(self) -> Iterator[Piece]:
        """Yield text that was held back as a possible start of a tag."""
        yield from _non_empty(self._think_tags.finish())

    def _events(self, chunks: Iterable[bytes], timeouts: ReadTimeouts) -> Iterator[Piece]:
        for event in read_events(chunks, timeouts.renew):
            if event.strip() == DONE:
                self.finish = self.finish or "stop"
                return
            for piece in self._piece(self._document(event)) if event.strip() else ():
                timeouts.restart()
                yield piece
            if self.finish:
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
        self.usage = piece.usage if piece.usage.calls else self.usage
        self.finish = piece.finish or self.finish
        self.size += len((piece.text + piece.reasoning).encode("utf-8", "replace"))
        parsed = self._think_tags.feed(piece.text) if piece.text else Piece()
        yield from _non_empty(Piece(parsed.text, piece.reasoning + parsed.reasoning))


def _non_empty(piece: Piece) -> Iterator[Piece]:
    if piece.text or piece.reasoning:
        yield piece


def read_events(chunks: Iterable[bytes], renew: Callable[[], None]) -> Iterator[str]:
    """Yield the data of server-sent events; complete lines, even keep-alive comments, renew the timeout."""
    decoder = IncrementalNewlineDecoder(getincrementaldecoder("utf-8-sig")("replace"), translate=True)
    line: list[str] = []  # the parts of an incomplete line
    data: list[str] = []  # of the current event
    total = size = 0
    for chunk in chain(chunks, [None]):
        text = decoder.decode(chunk or b"", final=chunk is None) + ("\n\n" if chunk is None else "")
        total, size = total + len(text), size + len(text)
        if total > MAX_STREAM_CHARS or size > MAX_EVENT_CHARS:
            raise BadResponseError("the stream or an event is too long")
        first, *rest = text.split("\n")
        line.append(first)
        for begin in rest:
            field, _, value = "".join(line).partition(":")
            line = [begin]
            if field == "data":
                data.append(value.removeprefix(" "))
            elif not field and not value:  # a blank line, which ends an event
                if data:
                    yield "\n".join(data)
                data, size = [], 0
        if rest:
            renew()


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
                self._held = possible_start(reasoning, THINK_CLOSE)
                return Piece(reasoning=reasoning.removesuffix(self._held))
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


class StreamRedactor:
    """Redacts a secret from a stream of text, holding back what may be its beginning."""

    def __init__(self, secret: str) -> None:
        self.secret, self.held = secret, ""

    def __call__(self, text: str, *, last: bool = False) -> str:
        """Return the part of the text that cannot belong to the secret."""
        whole = redact(self.held + text, (self.secret,))
        if last:
            self.held = ""
            return whole
        end = PARTIAL_CODE.search(whole, max(0, len(whole) - MAX_CODE_CHARS))
        start, held = secret_start(whole[: end.start() if end else None], self.secret)
        rest = whole[start:]
        # Invisible filler could make it grow without bound; then only the characters of the secret are held back.
        self.held = rest if len(rest) <= MAX_HELD_CHARS else held + (end[0] if end else "")
        return whole[:start]


def redacted(secret: str, pieces: Generator[Piece, None, None]) -> Generator[Piece, None, None]:
    """Yield the pieces without the API key, in case the server repeats it, even split over several pieces."""
    if is_common(secret):  # local servers accept any word as a key
        yield from pieces
        return
    text, reasoning = StreamRedactor(secret), StreamRedactor(secret)
    with closing(pieces):  # closing this generator closes the connection
        for piece in pieces:
            last = bool(piece.finish)
            shown = piece._replace(text=text(piece.text, last=last), reasoning=reasoning(piece.reasoning, last=last))
            if shown != Piece():
                yield shown


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
        read_usage(as_dict(usage)) if usage else Usage(),
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
