"""One POST whose reply is read as it comes, over httpcore, the part of httpx that lets the waiting be limited.

httpx limits each read. Here the looking up of a name, the headers and a body that drips end in time too: every wait is
bounded by one moment, which whoever reads may move on.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

import httpcore
from socksio.exceptions import SOCKSError

from sleuth_providers.errors import (
    BadRequestError,
    BrokenOffError,
    DeadlineError,
    ProviderError,
    UnreachableError,
)
from sleuth_providers.net.client import system_proxy
from sleuth_providers.net.connection import connect, connection_error, remaining, split, target_of, tls_context
from sleuth_providers.records import Record

if TYPE_CHECKING:
    import socket
    import ssl

CONNECT = 10.0  # seconds until a connection must stand, TLS included


class ReadTimeouts:
    """Until when to wait."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.until = time.monotonic() + seconds

    def renew(self, seconds: float | None = None) -> None:
        """Wait anew, from now on."""
        self.until = time.monotonic() + (self.seconds if seconds is None else seconds)


class StreamedResponse(Record):
    """An answer whose body is still to come."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    chunks: Iterable[bytes]


@contextmanager
def post(address: str, headers: Mapping[str, str], body: bytes, patience: ReadTimeouts) -> Iterator[StreamedResponse]:
    """Send a body and give the answer to it, whatever its status; leaving closes the connection.

    No redirect is followed, so that a key stays with the host it was sent to.
    """
    parts, host, port = split(address)
    where = parts.netloc.rpartition("@")[2]
    proxy = _proxy_for(address)
    backend = _Backend(patience)
    try:
        target = httpcore.URL(
            scheme=parts.scheme.encode(), host=host.encode("idna"), port=port, target=target_of(parts).encode()
        )
        sent: dict[str, Any] = {"headers": _headers(headers, where), "content": body, "extensions": _timeouts(patience)}
        with _pool(proxy, parts.scheme, backend) as pool, pool.stream(b"POST", target, **sent) as response:
            names = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            yield StreamedResponse(response.status, names, response.iter_stream())
    except (httpcore.TimeoutException, TimeoutError) as problem:
        raise DeadlineError from problem
    except (httpcore.ProxyError, SOCKSError, AssertionError) as problem:  # the last: it does not even speak SOCKS
        raise _lost(problem, where, proxy) from problem
    except httpcore.NetworkError as problem:
        raise _lost(problem, where, proxy if isinstance(problem, httpcore.ConnectError) else None) from problem
    except (httpcore.LocalProtocolError, UnicodeError):  # their words quote the header, and the header may be a key
        raise BadRequestError("a key or another header holds characters that HTTP cannot carry") from None
    except httpcore.ProtocolError as problem:
        raise BrokenOffError("the connection broke off or spoke no HTTP") from problem
    finally:
        backend.close()


def _lost(problem: Exception, where: str, proxy: SplitResult | None) -> ProviderError:
    """Say why there is no connection; a certificate is named as bad, be it beyond a proxy."""
    cause = next(iter(problem.args), None)  # the system's reason
    if proxy and not hasattr(cause, "verify_message"):
        return UnreachableError(f"no connection through the proxy {proxy.hostname!r}")
    if isinstance(cause, OSError):
        return connection_error(cause, where)
    return BrokenOffError(f"connection closed by {where}")


def _headers(headers: Mapping[str, str], where: str) -> list[tuple[bytes, bytes]]:
    named = {"Host": where, "Connection": "close", **headers}
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in named.items()]


def _timeouts(patience: ReadTimeouts) -> dict[str, Any]:
    """Return limits for the one case in which httpcore waits by itself: a proxy reached by TLS."""
    return {"timeout": {"connect": CONNECT, "read": patience.seconds, "write": patience.seconds}}


def _proxy_for(address: str) -> SplitResult | None:
    """Return the proxy that the system names for an address, in parts."""
    proxy = system_proxy(address)
    if proxy is None:
        return None
    try:
        parts = urlsplit(proxy)
        if parts.port != 0 and parts.hostname:
            return parts
    except ValueError:  # a password in it is nobody's business
        pass
    raise UnreachableError("the proxy of this system is not a valid address")


def _pool(proxy: SplitResult | None, scheme: str, backend: "_Backend") -> httpcore.ConnectionPool:
    """Return who makes the connection; it makes one, and ends with it."""
    context = tls_context() if scheme == "https" else None
    if proxy is None:
        return httpcore.ConnectionPool(ssl_context=context, network_backend=backend)
    host = (proxy.hostname or "").encode("idna")
    url = httpcore.URL(scheme=proxy.scheme.encode(), host=host, port=proxy.port, target=b"/")
    account = (unquote(proxy.username).encode(), unquote(proxy.password or "").encode()) if proxy.username else None
    if proxy.scheme.startswith("socks5"):
        return httpcore.SOCKSProxy(url, account, ssl_context=context, network_backend=backend)
    if proxy.scheme == "https":  # TLS within TLS is beyond the backend below
        return httpcore.HTTPProxy(url, account, ssl_context=context, proxy_ssl_context=tls_context())
    return httpcore.HTTPProxy(url, account, ssl_context=context, network_backend=backend)


class _Backend(httpcore.NetworkBackend):
    """Connects as the rest of the house does: names looked up in time, IPv6 and IPv4 in a race."""

    def __init__(self, patience: ReadTimeouts) -> None:
        self.patience = patience
        self.streams: list[_Stream] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to a host."""
        until = min(self.patience.until, time.monotonic() + CONNECT)
        try:
            self.streams.append(_Stream(connect(host, port, until, None), self.patience, until))
        except OSError as problem:
            raise _as_expected(problem, httpcore.ConnectError) from problem
        return self.streams[-1]

    def close(self) -> None:
        """End what httpcore left open, as it does when a proxy misbehaves."""
        for stream in self.streams:
            stream.close()


class _Stream(httpcore.NetworkStream):
    """A socket whose every wait ends when patience does."""

    def __init__(self, raw: "socket.socket", patience: ReadTimeouts, connected_by: float) -> None:
        self.raw, self.patience, self.connected_by = raw, patience, connected_by

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come; nothing at the end."""
        try:
            self.raw.settimeout(remaining(self.patience.until))
            return self.raw.recv(max_bytes)
        except OSError as problem:
            raise _as_expected(problem, httpcore.ReadError) from problem

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send everything."""
        try:
            self.raw.settimeout(remaining(self.patience.until))
            self.raw.sendall(buffer)
        except OSError as problem:
            raise _as_expected(problem, httpcore.WriteError) from problem

    def close(self) -> None:
        """End the connection."""
        self.raw.close()

    def start_tls(
        self, ssl_context: "ssl.SSLContext", server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Return the same connection, encrypted."""
        try:
            self.raw.settimeout(remaining(self.connected_by))
            secure = ssl_context.wrap_socket(self.raw, server_hostname=server_hostname)
        except OSError as problem:
            self.close()
            raise _as_expected(problem, httpcore.ConnectError) from problem
        return _Stream(secure, self.patience, self.connected_by)


def _as_expected(problem: OSError, kind: type[Exception]) -> Exception:
    """Return the error that httpcore expects of a backend, the system's reason inside."""
    return httpcore.ReadTimeout() if isinstance(problem, TimeoutError) else kind(problem)
