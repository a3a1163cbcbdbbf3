"""One exchange ends in time, in bounded memory, at an address that was looked at, and says what went wrong."""

import gzip
import os
import socket
import ssl
import struct
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BrokenOffError,
    DeadlineError,
    ProviderError,
    UnreachableError,
)
from sleuth_providers.net import connection, tls
from sleuth_providers.net.http1 import exchange
from sleuth_providers.net.policy import ExchangeLimits, Guard

HEADERS = {"Connection": "close"}
TEXT = b"The quick brown fox jumps over the lazy dog. " * 50
BUSY = 4.0  # seconds that a machine with other work may need besides
KEY = "sk-secret-0123456789"


def ask(address: str, seconds: float = 5.0, guard: Guard | None = None, **more: Any) -> Response:
    limits = ExchangeLimits(time.monotonic() + seconds, more.pop("connect", 5.0), more.pop("body", 10_000_000))
    return exchange(Request(address, **more), HEADERS, limits, guard)


def http(*headers: str, body: bytes = b"", status: str = "200 OK", length: bool = True) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def ends_within(least: float, most: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert least <= time.monotonic() - started <= most + BUSY


# Time


def test_deadline_ends_it_when_headers_drip(serve: Any) -> None:
    server = serve(lambda connection, _: server.drip(connection, b"HTTP/1.1 200 OK\r\n" + b"X-Y: z\r\n" * 90))
    with ends_within(0.3, 1.3), pytest.raises(DeadlineError):
        ask(server.url, 0.3)


def test_deadline_ends_it_when_the_body_drips(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        server.drip(connection, b"x")

    server = serve(answer)
    with ends_within(0.3, 1.3), pytest.raises(DeadlineError):
        ask(server.url, 0.3)


def test_deadline_ends_it_when_chunks_drip(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        server.drip(connection, b"1\r\nx\r\n")

    server = serve(answer)
    with ends_within(0.3, 1.3), pytest.raises(DeadlineError):
        ask(server.url, 0.3)


def test_trailers_that_never_end_are_not_waited_for(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
        while not server.over.is_set():
            connection.sendall(b"X-Trailer: " + b"y" * 8000 + b"\r\n")

    server = serve(answer)
    with ends_within(0, 1.2):
        assert ask(server.url, 0.9).body == b"x"


def test_deadline_ends_it_when_100_continue_never_ends(serve: Any) -> None:
    server = serve(lambda connection, _: server.drip(connection, b"HTTP/1.1 100 Continue\r\n\r\n", 0.001))
    with ends_within(0.3, 1.3), pytest.raises(DeadlineError):
        ask(server.url, 0.3)


def test_deadline_ends_it_when_the_server_is_silent(serve: Any) -> None:
    server = serve(lambda *_: server.over.wait())
    with ends_within(0.2, 1.2), pytest.raises(DeadlineError):
        ask(server.url, 0.2)


def test_deadline_ends_it_when_the_server_does_not_read(serve: Any) -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    with listener, ends_within(0.3, 2.3), pytest.raises(DeadlineError):
        ask(f"http://127.0.0.1:{listener.getsockname()[1]}", 0.3, method="POST", json="x" * 20_000_000)


def test_deadline_ends_it_when_the_handshake_stalls(serve: Any) -> None:
    server = serve(lambda *_: server.over.wait())
    with ends_within(0.2, 1.2), pytest.raises(DeadlineError):
        ask(server.url.replace("http:", "https:"), 0.3)


def test_connection_time_limit_ends_it_when_nobody_accepts(blackhole: int) -> None:
    with ends_within(0.3, 1.3), pytest.raises(DeadlineError):
        ask(f"http://127.0.0.1:{blackhole}", 5.0, connect=0.3)


def test_deadline_ends_it_when_it_comes_before_the_connection_limit(blackhole: int) -> None:
    with ends_within(0.2, 1.2), pytest.raises(DeadlineError):
        ask(f"http://127.0.0.1:{blackhole}", 0.2, connect=5.0)


def test_deadline_that_has_passed_sends_nothing(serve: Any) -> None:
    server = serve()
    with pytest.raises(DeadlineError):
        ask(server.url, -1.0)
    assert server.requests == []


def test_deadline_ends_it_when_the_name_server_is_silent(monkeypatch: pytest.MonkeyPatch, serve: Any) -> None:
    server = serve()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: server.over.wait())
    with ends_within(0.2, 1.2), pytest.raises(DeadlineError, match="DNS lookup"):
        ask("http://silent.test/", 0.2)


# Size


def test_body_over_the_limit_is_refused_when_it_never_ends(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not server.over.is_set():
            connection.sendall(b"x" * 65536)

    server = serve(answer)
    with ends_within(0, 2), pytest.raises(BadResponseError, match="larger than 1 MB"):
        ask(server.url, body=1_000_000)


def test_body_of_exactly_the_limit_is_read_and_one_more_byte_is_not(serve: Any) -> None:
    assert len(ask(serve(http(body=b"x" * 1000)).url, body=1000).body) == 1000
    with pytest.raises(BadResponseError):
        ask(serve(http(body=b"x" * 1001)).url, body=1000)


def test_compressed_body_of_exactly_the_limit_is_read_and_one_more_byte_is_not(serve: Any) -> None:
    for size, fits in ((1000, True), (1001, False)):
        server = serve(http("Content-Encoding: gzip", body=gzip.compress(b"x" * size)))
        if fits:
            assert len(ask(server.url, body=1000).body) == 1000
        else:
            with pytest.raises(BadResponseError, match="larger"):
                ask(server.url, body=1000)


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
    """Ask in a process of its own; returns what it said and how many MB it grew."""
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]} | environ
    done = subprocess.run([sys.executable, "-c", MEASURE, address], env=environ, capture_output=True, text=True)
    said, _, grown = done.stdout.strip().partition("|")
    assert grown, done.stderr
    return said, int(grown)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_stays_bounded_when_600_mb_come_as_a_gzip_bomb(serve: Any) -> None:
    server = serve(http("Content-Encoding: gzip", body=bomb(600)))
    said, grown = measure(server.url)
    assert said == "larger than 10 MB"
    assert grown <= 30


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_stays_bounded_when_a_120_mb_body_comes(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 120000000\r\n\r\n")
        for _ in range(120):
            connection.sendall(bytes(1_000_000))

    said, grown = measure(serve(answer).url)
    assert said == "larger than 10 MB"
    assert grown <= 30


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip"])
def test_memory_stays_bounded_when_a_bomb_comes_through_a_proxy(serve: Any, encoding: str) -> None:
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
def test_compressed_body_is_unpacked(serve: Any, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    server = serve(http(f"Content-Encoding: {encoding}", body=pack(TEXT)))
    assert ask(server.url).body == TEXT


def test_compressed_body_is_unpacked_when_it_comes_a_byte_a_chunk(serve: Any) -> None:
    packed = gzip.compress(TEXT)
    chunks = b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in packed) + b"0\r\n\r\n"
    server = serve(http("Content-Encoding: gzip", "Transfer-Encoding: chunked", length=False) + chunks)
    assert ask(server.url).body == TEXT


def test_compressed_body_may_be_empty(serve: Any) -> None:
    assert ask(serve(http("Content-Encoding: gzip")).url).body == b""


def test_bytes_after_the_end_of_a_compressed_body_are_ignored(serve: Any) -> None:
    assert ask(serve(http("Content-Encoding: gzip", body=gzip.compress(TEXT) + b"\0\0")).url).body == TEXT


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip", "x" * 5000])
def test_encoding_nobody_asked_for_is_refused(serve: Any, encoding: str) -> None:
    with pytest.raises(BadResponseError, match="unsupported content encoding") as caught:
        ask(serve(http(f"Content-Encoding: {encoding}", body=b"...")).url)
    assert len(caught.value.detail) < 100


def test_status_counts_when_an_error_comes_in_an_encoding_nobody_asked_for(serve: Any) -> None:
    response = ask(serve(http("Content-Encoding: br", body=b"...", status="429 Slow down")).url)
    assert (response.status, response.body) == (429, b"")


@pytest.mark.parametrize(
    "body",
    [b"not gzip at all", b"\x1f\x8b\x08 broken", gzip.compress(TEXT, mtime=0)[:-8] + b"\0" * 8],
    ids=["text", "header", "checksum"],
)
def test_broken_compression_is_said(serve: Any, body: bytes) -> None:
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
def test_no_http_at_all_is_a_broken_connection(serve: Any, nonsense: bytes) -> None:
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


def test_headers_that_never_end_are_refused(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not server.over.is_set():
            connection.sendall(b"X-Y: " + b"z" * 60_000 + b"\r\n")

    server = serve(answer)
    with ends_within(0, 2), pytest.raises(BrokenOffError):
        ask(server.url)


@pytest.mark.parametrize("length", ["-1", "ten", "9" * 30])
def test_content_length_that_is_no_length_does_no_harm(serve: Any, length: str) -> None:
    server = serve(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nok".encode())
    try:
        assert ask(server.url).body == b"ok"
    except BrokenOffError:
        assert length.isdigit()


def test_body_is_whole_when_the_server_closes_the_connection(serve: Any) -> None:
    server = serve(http("Connection: close", body=TEXT, length=False))
    for _ in range(200):
        assert ask(server.url).body == TEXT


def test_sockets_are_closed_after_good_and_bad_exchanges(serve: Any) -> None:
    good, bad = serve(), serve(b"nonsense")
    ask(good.url)
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    clients = [good.open, bad.open]
    for _ in range(20):
        ask(good.url)
        with pytest.raises(BrokenOffError):
            ask(bad.url)
    until = time.monotonic() + 5
    while os.path.exists("/proc/self/fd") and time.monotonic() < until:  # the server's threads close theirs in a moment
        if len(os.listdir("/proc/self/fd")) <= before + 2:
            break
        good.over.wait(0.01)
    else:
        pytest.fail(f"sockets left open: {clients}")


# What is sent


def test_request_line_host_and_body_are_as_meant(serve: Any) -> None:
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
def test_path_is_sent_in_ascii_whatever_it_was(serve: Any, path: str, sent: str) -> None:
    server = serve()
    ask(server.url + path)
    assert server.requests[0].split(b" ")[1].decode() == sent


@pytest.mark.parametrize("field", ["json", "form", "params"])
def test_broken_surrogates_in_the_words_do_not_stop_a_request(serve: Any, field: str) -> None:
    server = serve()
    ask(server.url, method="POST", **{field: {"q": "a\udcffb"}})
    assert b"a?b" in server.requests[0] or b"a%3Fb" in server.requests[0]


@pytest.mark.parametrize("value", [f"{KEY}\r\nX-Evil: 1", f"{KEY}\n", f"{KEY}中", f"{KEY}\udcff"])
def test_key_that_http_cannot_carry_is_refused_without_being_shown(serve: Any, value: str) -> None:
    server = serve()
    with pytest.raises(BadRequestError, match="does not allow") as caught:
        ask(server.url, headers={"Authorization": f"Bearer {value}"})
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
def test_address_that_is_none_is_a_bad_request(address: str) -> None:
    with pytest.raises(BadRequestError, match=r"not an http|invalid"):
        ask(address)


# Addresses


def test_ipv4_and_ipv6_are_reached(serve: Any) -> None:
    assert ask(serve().url).body == b"ok"
    server = serve(host="::1")
    assert ask(server.url).body == b"ok"
    assert f"Host: [::1]:{server.port}".encode() in server.requests[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost_is_reached_when_it_listens_on_one_family_only(
    serve: Any, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(host=host)
    both = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", server.port, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    assert ask(f"http://localhost:{server.port}").body == b"ok"


def addresses(*ports: int) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]


def test_next_address_is_tried_early_when_the_first_is_dead(
    serve: Any, blackhole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses(blackhole, server.port))
    with ends_within(0.2, 1.2):
        assert ask("http://two.test/").body == b"ok"


def test_next_address_is_tried_at_once_when_the_first_refuses(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses(free_port(), server.port))
    monkeypatch.setattr(connection, "NEXT_ADDRESS_S", 9.0)
    with ends_within(0, 1):
        assert ask("http://two.test/").body == b"ok"


def test_addresses_this_machine_cannot_use_are_passed_over(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    unknown = (99, socket.SOCK_STREAM, 6, "", ("x", 80))
    everybody = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("255.255.255.255", 80))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [everybody, unknown, *addresses(server.port)])
    assert ask("http://odd.test/").body == b"ok"
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [unknown])
    with pytest.raises(UnreachableError, match=r"not supported .*at odd\.test|at odd\.test"):
        ask("http://odd.test/")


def test_slow_address_wins_when_the_others_refuse(serve: Any, blackhole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses(blackhole, free_port()))
    with ends_within(0.5, 1.5), pytest.raises(DeadlineError):
        ask("http://two.test/", connect=0.5)


def test_families_take_turns_when_there_are_many_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    six = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (f"::{n}", 80, 0, 0)) for n in (1, 2, 3)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: six + addresses(1, 2))
    order = [address[1] for _, address in connection.resolve("many.test", 80, time.monotonic() + 1)]
    assert order == [80, 1, 80, 2, 80]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_refused_connection_is_said_with_the_place() -> None:
    port = free_port()
    with ends_within(0, 1), pytest.raises(UnreachableError, match=f"refused at 127.0.0.1:{port}") as caught:
        ask(f"http://127.0.0.1:{port}")
    assert not isinstance(caught.value, BrokenOffError)


def test_password_in_an_address_is_not_shown_when_the_connection_fails() -> None:
    with pytest.raises(UnreachableError) as caught:
        ask(f"http://me:{KEY}@127.0.0.1:{free_port()}/")
    assert KEY not in str(caught.value)
    with pytest.raises(BadRequestError) as refused:
        ask(f"ftp://me:{KEY}@host/?key={KEY}")
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("host", ["nobody.invalid", "999.999.999.999", "1.2.3.4.5"])
def test_unknown_host_is_said(host: str) -> None:
    with pytest.raises(UnreachableError, match=rf"no such host: {host}|cannot resolve {host}"):
        ask(f"http://{host}/")


def test_lookup_that_fails_for_now_is_not_an_unknown_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(UnreachableError, match="is the network up"):
        ask("http://somebody.test/")


def test_numbers_are_never_asked_of_the_name_server(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    flags: list[int] = []
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *place, **more: flags.append(more["flags"]) or real(*place, **more)
    )
    assert ask(serve().url).body == b"ok"
    assert flags == [socket.AI_NUMERICHOST]


class RefusedError(ProviderError):
    pass


def test_guard_sees_every_address_and_its_refusal_stops_the_connection(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, seen = serve(), []
    pair = [*addresses(server.port), (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2001:db8::1", 80, 0, 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pair)

    def guard(host: str, found: list[str]) -> None:
        seen.append((host, found))
        raise RefusedError("private")

    with pytest.raises(RefusedError):
        ask("http://trap.test/", guard=guard)
    assert seen == [("trap.test", ["127.0.0.1", "2001:db8::1"])]
    assert server.requests == []
    assert server.open == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "LOCALHOST", "0177.0.0.1"]
)
def test_guard_sees_the_real_address_however_it_is_written(serve: Any, host: str) -> None:
    server, seen = serve(), []
    ask(f"http://{host}:{server.port}", guard=lambda _, found: seen.extend(found))
    assert set(seen) <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in seen


def test_guard_sees_an_ipv4_address_that_is_wrapped_in_ipv6(serve: Any) -> None:
    server, seen = serve(), []
    ask(f"http://[::ffff:127.0.0.1]:{server.port}", guard=lambda _, found: seen.extend(found))
    assert seen == ["::ffff:127.0.0.1"]


def test_name_is_looked_up_once_so_that_a_second_answer_cannot_slip_past_the_guard(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, trap, seen = serve(), serve(), []
    answers = iter([addresses(good.port), addresses(trap.port)])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: next(answers))
    ask("http://rebinding.test/", guard=lambda *found: seen.append(found))
    assert (len(good.requests), len(trap.requests), len(seen)) == (1, 0, 1)


# TLS


@pytest.fixture
def fresh_tls(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Forget the TLS settings of this process and take others."""

    def use(**environ: str) -> None:
        monkeypatch.setattr(tls, "_context", None)
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)

    return use


LOCAL = "DNS:localhost,IP:127.0.0.1"


def test_self_signed_certificate_is_refused_in_our_words(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    fresh_tls()
    server = serve(context=make_certificate(LOCAL).context)
    with pytest.raises(UnreachableError, match=rf"bad certificate at {server.netloc}: self.signed certificate"):
        ask(server.url)
    assert server.requests == []


def test_certificate_named_by_the_environment_is_trusted(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    certificate = make_certificate(LOCAL)
    fresh_tls(SSL_CERT_FILE=certificate.file)
    assert ask(serve(context=certificate.context).url).body == b"ok"


def test_certificate_for_another_name_is_refused(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    certificate = make_certificate("DNS:other.test")
    fresh_tls(SSL_CERT_FILE=certificate.file)
    with pytest.raises(UnreachableError, match=r"bad certificate at .*not valid for"):
        ask(serve(context=certificate.context).url)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_certificate_file_that_is_none_is_said(tmp_path: Any, serve: Any, fresh_tls: Any, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    fresh_tls(SSL_CERT_FILE=str(tmp_path / "ca.pem"))
    with pytest.raises(UnreachableError, match="SSL_CERT_FILE"):
        ask(serve().url.replace("http:", "https:"))


def test_folder_of_certificates_is_found_by_its_hashed_names(tmp_path: Any) -> None:
    assert not tls._is_hashed(str(tmp_path / "absent"))
    assert not tls._is_hashed(str(tmp_path))
    (tmp_path / "01234567.0").write_text("")
    assert tls._is_hashed(str(tmp_path))


def test_default_certificates_are_loaded_when_there_is_no_hashed_folder(
    fresh_tls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_tls()
    monkeypatch.setattr(tls, "CA_FOLDERS", ())
    assert tls.tls_context().verify_mode == ssl.CERT_REQUIRED
    assert tls.tls_context() is tls.tls_context()


def test_tls_to_a_plain_port_is_said(serve: Any) -> None:
    server = serve(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(UnreachableError, match="does not use TLS"):
        ask(server.url.replace("http:", "https:"))


def test_connection_closed_in_the_handshake_is_a_broken_connection(serve: Any) -> None:
    with pytest.raises(BrokenOffError, match="closed by"):
        ask(serve(b"").url.replace("http:", "https:"))


def test_plain_http_to_a_tls_port_is_a_broken_connection(serve: Any, make_certificate: Any) -> None:
    server = serve(context=make_certificate(LOCAL).context)
    with pytest.raises(BrokenOffError):
        ask(server.url.replace("https:", "http:"))


def test_deadline_ends_it_when_a_body_drips_over_tls(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    certificate = make_certificate(LOCAL)
    fresh_tls(SSL_CERT_FILE=certificate.file)
    page = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 999
    server = serve(lambda connection, _: server.drip(connection, page), context=certificate.context)
    with ends_within(0.3, 1.3), pytest.raises(DeadlineError):
        ask(server.url, 0.3)


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
def test_keys_are_in_no_error_text(serve: Any, answer: bytes) -> None:
    server = serve(answer)
    with pytest.raises(ProviderError) as caught:
        ask(server.url, params={"api_key": KEY}, headers={"X-API-KEY": KEY, "Authorization": f"Bearer {KEY}"})
    error = caught.value
    assert KEY.encode() in server.requests[0]
    assert KEY not in f"{error} {error.detail} {error.message} {error.hint}"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_keys_are_in_no_error_text_when_there_is_no_connection(scheme: str) -> None:
    with pytest.raises(ProviderError) as caught:
        ask(f"{scheme}://127.0.0.1:{free_port()}/{KEY}", params={"api_key": KEY}, headers={"X-API-KEY": KEY})
    assert KEY not in "".join(traceback.format_exception_only(caught.value)) + caught.value.detail
