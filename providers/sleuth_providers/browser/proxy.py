"""A forward proxy on loopback for a browser: what its pages ask for is shown to a guard before anything is sent.

A browser looks names up and connects by itself, and the scripts of a page make it do so at will. With the gate as its
only way out a name is looked up once, here; the guard sees every address it has; the connection goes to one of those.
Each connection carries one request or one tunnel, so that nothing slips through behind a request that was checked.
"""

import contextlib
import io
import re
import secrets
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPException, HTTPMessage, HTTPResponse, parse_headers
from typing import Any
from urllib.parse import urlsplit

from sleuth_providers.errors import ProviderError
from sleuth_providers.net.connection import CHUNK_BYTES, DeadlineSocket, connect, remaining
from sleuth_providers.net.policy import Guard
from sleuth_providers.net.urls import request_target, split_url
from sleuth_providers.records import Record

MAX_BYTES = 50_000_000  # there and back, all connections together
MAX_CONNECTIONS = 64  # at the same time
MAX_HEAD = 65536
MAX_REFUSED = 1000  # hosts of which it is remembered that they were refused
CONNECT = 5.0  # seconds for looking a name up and connecting
PATIENCE = 10.0  # seconds a client has for saying what it wants
FAREWELL = 1.0  # seconds that `close` waits for threads; one that is still connecting ends by itself
USER = "sleuth"
# What concerns one connection and is not passed on.
HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
FOLD = re.compile(r"[\r\n]+[ \t]*")  # a header may go on in the next line, and better does not
WORDS = {
    403: "sleuth does not let a page reach this address.",
    407: "This proxy serves the browser that sleuth has started, and nobody else.",
    502: "sleuth got no answer from this address.",
    503: "Too many connections at the same time.",
}


class ProxyAddress(Record):
    """Where a gate is, and what opens it."""

    host: str
    port: int
    username: str
    password: str


class _Refusal(Exception):  # noqa: N818 - an answer, not a fault
    def __init__(self, status: int) -> None:
        self.status = status


class GuardedProxy:
    """Open while its `with` block lasts, at most until the deadline; `refused` has what the guard raised, by host."""

    def __init__(
        self, guard: Guard, deadline: float, max_bytes: int = MAX_BYTES, max_connections: int = MAX_CONNECTIONS
    ) -> None:
        self.refused: dict[str, Exception] = {}
        self._guard, self._deadline = guard, deadline
        self._room, self._max_connections = max_bytes, max_connections
        self._lock = threading.Lock()
        self._over = False
        self._open: set[socket.socket] = set()
        self._clients: set[threading.Thread] = set()
        self._login = b""
        self._listener: socket.socket
        self._porter: threading.Thread

    def __enter__(self) -> ProxyAddress:
        password = secrets.token_urlsafe(24)  # so that other users of this machine find it shut
        self._login = b"Basic " + b64encode(f"{USER}:{password}".encode())
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        host, port = self._listener.getsockname()
        self._porter = threading.Thread(target=self._accept, daemon=True)
        self._porter.start()
        return ProxyAddress(host, port, USER, password)

    def __exit__(self, *_: object) -> None:
        self._shut()
        with contextlib.suppress(OSError):  # who waits in accept() is woken by a caller, whatever the system
            socket.create_connection(self._listener.getsockname(), FAREWELL).close()
        end = time.monotonic() + FAREWELL
        with self._lock:
            threads = [self._porter, *self._clients]
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _shut(self) -> None:
        with self._lock:
            self._over = True
            for connection in self._open:
                _hang_up(connection)

    def _accept(self) -> None:
        with self._listener, contextlib.suppress(OSError):  # the deadline, as a rule
            while not self._over:
                self._listener.settimeout(remaining(self._deadline))
                with contextlib.suppress(ConnectionError):  # the caller has gone already
                    self._welcome(self._listener.accept()[0])
        self._shut()

    def _welcome(self, client: socket.socket) -> None:
        with self._lock:
            if not self._over and len(self._clients) < self._max_connections:
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                thread.start()  # waits for the lock before it ends, and so is found among the clients
                self._clients.add(thread)
                return
        with client, contextlib.suppress(OSError):
            client.settimeout(0)
            client.sendall(_answer(503))

    def _serve(self, client: socket.socket) -> None:
        try:
            # The network, a client or a server may do what they like: it costs one connection.
            with self._keep(client), contextlib.suppress(OSError, HTTPException, ValueError):
                try:
                    self._pass_on(client)
                except _Refusal as refusal:
                    self._send(client, _answer(refusal.status))
        except OSError:
            pass  # came as the gate was closing
        finally:
            with self._lock:
                self._clients.discard(threading.current_thread())

    @contextlib.contextmanager
    def _keep(self, connection: socket.socket) -> Iterator[socket.socket]:
        """Close a connection in the end; until then the end of the gate is its end too."""
        with self._lock:
            if self._over:
                connection.close()
                raise ConnectionAbortedError
            self._open.add(connection)
        try:
            yield connection
        finally:
            with self._lock:
                self._open.discard(connection)
                connection.close()

    def _pass_on(self, client: socket.socket) -> None:
        head, rest = self._read_head(client)
        line, _, fields = head.partition(b"\r\n")
        headers = parse_headers(io.BytesIO(fields + b"\r\n\r\n"))
        login = headers.get("Proxy-Authorization", "").encode("latin-1", "replace")
        if not secrets.compare_digest(login, self._login):
            raise _Refusal(407)
        method, target = _request_line(line.decode("latin-1"))
        if method == "CONNECT":
            with self._keep(self._dial(*_host_and_port(target))) as server:
                self._tunnel(client, server, rest)
            return
        parts, host, port = _web_address(target)
        length = _body_length(headers)
        with self._keep(self._dial(host, port)) as server:
            where = f"Host: {parts.netloc.rpartition('@')[2]}"
            kept = [where, *_passed_on(headers, {"host"}, self._login)]
            self._send(server, _head(f"{method} {request_target(parts)} HTTP/1.1", kept))
            self._send_body(client, server, rest, length)
            self._send_response(server, client, method)

    def _read_head(self, client: socket.socket) -> tuple[bytes, bytes]:
        until = min(self._deadline, time.monotonic() + PATIENCE)
        data = b""
        while b"\r\n\r\n" not in data:
            client.settimeout(remaining(until))
            more = client.recv(CHUNK_BYTES)
            if not more or len(data) > MAX_HEAD:
                raise ConnectionAbortedError
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def _dial(self, host: str, port: int) -> socket.socket:
        try:
            return connect(host, port, min(self._deadline, time.monotonic() + CONNECT), self._check)
        except (OSError, ProviderError) as problem:
            raise _Refusal(502) from problem

    def _check(self, host: str, addresses: list[str]) -> None:
        try:
            self._guard(host, addresses)
        except Exception as problem:  # whatever a guard raises means no
            if len(self.refused) < MAX_REFUSED:
                self.refused[host] = problem
            raise _Refusal(403) from problem

    def _tunnel(self, client: socket.socket, server: socket.socket, rest: bytes) -> None:
        self._send(client, b"HTTP/1.1 200 Connected\r\n\r\n")
        self._send(server, rest)
        back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
        back.start()
        self._pump(client, server)
        _hang_up(server)  # a browser that has closed its side does not want the rest
        back.join()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := self._receive(source, CHUNK_BYTES):
                self._send(sink, data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            _hang_up(source)
            _hang_up(sink)

    def _send_body(self, client: socket.socket, server: socket.socket, rest: bytes, length: int) -> None:
        self._send(server, rest[:length])
        left = length - len(rest)
        while left > 0:
            data = self._receive(client, min(CHUNK_BYTES, left))
            if not data:
                raise ConnectionAbortedError
            self._send(server, data)
            left -= len(data)

    def _send_response(self, server: socket.socket, client: socket.socket, method: str) -> None:
        stream: Any = DeadlineSocket(server, lambda: self._deadline)
        with contextlib.closing(HTTPResponse(stream, method=method)) as response:
            try:
                response.begin()
            except (OSError, HTTPException) as problem:
                raise _Refusal(502) from problem
            chunked = response.chunked and method != "HEAD"
            lines = _passed_on(response.headers, {"content-length"} if chunked else set(), b"")
            lines += ["Transfer-Encoding: chunked"] if chunked else []
            self._send(client, _head(f"HTTP/1.1 {response.status} {response.reason}", lines))
            while data := response.read1(CHUNK_BYTES):
                self._send(client, b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
            if chunked:
                self._send(client, b"0\r\n\r\n")

    def _receive(self, source: socket.socket, most: int) -> bytes:
        source.settimeout(remaining(self._deadline))
        return source.recv(most)

    def _send(self, sink: socket.socket, data: bytes) -> None:
        with self._lock:
            self._room -= len(data)
            if self._room < 0:
                raise ConnectionAbortedError
        sink.settimeout(remaining(self._deadline))
        sink.sendall(data)


def _request_line(line: str) -> tuple[str, str]:
    words = line.split(" ")
    if len(words) != 3 or not words[0].isalpha() or not words[2].startswith("HTTP/1."):
        raise _Refusal(403)
    return words[0], words[1]


def _host_and_port(target: str) -> tuple[str, int]:
    """Return what a CONNECT names."""
    try:
        parts = urlsplit(f"//{target}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _Refusal(403) from None
    if not host or not port or parts.netloc != target or "@" in target:
        raise _Refusal(403)
    return host, port


def _web_address(target: str) -> tuple[Any, str, int]:
    """Return what a request for a plain page names; one for the gate itself names nothing."""
    try:
        parts, host, port = split_url(target)
    except ProviderError:
        raise _Refusal(403) from None
    if parts.scheme != "http":
        raise _Refusal(403)
    return parts, host, port


def _body_length(headers: HTTPMessage) -> int:
    length = headers.get("Content-Length", "0").strip()
    if "Transfer-Encoding" in headers or not (length.isascii() and length.isdigit()):
        raise _Refusal(403)  # no browser sends such a request over HTTP/1.1
    return int(length)


def _passed_on(headers: HTTPMessage, unwanted: set[str], login: bytes) -> list[str]:
    """Return the lines of a head that are for the other end."""
    named = {name.strip().lower() for value in headers.get_all("Connection", []) for name in value.split(",")}
    return [
        f"{name}: {FOLD.sub(' ', value)}"
        for name, value in headers.items()
        if name.lower() not in HOP | named | unwanted
        # An older Playwright gives the login of its proxy to any site that asks for one.
        and not (login and name.lower() == "authorization" and value.encode("latin-1", "replace") == login)
    ]


def _head(first: str, lines: list[str]) -> bytes:
    return "\r\n".join([first, *lines, "Connection: close", "", ""]).encode("latin-1", "replace")


def _answer(status: int) -> bytes:
    words = f"{WORDS[status]}\n".encode()
    challenge = [f'Proxy-Authenticate: Basic realm="{USER}"'] if status == 407 else []
    lines = ["Content-Type: text/plain; charset=utf-8", f"Content-Length: {len(words)}", *challenge]
    return _head(f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", lines) + words


def _hang_up(connection: socket.socket) -> None:
    """End a connection in a way that wakes whoever waits on it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
