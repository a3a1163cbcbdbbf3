"""`sleuth serve`: a socket, uvicorn, and an orderly end."""

import errno
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.errors import RequestError, SleuthError
from sleuth.serving.http.app import Api
from sleuth.serving.http.auth import MAX_HEAD, AccessMiddleware, AccessRules
from sleuth.serving.http.connection import LimitedConnection

KEEP_ALIVE = 10  # seconds in which the next request of a connection may begin
GRACE = 1  # second for running requests when the server is stopped


def listen(host: str, port: int, *, remote: bool) -> socket.socket:
    """Return a socket that listens; only on this machine, unless that is said not to matter."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as problem:
        raise _no_address(host) from problem
    if not remote and not is_loopback(str(address[0])):
        raise RequestError(
            "{host} can be reached from other machines, and what is sent is not encrypted",
            "leave --host out, or say --allow-remote if you mean it",
            host=host,
        )
    try:
        return socket.create_server(address, family=family, backlog=128)
    except OSError as problem:
        if problem.errno == errno.EADDRNOTAVAIL:
            raise _no_address(host) from problem
        raise SleuthError(
            "cannot listen on {host} port {port} ({reason})",
            "choose another port; 0 takes a free one: sleuth serve --port 0",
            host=host,
            port=port,
            reason=os.strerror(problem.errno or 0),  # without what Python adds to it
        ) from problem


def _no_address(host: str) -> RequestError:
    return RequestError(
        "{host!r} is not an address of this machine", "leave --host out to listen on 127.0.0.1", host=host
    )


def is_loopback(address: str) -> bool:
    """Tell whether an address can be reached from this machine alone."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def serve(client: Client, gate: AccessRules, listener: socket.socket, ready: Callable[[], None]) -> bool:
    """Answer requests until a signal comes; returns whether that was Ctrl-C. `ready` is called when it begins."""
    api = Api(client)
    api.start()
    try:
        server = HttpServer(make_config(AccessMiddleware(api.router(), gate)), ready)
        _quieten()
        server.run(sockets=[listener])
        return server.ended_by == signal.SIGINT
    finally:
        api.close()


def make_config(app: AccessMiddleware) -> uvicorn.Config:
    """Return how uvicorn is to behave: no proxies are believed, nothing is printed, nothing of ours is told."""
    return uvicorn.Config(
        app,
        http=LimitedConnection,
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=MAX_HEAD,
    )


class HttpServer(uvicorn.Server):
    """Says when it is ready, and ends by a signal without passing it on."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready
        self.ended_by: int | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections, and say so."""
        await super().startup(sockets)
        self.ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop in good order; a second signal stops at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self.ended_by = self.ended_by or sig


class _ToLog(logging.Handler):
    """What uvicorn, asyncio and the engine have to say goes to the log of sleuth."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        logs.log("serve: %s", record.getMessage())


def _quieten() -> None:
    for name in ("uvicorn", "asyncio", "sleuth"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_ToLog()], False
        logger.setLevel(logging.WARNING)
