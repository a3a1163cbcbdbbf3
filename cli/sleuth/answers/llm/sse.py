"""Server-sent events, read from bytes that may be cut anywhere."""

import re
from collections.abc import Iterator

DONE = "[DONE]"
LONGEST = 4_000_000  # bytes of a line or an event; a piece of a reply has a few hundred
MARK = b"\xef\xbb\xbf"  # a byte order mark
LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLongError(ValueError):
    """A line or an event goes on without an end."""


class EventReader:
    """Takes bytes as they come and gives the data of each event; comments and other fields pass in silence."""

    def __init__(self) -> None:
        self.lines = 0  # whole ones so far, comments among them: each is a sign of life
        self._begun = bytearray()  # of a line
        self._data: list[bytes] = []  # of an event
        self._size = 0
        self._cut = False  # the last byte was a CR, and the LF that belongs to it may be the next

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield the data of every event that these bytes complete."""
        if self._cut and data.startswith(b"\n"):
            data = data[1:]
            self._cut = False
        if not data:
            return
        self._cut = data.endswith(b"\r")
        *whole, rest = LINE_END.split(data)
        for line in whole:
            event = self._end_line(line)
            if event is not None:
                yield event
        self._begun += rest
        self._check(len(self._begun))

    def finish(self) -> Iterator[str]:
        """Yield the event that the end of the stream completes: not every server ends with a blank line."""
        if self._begun:
            self._end_line(b"")
        if self._data:
            yield self._end_event()

    def _end_line(self, end: bytes) -> str | None:
        """Take a line in; a blank one ends an event, whose data are returned."""
        line = bytes(self._begun) + end
        self._begun.clear()
        if not self.lines:
            line = line.removeprefix(MARK)
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
        if size > LONGEST:
            raise EventTooLongError
