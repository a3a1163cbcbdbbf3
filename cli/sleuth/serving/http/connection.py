"""A client connection: uvicorn's, with limits on connections and on the time a request takes to arrive."""

import asyncio
import socket
from http import HTTPStatus
from typing import Any

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from sleuth.base.daemon_pool import BusyError
from sleuth.base.errors import SleuthError
from sleuth.serving.http.errors import HttpError, error_response, malformed_request

MAX_CONNECTIONS = 256
RECEIVE_TIMEOUT_S = 15.0  # for head and body of a request, however slowly they arrive
# Without TCP_NODELAY every response on a kept-alive connection waits 40 ms for a delayed ACK. asyncio sets it only for
# sockets whose protocol is given, and socket.create_server leaves it at 0. The user timeout, in milliseconds, ends
# connections of clients that do not read; only Linux has it.
TCP_OPTIONS = {socket.TCP_NODELAY: 1}
if hasattr(socket, "TCP_USER_TIMEOUT"):
    TCP_OPTIONS[socket.TCP_USER_TIMEOUT] = 60_000


class LimitedConnection(H11Protocol):
    """Refuses connections over the limit and requests that arrive too slowly, all with JSON errors."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Accept a connection; over the limit, every request on it is answered with 503."""
        super().connection_made(transport)
        for option, value in TCP_OPTIONS.items():
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, option, value)
        if len(self.connections) > MAX_CONNECTIONS:
            self.app = _too_many_connections
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Parse data, and start the timer when a request begins and stop it when the request is complete."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP."""
        self._refuse(malformed_request())

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(RECEIVE_TIMEOUT_S, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        hint = "send it within {seconds:g} seconds"
        seconds = RECEIVE_TIMEOUT_S
        self._refuse(HttpError("the request took too long to arrive", hint, 408, "REQUEST_TIMEOUT", seconds=seconds))

    def _refuse(self, error: SleuthError) -> None:
        """Send an error outside the ASGI application and close; once a response has begun, only close."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        response = error_response(error, {"Connection": "close"})
        status, headers = response.status_code, response.raw_headers
        start = h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase)
        events: list[Any] = [start, h11.Data(data=bytes(response.body)), h11.EndOfMessage()]
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()


async def _too_many_connections(scope: Scope, receive: Receive, send: Send) -> None:
    response = error_response(BusyError("too many connections", "try again in a moment"), {"Connection": "close"})
    while (await receive()).get("more_body"):
        pass  # closing with unread data would reset the connection before the client has read the response
    await response(scope, receive, send)
