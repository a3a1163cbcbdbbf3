"""Clients that mean no good, or are just too many: large, slow, broken, deaf, all at once."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sleuth.serving.http import app, auth, bodies, connection

SEARCH = "/websearch/search"
BODY = {"providerId": "searxng", "questions": ["siege"]}


def head(port: int, token: str, *lines: str, method: str = "POST", path: str = SEARCH) -> bytes:
    """Return the head of a request, with whatever lines beside the usual."""
    usual = (f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}")
    return "\r\n".join([*usual, *lines, "", ""]).encode()


def everything(stream: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    data = b""
    try:
        while part := stream.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data


def test_64_at_once_are_all_answered(server: Any) -> None:
    def one(number: int) -> tuple[int, str]:
        body = {"providerId": "searxng", "questions": [f"slow {number % 8}"]}
        reply = server.call("POST", SEARCH, body)
        return reply.status, reply.json["query"]

    with ThreadPoolExecutor(64) as pool:
        found = list(pool.map(one, range(64)))
    assert found == [(200, f"slow {number % 8}") for number in range(64)]


def test_64_changes_at_once_are_all_written(server: Any) -> None:
    fields = ("apiHost", "basicAuthUsername")

    def one(number: int) -> int:
        value = f"https://x{number}.example" if number % 2 else f"user {number}"
        return int(server.call("PATCH", "/websearch-providers/mojeek", {fields[1 - number % 2]: value}).status)

    with ThreadPoolExecutor(64) as pool:
        assert set(pool.map(one, range(64))) == {200}
    row = server.call("GET", "/websearch-providers/mojeek").json
    assert row["apiHost"].startswith("https://x")
    assert row["basicAuthUsername"].startswith("user ")


def test_body_that_is_too_large_is_refused_before_it_is_sent(server: Any) -> None:
    with socket.create_connection((server.host, server.port), 10) as stream:
        lines = ("Content-Type: application/json", "Content-Length: 1000001", "Expect: 100-continue")
        stream.sendall(head(server.port, server.token, *lines))
        reply = everything(stream)
    assert reply.startswith(b"HTTP/1.1 413 ")
    assert b"BODY_TOO_LARGE" in reply


@pytest.mark.parametrize("length", ["9" * 30, "-1", "1e3", "١", "5, 6"])
def test_length_that_is_none_is_refused(server: Any, length: str) -> None:
    with socket.create_connection((server.host, server.port), 10) as stream:
        stream.sendall(head(server.port, server.token, "Content-Type: application/json", f"Content-Length: {length}"))
        reply = everything(stream)
    assert reply.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 "))
    assert b'"error"' in reply


def test_endless_body_is_cut_off(server: Any) -> None:
    lines = ("Content-Type: application/json", "Transfer-Encoding: chunked")
    with socket.create_connection((server.host, server.port), 10) as stream:
        stream.sendall(head(server.port, server.token, *lines))
        try:
            for _ in range(10_000):
                stream.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
        except OSError:  # it was closed while we were sending
            return
    pytest.fail("80 MB were taken")


@pytest.mark.parametrize(("size", "token"), [(50, "wrong"), (900_000, "wrong"), (5_000_000, None)])
def test_refusal_is_read_by_who_sends_the_body_late(server: Any, size: int, token: str | None) -> None:
    lines = ("Content-Type: application/json", f"Content-Length: {size}")
    for _ in range(5):
        with socket.create_connection((server.host, server.port), 10) as stream:
            stream.sendall(head(server.port, token or server.token, *lines))
            time.sleep(0.02)
            stream.sendall(b" " * size)
            assert stream.recv(100).startswith(b"HTTP/1.1 401 " if token else b"HTTP/1.1 413 ")


def test_body_of_exactly_the_limit_is_read(server: Any) -> None:
    text = json.dumps(BODY).encode()
    reply = server.call("POST", SEARCH, text + b" " * (bodies.MAX_BODY - len(text)), Content_Type="application/json")
    assert reply.status == 200
    reply = server.call(
        "POST", SEARCH, text + b" " * (bodies.MAX_BODY - len(text) + 1), Content_Type="application/json"
    )
    assert (reply.status, reply.code) == (413, "BODY_TOO_LARGE")


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100,  # a TLS greeting
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n" * 1000 + b"X",
    ],
    ids=["tls", "garbage", "two hosts", "version", "nul", "long head", "smuggling", "http2", "empty lines"],
)
def test_what_is_not_http_is_answered_in_json_and_the_connection_ends(server: Any, data: bytes) -> None:
    with socket.create_connection((server.host, server.port), 15) as stream:
        stream.sendall(data)
        stream.shutdown(socket.SHUT_WR)
        reply = everything(stream)
    assert reply.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 "))
    told, _ = json.JSONDecoder().raw_decode(reply.partition(b"\r\n\r\n")[2].decode())
    assert told["error"]["hint"]


def test_pipelined_requests_are_answered_in_order_and_garbage_ends_it(server: Any) -> None:
    good = head(server.port, server.token, method="GET", path="/healthz")
    with socket.create_connection((server.host, server.port), 10) as stream:
        stream.sendall(good * 3 + b"NONSENSE\r\n\r\n" + good)
        reply = everything(stream)
    assert reply.count(b"HTTP/1.1 200 ") == 3
    assert reply.count(b"HTTP/1.1 400 ") == 1
    assert reply.rindex(b"200 OK") < reply.index(b"400 Bad")
    assert server.call("GET", "/healthz").status == 200


def test_refused_body_is_not_taken_for_the_next_request(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "DRAIN_SECONDS", 0.2)
    server = inside()
    hidden = head(server.port, "x", method="GET", path="/healthz")
    with server.open() as stream:
        stream.sendall(head(server.port, "wrong", f"Content-Length: {len(hidden) + 5}") + hidden)
        reply = everything(stream)
    assert reply.count(b"HTTP/1.1 ") == 1
    assert reply.startswith(b"HTTP/1.1 401 ")


def test_upgrade_to_something_else_is_not_taken(server: Any) -> None:
    reply = server.call("GET", "/healthz", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13")
    assert reply.status == 200


def test_head_that_drips_in_is_cut_off(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.4)
    server = inside()
    with server.open() as silent, server.open() as slow, server.open() as second:
        second.sendall(head(server.port, "x", method="GET", path="/healthz"))
        assert b"200 OK" in second.recv(4096)
        started = time.monotonic()
        dripping = [slow, second]
        while dripping and time.monotonic() - started < 8:
            for stream in list(dripping):
                try:
                    stream.sendall(b"G")
                except OSError:
                    dripping.remove(stream)
            time.sleep(0.05)
        assert dripping == []
        assert everything(silent) == b""
    assert time.monotonic() - started > 0.3
    assert server.call("GET", "/healthz").status == 200


def test_body_that_does_not_come_is_given_up(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SECONDS", 0.3)
    server = inside()
    with server.open() as stream:
        stream.sendall(
            head(server.port, "token-of-the-tests-0123456789", "Content-Type: application/json", "Content-Length: 9")
        )
        reply = everything(stream)
    assert reply.startswith(b"HTTP/1.1 408 ")
    assert b"REQUEST_TIMEOUT" in reply


def test_client_that_does_not_read_is_cut_off(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STUCK_SECONDS", 0.3)
    server = inside()
    ask = head(server.port, "token-of-the-tests-0123456789", method="GET", path="/openapi.json")
    with server.open(0.5) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ended = time.monotonic() + 20
        try:
            while time.monotonic() < ended:  # more and more answers that nobody takes
                stream.sendall(ask)
        except TimeoutError:
            pass
        except OSError:
            return
        while server.server.server_state.connections and time.monotonic() < ended:
            time.sleep(0.05)
        assert not server.server.server_state.connections


def test_connection_that_waits_for_the_next_request_is_closed_in_the_end(
    inside: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sleuth.serving.http.server.KEEP_ALIVE", 0.2)
    server = inside()
    with server.open() as stream:
        stream.sendall(head(server.port, "x", method="GET", path="/healthz"))
        assert everything(stream).count(b"200 OK") == 1


def test_one_connection_too_many_is_turned_away(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST", 3)
    server = inside()
    streams = [server.open() for _ in range(4)]
    try:
        reply = everything(streams[3])
        assert reply.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in reply
        assert b'"BUSY"' in reply
    finally:
        for stream in streams:
            stream.close()
    until = time.monotonic() + 10
    while server.server.server_state.connections and time.monotonic() < until:
        time.sleep(0.02)
    assert server.call("GET", "/healthz").status == 200


def test_one_request_too_many_is_told_to_come_again(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "WORKERS", 1)
    monkeypatch.setattr(app, "WAITING", 1)
    server = inside()
    begun, go = threading.Event(), threading.Event()

    def hold(_: Any) -> None:
        begun.set()
        go.wait(20)

    server.api.workers.submit(hold)
    assert begun.wait(10)
    waiting = server.api.workers.submit(lambda client: "done")
    reply = server.call("GET", "/websearch-providers")
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "BUSY", "1")
    assert server.call("GET", "/healthz").status == 200
    go.set()
    assert waiting.result(10) == "done"
    assert server.call("GET", "/websearch-providers").status == 200


def test_work_of_a_client_that_left_is_not_begun(
    inside: Any, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    monkeypatch.setattr(app, "WORKERS", 1)
    server = inside()
    begun, go = threading.Event(), threading.Event()
    server.api.workers.submit(lambda client: (begun.set(), go.wait(20)))
    assert begun.wait(10)
    text = json.dumps({"providerId": "searxng", "questions": ["left alone"]})
    with server.open() as stream:
        stream.sendall(
            head(
                server.port,
                "token-of-the-tests-0123456789",
                "Content-Type: application/json",
                f"Content-Length: {len(text)}",
            )
            + text.encode()
        )
        until = time.monotonic() + 10
        while not server.api.workers._jobs.qsize() and time.monotonic() < until:
            time.sleep(0.01)
    while server.server.server_state.connections and time.monotonic() < until:
        time.sleep(0.01)
    go.set()
    assert server.call("GET", "/websearch-providers/searxng").status == 200
    assert "left alone" not in asked


def test_fault_of_ours_is_500_without_a_word_of_it(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("in the middle of it")

    monkeypatch.setattr("sleuth.serving.http.providers.list_providers", fail)
    reply = inside().call("GET", "/websearch-providers")
    assert (reply.status, reply.code) == (500, "INTERNAL_ERROR")
    assert "middle" not in reply.text
