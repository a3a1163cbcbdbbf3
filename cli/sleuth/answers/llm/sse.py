"""A parser for server-sent events, fed with chunks of bytes."""

import re
from collections.abc import Iterator

DONE = "[DONE]"
MAX_EVENT_BYTES = 4_000_000  # normal events have a few hundred
BOM = b"\xef\xbb\xbf"
LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLongError(ValueError):
    """A line or an event exceeds MAX_EVENT_BYTES."""


class EventReader:
    """Parses chunks into the data of events; comments and other fields are skipped."""

    def __init__(self) -> None:
        self.lines = 0  # complete lines so far, including comments that servers send as keep-alive
        self._line = bytearray()  # incomplete
        self._data: list[bytes] = []  # of the current event
        self._size = 0
        self._ends_in_cr = False  # its LF may start the next chunk

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield the data of each event that the chunk completes."""
        if self._ends_in_cr and data.startswith(b"\n"):
            data = data[1:]
            self._ends_in_cr = False
        if not data:
            return
        self._ends_in_cr = data.endswith(b"\r")
        *whole, rest = LINE_END.split(data)
        for line in whole:
            event = self._end_line(line)
            if event is not None:
                yield event
        self._line += rest
        self._check(len(self._line))

    def finish(self) -> Iterator[str]:
        """Yield the last event of a stream that does not end with a blank line."""
        if self._line:
            self._end_line(b"")
        if self._data:
            yield self._end_event()

    def _end_line(self, end: bytes) -> str | None:
        """Process a line; a blank one ends an event, whose data is returned."""
        line = bytes(self._line) + end
        self._line.clear()
        if not self.lines:
            line = line.removeprefix(BOM)
        self.lines += 1
        if not line:
            return self._end_event() if self._data else None
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value) + 1
            self._check(self._size)
        return None

    def _end_event(self) -> str:
        data = b"\n".join(self._data).decode("utf-8", "replace")
        self._data, self._size = [], 0
        return data

    def _check(self, size: int) -> None:
        if size > MAX_EVENT_BYTES:
            raise EventTooLongError
