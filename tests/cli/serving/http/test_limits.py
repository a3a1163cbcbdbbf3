"""Limits of the HTTP server: connections, requests, time and size; each is made small and then exceeded."""

import json
import socket
import threading
import time
from typing import Any

import pytest

from sleuth.serving.http import app, auth, connection

SEARCH = "/websearch/search"
TOKEN = "token-of-the-tests-0123456789"
BODY = {"providerId": "searxng", "questions": ["limits"]}


def head(port: int, *lines: str, method: str = "POST", path: str = SEARCH, token: str = TOKEN) -> bytes:
    usual = (f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}")
    return "\r\n".join([*usual, *lines, "", ""]).encode()


def read_all(stream: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    data = b""
    try:
        while part := stream.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data


def error_of(response: bytes) -> tuple[bytes, str]:
    """Return the status line and the error code of a response."""
    start, _, body = response.partition(b"\r\n\r\n")
    return start.split(b"\r\n")[0][9:12], json.loads(body)["error"]["code"]


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /healthz HT", head(1, "Content-Length: 9"), head(1, "Content-Length: 9") + b"{"],
    ids=["nothing", "half a head", "no body", "half a body"],
)
def test_request_that_never_arrives_is_408(inside: Any, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connection, "RECEIVE_TIMEOUT_S", 0.2)
    server = inside()
    with server.open() as stream:
        stream.sendall(sent.replace(b"127.0.0.1:1\r", b"127.0.0.1:%d\r" % server.port))
        assert error_of(read_all(stream)) == (b"408", "REQUEST_TIMEOUT")
    assert server.call("GET", "/healthz").status == 200


def test_second_request_of_a_connection_has_the_same_limit(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RECEIVE_TIMEOUT_S", 0.2)
    server = inside()
    with server.open() as stream:
        stream.sendall(head(server.port, method="GET", path="/healthz"))
        while not stream.recv(4096).endswith(b"}"):
            pass
        stream.sendall(b"GET /heal")
        assert error_of(read_all(stream)) == (b"408", "REQUEST_TIMEOUT")


def test_idle_connection_is_closed(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth.serving.http.server.KEEP_ALIVE_TIMEOUT_S", 0.2)
    server = inside()
    with server.open() as stream:
        stream.sendall(head(server.port, method="GET", path="/healthz"))
        assert read_all(stream).count(b"200 OK") == 1


def test_small_responses_are_sent_at_once(inside: Any) -> None:
    server = inside()
    with server.open() as stream:
        stream.sendall(head(server.port, method="GET", path="/healthz"))
        assert b"200 OK" in stream.recv(4096)
        (accepted,) = server.server.server_state.connections
        sock = accepted.transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_connection_over_the_limit_is_answered_with_503(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 3)
    server = inside()
    streams = [server.open() for _ in range(3)]
    for stream in streams:
        stream.sendall(head(server.port, method="GET", path="/healthz"))
        assert b"200 OK" in stream.recv(4096)
    for method, body in (("GET", None), ("POST", {"questions": ["x" * 900_000]})):
        reply = server.call(method, SEARCH if body else "/healthz", body)
        assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "BUSY", "1")
    for stream in streams:
        stream.close()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="needs a send timeout of the kernel")
def test_connection_of_a_client_that_does_not_read_is_closed(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.TCP_OPTIONS, socket.TCP_USER_TIMEOUT, 200)
    server = inside()
    with server.open() as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.sendall(head(server.port, method="GET", path="/openapi.json") * 300)  # more than the kernel buffers
        for is_open in (True, False):
            tries = (time.sleep(0.05) for _ in range(1200))
            assert any(bool(server.server.server_state.connections) == is_open for _ in tries)


def test_request_over_the_limit_is_answered_with_503(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_REQUESTS", 1)
    monkeypatch.setattr(app, "MAX_QUEUED_REQUESTS", 1)
    server = inside()
    started, go_on = threading.Event(), threading.Event()
    server.state.requests.submit(lambda client: (started.set(), go_on.wait(300)))
    assert started.wait(300)
    queued = server.state.requests.submit(lambda client: "done")
    reply = server.call("GET", "/websearch-providers")
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "BUSY", "1")
    assert server.call("GET", "/healthz").status == 200
    go_on.set()
    assert queued.result(10) == "done"
    assert server.call("GET", "/websearch-providers").status == 200


def test_body_of_exactly_the_limit_is_accepted(server: Any) -> None:
    text = json.dumps(BODY).encode()
    for extra, status in ((0, 200), (1, 413)):
        padded = text + b" " * (auth.MAX_BODY_BYTES - len(text) + extra)
        assert server.call("POST", SEARCH, padded, Content_Type="application/json").status == status


def test_chunked_body_over_the_limit_is_413(inside: Any) -> None:
    server = inside()
    lines = ("Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close")
    with server.open() as stream:
        stream.sendall(head(server.port, *lines) + (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 20 + b"0\r\n\r\n")
        assert error_of(read_all(stream)) == (b"413", "BODY_TOO_LARGE")


def test_client_that_waits_for_100_continue_is_refused_before_it_sends(inside: Any) -> None:
    server = inside()
    lines = ("Content-Type: application/json", "Content-Length: 1000001", "Expect: 100-continue")
    with server.open() as stream:
        stream.sendall(head(server.port, *lines))
        assert error_of(read_all(stream)) == (b"413", "BODY_TOO_LARGE")


@pytest.mark.parametrize(
    ("size", "token", "status"), [(50, "wrong", b"401"), (900_000, "wrong", b"401"), (5_000_000, TOKEN, b"413")]
)
def test_client_that_sends_its_whole_body_reads_the_refusal(inside: Any, size: int, token: str, status: bytes) -> None:
    server = inside()
    lines = ("Content-Type: application/json", f"Content-Length: {size}")
    with server.open() as stream:
        stream.sendall(head(server.port, *lines, token=token) + b" " * size)
        stream.sendall(head(server.port, "Connection: close", method="GET", path="/healthz"))
        reply = read_all(stream)
    assert reply.startswith(b"HTTP/1.1 " + status)
    assert reply.count(b"HTTP/1.1 ") == 2, "the body was skipped, and the next request answered"
    assert b"HTTP/1.1 200 OK" in reply


def test_internal_error_is_500_without_details(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("in the middle of it")

    monkeypatch.setattr("sleuth.serving.http.providers.list_providers", fail)
    reply = inside().call("GET", "/websearch-providers")
    assert (reply.status, reply.code) == (500, "INTERNAL_ERROR")
    assert "middle" not in reply.text
