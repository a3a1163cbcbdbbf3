"""Messages as lines of JSON on standard input and output, bounded both ways.

The SDK has such lines too, but takes in a line of any length, reads on while nobody reads its answers, and does not end
before they are read.
"""

import asyncio
import os
import select
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from sleuth.base import logs
from sleuth.base.errors import RequestError
from sleuth.base.text import clean
from sleuth.serving.tool_replies import of_error

MAX_LINE = 1_000_000  # bytes
CHUNK = 65_536
UNREAD = 32  # answers that wait to be read; while there are more, nothing new is taken in
MOMENT = 0.02  # seconds until that is looked at again
PATIENCE = 0.5  # seconds for the last answers to be read

T = TypeVar("T")


class Wire:
    """The client at the other end; what others read and print meets neither its words nor ours."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        self.outgoing, self._told = anyio.create_memory_object_stream[SessionMessage]()
        self._written = asyncio.Event()
        self._source = _divert(0, os.open(os.devnull, os.O_RDONLY))
        self._target = _divert(1, os.dup(2))

    async def __aenter__(self) -> "Wire":
        for work in (self._read, self._write):  # daemons: whatever they wait for keeps no process from ending
            threading.Thread(target=work, daemon=True).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.outgoing.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._written.wait(), PATIENCE)
        for stream in (self._heard, self.incoming, self._told):
            stream.close()

    def _read(self) -> None:
        """Hand in line after line, each when the one before was taken."""
        lines = Lines(self._source)
        with suppress(RuntimeError, CancelledError):  # the loop has ended
            try:
                while (line := lines.next()) and self._wait(self._take(line)):
                    continue
            except OSError as problem:
                logs.log("mcp: standard input cannot be read: %s", problem)
            self._loop.call_soon_threadsafe(self._end)

    def _write(self) -> None:
        """Write answer after answer, each when the one before was read."""
        with suppress(RuntimeError, CancelledError):
            try:
                while True:
                    told = self._wait(self._told.receive())
                    _write_all(self._target, _line(told))
            except OSError as problem:
                logs.log("mcp: the client is gone: %s", problem)
                self._loop.call_soon_threadsafe(self._end, 0.0)
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                pass
            self._loop.call_soon_threadsafe(self._written.set)

    def _end(self, patience: float = PATIENCE) -> None:
        """Take in no more, and soon give up answers that nobody reads."""
        self._heard.close()
        self._loop.call_later(patience, self._told.close)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the event loop do something, and wait for it in this thread."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except RuntimeError:
            work.close()
            raise

    async def _take(self, line: bytes) -> bool:
        """Take in a line as soon as there is room for its answer, and tell whether more should come."""
        while self.outgoing.statistics().tasks_waiting_send > UNREAD:
            if _is_over(self._source):  # who is gone reads nothing of what is left
                return False
            await asyncio.sleep(MOMENT)
        try:
            if line.strip():
                await self._hand_in(line)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody listens any more
            return False
        return True

    async def _hand_in(self, line: bytes) -> None:
        try:
            await self._heard.send(SessionMessage(_message(line)))
        except _NoMessageError as problem:
            logs.log("mcp: a line that is no message: %s", problem.error.message)
            await self.outgoing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=problem.error)))


class Lines:
    """The lines that come in at a descriptor; of one that is too long there is only a little more than allowed."""

    def __init__(self, source: int) -> None:
        self._source, self._kept = source, b""

    def next(self) -> bytes:
        """Wait for a line, and return it with its end; nothing when there are no more."""
        line = b""
        while b"\n" not in self._kept:
            line += self._kept[: MAX_LINE + 1 - len(line)]
            self._kept = os.read(self._source, CHUNK)
            if not self._kept:
                return line
        rest, end, self._kept = self._kept.partition(b"\n")
        return line + rest[: MAX_LINE + 1 - len(line)] + end


class _NoMessageError(Exception):
    """A line means nothing; the error is what its sender is told."""

    def __init__(self, code: int, said: RequestError) -> None:
        super().__init__(code)
        self.error = ErrorData(code=code, message=of_error(said).text)


def _message(line: bytes) -> Any:
    if len(line) > MAX_LINE + 1:
        said = RequestError("this line is too long", "{most} bytes at the most", most=MAX_LINE)
        raise _NoMessageError(INVALID_REQUEST, said)
    try:
        return jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
    except ValidationError as problem:
        is_json = problem.errors(include_url=False, include_input=False)[0]["type"] != "json_invalid"
        said = RequestError(
            "this line is no message of the protocol", "write one of JSON-RPC 2.0 in UTF-8 on each line"
        )
        raise _NoMessageError(INVALID_REQUEST if is_json else PARSE_ERROR, said) from None


def _line(told: SessionMessage) -> bytes:
    message = told.message
    if isinstance(message, JSONRPCError) and isinstance(message.error.data, str):
        message.error.data = clean(message.error.data, 200, entities=False)  # words of the client's own
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8", "replace") + b"\n"


def _is_over(source: int) -> bool:
    """Tell whether nobody is left to write more; what was written may still be there to be read."""
    if not hasattr(select, "poll"):  # Windows
        return False
    poll = select.poll()
    poll.register(source, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _write_all(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


def _divert(number: int, instead: int) -> int:
    """Return a standard stream under a number of our own; under its usual one there is another from now on."""
    own = os.dup(number)
    os.dup2(instead, number)
    os.close(instead)
    return own
