"""A forward proxy on loopback that lets the guard check every host a browser connects to.

A browser resolves names and connects itself, and scripts on a page can make it do so. With this proxy as its
only way to the network, each name is resolved once, here; the guard checks all its addresses, and the connection goes
to one of them. A connection carries one request or one tunnel, so that no unchecked request can follow a checked one.
"""

import asyncio
import contextlib
import io
import re
import secrets
import socket
import time
from base64 import b64encode
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPException, HTTPMessage, parse_headers
from typing import Any

from sleuth_providers.errors import ProviderError
from sleuth_providers.net.connection import CHUNK_BYTES, connect
from sleuth_providers.net.policy import Guard
from sleuth_providers.net.urls import request_target, split_url
from sleuth_providers.records import Record

MAX_BYTES = 50_000_000  # in both directions, over all connections
MAX_CONNECTIONS = 64  # at the same time
MAX_HEAD_BYTES = 65536
MAX_REFUSED_HOSTS = 1000  # that are remembered
CONNECT_TIMEOUT_S = 5.0  # DNS lookup included
REQUEST_HEAD_TIMEOUT_S = 10.0
USER_NAME = "sleuth"
# Hop-by-hop headers, which are not forwarded. Bodies are forwarded as they are, and Transfer-Encoding with them.
HOP_BY_HOP_HEADERS = {
    *("connection", "keep-alive", "te", "trailer", "upgrade"),
    *("proxy-authenticate", "proxy-authorization", "proxy-connection"),
}
FOLDED_LINE = re.compile(r"[\r\n]+[ \t]*")  # obsolete: a header value that continues on the next line
STATUS_LINE = re.compile(rb"HTTP/1\.\d [1-5]\d\d(?= |$)")


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


class _Peer(Record):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class GuardedProxy:
    """Serves during its `async with` block, until the deadline at most; `refused` has the guard's errors by host."""

    def __init__(self, guard: Guard, deadline: float) -> None:
        self.refused: dict[str, Exception] = {}
        self._guard, self._deadline = guard, deadline
        self._bytes_left = MAX_BYTES
        self._closed = False
        self._clients: set[asyncio.Task[None]] = set()
        # Not the event loop's own threads: those are waited for at its end.
        self._threads = ThreadPoolExecutor(MAX_CONNECTIONS)

    async def __aenter__(self) -> ProxyAddress:
        password = secrets.token_urlsafe(24)  # keeps other users of this machine out
        self._login = b"Basic " + b64encode(f"{USER_NAME}:{password}".encode())
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_HEAD_BYTES, backlog=128)
        self._timer = asyncio.get_running_loop().call_later(max(0.0, self._deadline - time.monotonic()), self._close)
        host, port = self._server.sockets[0].getsockname()
        return ProxyAddress(host, port, USER_NAME, password)

    async def __aexit__(self, *_: object) -> None:
        self._timer.cancel()
        self._close()
        await asyncio.gather(*self._clients)

    def _close(self) -> None:
        self._closed = True
        self._server.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for task in self._clients:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client; whatever client, server or network do wrong ends this connection only."""
        task: Any = asyncio.current_task()
        is_full = self._closed or len(self._clients) >= MAX_CONNECTIONS
        self._clients.add(task)
        with contextlib.suppress(OSError, EOFError, HTTPException, ValueError, asyncio.CancelledError):
            try:
                if is_full:
                    raise _RefusedError(503)
                await self._forward(_Peer(reader, writer))
            except _RefusedError as refusal:
                await self._send(writer, _error_reply(refusal.status))
        self._clients.discard(task)
        writer.close()

    async def _forward(self, client: _Peer) -> None:
        line, headers = await asyncio.wait_for(_read_head(client.reader), REQUEST_HEAD_TIMEOUT_S)
        login = headers.get("Proxy-Authorization", "").encode("latin-1", "replace")
        if not secrets.compare_digest(login, self._login):
            raise _RefusedError(407)
        method, parts, host, port = _parse_request_line(line.decode("latin-1"))
        length = 0 if method == "CONNECT" else _body_length(headers)
        server = await self._connect(host, port)
        with contextlib.closing(server.writer):
            if method == "CONNECT":
                await self._send(client.writer, b"HTTP/1.1 200 Connected\r\n\r\n")
                upload = self._pump(client.reader, server.writer)
            else:
                lines = [f"Host: {parts.netloc.rpartition('@')[2]}", *self._forwarded(headers, "host")]
                await self._send(server.writer, _head(f"{method} {request_target(parts)} HTTP/1.1", lines))
                await self._pump(client.reader, server.writer, length)
                line, headers = await _read_response_head(server.reader)
                # A body with both is chunked; browsers may take a wrong length for an attack.
                lines = self._forwarded(headers, "content-length" if "Transfer-Encoding" in headers else "")
                await self._send(client.writer, _head(line.decode("latin-1"), lines))
                upload = self._pump(client.reader, None)  # sees the client leave; a second request is dropped
            await _first_of(upload, self._pump(server.reader, client.writer))

    def _forwarded(self, headers: HTTPMessage, dropped: str) -> list[str]:
        """Return the header lines to forward."""
        named = {name.strip().lower() for value in headers.get_all("Connection", []) for name in value.split(",")}
        return [
            f"{name}: {FOLDED_LINE.sub(' ', value)}"
            for name, value in headers.items()
            if name.lower() not in HOP_BY_HOP_HEADERS | named | {dropped}
            # Older versions of Playwright send the proxy's login to any site that demands one.
            and value.encode("latin-1", "replace") != self._login
        ]

    async def _connect(self, host: str, port: int) -> _Peer:
        until = min(self._deadline, time.monotonic() + CONNECT_TIMEOUT_S)
        try:
            job = self._threads.submit(connect, host, port, until, self._check)
            job.add_done_callback(self._drop_late)
            return _Peer(*await asyncio.open_connection(sock=await asyncio.wrap_future(job), limit=MAX_HEAD_BYTES))
        except (OSError, ProviderError, RuntimeError) as problem:  # RuntimeError: the threads were shut down meanwhile
            raise _RefusedError(502) from problem

    def _drop_late(self, job: Future[socket.socket]) -> None:
        if self._closed and not job.cancelled() and not job.exception():
            job.result().close()

    def _check(self, host: str, addresses: list[str]) -> None:
        try:
            self._guard(host, addresses)
        except Exception as problem:  # any exception of a guard is a refusal
            if len(self.refused) < MAX_REFUSED_HOSTS:
                self.refused[host] = problem
            raise _RefusedError(403) from problem

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter | None, length: float = float("inf")
    ) -> None:
        """Forward `length` bytes, or all up to the end of the stream."""
        while length > 0 and (data := await source.read(int(min(CHUNK_BYTES, length)))):
            length -= len(data)
            if sink:
                await self._send(sink, data)
        if 0 < length < float("inf"):
            raise EOFError

    async def _send(self, sink: asyncio.StreamWriter, data: bytes) -> None:
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise ConnectionAbortedError
        sink.write(data)
        await sink.drain()


async def _first_of(*pumps: Coroutine[Any, Any, None]) -> None:
    """Run until one of the directions ends, then stop the other."""
    tasks = [asyncio.ensure_future(pump) for pump in pumps]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read_head(reader: asyncio.StreamReader) -> tuple[bytes, HTTPMessage]:
    """Return the first line and the headers of a request or response."""
    lines = [await reader.readline()]
    while lines[-1].strip():
        lines.append(await reader.readline())
        if sum(map(len, lines)) > MAX_HEAD_BYTES:
            raise ConnectionAbortedError
    if not lines[-1]:
        raise EOFError
    return lines[0].strip(), parse_headers(io.BytesIO(b"".join(lines[1:])))


async def _read_response_head(reader: asyncio.StreamReader) -> tuple[bytes, HTTPMessage]:
    """Return the head of the final response; interim ones (1xx) are skipped."""
    try:
        while True:
            line, headers = await _read_head(reader)
            if not STATUS_LINE.match(line):
                raise _RefusedError(502)
            if line[9:10] != b"1":
                return line, headers
    except (OSError, EOFError, HTTPException, ValueError) as problem:
        raise _RefusedError(502) from problem


def _parse_request_line(line: str) -> tuple[str, Any, str, int]:
    """Return method, URL, host and port of a CONNECT, or of a request for an absolute http:// URL."""
    words = line.split(" ")
    if len(words) != 3 or not words[0].isalpha() or not words[2].startswith("HTTP/1."):
        raise _RefusedError(403)
    method, target, _ = words
    is_connect = method == "CONNECT"
    try:
        parts, host, port = split_url(f"http://{target}" if is_connect else target)
    except ProviderError:
        raise _RefusedError(403) from None
    if parts.scheme != "http" or (is_connect and (not parts.port or parts.netloc != target or "@" in target)):
        raise _RefusedError(403)
    return method, parts, host, port


def _body_length(headers: HTTPMessage) -> int:
    length = headers.get("Content-Length", "0").strip()
    if "Transfer-Encoding" in headers or not (length.isascii() and length.isdigit()):
        raise _RefusedError(403)  # browsers send no such request over HTTP/1.1
    return int(length)


def _head(first: str, lines: list[str]) -> bytes:
    return "\r\n".join([first, *lines, "Connection: close", "", ""]).encode("latin-1", "replace")


def _error_reply(status: int) -> bytes:
    challenge = [f'Proxy-Authenticate: Basic realm="{USER_NAME}"'] if status == 407 else []
    return _head(f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", ["Content-Length: 0", *challenge])
