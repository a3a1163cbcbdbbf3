"""The HTTP/1.1 client: what it sends, what it reads, and its limits."""

import gzip
import io
import os
import socket
import struct
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadRequestError, BadResponseError, BrokenOffError, ProviderError
from sleuth_providers.net.http1 import MAX_HEADERS, MAX_LINE_BYTES, exchange, read_body, read_head, request_head
from sleuth_providers.net.policy import ExchangeLimits

TEXT = b"The quick brown fox jumps over the lazy dog. " * 50
KEY = "sk-secret-0123456789"


def ask(address: str, max_body: int = 10_000_000, **more: Any) -> Response:
    limits = ExchangeLimits(time.monotonic() + 30.0, body=max_body)
    return exchange(Request(address, **more), {"Connection": "close"}, limits)


def http(*headers: str, body: bytes = b"", status: str = "200 OK", length: bool = True) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join([*lines, "", ""]).encode() + body


# Parsing


def stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]  # a BytesIO is raw enough


def response(data: bytes) -> tuple[int, dict[str, str], bytes]:
    reader = stream(data)
    status, headers = read_head(reader)
    return status, headers, b"".join(read_body(reader, status, headers))


def test_request_head_names_host_headers_and_length() -> None:
    head = request_head("POST", "/a?b=c", "example.org:81", {"Accept": "*/*"}, b"four")
    assert head == b"POST /a?b=c HTTP/1.1\r\nHost: example.org:81\r\nAccept: */*\r\nContent-Length: 4\r\n\r\n"


def test_request_without_body_has_no_length() -> None:
    assert b"Content-Length" not in request_head("GET", "/", "h", {}, None)


@pytest.mark.parametrize(
    "headers",
    [{"X": "a\r\nY: b"}, {"X": "a\nb"}, {"X": "a\0"}, {"X": "键"}, {"X Y": "a"}, {"X:": "a"}, {"": "a"}, {"Ü": "a"}],
)
def test_header_that_http_cannot_carry_is_refused_without_showing_it(headers: dict[str, str]) -> None:
    with pytest.raises(BadRequestError) as caught:
        request_head("GET", "/", "h", {"Authorization": "Bearer secret"} | headers, None)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("target", ["/a b\r\nX: y", "/\n"])
def test_target_that_ends_the_line_is_refused(target: str) -> None:
    with pytest.raises(BadRequestError):
        request_head("GET", target, "h", {}, None)


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\nevil", b"abc"),
        (b"HTTP/1.0 200 OK\n\nuntil the end", b"until the end"),
        (b"HTTP/1.1 200\r\n\r\n", b""),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: x\r\n\r\n",
            b"abcde",
        ),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi", b"hi"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n1\r\na\r\n0\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" + b"T: x\r\n" * 300, b"a"),
    ],
)
def test_body_is_read_as_its_head_says(data: bytes, body: bytes) -> None:
    assert response(data)[2] == body


def test_headers_are_lower_case_folded_lines_joined_and_the_last_counts() -> None:
    _, headers, _ = response(b"HTTP/1.1 200 OK\r\nX-A:  1\r\n 2\r\nno colon\r\n: empty\r\nx-a: 3\r\nY:\xfc\r\n\r\n")
    assert headers == {"x-a": "3", "y": "ü"}


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", BrokenOffError),
        (b"<html>no http</html>", BrokenOffError),
        (b"HTTP/2 200 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 2000 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nX: ", BrokenOffError),
        (b"HTTP/1.1 101 Switching\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 103 Hints\r\n\r\n" * 40 + b"HTTP/1.1 200 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * (MAX_LINE_BYTES + 10), BrokenOffError),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (MAX_HEADERS + 1) + b"\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", BadResponseError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n", BrokenOffError),
    ],
)
def test_reply_that_is_none_is_an_error(data: bytes, error: type[ProviderError]) -> None:
    with pytest.raises(error):
        response(data)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_reply_or_a_known_error(data: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with suppress(ProviderError):
            response(start + data)


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8))
def test_chunks_come_back_whole(parts: list[bytes]) -> None:
    sent = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    assert b"".join(read_body(stream(sent), 200, {"transfer-encoding": "chunked"})) == b"".join(parts)


# Size


def test_endless_body_is_refused(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not server.over.is_set():
            connection.sendall(b"x" * 65536)

    server = serve(answer)
    with pytest.raises(BadResponseError, match="larger than 1 MB"):
        ask(server.url, max_body=1_000_000)


def test_size_limit_is_exact(serve: Any) -> None:
    assert len(ask(serve(http(body=b"x" * 1000)).url, max_body=1000).body) == 1000
    with pytest.raises(BadResponseError):
        ask(serve(http(body=b"x" * 1001)).url, max_body=1000)


def test_size_limit_is_exact_after_decompression(serve: Any) -> None:
    for size, fits in ((1000, True), (1001, False)):
        server = serve(http("Content-Encoding: gzip", body=gzip.compress(b"x" * size)))
        if fits:
            assert len(ask(server.url, max_body=1000).body) == 1000
        else:
            with pytest.raises(BadResponseError, match="larger"):
                ask(server.url, max_body=1000)


def bomb(megabytes: int) -> bytes:
    """A gzip stream that grows a thousandfold, made by saying one block again and again."""
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    first = engine.compress(bytes(1_000_000)) + engine.flush(zlib.Z_FULL_FLUSH)
    again = engine.compress(bytes(1_000_000)) + engine.flush(zlib.Z_FULL_FLUSH)
    return first + again * (megabytes - 1)


MEASURE = """
import re, sys
from sleuth_providers.net import httpx_transport
from sleuth_providers.base import Request
from sleuth_providers.errors import BadResponseError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.httpx_transport import proxy_transport
from sleuth_providers.net.policy import Policy

def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])

before = peak()
try:
    HttpClient(Policy(timeout=20, attempts=1)).send(Request(sys.argv[1]))
except BadResponseError as error:
    print(error.detail, (peak() - before) // 1024, sep="|")
"""


def measure(address: str, **environ: str) -> tuple[str, int]:
    """Send the request in a separate process; return its output and by how many MB it grew."""
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]} | environ
    done = subprocess.run([sys.executable, "-c", MEASURE, address], env=environ, capture_output=True, text=True)
    said, _, grown = done.stdout.strip().partition("|")
    assert grown, done.stderr
    return said, int(grown)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_stays_bounded_with_a_gzip_bomb(serve: Any) -> None:
    server = serve(http("Content-Encoding: gzip", body=bomb(600)))
    said, grown = measure(server.url)
    assert said == "larger than 10 MB"
    assert grown <= 30


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_stays_bounded_with_a_large_body(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 120000000\r\n\r\n")
        for _ in range(120):
            connection.sendall(bytes(1_000_000))

    said, grown = measure(serve(answer).url)
    assert said == "larger than 10 MB"
    assert grown <= 30


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip"])
def test_memory_stays_bounded_with_a_gzip_bomb_through_a_proxy(serve: Any, encoding: str) -> None:
    body = bomb(600) if encoding == "gzip" else gzip.compress(bomb(2000))
    proxy = serve(http(f"Content-Encoding: {encoding}", body=body))
    said, grown = measure("http://example.test/", http_proxy=proxy.url)
    assert said.startswith(("larger than 10 MB", "unsupported content encoding"))
    assert grown <= 40


# Compression


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        (" GZIP ", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("gzip", zlib.compress),
        ("identity", bytes),
    ],
)
def test_compressed_body_is_decompressed(serve: Any, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    server = serve(http(f"Content-Encoding: {encoding}", body=pack(TEXT)))
    assert ask(server.url).body == TEXT


def test_compressed_body_in_single_bytes_is_decompressed(serve: Any) -> None:
    packed = gzip.compress(TEXT)
    chunks = b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in packed) + b"0\r\n\r\n"
    server = serve(http("Content-Encoding: gzip", "Transfer-Encoding: chunked", length=False) + chunks)
    assert ask(server.url).body == TEXT


def test_compressed_body_can_be_empty(serve: Any) -> None:
    assert ask(serve(http("Content-Encoding: gzip")).url).body == b""


def test_bytes_after_the_end_of_a_compressed_body_are_ignored(serve: Any) -> None:
    assert ask(serve(http("Content-Encoding: gzip", body=gzip.compress(TEXT) + b"\0\0")).url).body == TEXT


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip", "x" * 5000])
def test_unsupported_content_encoding_is_refused(serve: Any, encoding: str) -> None:
    with pytest.raises(BadResponseError, match="unsupported content encoding") as caught:
        ask(serve(http(f"Content-Encoding: {encoding}", body=b"...")).url)
    assert len(caught.value.detail) < 100


def test_error_status_counts_despite_an_unsupported_encoding(serve: Any) -> None:
    response = ask(serve(http("Content-Encoding: br", body=b"...", status="429 Slow down")).url)
    assert (response.status, response.body) == (429, b"")


@pytest.mark.parametrize(
    "body",
    [b"not gzip at all", b"\x1f\x8b\x08 broken", gzip.compress(TEXT, mtime=0)[:-8] + b"\0" * 8],
    ids=["text", "header", "checksum"],
)
def test_corrupt_compression_is_reported(serve: Any, body: bytes) -> None:
    with pytest.raises(BadResponseError, match="corrupt compressed data"):
        ask(serve(http("Content-Encoding: gzip", body=body)).url)


def test_compressed_body_that_ends_early_is_a_broken_connection(serve: Any) -> None:
    with pytest.raises(BrokenOffError, match="before the response was complete"):
        ask(serve(http("Content-Encoding: gzip", body=gzip.compress(TEXT)[:60])).url)


# Broken answers


def test_truncated_body_is_a_broken_connection(serve: Any) -> None:
    with pytest.raises(BrokenOffError, match="before the response was complete"):
        ask(serve(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this").url)


@pytest.mark.parametrize(
    "chunks",
    [b"5\r\nhello\r\n", b"zz\r\nhello\r\n0\r\n\r\n", b"5\r\nhel", b"", b"-5\r\nhello", b"f" * 70000 + b"\r\n"],
    ids=["no end", "no number", "cut", "nothing", "negative", "endless size"],
)
def test_broken_chunks_are_a_broken_connection(serve: Any, chunks: bytes) -> None:
    with pytest.raises(BrokenOffError):
        ask(serve(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks).url)


def test_chunked_body_is_read_to_its_end(serve: Any) -> None:
    chunks = b"5;note=x\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: 1\r\n\r\n"
    assert ask(serve(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks).url).body == b"hello!"


def reset(connection: socket.socket) -> None:
    """End a connection with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize(
    "before", [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"]
)
def test_reset_is_a_broken_connection(serve: Any, before: bytes) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(before)
        reset(connection)

    with pytest.raises(BrokenOffError):
        ask(serve(answer).url)


@pytest.mark.parametrize(
    "nonsense",
    [b"", b"SSH-2.0-x\r\n", b"\x15\x03\x01\x00\x02\x02\x16", b"HTTP/1.1 abc OK\r\n\r\n", b"HTTP/1.1 99 No\r\n\r\n"],
    ids=["nothing", "ssh", "tls alert", "no number", "small number"],
)
def test_reply_that_is_not_http_is_a_broken_connection(serve: Any, nonsense: bytes) -> None:
    with pytest.raises(BrokenOffError):
        ask(serve(nonsense).url)


def test_header_line_over_64_kb_is_refused(serve: Any) -> None:
    with pytest.raises(BrokenOffError):
        ask(serve(http("X-Long: " + "x" * 70_000)).url)


def test_status_line_over_64_kb_is_refused(serve: Any) -> None:
    with pytest.raises(BrokenOffError):
        ask(serve(http(status="200 " + "x" * 70_000)).url)


def test_a_hundred_headers_are_read_and_more_are_refused(serve: Any) -> None:
    assert ask(serve(http(*[f"X-{n}: y" for n in range(98)], body=b"ok")).url).body == b"ok"
    with pytest.raises(BrokenOffError):
        ask(serve(http(*[f"X-{n}: y" for n in range(101)])).url)


def test_endless_headers_are_refused(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not server.over.is_set():
            connection.sendall(b"X-Y: " + b"z" * 60_000 + b"\r\n")

    server = serve(answer)
    with pytest.raises(BrokenOffError):
        ask(server.url)


@pytest.mark.parametrize("length", ["-1", "ten", "9" * 30])
def test_invalid_content_length_does_no_harm(serve: Any, length: str) -> None:
    server = serve(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nok".encode())
    try:
        assert ask(server.url).body == b"ok"
    except BrokenOffError:
        assert length.isdigit()


def test_body_without_a_length_ends_with_the_connection(serve: Any) -> None:
    server = serve(http("Connection: close", body=TEXT, length=False))
    for _ in range(200):
        assert ask(server.url).body == TEXT


def test_sockets_are_closed_after_good_and_bad_exchanges(serve: Any) -> None:
    good, bad = serve(), serve(b"nonsense")
    ask(good.url)
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    for _ in range(20):
        ask(good.url)
        with pytest.raises(BrokenOffError):
            ask(bad.url)
    while os.path.exists("/proc/self/fd") and len(os.listdir("/proc/self/fd")) > before + 2:
        good.over.wait(0.01)  # the threads of the server close their side


# What is sent


def test_request_is_sent_as_declared(serve: Any) -> None:
    server = serve()
    ask(f"{server.url}/p/a", params={"q": "a b&c", "n": 2}, method="POST", json={"k": "é"}, headers={"X-Api-Key": KEY})
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /p/a?q=a+b%26c&n=2 HTTP/1.1"
    assert f"Host: {server.netloc}" in lines
    assert f"X-Api-Key: {KEY}" in lines
    assert "Content-Type: application/json" in lines
    assert body == '{"k": "é"}'.encode()


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("", "/"),
        ("?a=1", "/?a=1"),
        ("/ü/中?q=é", "/%C3%BC/%E4%B8%AD?q=%C3%A9"),
        ("/a b?c d", "/a%20b?c%20d"),
        ("/%41%2f?x=%20", "/%41%2f?x=%20"),
        ("/a\x7fb\x01", "/a%7Fb%01"),
        ("/\ud800", "/%ED%A0%80"),
        ("//double", "//double"),
        ("/p#fragment", "/p"),
    ],
)
def test_path_is_percent_encoded(serve: Any, path: str, sent: str) -> None:
    server = serve()
    ask(server.url + path)
    assert server.requests[0].split(b" ")[1].decode() == sent


@pytest.mark.parametrize("field", ["json", "form", "params"])
def test_lone_surrogates_are_replaced(serve: Any, field: str) -> None:
    server = serve()
    ask(server.url, method="POST", **{field: {"q": "a\udcffb"}})
    assert b"a?b" in server.requests[0] or b"a%3Fb" in server.requests[0]


@pytest.mark.parametrize("end", ["\r\nX-Evil: 1", "\n", "\x1b[31m", "\x7f", "中", "\udcff"])
def test_key_with_invalid_characters_is_refused_without_being_shown(serve: Any, end: str) -> None:
    server = serve()
    with pytest.raises(BadRequestError, match="does not allow") as caught:
        ask(server.url, headers={"Authorization": f"Bearer {KEY}{end}"})
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert not any(b"X-Evil" in request for request in server.requests)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "host/path",
        "",
        "http://[::1/",
        "http://host:99999/",
        "http://host:port/",
        "http://ho st/",
        "http://ho\x01st/",
        "http://ho\x00st/",
        "http://a..b/",
        f"http://{'a' * 64}.test/",
    ],
)
def test_invalid_url_is_a_bad_request(address: str) -> None:
    with pytest.raises(BadRequestError, match=r"not an http|invalid"):
        ask(address)


# Secrets


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n{KEY}".encode(),
        f"{KEY} {KEY}\r\n\r\n".encode(),
    ],
)
def test_errors_contain_no_keys(serve: Any, answer: bytes) -> None:
    server = serve(answer)
    with pytest.raises(ProviderError) as caught:
        ask(server.url, params={"api_key": KEY}, headers={"X-API-KEY": KEY, "Authorization": f"Bearer {KEY}"})
    error = caught.value
    assert KEY.encode() in server.requests[0]
    assert KEY not in f"{error} {error.detail} {error.message} {error.hint}"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_errors_without_a_connection_contain_no_keys(scheme: str) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(f"{scheme}://127.0.0.1:9/{KEY}", params={"api_key": KEY}, headers={"X-API-KEY": KEY})
    assert KEY not in "".join(traceback.format_exception_only(caught.value)) + caught.value.detail
