"""HTTP over httpx: requests through HTTP and SOCKS proxies, and streams of models.

httpx limits each read. Here its connections are those of `net.connection`, so that the DNS lookup, the handshake, the
headers and a body that drips all end by one deadline, and the guard sees the address that is connected to.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import httpcore  # httpx does not export network backends and their errors
import httpx
from socksio.exceptions import SOCKSError

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadRequestError, BrokenOffError, UnreachableError
from sleuth_providers.net.connection import DeadlineSocket, check_behind_proxy, connect, connection_error, start_tls
from sleuth_providers.net.http1 import INVALID_CHARACTERS, NOT_HTTP, encoded, read_limited
from sleuth_providers.net.policy import ExchangeLimits, Guard
from sleuth_providers.net.tls import tls_context
from sleuth_providers.net.urls import PROXY_HINT, proxy_error, split_url


def proxy_transport(proxy: str) -> Callable[..., Response]:
    """Return a transport like `http1.exchange` that goes through a proxy."""

    def exchange(request: Request, headers: Mapping[str, str], limits: ExchangeLimits, guard: Guard | None) -> Response:
        body, sent = encoded(request, headers)
        deadline = Deadline(lambda: limits.deadline, limits.connect)
        with stream(request.method, request.address, sent, body, deadline, proxy, guard) as reply:
            names = headers_of(reply)
            content = read_limited(reply.iter_raw(), names.get("content-encoding", ""), reply.status_code, limits.body)
            return Response(reply.status_code, names, content, request.address)

    return exchange


class Deadline:
    """When an exchange must end; `until` is read before each wait, so that a stream can move it."""

    def __init__(self, until: Callable[[], float], connect_timeout: float) -> None:
        self.until, self.connect_timeout = until, connect_timeout


@contextmanager
def stream(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    deadline: Deadline,
    proxy: str | None = None,
    guard: Guard | None = None,
) -> Iterator[httpx.Response]:
    """Send a request and give the reply, its body still to be read with `iter_raw`; redirects are not followed.

    A proxy resolves names itself, so the guard can check only IP addresses and local names.
    """
    parts, host, _ = split_url(url)
    if proxy:
        check_behind_proxy(host, guard)
    where = parts.netloc.rpartition("@")[2]
    backend = _Backend(deadline, None if proxy else guard)
    try:
        with _transport(parts.scheme == "https", proxy, backend) as transport:
            request = httpx.Request(method, url, headers=httpx.Headers(headers, encoding="latin-1"), content=body)
            with closing(_send(transport, request)) as reply:
                yield reply
    except OSError as problem:
        if proxy and not backend.connected and not isinstance(problem, TimeoutError):
            raise proxy_error(proxy) from problem
        raise connection_error(problem, where) from problem
    except httpx.ProxyError as problem:
        raise proxy_error(proxy) from problem
    except (httpx.LocalProtocolError, httpx.InvalidURL, UnicodeError):  # their text may quote a key
        raise BadRequestError(INVALID_CHARACTERS) from None
    except httpx.HTTPError as problem:
        raise BrokenOffError(NOT_HTTP) from problem
    finally:
        backend.close()


def _send(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
    try:
        return transport.handle_request(request)
    except (SOCKSError, AssertionError) as problem:  # httpcore asserts that a SOCKS reply is one
        raise httpx.ProxyError("not a SOCKS proxy") from problem


def headers_of(reply: httpx.Response) -> dict[str, str]:
    """Return the headers of a reply with names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reply.headers.raw}


def _transport(encrypted: bool, proxy: str | None, backend: _Backend) -> httpx.HTTPTransport:
    # Plain HTTP needs no certificates, and works where SSL_CERT_FILE is wrong; an empty context trusts no certificate.
    to_proxy = tls_context() if proxy and proxy.lower().startswith("https:") else None
    context = tls_context() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        between = httpx.Proxy(proxy, ssl_context=to_proxy) if proxy else None
        transport = httpx.HTTPTransport(verify=context, trust_env=False, proxy=between)
    except (ValueError, httpx.InvalidURL):  # their text may quote the password
        raise UnreachableError("the system proxy setting is not a valid URL", hint=PROXY_HINT) from None
    pool: Any = transport._pool  # the only way to a network backend; tests fail should httpx change it
    pool._network_backend = backend
    return transport


class _Backend(httpcore.NetworkBackend):
    """Connects httpcore with the sockets of `net.connection`."""

    def __init__(self, deadline: Deadline, guard: Guard | None) -> None:
        self.deadline, self.guard = deadline, guard
        self.connected = False
        self._streams: list[_Stream] = []

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Connect to a host."""
        until = min(self.deadline.until(), time.monotonic() + self.deadline.connect_timeout)
        raw = connect(host, port, until, self.guard)
        self.connected = True
        self._streams.append(_Stream(raw, self.deadline, until))
        return self._streams[-1]

    def close(self) -> None:
        """Close what httpcore left open, as it does when a proxy misbehaves."""
        for each in self._streams:
            each.close()


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait ends at the deadline; errors stay the system's, since httpx passes them through."""

    def __init__(self, raw: Any, deadline: Deadline, connect_by: float) -> None:
        self.raw, self.deadline, self.connect_by = raw, deadline, connect_by
        self._connection = DeadlineSocket(raw, deadline.until)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the bytes that have arrived, none at the end."""
        return self._connection.read(max_bytes) or b""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send everything."""
        try:
            self._connection.sendall(buffer)
        except ConnectionError as problem:  # httpcore then reads the reply: a server may refuse before it has read all
            raise httpcore.WriteError(str(problem)) from problem

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, *_: Any, **__: Any) -> _Stream:
        """Return the same connection, encrypted."""
        secure = start_tls(self.raw, server_hostname or "", self.connect_by, ssl_context)
        return _Stream(secure, self.deadline, self.connect_by)
