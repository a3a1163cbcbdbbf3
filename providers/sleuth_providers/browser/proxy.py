"""A forward proxy on loopback that shows every host a browser connects to to the guard.

A browser resolves names and connects by itself, and scripts on a page make it do so at will. With this proxy as its
only way to the network, each name is resolved once, here; the guard checks all its addresses, and the connection goes
to one of them. A connection carries one request or one tunnel, so that no unchecked request can follow a checked one.
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

from sleuth_providers.errors import ProviderError
from sleuth_providers.net.connection import CHUNK_BYTES, DeadlineSocket, connect, remaining
from sleuth_providers.net.policy import Guard
from sleuth_providers.net.urls import request_target, split_url
from sleuth_providers.records import Record

MAX_BYTES = 50_000_000  # in both directions, over all connections
MAX_CONNECTIONS = 64  # at the same time
MAX_HEAD_BYTES = 65536
MAX_REFUSED_HOSTS = 1000  # that are remembered
CONNECT_TIMEOUT_S = 5.0  # DNS lookup included
REQUEST_HEAD_TIMEOUT_S = 10.0
SHUTDOWN_TIMEOUT_S = 1.0  # how long `__exit__` waits for threads; one that is still connecting ends by itself
USER_NAME = "sleuth"
# Hop-by-hop headers, which are not forwarded.
HOP_BY_HOP_HEADERS = {
    *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
    *("proxy-authenticate", "proxy-authorization", "proxy-connection"),
}
FOLDED_LINE = re.compile(r"[\r\n]+[ \t]*")  # obsolete: a header value that goes on in the next line
ERROR_TEXTS = {
    403: "sleuth does not allow pages to connect to this address.",
    407: "This proxy is for the browser that sleuth started.",
    502: "sleuth received no response from this address.",
    503: "Too many connections.",
}


class ProxyAddress(Record):
    """Address and login of a proxy."""

    host: str
    port: int
    username: str
    password: str


class _RefusedError(Exception):
    """The client gets an error status."""

    def __init__(self, status: int) -> None:
        self.status = status


class GuardedProxy:
    """Serves during its `with` block, until the deadline at most; `refused` has the errors of the guard by host."""

    def __init__(
        self, guard: Guard, deadline: float, max_bytes: int = MAX_BYTES, max_connections: int = MAX_CONNECTIONS
    ) -> None:
        self.refused: dict[str, Exception] = {}
        self._guard, self._deadline = guard, deadline
        self._bytes_left, self._max_connections = max_bytes, max_connections
        self._lock = threading.Lock()
        self._closed = False
        self._open: set[socket.socket] = set()
        self._clients: set[threading.Thread] = set()
        self._login = b""
        self._listener: socket.socket
        self._acceptor: threading.Thread

    def __enter__(self) -> ProxyAddress:
        password = secrets.token_urlsafe(24)  # keeps other users of this machine out
        self._login = b"Basic " + b64encode(f"{USER_NAME}:{password}".encode())
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        host, port = self._listener.getsockname()
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return ProxyAddress(host, port, USER_NAME, password)

    def __exit__(self, *_: object) -> None:
        self._close()
        with contextlib.suppress(OSError):  # a connection wakes accept() on every system
            socket.create_connection(self._listener.getsockname(), SHUTDOWN_TIMEOUT_S).close()
        end = time.monotonic() + SHUTDOWN_TIMEOUT_S
        with self._lock:
            threads = [self._acceptor, *self._clients]
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            for connection in self._open:
                _disconnect(connection)

    def _accept(self) -> None:
        with self._listener, contextlib.suppress(OSError):  # usually the deadline
            while not self._closed:
                self._listener.settimeout(remaining(self._deadline))
                with contextlib.suppress(ConnectionError):  # the client has gone already
                    self._start_client(self._listener.accept()[0])
        self._close()

    def _start_client(self, client: socket.socket) -> None:
        with self._lock:
            if not self._closed and len(self._clients) < self._max_connections:
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                thread.start()  # takes the lock before it ends, so that it is in the set by then
                self._clients.add(thread)
                return
        with client, contextlib.suppress(OSError):
            client.settimeout(0)
            client.sendall(_error_reply(503))

    def _serve(self, client: socket.socket) -> None:
        try:
            # Whatever client, server or network do wrong ends this connection only.
            with self._track(client), contextlib.suppress(OSError, HTTPException, ValueError):
                try:
                    self._forward(client)
                except _RefusedError as refusal:
                    self._send(client, _error_reply(refusal.status))
        except OSError:
            pass  # the proxy was closing
        finally:
            with self._lock:
                self._clients.discard(threading.current_thread())

    @contextlib.contextmanager
    def _track(self, connection: socket.socket) -> Iterator[socket.socket]:
        """Close a connection at the end of the block, or earlier with the proxy."""
        with self._lock:
            if self._closed:
                connection.close()
                raise ConnectionAbortedError
            self._open.add(connection)
        try:
            yield connection
        finally:
            with self._lock:
                self._open.discard(connection)
                connection.close()

    def _forward(self, client: socket.socket) -> None:
        head, rest = self._read_head(client)
        line, _, fields = head.partition(b"\r\n")
        headers = parse_headers(io.BytesIO(fields + b"\r\n\r\n"))
        login = headers.get("Proxy-Authorization", "").encode("latin-1", "replace")
        if not secrets.compare_digest(login, self._login):
            raise _RefusedError(407)
        method, target = _request_line(line.decode("latin-1"))
        if method == "CONNECT":
            with self._track(self._connect(*_host_and_port(target))) as server:
                self._tunnel(client, server, rest)
            return
        parts, host, port = _web_address(target)
        length = _body_length(headers)
        with self._track(self._connect(host, port)) as server:
            host_line = f"Host: {parts.netloc.rpartition('@')[2]}"
            lines = [host_line, *_forwarded(headers, {"host"}, self._login)]
            self._send(server, _head(f"{method} {request_target(parts)} HTTP/1.1", lines))
            self._send_body(client, server, rest, length)
            self._send_response(server, client, method)

    def _read_head(self, client: socket.socket) -> tuple[bytes, bytes]:
        until = min(self._deadline, time.monotonic() + REQUEST_HEAD_TIMEOUT_S)
        data = b""
        while b"\r\n\r\n" not in data:
            client.settimeout(remaining(until))
            more = client.recv(CHUNK_BYTES)
            if not more or len(data) > MAX_HEAD_BYTES:
                raise ConnectionAbortedError
            data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def _connect(self, host: str, port: int) -> socket.socket:
        try:
            return connect(host, port, min(self._deadline, time.monotonic() + CONNECT_TIMEOUT_S), self._check)
        except (OSError, ProviderError) as problem:
            raise _RefusedError(502) from problem

    def _check(self, host: str, addresses: list[str]) -> None:
        try:
            self._guard(host, addresses)
        except Exception as problem:  # any exception of a guard is a refusal
            if len(self.refused) < MAX_REFUSED_HOSTS:
                self.refused[host] = problem
            raise _RefusedError(403) from problem

    def _tunnel(self, client: socket.socket, server: socket.socket, rest: bytes) -> None:
        self._send(client, b"HTTP/1.1 200 Connected\r\n\r\n")
        self._send(server, rest)
        back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
        back.start()
        self._pump(client, server)
        _disconnect(server)  # the browser has closed its side and reads no more
        back.join()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := self._receive(source, CHUNK_BYTES):
                self._send(sink, data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            _disconnect(source)
            _disconnect(sink)

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
                raise _RefusedError(502) from problem
            chunked = response.chunked and method != "HEAD"
            lines = _forwarded(response.headers, {"content-length"} if chunked else set(), b"")
            lines += ["Transfer-Encoding: chunked"] if chunked else []
            self._send(client, _head(f"HTTP/1.1 {response.status} {response.reason}", lines))
            while data := response.read1(CHUNK_BYTES):
                self._send(client, b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
            if chunked:
                self._send(client, b"0\r\n\r\n")

    def _receive(self, source: socket.socket, max_bytes: int) -> bytes:
        source.settimeout(remaining(self._deadline))
        return source.recv(max_bytes)

    def _send(self, sink: socket.socket, data: bytes) -> None:
        with self._lock:
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                raise ConnectionAbortedError
        sink.settimeout(remaining(self._deadline))
        sink.sendall(data)


def _request_line(line: str) -> tuple[str, str]:
    words = line.split(" ")
    if len(words) != 3 or not words[0].isalpha() or not words[2].startswith("HTTP/1."):
        raise _RefusedError(403)
    return words[0], words[1]


def _host_and_port(target: str) -> tuple[str, int]:
    """Parse the target of a CONNECT."""
    parts, host, port = _web_address(f"http://{target}")
    if not parts.port or parts.netloc != target or "@" in target:
        raise _RefusedError(403)
    return host, port


def _web_address(target: str) -> tuple[Any, str, int]:
    """Parse the target of a plain request, which must be an absolute http:// URL."""
    try:
        parts, host, port = split_url(target)
    except ProviderError:
        raise _RefusedError(403) from None
    if parts.scheme != "http":
        raise _RefusedError(403)
    return parts, host, port


def _body_length(headers: HTTPMessage) -> int:
    length = headers.get("Content-Length", "0").strip()
    if "Transfer-Encoding" in headers or not (length.isascii() and length.isdigit()):
        raise _RefusedError(403)  # browsers send no such request over HTTP/1.1
    return int(length)


def _forwarded(headers: HTTPMessage, dropped: set[str], login: bytes) -> list[str]:
    """Return the header lines to forward."""
    named = {name.strip().lower() for value in headers.get_all("Connection", []) for name in value.split(",")}
    return [
        f"{name}: {FOLDED_LINE.sub(' ', value)}"
        for name, value in headers.items()
        if name.lower() not in HOP_BY_HOP_HEADERS | named | dropped
        # Older versions of Playwright send the proxy's login to any site that demands one.
        and not (login and name.lower() == "authorization" and value.encode("latin-1", "replace") == login)
    ]


def _head(first: str, lines: list[str]) -> bytes:
    return "\r\n".join([first, *lines, "Connection: close", "", ""]).encode("latin-1", "replace")


def _error_reply(status: int) -> bytes:
    text = f"{ERROR_TEXTS[status]}\n".encode()
    challenge = [f'Proxy-Authenticate: Basic realm="{USER_NAME}"'] if status == 407 else []
    lines = ["Content-Type: text/plain; charset=utf-8", f"Content-Length: {len(text)}", *challenge]
    return _head(f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", lines) + text


def _disconnect(connection: socket.socket) -> None:
    """End a connection; unlike close(), this wakes threads that are reading from it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
