"""HTTP/1.1 as far as one exchange needs it: the head of a request, and a reply read with every part of it bounded.

A connection serves one request and is closed, so there is no pipelining, no reuse and no way to smuggle a second reply.
The standard library's client does more, and costs more to import than a whole search takes: it loads the mail parser
for the headers and TLS for everybody.
"""

from collections.abc import Iterator, Mapping
from io import BufferedReader

from sleuth_providers.errors import BadRequestError, BadResponseError, BrokenOffError
from sleuth_providers.records import Record

MAX_LINE = 65536
MAX_HEADERS = 100
MAX_INTERIM = 32  # replies like "103 Early Hints" before the real one
CHUNK = 65536
NO_HTTP = "the connection broke off or spoke no HTTP"
ENDED = "the connection broke off in the middle of the answer"
TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Head(Record):
    """What comes before the body of a reply; names are in lower case, the last of several with one name counts."""

    status: int
    headers: Mapping[str, str]


def request_head(method: str, target: str, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """Return the head of a request; a header that would be read as two is refused."""
    named = {"Host": host} | dict(headers) | ({"Content-Length": str(len(body))} if body is not None else {})
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    if not all(name and TOKEN.issuperset(name) for name in named) or any(map(_breaks, lines)):
        raise BadRequestError("a key or another header holds characters that HTTP cannot carry")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _breaks(line: str) -> bool:
    """Tell whether a line holds what ends it, or what no server could read."""
    return any(sign in "\r\n\0" or ord(sign) > 255 for sign in line)


def read_head(stream: BufferedReader) -> Head:
    """Return the head of the reply, past those that only announce it."""
    for _ in range(MAX_INTERIM):
        head = Head(_status(_line(stream)), _headers(stream))
        if not 100 <= head.status < 200:
            return head
        if head.status == 101:
            break
    raise BrokenOffError(NO_HTTP)


def _status(line: bytes) -> int:
    version, _, rest = line.partition(b" ")
    code = rest[:3]
    is_code = code.isdigit() and len(code) == 3 and code >= b"100"
    if not version.startswith(b"HTTP/1.") or not is_code or rest[3:4] not in (b"", b" "):
        raise BrokenOffError(NO_HTTP)
    return int(code)


def _headers(stream: BufferedReader) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for _ in range(MAX_HEADERS + 1):
        line = _line(stream)
        if not line:
            return found
        if line[:1] in (b" ", b"\t"):  # an old way to go on with a long value
            if name:
                found[name] += " " + line.decode("latin-1").strip()
            continue
        label, colon, value = line.decode("latin-1").partition(":")
        name = label.strip().lower() if colon else ""
        if not name:
            continue
        text = value.strip()
        if name == "content-length" and found.get(name, text) != text:
            raise BrokenOffError(NO_HTTP)  # whoever sends two lengths hides something
        found[name] = text
    raise BrokenOffError(NO_HTTP)


def _line(stream: BufferedReader) -> bytes:
    line = stream.readline(MAX_LINE + 1)
    if not line.endswith(b"\n"):  # the end of the connection, or of our patience
        raise BrokenOffError(NO_HTTP)
    return line.rstrip(b"\r\n")


def read_body(stream: BufferedReader, head: Head) -> Iterator[bytes]:
    """Yield the body as it arrives; one that ends before it should is an error."""
    if head.status in (204, 304):
        return
    if coding := head.headers.get("transfer-encoding", "").lower():
        if coding != "chunked":
            raise BadResponseError(f"sent in a way nobody asked for: {coding[:20]!r}", status=head.status)
        yield from _chunks(stream)
        return
    length = head.headers.get("content-length", "")
    if length.isascii() and length.isdigit():
        yield from _exactly(stream, int(length[:20]))
        return
    while part := stream.read1(CHUNK):
        yield part


def _chunks(stream: BufferedReader) -> Iterator[bytes]:
    while size := _chunk_size(stream):
        yield from _exactly(stream, size)
        if _line(stream):
            raise BrokenOffError(NO_HTTP)
    # Trailers may follow the last chunk; they say nothing we need, and nobody waits for them.


def _chunk_size(stream: BufferedReader) -> int:
    digits = _line(stream).partition(b";")[0].strip()
    if not digits or len(digits) > 16 or not all(byte in b"0123456789abcdefABCDEF" for byte in digits):
        raise BrokenOffError(NO_HTTP)
    return int(digits, 16)


def _exactly(stream: BufferedReader, size: int) -> Iterator[bytes]:
    while size > 0:
        part = stream.read1(min(size, CHUNK))
        if not part:
            raise BrokenOffError(ENDED)
        size -= len(part)
        yield part
