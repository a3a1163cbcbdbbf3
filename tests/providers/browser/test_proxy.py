"""The guarded proxy forwards what the guard allows and nothing else, within its limits."""

import contextlib
import socket
import struct
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from http.client import HTTPConnection, IncompleteRead
from typing import Any

import pytest
from tests.guarded_proxy import run_proxy

from sleuth_providers.browser import proxy as proxy_module
from sleuth_providers.browser.proxy import GuardedProxy, ProxyAddress


def wait_until(condition: Callable[[], Any]) -> None:
    """Poll a condition; only the timeout of the test ends an endless wait."""
    while not condition():
        time.sleep(0.005)


class GuardError(Exception):
    """Raised by the guards of these tests."""


def allow_all(host: str, addresses: list[str]) -> None:
    pass


def refuse_all(host: str, addresses: list[str]) -> None:
    raise GuardError(host)


def login(address: ProxyAddress) -> str:
    return "Basic " + b64encode(f"{address.username}:{address.password}".encode()).decode()


def call(address: ProxyAddress) -> socket.socket:
    return socket.create_connection((address.host, address.port), 10)


def read_all(connection: socket.socket) -> bytes:
    """Read until the connection is closed."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while more := connection.recv(65536):
            data += more
    return data


def send(address: ProxyAddress, line: str, *headers: str, body: bytes = b"", authorization: str | None = None) -> bytes:
    """Send one request with the login and return the whole reply."""
    value = login(address) if authorization is None else authorization
    lines = [line, *headers, *([f"Proxy-Authorization: {value}"] if value else []), "", ""]
    with call(address) as connection:
        connection.sendall("\r\n".join(lines).encode("latin-1") + body)
        return read_all(connection)


def tunnel(address: ProxyAddress, netloc: str) -> socket.socket:
    connection = call(address)
    connection.sendall(f"CONNECT {netloc} HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode())
    assert connection.recv(65536) == b"HTTP/1.1 200 Connected\r\n\r\n"
    return connection


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def is_refused(address: ProxyAddress) -> bool:
    try:
        call(address).close()
    except OSError:
        return True
    return False


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


# Forwarding


def test_plain_request_is_forwarded(serve: Any, deadline: float) -> None:
    server = serve(b"HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nKeep-Alive: 5\r\n\r\nhello")
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        answer = send(
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


def test_body_is_forwarded_but_no_second_request(serve: Any, deadline: float) -> None:
    server = serve()
    second = f"GET {server.url}/second HTTP/1.1\r\n\r\n".encode()
    with run_proxy(GuardedProxy(allow_all, deadline)) as address, call(address) as connection:
        head = f"POST {server.url}/form HTTP/1.1\r\nContent-Length: 8\r\nProxy-Authorization: {login(address)}\r\n\r\n"
        connection.sendall(head.encode() + b"word")
        connection.sendall(b"word" + second)
        assert read_all(connection).endswith(b"ok")
    assert len(server.requests) == 1
    assert server.requests[0].endswith(b"\r\n\r\nwordword")


def test_chunked_reply_stays_chunked(serve: Any, deadline: float) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
    whole, broken = serve(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), serve(head + b"3\r\nabc\r\n9\r\nde")
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
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


def test_reply_without_body_is_forwarded(serve: Any, deadline: float) -> None:
    server = serve(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        assert send(address, f"HEAD {server.url}/ HTTP/1.1") == (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )


def test_folded_header_is_unfolded(serve: Any, deadline: float) -> None:
    server = serve()
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        send(address, f"GET {server.url}/ HTTP/1.1", "X-Long: one", " two")
    assert b"\r\nX-Long: one two\r\n" in server.requests[0]


def test_tunnel_works_in_both_directions_until_one_side_closes(serve: Any, deadline: float) -> None:
    server = serve(echo)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        with tunnel(address, server.netloc) as connection:
            connection.sendall(b"hello\r\n\r\n")
            assert connection.recv(65536) == b"hello\r\n\r\n"
            connection.sendall(b"z" * 300_000)
            size = 0
            while size < 300_000:
                size += len(connection.recv(65536))
            connection.shutdown(socket.SHUT_WR)
            assert read_all(connection) == b""
        goodbye = serve(b"goodbye")
        with tunnel(address, goodbye.netloc) as connection:
            connection.sendall(b"\r\n\r\n")
            assert read_all(connection) == b"goodbye"


def test_data_sent_together_with_connect_is_forwarded(serve: Any, deadline: float) -> None:
    server = serve(echo)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address, call(address) as connection:
        head = f"CONNECT {server.netloc} HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n"
        connection.sendall(head.encode() + b"early\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection).startswith(b"HTTP/1.1 200 Connected\r\n\r\n")
    wait_until(lambda: server.requests)  # the server may be slower than the end of the proxy
    assert server.requests == [b"early\r\n\r\n"]


# Refusals


def test_guard_sees_the_addresses_that_are_connected_to(
    serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, lookups, seen = serve(), [], []
    real = socket.getaddrinfo

    def look_up(host: Any, *rest: Any, **more: Any) -> Any:
        if host != b"two.example":
            return real(host, *rest, **more)
        lookups.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, server.port)) for number in ("127.0.0.1", "127.0.0.2")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with run_proxy(GuardedProxy(lambda host, addresses: seen.append((host, addresses)), deadline)) as address:
        assert status(send(address, f"GET http://two.example:{server.port}/ HTTP/1.1")) == 200
        with tunnel(address, f"two.example:{server.port}"):
            pass
    assert seen == [("two.example", ["127.0.0.1", "127.0.0.2"])] * 2
    assert lookups == [b"two.example"] * 2
    assert b"\r\nHost: two.example:" in server.requests[0]


@pytest.mark.parametrize("line", ["GET http://{}/secret HTTP/1.1", "POST http://{}/ HTTP/1.1", "CONNECT {} HTTP/1.1"])
def test_refused_host_is_not_connected_to(line: str, serve: Any, deadline: float) -> None:
    server = serve()
    proxy = GuardedProxy(refuse_all, deadline)
    with run_proxy(proxy) as address:
        answer = send(address, line.format(server.netloc))
    assert status(answer) == 403
    assert server.open == []
    assert isinstance(proxy.refused["127.0.0.1"], GuardError)


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
def test_guard_sees_the_address_in_any_notation(host: str, number: str, serve: Any, deadline: float) -> None:
    server, seen = serve(), []

    def guard(_: str, addresses: list[str]) -> None:
        seen.extend(addresses)
        raise GuardError

    with run_proxy(GuardedProxy(guard, deadline)) as address:
        assert status(send(address, f"GET http://{host}:{server.port}/ HTTP/1.1")) == 403
        if "@" not in host:
            assert status(send(address, f"CONNECT {host}:{server.port} HTTP/1.1")) == 403
    assert set(seen) >= {number}
    assert server.open == []


def test_number_of_remembered_hosts_is_limited(deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "MAX_REFUSED_HOSTS", 2)
    proxy = GuardedProxy(refuse_all, deadline)
    with run_proxy(proxy) as address:
        for number in range(1, 5):
            assert status(send(address, f"CONNECT 127.0.0.{number}:80 HTTP/1.1")) == 403
    assert list(proxy.refused) == ["127.0.0.1", "127.0.0.2"]


@pytest.mark.parametrize("wrong", ["", "Basic", "Basic c2xldXRoOg==", "Bearer é", "Basic x y"])
@pytest.mark.parametrize("line", ["GET http://127.0.0.1:1/ HTTP/1.1", "CONNECT 127.0.0.1:1 HTTP/1.1", "nonsense"])
def test_request_without_the_login_is_refused(wrong: str, line: str, deadline: float) -> None:
    seen: list[Any] = []
    with run_proxy(GuardedProxy(lambda *all_of_it: seen.append(all_of_it), deadline)) as address:
        answer = send(address, line, authorization=wrong)
    assert status(answer) == 407
    assert b'\r\nProxy-Authenticate: Basic realm="sleuth"\r\n' in answer
    assert seen == []


def test_each_proxy_has_its_own_login_and_listens_on_loopback_only(deadline: float) -> None:
    first, second = GuardedProxy(allow_all, deadline), GuardedProxy(allow_all, deadline)
    with run_proxy(first) as one, run_proxy(second) as two:
        assert one.host == two.host == "127.0.0.1"
        assert one.port != two.port
        assert one.password != two.password
        assert len(one.password) >= 32
        assert status(send(two, "CONNECT 127.0.0.1:1 HTTP/1.1", authorization=login(one))) == 407


def test_login_of_the_proxy_is_not_forwarded(serve: Any, deadline: float) -> None:
    server = serve()
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        send(address, f"GET {server.url}/ HTTP/1.1", f"Authorization: {login(address)}")
        send(address, f"GET {server.url}/ HTTP/1.1", "Authorization: Basic mine")
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
def test_invalid_request_is_refused_without_a_lookup(line: str, header: str, deadline: float) -> None:
    seen: list[Any] = []
    with run_proxy(GuardedProxy(lambda *all_of_it: seen.append(all_of_it), deadline)) as address:
        answer = send(address, line, *([header] if header else []))
    assert (status(answer), seen) == (403, [])


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 999999 What\r\n\r\n"])
def test_invalid_reply_of_the_server_is_a_bad_gateway(answer: bytes, serve: Any, deadline: float) -> None:
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        assert status(send(address, f"GET {serve(answer).url}/ HTTP/1.1")) == 502


def test_unreachable_server_is_a_bad_gateway(deadline: float) -> None:
    proxy = GuardedProxy(allow_all, deadline)
    with run_proxy(proxy) as address:
        assert status(send(address, "GET http://127.0.0.1:9/ HTTP/1.1")) == 502
        assert status(send(address, "CONNECT 127.0.0.1:9 HTTP/1.1")) == 502
        assert status(send(address, "CONNECT 999.1.1.1:80 HTTP/1.1")) == 502
        assert status(send(address, f"CONNECT {'a' * 70}.example:80 HTTP/1.1")) == 403  # no valid host name
    assert proxy.refused == {}


# Limits


def test_slow_request_head_times_out(deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "REQUEST_HEAD_TIMEOUT_S", 0.3)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address, call(address) as silent, call(address) as slow:
        with contextlib.suppress(ConnectionError):
            while True:  # until the proxy closes the connection
                slow.sendall(b"G")
                time.sleep(0.01)
        assert read_all(silent) == b""


def test_endless_request_head_is_cut_off(deadline: float) -> None:
    with run_proxy(GuardedProxy(allow_all, deadline)) as address, call(address) as connection:
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"X" * 10_000)
        assert read_all(connection) == b""


def test_client_that_disconnects_early_does_not_disturb_others(serve: Any, deadline: float) -> None:
    server = serve()
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        with call(address) as connection:
            head = f"POST {server.url}/ HTTP/1.1\r\nContent-Length: 9\r\nProxy-Authorization: {login(address)}\r\n\r\n"
            connection.sendall(head.encode() + b"half")
        with call(address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert status(send(address, f"GET {server.url}/ HTTP/1.1")) == 200


def test_byte_limit_covers_all_connections(serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "MAX_BYTES", 100_000)
    server = serve(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 40_000)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        sizes = [len(send(address, f"GET {server.url}/ HTTP/1.1")) for _ in range(4)]
    assert sizes[0] > 40_000
    assert sizes[1] > 40_000
    assert sum(sizes) <= 100_000
    assert sizes[3] == 0


@pytest.mark.parametrize("line", ["GET http://{}/ HTTP/1.1", "CONNECT {} HTTP/1.1"])
def test_endless_reply_is_cut_off(line: str, serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "MAX_BYTES", 200_000)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        data = send(address, line.format(serve(pour).netloc), body=b"GET / HTTP/1.1\r\n\r\n")
    assert 50_000 < len(data) <= 200_000


def test_number_of_connections_is_limited(serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_module, "MAX_CONNECTIONS", 2)
    server = serve(echo)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        with tunnel(address, server.netloc), tunnel(address, server.netloc), call(address) as third:
            assert status(read_all(third)) == 503
        wait_until(lambda: status(send(address, "GET / HTTP/1.1")) == 403)


def test_many_parallel_connections_are_served(serve: Any, deadline: float) -> None:
    server, answers = serve(), []
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:

        def ask() -> None:
            answers.append(status(send(address, f"GET {server.url}/ HTTP/1.1")))

        threads = [threading.Thread(target=ask) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [200] * 40


# Shutdown


def test_deadline_closes_all_connections(serve: Any) -> None:
    server = serve(echo)
    with run_proxy(GuardedProxy(allow_all, time.monotonic() + 0.5)) as address:
        with tunnel(address, server.netloc) as connection, call(address) as idle:
            assert read_all(connection) == b""
            assert read_all(idle) == b""
        wait_until(lambda: is_refused(address))


def test_proxy_with_a_deadline_in_the_past_accepts_nothing() -> None:
    with run_proxy(GuardedProxy(allow_all, time.monotonic() - 1)) as address:
        wait_until(lambda: is_refused(address))


@pytest.mark.parametrize("problem", [None, KeyError("body of the with block")])
def test_end_of_the_block_closes_all_sockets(problem: Exception | None, serve: Any, deadline: float) -> None:
    server, stalled = serve(echo), serve(stall)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(KeyError), run_proxy(GuardedProxy(allow_all, deadline)) as address:
            open_ones = [stack.enter_context(tunnel(address, server.netloc)) for _ in range(3)]
            open_ones.append(stack.enter_context(call(address)))
            waiting = stack.enter_context(call(address))
            waiting.sendall(f"GET {stalled.url}/ HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode())
            open_ones.append(waiting)
            wait_until(lambda: stalled.requests)
            if problem:
                raise problem
        assert [read_all(connection)[:12] for connection in open_ones[:4]] == [b""] * 4
        assert status(read_all(waiting)) in (0, 502)
        with pytest.raises(OSError, match="refused"):
            call(address)
        wait_until(lambda: all(connection.fileno() < 0 for connection in server.open))


def test_shutdown_does_not_wait_for_a_connection_in_progress(
    deadline: float, blackhole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_module, "CONNECT_TIMEOUT_S", 1.0)
    connecting = threading.Event()
    with run_proxy(GuardedProxy(lambda *_: connecting.set(), deadline)) as address:
        connection = call(address)
        connection.sendall(
            f"CONNECT 127.0.0.1:{blackhole} HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode()
        )
        assert connecting.wait()
    assert connection.recv(1) == b""
    connection.close()


def test_connection_made_after_shutdown_is_closed(serve: Any, deadline: float, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(stall)
    going, go = threading.Event(), threading.Event()
    real: Callable[..., socket.socket] = proxy_module.connect
    made: list[socket.socket] = []

    def slowly(*all_of_it: Any) -> socket.socket:
        going.set()
        go.wait()
        made.append(real(*all_of_it))
        return made[-1]

    monkeypatch.setattr(proxy_module, "connect", slowly)
    with run_proxy(GuardedProxy(allow_all, deadline)) as address:
        connection = call(address)
        connection.sendall(f"GET {server.url}/ HTTP/1.1\r\nProxy-Authorization: {login(address)}\r\n\r\n".encode())
        assert going.wait()
    go.set()
    assert read_all(connection) == b""
    connection.close()
    wait_until(lambda: made and made[0].fileno() < 0)
    assert server.requests == []


def test_request_that_arrives_during_shutdown_is_refused(serve: Any, deadline: float) -> None:
    """The cancellation of a task can be lost while it waits with a timeout (Python before 3.12)."""
    proxy = GuardedProxy(allow_all, deadline)
    with run_proxy(proxy) as address:
        proxy._threads.shutdown()
        assert status(send(address, f"GET {serve(echo).url}/ HTTP/1.1")) == 502
