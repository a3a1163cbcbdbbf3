"""Connections: resolve a name, check its addresses, connect to one of them, encrypt; all of it by one deadline.

Every connection of sleuth is made here: to providers, pages, models, proxies, Redis and the servers that doctor checks.
"""

from __future__ import annotations

import errno
import io
import os
import selectors
import socket
import time
from collections.abc import Callable
from itertools import zip_longest

from sleuth_providers.errors import BrokenOffError, DeadlineError, ProviderError, UnreachableError
from sleuth_providers.net.policy import Guard
from sleuth_providers.net.urls import has_valid_labels
from sleuth_providers.threads import call_with_timeout
from sleuth_providers.translatable import Translatable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Address = tuple[socket.AddressFamily, "Any"]

CHUNK_BYTES = 65536
NEXT_ADDRESS_S = 0.25  # how long an address may take before the next one is tried as well (RFC 8305)


def connect(
    host: str, port: int, until: float, guard: Guard | None = None, *, tls: bool = False, context: Any = None
) -> socket.socket:
    """Return a connection to a host, which is resolved once, so that the guard sees the address that is used."""
    addresses = resolve(host, port, until)
    if guard:
        guard(host, [str(sockaddr[0]) for _, sockaddr in addresses])
    plain = connect_first(addresses, until)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return start_tls(plain, host, until, context) if tls else plain
    except BaseException:
        plain.close()
        raise


def start_tls(plain: socket.socket, host: str, until: float, context: Any = None) -> Any:
    """Return the encrypted form of a connection after the handshake; the certificate must be valid for the host."""
    from sleuth_providers.net.tls import wrap  # loads ssl

    return wrap(plain, _ascii_host(host), until, context)


class ResolveTimeoutError(TimeoutError):
    """The DNS lookup took too long."""


def resolve(host: str, port: int, until: float) -> list[Address]:
    """Return the addresses of a host, IPv6 and IPv4 alternating; raise OSError when there are none in time.

    getaddrinfo has no timeout, so it runs in a thread that is abandoned at the deadline.
    """
    numeric = ":" in host or host.replace(".", "").isdigit()
    flags = socket.AI_NUMERICHOST if numeric else 0  # else 999.1.1.1 would be sent to the name server

    def look_up() -> list[Any]:
        return socket.getaddrinfo(_ascii_host(host), port, type=socket.SOCK_STREAM, flags=flags)

    try:
        answer = look_up() if numeric or host == "localhost" else call_with_timeout(look_up, remaining(until))
    except TimeoutError:
        raise ResolveTimeoutError from None
    except UnicodeError:  # a label that no host name can have
        raise socket.gaierror(socket.EAI_NONAME, "invalid host name") from None
    found = [(family, sockaddr) for family, _, _, _, sockaddr in answer]
    first = [entry for entry in found if entry[0] == found[0][0]]
    second = [entry for entry in found if entry[0] != found[0][0]]
    return [entry for pair in zip_longest(first, second) for entry in pair if entry]


def numeric_address(host: str) -> str:
    """Return the IP address that a host such as 127.1 or 0x7f000001 denotes, empty for a name."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (OSError, UnicodeError):
        return ""


def check_behind_proxy(host: str, guard: Guard | None) -> None:
    """Let the guard check an IP address or a local name; a proxy resolves other names itself, .onion with Tor."""
    if guard is None:
        return
    from sleuth_providers.net.guard import is_local

    address = numeric_address(host.rstrip("."))
    if address or (is_local(host) and not host.rstrip(".").endswith(".onion")):
        guard(host, [address] if address else [])


def _ascii_host(host: str) -> str | bytes:
    """Return a valid ASCII name as bytes: Python passes those on without loading its IDNA tables."""
    return host.encode() if host.isascii() and has_valid_labels(host) else host


def connect_first(addresses: list[Address], until: float) -> socket.socket:
    """Return a connection to the first address that answers; the next is tried while one is slow (happy eyeballs)."""
    waiting = list(addresses)
    problem: OSError = TimeoutError("no address")
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or selector.get_map():
                if waiting:
                    problem = _start(waiting.pop(0), selector) or problem
                pause = remaining(until) if not waiting else min(NEXT_ADDRESS_S, remaining(until))
                for key, _ in selector.select(pause if selector.get_map() else 0):
                    candidate: Any = key.fileobj
                    selector.unregister(candidate)
                    code = candidate.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    if not code:
                        winner: socket.socket = candidate
                        return winner
                    candidate.close()
                    problem = OSError(code, os.strerror(code))
        finally:
            for key in list(selector.get_map().values()):
                loser: Any = key.fileobj
                loser.close()
    raise problem


def _start(address: Address, selector: selectors.BaseSelector) -> OSError | None:
    try:
        candidate = socket.socket(address[0], socket.SOCK_STREAM)
    except OSError as problem:  # an address family this machine does not have
        return problem
    candidate.setblocking(False)
    code = candidate.connect_ex(address[1])
    if code in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
        selector.register(candidate, selectors.EVENT_WRITE)
        return None
    candidate.close()
    return OSError(code, os.strerror(code))


def remaining(until: float) -> float:
    """Return the seconds left until a deadline on the monotonic clock; raise TimeoutError when it has passed."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class DeadlineSocket(io.RawIOBase):
    """A connected socket with a deadline for the whole exchange, where sockets only know a timeout for each call.

    `until` is a function because the deadline of a stream moves on while the server keeps sending. The socket stays
    open when this object is closed.
    """

    def __init__(self, raw: Any, until: Callable[[], float]) -> None:
        self.raw, self.until = raw, until

    def readable(self) -> bool:
        """Allow a BufferedReader around this object."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Receive the bytes that have arrived, none at the end of the stream."""
        self.raw.settimeout(remaining(self.until()))
        return int(self.raw.recv_into(buffer))

    def sendall(self, data: Any) -> None:
        """Send everything."""
        self.raw.settimeout(remaining(self.until()))
        self.raw.sendall(data)


def connection_error(problem: OSError, where: str) -> ProviderError:
    """Return the error for a connection to `where` that could not be made, timed out or was closed."""
    if isinstance(problem, ResolveTimeoutError):
        return DeadlineError("the DNS lookup timed out")
    if isinstance(problem, TimeoutError):
        return DeadlineError()
    closed = isinstance(problem, ConnectionResetError | BrokenPipeError | ConnectionAbortedError)
    if closed or type(problem).__name__ in ("SSLEOFError", "SSLZeroReturnError"):  # by name: ssl may not be loaded
        return BrokenOffError("connection closed by {where}", where=where)
    if isinstance(problem, socket.gaierror):
        if problem.errno == socket.EAI_AGAIN:
            return UnreachableError("cannot resolve {where}; is the network up?", where=where)
        return UnreachableError("no such host: {where}", where=where)
    if problem.errno == errno.ECONNREFUSED:
        return UnreachableError("connection refused at {where}", where=where)
    if verify := getattr(problem, "verify_message", ""):
        return UnreachableError("bad certificate at {where}: {reason}", where=where, reason=verify)
    if "WRONG_VERSION_NUMBER" in str(problem):
        return UnreachableError("{where} does not use TLS; try http:// instead of https://", where=where)
    reason = problem.strerror or Translatable("cannot connect")
    return UnreachableError("{reason} at {where}", where=where, reason=reason)
