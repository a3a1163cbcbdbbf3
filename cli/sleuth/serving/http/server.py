"""Runs the HTTP API on a socket with uvicorn."""

import errno
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.log_redirect import redirect_logging
from sleuth.base.urls import is_loopback
from sleuth.serving.http.connection import LimitedConnection

KEEP_ALIVE_TIMEOUT_S = 10
MAX_HEAD_BYTES = 32_768
SHUTDOWN_TIMEOUT_S = 5  # for running requests: a live search takes a few seconds

OnStop = Callable[[], Awaitable[None]]


def listen(host: str, port: int, *, remote: bool) -> socket.socket:
    """Return a listening socket; addresses that other machines can reach need `remote`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as problem:
        raise _no_address(host) from problem
    if not remote and not is_loopback(str(address[0])):
        hint = "omit --host, or add --allow-remote"
        raise RequestError("other machines can reach {host}, and the traffic is not encrypted", hint, host=host)
    try:
        return socket.create_server(address, family=family, backlog=128)
    except OSError as problem:
        if problem.errno == errno.EADDRNOTAVAIL:
            raise _no_address(host) from problem
        hint = "use another port; 0 picks a free one: sleuth serve --port 0"
        reason = os.strerror(problem.errno or 0)  # without the text that Python adds
        message = "cannot listen on {host} port {port} ({reason})"
        raise SleuthError(message, hint, host=host, port=port, reason=reason) from problem


def _no_address(host: str) -> RequestError:
    return RequestError("{host!r} is not an address of this machine", "omit --host to listen on 127.0.0.1", host=host)


def serve(app: ASGIApp, listener: socket.socket, on_ready: Callable[[], None], on_stop: OnStop) -> bool:
    """Serve until a signal arrives; returns whether that was Ctrl-C."""
    server = HttpServer(app, on_ready, on_stop)
    redirect_logging()
    server.run(sockets=[listener])
    return server.exit_signal == signal.SIGINT


class HttpServer(uvicorn.Server):
    """Calls back when it accepts connections, and does not raise the signal that ended it again."""

    def __init__(self, app: ASGIApp, on_ready: Callable[[], None], on_stop: OnStop) -> None:
        config = uvicorn.Config(
            app,
            http=LimitedConnection,
            loop="asyncio",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # X-Forwarded-For could be forged
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_TIMEOUT_S,
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        super().__init__(config)
        self.on_ready, self.on_stop = on_ready, on_stop
        self.exit_signal: int | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets)
        self.on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End open streams, then wait for requests and stop."""
        await self.on_stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down gracefully; a second signal exits at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self.exit_signal = self.exit_signal or sig
