"""One connection to a Redis or Valkey server: one deadline around every exchange, replies bounded, little to import.

The usual client takes longer to import than a cached search takes as a whole, gives every single read a time limit of
its own, and takes in whatever a server sends. What is needed of the protocol (RESP 2) is small.
"""

import errno
import os
import re
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from sleuth.store.cache.redis.address import RedisAddress
from sleuth_providers.records import Record

CONNECT = 0.5  # seconds until a connection must stand
MAX_REPLY = 4_000_000  # bytes taken in for one exchange
MAX_DEPTH = 4  # lists in lists; a scan has two
CHUNK = 65536

Command = Sequence[str | int | bytes]


class ErrorReply(Record):
    """A reply that is an error."""

    code: str  # the first word, such as WRONGTYPE
    text: str  # never shown: it may quote what was sent


class RedisReplyError(Exception):
    """The server does not do what it was asked to."""

    def __init__(self, refusal: ErrorReply) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


class NotRedisError(Exception):
    """What came back is no reply, or a monstrous one."""


class RedisConnection:
    """A socket with its greeting still to be said; after any error it is of no more use."""

    def __init__(self, address: RedisAddress) -> None:
        self._greeting = address.greeting
        self._received = bytearray()
        self._room = 0
        self._socket = dial(address, time.monotonic() + CONNECT)

    def ask(self, commands: Sequence[Command], until: float) -> list[Any]:
        """Send commands together and return the reply to each: bytes, a number, None, a list or a Refusal."""
        greeting, self._greeting = self._greeting, []
        self._room = MAX_REPLY
        self._socket.settimeout(remaining(until))
        self._socket.sendall(b"".join(map(packed, [*greeting, *commands])))
        for _ in greeting:
            reply = self._read(until)
            if isinstance(reply, ErrorReply):
                raise RedisReplyError(reply)
        return [self._read(until) for _ in commands]

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _read(self, until: float, depth: int = 0) -> Any:
        line = self._line(until)
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest
        if kind == b"-":
            return _refusal(rest.decode("utf-8", "replace"))
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
        if number > MAX_REPLY:
            raise NotRedisError
        if kind == b"*":
            return [self._read(until, depth + 1) for _ in range(number)]
        return self._take(number, until)

    def _line(self, until: float) -> bytes:
        start = 0
        while (end := self._received.find(b"\r\n", start)) < 0:
            start = max(0, len(self._received) - 1)
            self._receive(until)
        line = bytes(self._received[:end])
        del self._received[: end + 2]
        return line

    def _take(self, size: int, until: float) -> bytes:
        while len(self._received) < size + 2:
            self._receive(until)
        data = bytes(self._received[:size])
        del self._received[: size + 2]
        return data

    def _receive(self, until: float) -> None:
        self._socket.settimeout(remaining(until))
        data = self._socket.recv(CHUNK)
        if not data:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        self._room -= len(data)
        if self._room < 0:
            raise NotRedisError
        self._received += data


def _refusal(text: str) -> ErrorReply:
    """Read an error; before Redis 7, one from within a script stands behind the place where it happened."""
    inner = re.findall(r"@user_script: ?\d+: -?([A-Z]{3,})\b", text)
    return ErrorReply(inner[-1] if inner else text.partition(" ")[0], text)


def packed(command: Command) -> bytes:
    """Return a command as it is sent: every word with its length before it, so that no word can be a command."""
    words = [word if isinstance(word, bytes) else str(word).encode("utf-8", "replace") for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def remaining(until: float) -> float:
    """Return how many seconds are left; TimeoutError when none are."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def dial(address: RedisAddress, until: float) -> socket.socket:
    """Connect to the first place of an address that answers; all share the time there is."""
    problem: OSError = TimeoutError()
    places = list(_places(address, until))
    for left, (family, place) in zip(range(len(places), 0, -1), places, strict=True):
        plain = socket.socket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(remaining(until) / left)
            plain.connect(place)
            if not address.path:
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return _secured(plain, address.host, until) if address.secure else plain
        except OSError as error:
            plain.close()
            problem = error
        except BaseException:
            plain.close()
            raise
    raise problem


def _places(address: RedisAddress, until: float) -> Iterable[tuple[int, Any]]:
    if address.path:
        if not hasattr(socket, "AF_UNIX"):
            raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
        return [(socket.AF_UNIX, address.path)]
    return [(found[0], found[4]) for found in _look_up(address.host, address.port, until)]


def _look_up(host: str, port: int, until: float) -> Any:
    """Look a name up in a thread that is left behind when it takes too long: getaddrinfo has no time limit."""
    answer: list[Any] = []

    def look_up() -> None:
        try:
            answer.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as problem:
            answer.append(problem)
        except UnicodeError:  # a label that no name can have
            answer.append(socket.gaierror(socket.EAI_NONAME, "no such name"))

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(remaining(until))
    if not answer:
        raise TimeoutError
    if isinstance(answer[0], OSError):
        raise answer[0]
    return answer[0]


def _secured(plain: socket.socket, host: str, until: float) -> socket.socket:
    from sleuth_providers.errors import ProviderError
    from sleuth_providers.net.connection import tls_context

    try:
        context = tls_context()
    except ProviderError as problem:  # SSL_CERT_FILE names no certificates
        raise OSError(errno.ENOENT, problem.detail) from problem
    plain.settimeout(remaining(until))
    secured: socket.socket = context.wrap_socket(plain, server_hostname=host)
    return secured
