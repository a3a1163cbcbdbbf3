"""One HTTP/1.1 exchange over a socket of ours: one deadline around all of it, bodies bounded, addresses checked.

`http1` knows the protocol. Here are a time limit for the whole exchange instead of one a read, a race between IPv6 and
IPv4, a look at the address really connected to, and a cap on what a compressed body may grow to.
"""

from __future__ import annotations

import errno
import io
import os
import selectors
import socket
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadRequestError, BadResponseError, BrokenOffError, DeadlineError, UnreachableError
from sleuth_providers.net.http1 import CHUNK, ENDED, read_body, read_head, request_head
from sleuth_providers.net.policy import Guard
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Address = tuple[socket.AddressFamily, "Any"]

STAGGER = 0.25  # seconds before the next address is tried beside one that has not answered
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
CA_FOLDERS = ("/etc/ssl/certs", "/etc/pki/tls/certs")


class ExchangeLimits(Record):
    """What one exchange may take."""

    deadline: float  # on the monotonic clock
    connect: float = 5.0
    body: int = 10_000_000


def exchange(
    request: Request, headers: Mapping[str, str], limits: ExchangeLimits, guard: Guard | None = None
) -> Response:
    """Send a request and return the whole reply, whatever its status; redirects are not followed."""
    address = request.address
    parts, host, port = split(address)
    where = parts.netloc.rpartition("@")[2]
    body, content_type = request.body()
    sent = dict(headers) | ({"Content-Type": content_type} if content_type else {}) | dict(request.headers)
    head = request_head(request.method, target_of(parts), _host_header(parts, host, port), sent, body)
    plain = None
    try:
        plain = _connect(host, port, parts.scheme == "https", limits, guard)
        plain.sendall(head + (body or b""))
        stream = plain.makefile()
        answered = read_head(stream)
        encoding = answered.headers.get("content-encoding", "")
        whole = read_limited(read_body(stream, answered), encoding, answered.status, limits.body)
        return Response(answered.status, answered.headers, whole, address)
    except TimeoutError as problem:
        raise DeadlineError from problem
    except OSError as problem:
        raise connection_error(problem, where) from problem
    finally:
        if plain:
            plain.raw.close()


def split(address: str) -> tuple[Any, str, int]:
    """Return an address in parts, with its host and port; anything but a good http(s) one is refused."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as problem:
        raise BadRequestError(f"not a valid address: {url_for_display(address)}") from problem
    if parts.scheme not in ("http", "https") or not host or not host.isprintable() or " " in host:
        raise BadRequestError(f"not an http address: {url_for_display(address)}")
    return parts, host, port or (443 if parts.scheme == "https" else 80)


def url_for_display(address: str) -> str:
    """Return as much of an address as a message may show: no query, no password, no end."""
    scheme, mark, rest = address.partition("?")[0].partition("://")
    rest = rest.partition("/")[0].rpartition("@")[2] + "".join(rest.partition("/")[1:])
    return repr(f"{scheme}{mark}{rest}"[:100])


def target_of(parts: Any) -> str:
    """Return path and query as they stand in a request: what is not plain ASCII gets percent-encoded."""
    path = parts.path or "/"
    return quote(f"{path}?{parts.query}" if parts.query else path, safe=PUNCTUATION, errors="surrogatepass")


def _host_header(parts: Any, host: str, port: int) -> str:
    """Return who is asked, as the request names it; a port everybody knows stays out of it."""
    name = host if host.isascii() else host.encode("idna").decode("ascii")
    name = f"[{name.partition('%')[0]}]" if ":" in name else name
    return name if port == (443 if parts.scheme == "https" else 80) else f"{name}:{port}"


def _connect(host: str, port: int, secure: bool, limits: ExchangeLimits, guard: Guard | None) -> Any:
    until = min(limits.deadline, time.monotonic() + limits.connect)
    plain = connect(host, port, until, guard)
    try:
        if secure:
            plain.settimeout(remaining(until))
            plain = tls_context().wrap_socket(plain, server_hostname=_plain(host))
        return DeadlineSocket(plain, limits.deadline)
    except BaseException:
        plain.close()
        raise


def connect(host: str, port: int, until: float, guard: Guard | None) -> socket.socket:
    """Look a host up once, show the guard every address it has, and connect to one of those."""
    addresses = _resolve(host, port, until)
    if guard:
        guard(host, [str(sockaddr[0]) for _, sockaddr in addresses])
    plain = _race(addresses, until)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        plain.close()
        raise
    return plain


def numeric_address(host: str) -> str:
    """Return the address a host means that is written in numbers, however it is written; nothing for a name."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (OSError, UnicodeError):
        return ""


def _resolve(host: str, port: int, until: float) -> list[Address]:
    """Look a name up in a thread that is left behind when it takes too long; getaddrinfo itself has no time limit."""
    answer: list[Any] = []
    numeric = ":" in host or host.replace(".", "").isdigit()

    def look_up() -> None:
        try:
            flags = socket.AI_NUMERICHOST if numeric else 0  # 999.1.1.1 would be asked of the network
            answer.append(socket.getaddrinfo(_plain(host), port, type=socket.SOCK_STREAM, flags=flags))
        except (OSError, UnicodeError) as problem:
            answer.append(problem)

    if numeric or host == "localhost":
        look_up()
    else:
        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        thread.join(remaining(until))
    if not answer:
        raise DeadlineError("looking up the name took too long")
    if isinstance(answer[0], UnicodeError):
        raise BadRequestError(f"not a valid host name: {host!r}") from answer[0]
    if isinstance(answer[0], OSError):
        raise answer[0]
    found = [(family, sockaddr) for family, _, _, _, sockaddr in answer[0]]
    first = [entry for entry in found if entry[0] == found[0][0]]
    second = [entry for entry in found if entry[0] != found[0][0]]
    mixed = [entry for pair in zip(first, second, strict=False) for entry in pair]
    return mixed + first[len(second) :] + second[len(first) :]


def _plain(host: str) -> str | bytes:
    """Return a plain ASCII name as bytes, which spares its way through IDNA and the tables of that."""
    fits = host.isascii() and all(0 < len(label) < 64 for label in host.removesuffix(".").split("."))
    return host.encode() if fits else host


def _race(addresses: list[Address], until: float) -> socket.socket:
    """Connect to the first address that answers, starting the next one early when one is slow."""
    waiting = list(addresses)
    problem: OSError = TimeoutError("no address")
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or selector.get_map():
                if waiting:
                    problem = _start(waiting.pop(0), selector) or problem
                pause = remaining(until) if not waiting else min(STAGGER, remaining(until))
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
                left: Any = key.fileobj
                left.close()
    raise problem


def _start(address: Address, selector: selectors.BaseSelector) -> OSError | None:
    try:
        candidate = socket.socket(address[0], socket.SOCK_STREAM)
    except OSError as problem:  # a family this machine does not have
        return problem
    candidate.setblocking(False)
    code = candidate.connect_ex(address[1])
    if code in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
        selector.register(candidate, selectors.EVENT_WRITE)
        return None
    candidate.close()
    return OSError(code, os.strerror(code))


class DeadlineSocket:
    """A connected socket whose every read and write must end by one deadline."""

    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self.raw, self.deadline = raw, deadline

    def sendall(self, data: Any) -> None:
        """Send everything in time."""
        self.raw.settimeout(remaining(self.deadline))
        self.raw.sendall(data)

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        """Return what comes in, to be read by lines and pieces."""
        return io.BufferedReader(_TimedReader(self.raw, self.deadline), CHUNK)

    def close(self) -> None:
        """Do nothing: http.client, as the gate uses it, closes it when the headers end, the body still to be read."""


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: socket.socket, deadline: float) -> None:
        self.raw, self.deadline = raw, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.raw.settimeout(remaining(self.deadline))
        return self.raw.recv_into(buffer)


def remaining(deadline: float) -> float:
    """Return how many seconds are left; TimeoutError when none are."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def read_limited(chunks: Iterable[bytes], encoding: str, status: int, limit: int) -> bytes:
    """Return a body, decompressed as it streams, never keeping more than the limit."""
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        if status >= 400:
            return b""  # the status says enough
        raise BadResponseError(f"compressed in a way nobody asked for: {encoding[:20]!r}", status=status)
    inflate = _Inflate() if encoding not in ("", "identity") else None
    parts, raw, size = [], 0, 0
    for chunk in chunks:
        raw += len(chunk)
        try:
            data = inflate.feed(chunk, limit - size + 1) if inflate else chunk
        except zlib.error as problem:
            raise BadResponseError("broken compression", status=status) from problem
        size += len(data)
        if size > limit or raw > limit:
            raise BadResponseError(f"larger than {limit / 1_000_000:g} MB", status=status)
        parts.append(data)
    if inflate and not inflate.finished:
        raise BrokenOffError(ENDED)
    return b"".join(parts)


class _Inflate:
    """gzip, zlib and raw deflate, told apart by the first byte."""

    def __init__(self) -> None:
        self.engine: Any = None

    def feed(self, data: bytes, room: int) -> bytes:
        if self.engine is None:
            gzip, wrapped = data[0] == 0x1F, data[0] & 0x0F == 8
            self.engine = zlib.decompressobj(31 if gzip else 15 if wrapped else -15)
        produced: bytes = self.engine.decompress(data, room)
        return produced

    @property
    def finished(self) -> bool:
        return self.engine is None or self.engine.eof


def connection_error(problem: OSError, where: str) -> UnreachableError:
    """Say in our words why there was no connection, or what ended it."""
    if isinstance(problem, ConnectionResetError | BrokenPipeError | ConnectionAbortedError):
        return BrokenOffError(f"connection closed by {where}")
    if type(problem).__name__ in ("SSLEOFError", "SSLZeroReturnError"):  # by name: ssl may not be imported
        return BrokenOffError(f"connection closed by {where}")
    return UnreachableError(_reason(problem, where))


def _reason(problem: OSError, where: str) -> str:
    if isinstance(problem, socket.gaierror):
        if problem.errno == socket.EAI_AGAIN:
            return f"the name of {where} cannot be looked up; is there a network?"
        return f"no such host: {where}"
    if isinstance(problem, ConnectionRefusedError) or problem.errno == errno.ECONNREFUSED:
        return f"connection refused at {where}"
    verify = getattr(problem, "verify_message", "")
    if verify:
        return f"bad certificate at {where}: {verify}"
    if "WRONG_VERSION_NUMBER" in str(problem):
        return f"{where} does not speak TLS; is it http:// rather than https://?"
    return f"{problem.strerror or 'no connection'} at {where}"


_context: Any = None


def tls_context() -> Any:
    """Return the TLS settings of this process, made once and only when https is really used.

    A folder of hashed certificates is read as needed; loading a bundle file costs more than the rest of start-up.
    """
    global _context
    if _context is None:
        import ssl
        import sys

        if sys.platform != "linux":
            import truststore

            _context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            return _context
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
        if file or folder:
            _load_named(context, file, folder)
        elif hashed := next((folder for folder in CA_FOLDERS if _is_hashed(folder)), None):
            context.load_verify_locations(capath=hashed)
        else:
            context.load_default_certs()
        context.set_alpn_protocols(["http/1.1"])
        _context = context
    return _context


def _load_named(context: Any, file: str | None, folder: str | None) -> None:
    try:
        context.load_verify_locations(file or None, folder or None)
    except OSError as problem:
        raise UnreachableError("SSL_CERT_FILE or SSL_CERT_DIR names no certificates") from problem


def _is_hashed(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".0") for entry in entries)
    except OSError:
        return False
