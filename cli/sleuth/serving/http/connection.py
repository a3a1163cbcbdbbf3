"""A client's connection: uvicorn's own, with the limits that it lacks."""

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sleuth.base.errors import RequestError
from sleuth.serving.http.errors import JSON, DeniedError, body_of, busy, not_http, status_of

MOST = 256  # connections at the same time
HEAD_SECONDS = 10.0  # for the whole head of a request, however slowly it drips in
STUCK_SECONDS = 20.0  # for a client to read on
PHRASES = {400: b"Bad Request", 503: b"Service Unavailable"}


class LimitedConnection(H11Protocol):
    """Ends who sends a head too slowly or does not read its answer, and answers nonsense in JSON too."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits: dict[str, asyncio.TimerHandle] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Greet a client, or turn it away where there are too many."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that everything unread counts as stuck
        if len(self.connections) > MOST:
            self._refuse(busy())
        else:
            self._limit("head", HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Take in what came; a head that is not whole yet must be so in time."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._limit("head", HEAD_SECONDS)
        elif self.conn.their_state is not h11.IDLE:
            self._lift("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the limits of a connection that has ended."""
        for name in list(self._limits):
            self._lift(name)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give a client that does not read a limited time."""
        super().pause_writing()
        self._limit("stuck", STUCK_SECONDS)

    def resume_writing(self) -> None:
        """Go on, as the client reads again."""
        self._lift("stuck")
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, unless that came in the middle of an answer."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
            return
        self._refuse(not_http())

    def _refuse(self, error: RequestError | DeniedError) -> None:
        """Write an answer without the machinery of requests, and close."""
        status, body = status_of(error), json.dumps(body_of(error), ensure_ascii=False).encode()
        head = f"content-type: {JSON}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in getattr(error, "headers", {}).items())
        self.transport.write(b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, PHRASES[status], head.encode(), body))
        self.transport.close()

    def _limit(self, name: str, seconds: float) -> None:
        if name not in self._limits:
            self._limits[name] = self.loop.call_later(seconds, self.transport.abort)

    def _lift(self, name: str) -> None:
        if name in self._limits:
            self._limits.pop(name).cancel()
