"""The gate lets a browser out to what the guard has seen, and to nothing else, in time and in bounds."""

import contextlib
import socket
import struct
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, IncompleteRead
from typing import Any

import pytest

from sleuth_providers.browser import proxy as gate_module
from sleuth_providers.browser.proxy import GuardedProxy, ProxyAddress

REFUSED = b"sleuth does not let a page reach this address.\n"


class NoError(Exception):
    """What the guards of these tests raise."""


def everybody(host: str, addresses: list[str]) -> None:
    pass


def nobody(host: str, addresses: list[str]) -> None:
    raise NoError(host)


def login(address: ProxyAddress) -> str:
    return "Basic " + b64encode(f"{address.username}:{address.password}".encode()).decode()


def call(address: ProxyAddress) -> socket.socket:
    return socket.create_connection((address.host, address.port), 10)


def everything(connection: socket.socket) -> bytes:
    """Read until the other side is done."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(65536):
            data += more
    return data


def say(address: ProxyAddress, line: str, *headers: str, body: bytes = b"", open_with: str | None = None) -> bytes:
    """Send one request with the login and return all that comes back."""
    opened = login(address) if open_with is None else open_with
    lines = [line, *headers, *([f"Proxy-Authorization: {opened}"] if opened else []), "", ""]
    with call(address) as connection:
        connection.sendall("\r\n".join(lines).encode("latin-1") + body)
        return everything(connection)


def tunnel(address: ProxyAddress, netloc: str) -> socket.socket:
    connection = call(address)
    connection.sendall(f"CONNECT {netloc} HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode())
    assert connection.recv(65536) == b"HTTP/1.1 200 Connected\r\n\r\n"
    return connection


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def echo(connection: Any, request: bytes) -> None:
    connection.sendall(request)
    while data := connection.recv(65536):
        connection.sendall(data)


def stall(connection: Any, request: bytes) -> None:
    connection.recv(1)


def pour(connection: Any, request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 10_000)


@pytest.fixture
def deadline() -> float:
    return time.monotonic() + 10


@pytest.fixture(autouse=True)
def _no_thread_left(serve: Any) -> Iterator[None]:
    """Every thread of a gate ends with it; those of the servers wait for the test's end."""
    yield
    until = time.monotonic() + 3
    while (left := gate_threads()) and time.monotonic() < until:
        time.sleep(0.01)
    assert left == []


def gate_threads() -> list[threading.Thread]:
    """Return the threads that run methods of a Gate."""
    found = []
    for thread in threading.enumerate():
        target = getattr(thread, "_target", None)
        if isinstance(getattr(target, "__self__", None), GuardedProxy):
            found.append(thread)
    return found


# What passes


def test_a_plain_request_is_passed_on(serve: Any, deadline: float) -> None:
    server = serve(b"HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nKeep-Alive: 5\r\n\r\nhello")
    with GuardedProxy(everybody, deadline) as address:
        answer = say(
            address,
            f"GET {server.url}/path?q=%20x#top HTTP/1.1",
            "Host: elsewhere.example",
            "Cookie: a=1;  b=2",
            "Proxy-Connection: keep-alive",
            "Connection: keep-alive, X-Mine",
            "X-Mine: for you",
        )
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 200 Fine",
        b"Set-Cookie: a=1",
        b"Set-Cookie: b=2",
        b"Connection: close",
    ]
    assert body == b"hello"
    assert server.requests[0].decode().split("\r\n") == [
        "GET /path?q=%20x HTTP/1.1",
        f"Host: {server.netloc}",
        "Cookie: a=1;  b=2",
        "Connection: close",
        "",
        "",
    ]


def test_a_body_is_passed_on_and_nothing_that_follows_it(serve: Any, deadline: float) -> None:
    server = serve()
    second = f"GET {server.url}/second HTTP/1.1\r\n\r\n".encode()
    with GuardedProxy(everybody, deadline) as address, call(address) as connection:
        head = f"POST {server.url}/form HTTP/1.1\r\nContent-Length: 8\r\nProxy-Authorization: {login(address)}\r\n\r\n"
        connection.sendall(head.encode() + b"word")
        time.sleep(0.05)
        connection.sendall(b"word" + second)
        assert everything(connection).endswith(b"ok")
    assert len(server.requests) == 1
    assert server.requests[0].endswith(b"\r\n\r\nwordword")


def test_a_reply_in_chunks_stays_in_chunks(serve: Any, deadline: float) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
    whole, broken = serve(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), serve(head + b"3\r\nabc\r\n9\r\nde")
    with GuardedProxy(everybody, deadline) as address:
        for server, expected in ((whole, b"abcde"), (broken, None)):
            connection = HTTPConnection(address.host, address.port, timeout=5)
            connection.request("GET", f"{server.url}/", headers={"Proxy-Authorization": login(address)})
            response = connection.getresponse()
            assert response.headers["Content-Length"] is None
            if expected is None:
                with pytest.raises(IncompleteRead):
                    response.read()
            else:
                assert response.read() == expected
            connection.close()


def test_a_reply_without_body_is_passed_on(serve: Any, deadline: float) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    with GuardedProxy(everybody, deadline) as address:
        assert say(address, f"HEAD {server.url}/ HTTP/1.1") == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


def test_a_header_that_goes_on_in_the_next_line_becomes_one(serve: Any, deadline: float) -> None:
    server = serve()
    with GuardedProxy(everybody, deadline) as address:
        say(address, f"GET {server.url}/ HTTP/1.1", "X-Long: one", " two")
    assert b"\r\nX-Long: one two\r\n" in server.requests[0]


def test_a_tunnel_carries_both_ways_until_one_side_ends(serve: Any, deadline: float) -> None:
    server = serve(echo)
    with GuardedProxy(everybody, deadline) as address:
        with tunnel(address, server.netloc) as connection:
            connection.sendall(b"hello\r\n\r\n")
            assert connection.recv(65536) == b"hello\r\n\r\n"
            connection.sendall(b"z" * 300_000)
            size = 0
            while size < 300_000:
                size += len(connection.recv(65536))
            connection.shutdown(socket.SHUT_WR)
            assert everything(connection) == b""
        goodbye = serve(b"goodbye")
        with tunnel(address, goodbye.netloc) as connection:
            connection.sendall(b"\r\n\r\n")
            assert everything(connection) == b"goodbye"


def test_what_comes_right_behind_a_connect_is_not_lost(serve: Any, deadline: float) -> None:
    server = serve(echo)
    with GuardedProxy(everybody, deadline) as address, call(address) as connection:
        head = f"CONNECT {server.netloc} HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n"
        connection.sendall(head.encode() + b"early\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert everything(connection).startswith(b"HTTP/1.1 200 Connected\r\n\r\n")
    until = time.monotonic() + 5
    while not server.requests and time.monotonic() < until:  # the server may be slower than the gate's end
        time.sleep(0.01)
    assert server.requests == [b"early\r\n\r\n"]


# What does not


def test_the_guard_sees_every_address_once_and_one_of_those_is_connected_to(
    serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, asked, seen = serve(), [], []
    real = socket.getaddrinfo

    def look_up(host: Any, *rest: Any, **more: Any) -> Any:
        if host != b"two.example":
            return real(host, *rest, **more)
        asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, server.port)) for number in ("127.0.0.1", "127.0.0.2")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with GuardedProxy(lambda host, addresses: seen.append((host, addresses)), deadline) as address:
        assert status(say(address, f"GET http://two.example:{server.port}/ HTTP/1.1")) == 200
        with tunnel(address, f"two.example:{server.port}"):
            pass
    assert seen == [("two.example", ["127.0.0.1", "127.0.0.2"])] * 2
    assert asked == [b"two.example"] * 2
    assert b"\r\nHost: two.example:" in server.requests[0]


@pytest.mark.parametrize("line", ["GET http://{}/secret HTTP/1.1", "POST http://{}/ HTTP/1.1", "CONNECT {} HTTP/1.1"])
def test_what_the_guard_refuses_is_not_connected_to(line: str, serve: Any, deadline: float) -> None:
    server = serve()
    gate = GuardedProxy(nobody, deadline)
    with gate as address:
        answer = say(address, line.format(server.netloc))
    assert status(answer) == 403
    assert answer.endswith(REFUSED)
    assert server.open == []
    assert isinstance(gate.refused["127.0.0.1"], NoError)


@pytest.mark.parametrize(
    ("host", "number"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("LOCALHOST", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        ("user:word@127.0.0.1", "127.0.0.1"),
    ],
)
def test_however_a_host_is_written_the_guard_sees_its_address(
    host: str, number: str, serve: Any, deadline: float
) -> None:
    server, seen = serve(), []

    def guard(_: str, addresses: list[str]) -> None:
        seen.extend(addresses)
        raise NoError

    with GuardedProxy(guard, deadline) as address:
        assert status(say(address, f"GET http://{host}:{server.port}/ HTTP/1.1")) == 403
        if "@" not in host:
            assert status(say(address, f"CONNECT {host}:{server.port} HTTP/1.1")) == 403
    assert set(seen) >= {number}
    assert server.open == []


def test_hosts_that_were_refused_are_not_remembered_without_end(
    deadline: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "MAX_REFUSED", 2)
    gate = GuardedProxy(nobody, deadline)
    with gate as address:
        for number in range(1, 5):
            assert status(say(address, f"CONNECT 127.0.0.{number}:80 HTTP/1.1")) == 403
    assert list(gate.refused) == ["127.0.0.1", "127.0.0.2"]


@pytest.mark.parametrize("wrong", ["", "Basic", "Basic c2xldXRoOg==", "Bearer é", "Basic x y"])
@pytest.mark.parametrize("line", ["GET http://127.0.0.1:1/ HTTP/1.1", "CONNECT 127.0.0.1:1 HTTP/1.1", "nonsense"])
def test_nobody_but_the_browser_is_served(wrong: str, line: str, deadline: float) -> None:
    seen: list[Any] = []
    with GuardedProxy(lambda *all_of_it: seen.append(all_of_it), deadline) as address:
        answer = say(address, line, open_with=wrong)
    assert status(answer) == 407
    assert b'\r\nProxy-Authenticate: Basic realm="sleuth"\r\n' in answer
    assert seen == []


def test_every_gate_has_its_own_login_and_listens_on_loopback_only(deadline: float) -> None:
    first, second = GuardedProxy(everybody, deadline), GuardedProxy(everybody, deadline)
    with first as one, second as two:
        assert one.host == two.host == "127.0.0.1"
        assert one.port != two.port
        assert one.password != two.password
        assert len(one.password) >= 32
        assert status(say(two, "CONNECT 127.0.0.1:1 HTTP/1.1", open_with=login(one))) == 407


def test_the_login_of_the_gate_is_nobody_elses(serve: Any, deadline: float) -> None:
    server = serve()
    with GuardedProxy(everybody, deadline) as address:
        say(address, f"GET {server.url}/ HTTP/1.1", f"Authorization: {login(address)}")
        say(address, f"GET {server.url}/ HTTP/1.1", "Authorization: Basic mine")
        assert address.password not in "".join(map(str, server.requests))
        assert login(address).encode() not in b"".join(server.requests)
    assert b"\r\nAuthorization: Basic mine\r\n" in server.requests[1]


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("GET / HTTP/1.1", "Host: 127.0.0.1"),
        ("GET https://127.0.0.1/ HTTP/1.1", ""),
        ("GET ftp://127.0.0.1/ HTTP/1.1", ""),
        ("GET file:///etc/passwd HTTP/1.1", ""),
        ("GET http:///nowhere HTTP/1.1", ""),
        ("GET http://127.0.0.1:99999/ HTTP/1.1", ""),
        ("GET http://127.0.0.1/ HTTP/2", ""),
        ("GET http://127.0.0.1/ and more HTTP/1.1", ""),
        ("G(T http://127.0.0.1/ HTTP/1.1", ""),
        ("POST http://127.0.0.1/ HTTP/1.1", "Transfer-Encoding: chunked"),
        ("POST http://127.0.0.1/ HTTP/1.1", "Content-Length: -1"),
        ("POST http://127.0.0.1/ HTTP/1.1", "Content-Length: ²"),
        ("CONNECT 127.0.0.1 HTTP/1.1", ""),
        ("CONNECT 127.0.0.1:0 HTTP/1.1", ""),
        ("CONNECT 127.0.0.1:http HTTP/1.1", ""),
        ("CONNECT [::1:80 HTTP/1.1", ""),
        ("CONNECT :80 HTTP/1.1", ""),
        ("CONNECT me@127.0.0.1:80 HTTP/1.1", ""),
        ("CONNECT 127.0.0.1:80/path HTTP/1.1", ""),
        ("CONNECT http://127.0.0.1:80 HTTP/1.1", ""),
        ("nonsense", ""),
    ],
)
def test_what_is_not_for_a_proxy_is_refused_without_a_look(line: str, header: str, deadline: float) -> None:
    seen: list[Any] = []
    with GuardedProxy(lambda *all_of_it: seen.append(all_of_it), deadline) as address:
        answer = say(address, line, *([header] if header else []))
    assert (status(answer), seen) == (403, [])


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 999999 What\r\n\r\n"])
def test_a_server_without_a_proper_answer_is_a_bad_one(answer: bytes, serve: Any, deadline: float) -> None:
    with GuardedProxy(everybody, deadline) as address:
        assert status(say(address, f"GET {serve(answer).url}/ HTTP/1.1")) == 502


def test_nobody_there_is_said_so(deadline: float) -> None:
    gate = GuardedProxy(everybody, deadline)
    with gate as address:
        assert status(say(address, "GET http://127.0.0.1:9/ HTTP/1.1")) == 502
        assert status(say(address, "CONNECT 127.0.0.1:9 HTTP/1.1")) == 502
        assert status(say(address, "CONNECT 999.1.1.1:80 HTTP/1.1")) == 502
        assert status(say(address, f"CONNECT {'a' * 70}.example:80 HTTP/1.1")) == 502
    assert gate.refused == {}


# Bounds


def test_a_client_that_does_not_say_what_it_wants_is_sent_away(
    deadline: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "PATIENCE", 0.3)
    with GuardedProxy(everybody, deadline) as address, call(address) as silent, call(address) as slow:
        started = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - started < 5:
                slow.sendall(b"G")
                time.sleep(0.05)
        assert 0.2 < time.monotonic() - started < 2
        assert everything(silent) == b""


def test_a_head_without_end_is_not_read_to_it(deadline: float) -> None:
    with GuardedProxy(everybody, deadline) as address, call(address) as connection:
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"X" * 10_000)
        assert everything(connection) == b""


def test_a_client_that_goes_away_half_way_costs_nobody_else(serve: Any, deadline: float) -> None:
    server = serve()
    with GuardedProxy(everybody, deadline) as address:
        with call(address) as connection:
            head = f"POST {server.url}/ HTTP/1.1\r\nContent-Length: 9\r\nProxy-Authorization: {login(address)}\r\n\r\n"
            connection.sendall(head.encode() + b"half")
        with call(address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert status(say(address, f"GET {server.url}/ HTTP/1.1")) == 200


def test_bytes_are_counted_over_all_connections(serve: Any, deadline: float) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 40_000)
    with GuardedProxy(everybody, deadline, max_bytes=100_000) as address:
        sizes = [len(say(address, f"GET {server.url}/ HTTP/1.1")) for _ in range(4)]
    assert sizes[0] > 40_000
    assert sizes[1] > 40_000
    assert sum(sizes) <= 100_000
    assert sizes[3] == 0


@pytest.mark.parametrize("line", ["GET http://{}/ HTTP/1.1", "CONNECT {} HTTP/1.1"])
def test_an_endless_answer_ends(line: str, serve: Any, deadline: float) -> None:
    with GuardedProxy(everybody, deadline, max_bytes=200_000) as address:
        data = say(address, line.format(serve(pour).netloc), body=b"GET / HTTP/1.1\r\n\r\n")
    assert 50_000 < len(data) <= 200_000


def test_more_connections_than_allowed_are_sent_away_and_the_next_one_is_not(serve: Any, deadline: float) -> None:
    server = serve(echo)
    with GuardedProxy(everybody, deadline, max_connections=2) as address:
        with tunnel(address, server.netloc), tunnel(address, server.netloc), call(address) as third:
            assert status(everything(third)) == 503
        until = time.monotonic() + 3
        while status(answer := say(address, "GET / HTTP/1.1")) != 403 and time.monotonic() < until:
            time.sleep(0.01)
        assert status(answer) == 403


def test_a_burst_of_connections_is_served(serve: Any, deadline: float) -> None:
    server, answers = serve(), []
    with GuardedProxy(everybody, deadline) as address:

        def ask() -> None:
            answers.append(status(say(address, f"GET {server.url}/ HTTP/1.1")))

        threads = [threading.Thread(target=ask) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [200] * 40


# The end


def test_the_deadline_ends_everything(serve: Any) -> None:
    started = time.monotonic()
    server = serve(echo)
    with GuardedProxy(everybody, started + 0.5) as address:
        with tunnel(address, server.netloc) as connection, call(address) as idle:
            assert everything(connection) == b""
            assert everything(idle) == b""
        assert 0.4 < time.monotonic() - started < 1.5
        time.sleep(0.1)
        with pytest.raises(OSError, match="refused"):
            call(address)


def test_a_deadline_in_the_past_is_a_gate_that_is_shut() -> None:
    with GuardedProxy(everybody, time.monotonic() - 1) as address:
        time.sleep(0.1)
        with pytest.raises(OSError, match="refused"):
            call(address)


@pytest.mark.parametrize("problem", [None, KeyError("body of the with block")])
def test_the_end_of_the_block_closes_every_socket_and_thread(
    problem: Exception | None, serve: Any, deadline: float
) -> None:
    server, stalled = serve(echo), serve(stall)
    with contextlib.ExitStack() as stack:
        started = 0.0
        with contextlib.suppress(KeyError), GuardedProxy(everybody, deadline) as address:
            open_ones = [stack.enter_context(tunnel(address, server.netloc)) for _ in range(3)]
            open_ones.append(stack.enter_context(call(address)))
            waiting = stack.enter_context(call(address))
            waiting.sendall(f"GET {stalled.url}/ HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode())
            open_ones.append(waiting)
            until = time.monotonic() + 3
            while not stalled.requests and time.monotonic() < until:
                time.sleep(0.01)
            started = time.monotonic()
            if problem:
                raise problem
        assert time.monotonic() - started < 0.9
        assert gate_threads() == []
        assert [everything(connection)[:12] for connection in open_ones[:4]] == [b""] * 4
        assert status(everything(waiting)) in (0, 502)
        with pytest.raises(OSError, match="refused"):
            call(address)
        until = time.monotonic() + 3
        while any(connection.fileno() >= 0 for connection in server.open) and time.monotonic() < until:
            time.sleep(0.01)
        assert all(connection.fileno() < 0 for connection in server.open)


def test_a_thread_that_is_still_connecting_is_not_waited_for_and_ends_by_itself(
    deadline: float, blackhole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "CONNECT", 1.0)
    monkeypatch.setattr(gate_module, "FAREWELL", 0.2)
    dialled = threading.Event()
    with GuardedProxy(lambda *_: dialled.set(), deadline) as address:
        connection = call(address)
        connection.sendall(
            f"CONNECT 127.0.0.1:{blackhole} HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode()
        )
        assert dialled.wait(3)
        started = time.monotonic()
    assert time.monotonic() - started < 0.8
    connection.close()


def test_a_connection_made_too_late_is_closed_at_once(
    serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(stall)
    monkeypatch.setattr(gate_module, "FAREWELL", 0.1)
    going, go = threading.Event(), threading.Event()
    real: Callable[..., socket.socket] = gate_module.connect
    made: list[socket.socket] = []

    def slowly(*all_of_it: Any) -> socket.socket:
        going.set()
        go.wait(5)
        made.append(real(*all_of_it))
        return made[-1]

    monkeypatch.setattr(gate_module, "connect", slowly)
    with GuardedProxy(everybody, deadline) as address:
        connection = call(address)
        connection.sendall(f"GET {server.url}/ HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode())
        assert going.wait(3)
    go.set()
    assert everything(connection) == b""
    connection.close()
    until = time.monotonic() + 3
    while gate_threads() and time.monotonic() < until:
        time.sleep(0.01)
    assert made[0].fileno() < 0
    assert server.requests == []
