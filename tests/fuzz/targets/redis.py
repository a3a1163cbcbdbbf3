"""Replies of a shared server: values of the protocol, or one of the errors that mean it is of no use; cut anywhere."""

import io
from typing import Any

from sleuth.store.cache.redis.connection import NotRedisError, RedisConnection, RedisReplyError, packed

WORDS = "\r\n ¦ $ ¦ * ¦ : ¦ + ¦ - ¦ $5\r\n ¦ *3\r\n ¦ $-1\r\n ¦ *9999999\r\n ¦ $3999999\r\n ¦ @user_script: 1: -ERR"
ROUNDS = 1500


class Pieces(io.RawIOBase):
    """A stream that gives bytes in pieces of a size, then ends."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size = data, size

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer will do
        """Give the next piece."""
        piece = self.data[: min(self.size, len(buffer))]
        self.data = self.data[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


def check(data: bytes) -> None:
    """Read replies until there are no more."""
    whole = _replies(data, 65536)
    if len(data) < 5000:
        assert repr(_replies(data, 1)) == repr(whole), "cut anywhere"
    assert packed((data, "x")).count(data) >= 1


def _replies(data: bytes, size: int) -> list[Any]:
    connection = RedisConnection.__new__(RedisConnection)  # without a server
    connection._stream, connection._allowance = io.BufferedReader(Pieces(data, size)), 4_000_000
    found: list[Any] = []
    while True:
        try:
            found.append(connection._read())
        except (NotRedisError, ConnectionResetError) as problem:
            return [*found, type(problem).__name__]
        _check_value(found[-1])


def _check_value(value: Any) -> None:
    assert value is None or type(value) in (bytes, int, list, RedisReplyError)
    for inside in value if type(value) is list else ():
        _check_value(inside)
