"""HTTP/1.1 replies and compressed bodies: one within its limits, or a ProviderError; cut anywhere, it is the same."""

import gzip
import io
import zlib

from sleuth_providers.base import Response
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.client import retry_after
from sleuth_providers.net.http1 import read_body, read_head, read_limited, request_head

LIMIT = 50_000
PLAIN = b'{"results": []}' * 3
SEEDS = [
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX: a\r\n b\r\n\r\n" + gzip.compress(PLAIN, mtime=0),
    b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + zlib.compress(PLAIN),
    b"HTTP/1.1 503 No\r\nContent-Encoding: deflate\r\n\r\n" + zlib.compress(b"a" * 70_000)[2:-4],
]
WORDS = (
    "Content-Length:  ¦ Transfer-Encoding: chunked\r\n ¦ Content-Encoding: gzip\r\n ¦ \r\n ¦ \r\n\r\n ¦ "
    "HTTP/1.1 200 OK\r\n ¦ ffffffffffffffff\r\n ¦ 0\r\n ¦ Retry-After:  ¦ 1e9 ¦ ; ¦ : ¦   ¦ identity ¦ "
    "99999999999999999999"
)
ROUNDS = 1500


class Dripping(io.RawIOBase):
    """Gives one byte at a time."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # any buffer will do
        """Give the next byte."""
        piece = self.data[self.place : self.place + 1]
        self.place += len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


def check(data: bytes) -> None:
    """Read a reply whole and byte by byte."""
    whole = _read(io.BufferedReader(io.BytesIO(data), 65536))  # type: ignore[arg-type]  # bytes are as good as a socket
    if len(data) < 5000:
        assert _read(io.BufferedReader(Dripping(data), 65536)) == whole, "cut anywhere"
    text = data.decode("latin-1")
    try:
        head = request_head("GET", "/", "a", {"X": text}, None)
        assert head.count(b"\r\n\r\n") == 1
        assert head.count(b"\n") == 4
    except ProviderError:
        assert any(sign in "\r\n\0" for sign in text)


def _read(stream: io.BufferedReader) -> object:
    try:
        status, headers = read_head(stream)
        body = read_limited(read_body(stream, status, headers), headers.get("content-encoding", ""), status, LIMIT)
    except ProviderError as error:
        return type(error).__name__
    assert len(body) <= LIMIT
    assert 100 <= status <= 999
    assert all(type(part) is str and "\n" not in part for pair in headers.items() for part in pair)
    pause = retry_after(Response(status, headers, body))
    assert pause is None or pause >= 0
    return status, headers, body
