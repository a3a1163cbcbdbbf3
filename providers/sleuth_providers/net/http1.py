"""A small HTTP/1.1 client: one request over one connection, every part of the reply bounded in size and time.

Why not http.client or httpx: their imports alone take 0.7 and 3 times the CPU time of a whole live search (measured on
Python 3.11: 35 and 155 ms against 49 ms). Both also limit single reads, so that a server that drips bytes keeps them
busy for ever. One request per connection means no pipelining, no reuse and no way to smuggle a second reply. Requests
through proxies and streams of models, where the import does not matter, go over httpx (`net.httpx_transport`).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadRequestError, BadResponseError, BrokenOffError
from sleuth_providers.net.connection import CHUNK_BYTES, DeadlineSocket, connect, connection_error
from sleuth_providers.net.policy import ExchangeLimits, Guard
from sleuth_providers.net.urls import host_header, request_target, split_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_LINE_BYTES = 65536
MAX_HEADERS = 100
MAX_INTERIM_REPLIES = 32  # such as "103 Early Hints", before the real one
MAX_CHUNK_DIGITS = 16
NOT_HTTP = "the response is not HTTP"
INCOMPLETE = "the connection was closed before the response was complete"
INVALID_CHARACTERS = "a key, header or URL contains characters that HTTP does not allow"
HEADER_LINES = re.compile(rb"[^\r\n]+(\r\n[\w!#$%&'*+.^`|~-]+: [\t -~\x80-\xff]*)+")
IDENTITY = ("", "identity")
COMPRESSED = ("gzip", "x-gzip", "deflate")


def exchange(
    request: Request, headers: Mapping[str, str], limits: ExchangeLimits, guard: Guard | None = None
) -> Response:
    """Send a request and return the whole reply, whatever its status; redirects are not followed."""
    url = request.address
    parts, host, port = split_url(url)
    body, sent = encoded(request, headers)
    head = request_head(request.method, request_target(parts), host_header(parts, host, port), sent, body)
    try:
        with connect(host, port, limits.connect_by(), guard, tls=parts.scheme == "https") as raw:
            connection = DeadlineSocket(raw, lambda: limits.deadline)
            connection.sendall(head + (body or b""))
            stream: BufferedReader = BufferedReader(connection, CHUNK_BYTES)
            status, received = read_head(stream)
            chunks = read_body(stream, status, received)
            content = read_limited(chunks, received.get("content-encoding", ""), status, limits.body)
            return Response(status, received, content, url)
    except OSError as problem:
        raise connection_error(problem, parts.netloc.rpartition("@")[2]) from problem


def encoded(request: Request, headers: Mapping[str, str]) -> tuple[bytes | None, dict[str, str]]:
    """Return the body of a request, and all its headers: the common ones, then the request's own."""
    body, content_type = request.body()
    return body, dict(headers) | ({"Content-Type": content_type} if content_type else {}) | dict(request.headers)


def request_head(method: str, target: str, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """Return the head of a request; raise BadRequestError for a header that would be read as two."""
    named = {"Host": host} | dict(headers) | ({"Content-Length": str(len(body))} if body is not None else {})
    lines = "".join(f"\r\n{name}: {value}" for name, value in named.items())
    try:
        head = f"{method} {target} HTTP/1.1{lines}".encode("latin-1")
    except UnicodeEncodeError:
        raise BadRequestError(INVALID_CHARACTERS) from None
    if not HEADER_LINES.fullmatch(head) or head.count(b"\n") != len(named):
        raise BadRequestError(INVALID_CHARACTERS)
    return head + b"\r\n\r\n"


def read_head(stream: BufferedReader) -> tuple[int, dict[str, str]]:
    """Return status and headers of the final reply: names in lower case, the last of a name; 1xx are skipped."""
    for _ in range(MAX_INTERIM_REPLIES):
        status, headers = _status(_line(stream)), _headers(stream)
        if not 100 <= status < 200:
            return status, headers
        if status == 101:
            break
    raise BrokenOffError(NOT_HTTP)


def _status(line: bytes) -> int:
    version, _, rest = line.partition(b" ")
    code = rest[:3]
    is_code = code.isdigit() and len(code) == 3 and code >= b"100"
    if not version.startswith(b"HTTP/1.") or not is_code or rest[3:4] not in (b"", b" "):
        raise BrokenOffError(NOT_HTTP)
    return int(code)


def _headers(stream: BufferedReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    name = ""
    for _ in range(MAX_HEADERS + 1):
        line = _line(stream)
        if not line:
            return headers
        if line[:1] in (b" ", b"\t"):  # obsolete line folding: the value continues
            if name:
                headers[name] += " " + line.decode("latin-1").strip()
            continue
        label, colon, value = line.decode("latin-1").partition(":")
        name = label.strip().lower() if colon else ""
        if not name:
            continue
        text = value.strip()
        if name == "content-length" and headers.get(name, text) != text:
            raise BrokenOffError(NOT_HTTP)  # two lengths: request smuggling
        headers[name] = text
    raise BrokenOffError(NOT_HTTP)


def _line(stream: BufferedReader) -> bytes:
    line = stream.readline(MAX_LINE_BYTES + 1)
    if not line.endswith(b"\n"):
        raise BrokenOffError(NOT_HTTP if len(line) > MAX_LINE_BYTES else INCOMPLETE)
    return line.rstrip(b"\r\n")


def read_body(stream: BufferedReader, status: int, headers: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the body as it arrives; raise BrokenOffError for one that ends early."""
    if status in (204, 304):
        return
    if coding := headers.get("transfer-encoding", "").lower():
        if coding != "chunked":
            raise BadResponseError("unsupported transfer encoding", status=status)
        yield from _chunks(stream)
        return
    length = headers.get("content-length", "")
    if length.isascii() and length.isdigit():
        yield from _exactly(stream, int(length[:20]))
        return
    while part := stream.read1(CHUNK_BYTES):
        yield part


def _chunks(stream: BufferedReader) -> Iterator[bytes]:
    while size := _chunk_size(stream):
        yield from _exactly(stream, size)
        if _line(stream):
            raise BrokenOffError(NOT_HTTP)
    # Trailers may follow the last chunk; nothing in them is needed, so they are not read.


def _chunk_size(stream: BufferedReader) -> int:
    digits = _line(stream).partition(b";")[0].strip()
    if not digits or len(digits) > MAX_CHUNK_DIGITS or not all(byte in b"0123456789abcdefABCDEF" for byte in digits):
        raise BrokenOffError(NOT_HTTP)
    return int(digits, 16)


def _exactly(stream: BufferedReader, size: int) -> Iterator[bytes]:
    while size > 0:
        part = stream.read1(min(size, CHUNK_BYTES))
        if not part:
            raise BrokenOffError(INCOMPLETE)
        size -= len(part)
        yield part


def read_limited(chunks: Iterable[bytes], encoding: str, status: int, limit: int) -> bytes:
    """Return a body, decompressed as it streams; raise BadResponseError as soon as it exceeds the limit."""
    encoding = encoding.strip().lower()
    if encoding not in IDENTITY + COMPRESSED:
        if status >= 400:
            return b""  # the status is enough
        raise BadResponseError("unsupported content encoding", status=status)
    decoder: Any = None
    parts, received, size = [], 0, 0
    for chunk in chunks:
        received += len(chunk)
        if decoder is None and encoding in COMPRESSED:  # the first byte tells gzip, zlib and raw deflate apart:
            is_gzip, is_zlib = chunk[0] == 0x1F, chunk[0] & 0x0F == 8  # servers confuse their names
            decoder = zlib.decompressobj(31 if is_gzip else 15 if is_zlib else -15)
        try:
            data = decoder.decompress(chunk, limit - size + 1) if decoder else chunk
        except zlib.error as problem:
            raise BadResponseError("corrupt compressed data", status=status) from problem
        size += len(data)
        if size > limit or received > limit:
            raise BadResponseError("larger than {size:g} MB", size=limit / 1_000_000, status=status)
        parts.append(data)
    if decoder and not decoder.eof:
        raise BrokenOffError(INCOMPLETE)
    return b"".join(parts)
