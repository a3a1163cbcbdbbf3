"""A connection to a Redis or Valkey server: one deadline for each exchange, replies of bounded size.

Why not redis-py: it takes longer to import than a cached search takes as a whole, limits single reads instead of the
exchange, and reads replies of any size. The part of the protocol (RESP 2) that is needed here is small.
"""

import errno
import os
import re
import socket
import time
from collections.abc import Sequence
from contextlib import closing
from io import BufferedReader
from typing import Any

from sleuth.store.cache.redis.address import RedisAddress
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.connection import CHUNK_BYTES, DeadlineSocket, connect

CONNECT_TIMEOUT_S = 0.5
MAX_REPLY_BYTES = 4_000_000  # for all replies of one exchange
MAX_DEPTH = 4  # of nested lists; a scan has two

Command = Sequence[str | int | bytes]
Node = tuple[str, int]  # host and port


class RedisReplyError(Exception):
    """An error reply: the server refused a command."""

    def __init__(self, text: str) -> None:
        # Before Redis 7, an error in a script comes after the place where it happened.
        inner = re.findall(r"@user_script: ?\d+: -?([A-Z]{3,})\b", text)
        self.code = inner[-1] if inner else text.partition(" ")[0]  # such as WRONGTYPE
        self.text = text  # never shown: it may quote the command
        super().__init__(self.code)


class NotRedisError(Exception):
    """The reply is not RESP, or too large."""


class CertificateRequiredError(NotRedisError):
    """The server closed an encrypted connection at the first command."""


class UnknownServiceError(NotRedisError):
    """The sentinels do not know the primary server."""


class RedisConnection:
    """A connection that logs in with its first commands; after any error it must be closed."""

    def __init__(self, address: RedisAddress, node: Node | None = None) -> None:
        self.node = node  # of a cluster; None: any
        self._greeting = address.greeting
        self._allowance = 0  # bytes that may still be read
        self._until = time.monotonic() + CONNECT_TIMEOUT_S
        if node is None and address.service:
            node = _find_primary(address)
        self._raw = _connect(address, self._until, node)
        self._may_lack_certificate = address.secure and not address.certificate
        self._socket = DeadlineSocket(self._raw, lambda: self._until)
        self._stream = BufferedReader(self._socket, CHUNK_BYTES)

    def ask(self, commands: Sequence[Command], until: float) -> list[Any]:
        """Send commands together and return the reply to each: bytes, a number, None, a list or a RedisReplyError."""
        try:
            replies = self._ask(commands, until)
        except OSError as problem:  # TLS 1.3 refuses a client only after the handshake
            is_refusal = type(problem).__name__.startswith("SSL") or isinstance(problem, ConnectionError)
            if self._may_lack_certificate and is_refusal:
                raise CertificateRequiredError from problem
            raise
        self._may_lack_certificate = False
        return replies

    def _ask(self, commands: Sequence[Command], until: float) -> list[Any]:
        greeting, self._greeting = self._greeting, []
        self._allowance, self._until = MAX_REPLY_BYTES, until
        self._socket.sendall(b"".join(map(packed, [*greeting, *commands])))
        for _ in greeting:
            reply = self._read()
            if isinstance(reply, RedisReplyError):
                raise reply
        return [self._read() for _ in commands]

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()

    def _read(self, depth: int = 0) -> Any:
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest
        if kind == b"-":
            return RedisReplyError(rest.decode("utf-8", "replace"))
        if kind not in (b":", b"$", b"*") or depth == MAX_DEPTH:
            raise NotRedisError
        try:
            number = int(rest)
        except ValueError as problem:
            raise NotRedisError from problem
        if kind == b":":
            return number
        if number < 0:
            return None
        if number > MAX_REPLY_BYTES:
            raise NotRedisError
        if kind == b"*":
            return [self._read(depth + 1) for _ in range(number)]
        data = self._stream.read(number + 2)
        return self._checked(data, len(data) == number + 2)

    def _line(self) -> bytes:
        line = self._stream.readline(self._allowance)
        if line.endswith(b"\n") and not line.endswith(b"\r\n"):
            raise NotRedisError
        return self._checked(line, line.endswith(b"\r\n"))

    def _checked(self, data: bytes, complete: bool) -> bytes:
        """Return received data without its line end, or raise if it is too much or the connection was closed."""
        self._allowance -= len(data)
        if self._allowance <= 0:
            raise NotRedisError
        if not complete:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        return data[:-2]


def packed(command: Command) -> bytes:
    """Return a command in RESP: each word is preceded by its length, so that no word can be taken for a command."""
    words = [word if isinstance(word, bytes) else str(word).encode("utf-8", "replace") for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def _find_primary(address: RedisAddress) -> Node:
    """Return the primary server that the first sentinel which answers knows."""
    problem: Exception = ConnectionError("no sentinel")
    login = address._replace(service="", user="", password="", database=0)
    command = ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.service)
    for node in address.nodes:
        try:
            with closing(RedisConnection(login, node)) as sentinel:
                [reply] = sentinel.ask([command], time.monotonic() + CONNECT_TIMEOUT_S)
        except (OSError, NotRedisError) as error:
            problem = error
            continue
        if isinstance(reply, list) and len(reply) == 2 and all(isinstance(part, bytes) for part in reply):
            return reply[0].decode(), int(reply[1])
        problem = UnknownServiceError()
    raise problem


def _tls_context(address: RedisAddress) -> Any:
    """Return a context with the files that the address names; None for that of the system."""
    if not address.secure or not (address.certificate or address.authority):
        return None
    import ssl

    context = ssl.create_default_context(cafile=address.authority or os.environ.get("SSL_CERT_FILE") or None)
    if address.certificate:
        context.load_cert_chain(address.certificate, address.key or None)
    return context


def _connect_first(address: RedisAddress, nodes: Sequence[Node], until: float) -> socket.socket:
    problem: OSError = ConnectionError("no host")
    for host, port in nodes:
        try:
            return connect(host, port, until, tls=address.secure, context=_tls_context(address))
        except OSError as error:
            problem = error
    raise problem


def _connect(address: RedisAddress, until: float, node: Node | None) -> socket.socket:
    if not address.path:
        try:
            return _connect_first(address, [node] if node else address.nodes, until)
        except ProviderError as problem:  # no certificates in SSL_CERT_FILE
            raise OSError(errno.ENOENT, problem.detail) from problem
    if not hasattr(socket, "AF_UNIX"):
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        plain.settimeout(CONNECT_TIMEOUT_S)
        plain.connect(address.path)
    except BaseException:
        plain.close()
        raise
    return plain
