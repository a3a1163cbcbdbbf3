"""Connections: deadlines, name resolution, the guard, TLS, and the errors of all of them."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import (
    BadRequestError,
    BrokenOffError,
    DeadlineError,
    ProviderError,
    UnreachableError,
)
from sleuth_providers.net import connection, tls
from sleuth_providers.net.http1 import exchange
from sleuth_providers.net.httpx_transport import proxy_transport
from sleuth_providers.net.policy import ExchangeLimits, Guard

HEADERS = {"Connection": "close"}
TEXT = b"The quick brown fox jumps over the lazy dog. " * 50
KEY = "sk-secret-0123456789"


def ask(address: str, seconds: float = 5.0, guard: Guard | None = None, **more: Any) -> Response:
    limits = ExchangeLimits(time.monotonic() + seconds, more.pop("connect", 5.0), more.pop("body", 10_000_000))
    transport = proxy_transport(proxy) if (proxy := more.pop("proxy", None)) else exchange
    return transport(Request(address, **more), HEADERS, limits, guard)


# Time


@pytest.mark.parametrize(
    ("start", "repeated"),
    [
        (b"", b"HTTP/1.1 200 OK\r\n" + b"X-Y: z\r\n" * 90),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["headers", "interim replies", "body", "chunks"],
)
@pytest.mark.parametrize("transport", ["direct", "proxy"])
def test_reply_that_drips_ends_at_the_deadline(serve: Any, transport: str, start: bytes, repeated: bytes) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(start)
        server.drip(connection, repeated)

    server = serve(answer)
    with pytest.raises(DeadlineError):
        ask(server.url, 0.3, proxy=server.url if transport == "proxy" else None)


def test_endless_trailers_are_not_read(serve: Any) -> None:
    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
        while not server.over.is_set():
            connection.sendall(b"X-Trailer: " + b"y" * 8000 + b"\r\n")

    server = serve(answer)
    assert ask(server.url).body == b"x"


def test_silent_server_ends_at_the_deadline(serve: Any) -> None:
    server = serve(lambda *_: server.over.wait())
    with pytest.raises(DeadlineError):
        ask(server.url, 0.2)


def test_server_that_does_not_read_ends_at_the_deadline(serve: Any) -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    with listener, pytest.raises(DeadlineError):
        ask(f"http://127.0.0.1:{listener.getsockname()[1]}", 0.3, method="POST", json="x" * 20_000_000)


def test_stalled_tls_handshake_ends_at_the_deadline(serve: Any) -> None:
    server = serve(lambda *_: server.over.wait())
    with pytest.raises(DeadlineError):
        ask(server.url.replace("http:", "https:"), 0.3)


def test_connect_timeout_applies(blackhole: int) -> None:
    with pytest.raises(DeadlineError):
        ask(f"http://127.0.0.1:{blackhole}", 5.0, connect=0.3)


def test_deadline_before_the_connect_timeout_applies(blackhole: int) -> None:
    with pytest.raises(DeadlineError):
        ask(f"http://127.0.0.1:{blackhole}", 0.2, connect=5.0)


def test_nothing_is_sent_after_the_deadline(serve: Any) -> None:
    server = serve()
    with pytest.raises(DeadlineError):
        ask(server.url, -1.0)
    assert server.requests == []


def test_silent_name_server_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch, serve: Any) -> None:
    server = serve()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: server.over.wait())
    with pytest.raises(DeadlineError, match="DNS lookup"):
        ask("http://silent.test/", 0.2)


# Addresses


def test_ipv4_and_ipv6_work(serve: Any) -> None:
    assert ask(serve().url).body == b"ok"
    server = serve(host="::1")
    assert ask(server.url).body == b"ok"
    assert f"Host: [::1]:{server.port}".encode() in server.requests[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost_on_one_family_only_works(serve: Any, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(host=host)
    both = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", server.port, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    assert ask(f"http://localhost:{server.port}").body == b"ok"


def addresses(*ports: int) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]


def test_next_address_is_tried_while_the_first_does_not_answer(
    serve: Any, blackhole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses(blackhole, server.port))
    assert ask("http://two.test/").body == b"ok"


def test_next_address_is_tried_at_once_after_a_refusal(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses(free_port(), server.port))
    monkeypatch.setattr(connection, "NEXT_ADDRESS_S", 9.0)
    assert ask("http://two.test/").body == b"ok"


def test_unusable_addresses_are_skipped(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    unknown = (99, socket.SOCK_STREAM, 6, "", ("x", 80))
    everybody = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("255.255.255.255", 80))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [everybody, unknown, *addresses(server.port)])
    assert ask("http://odd.test/").body == b"ok"
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [unknown])
    with pytest.raises(UnreachableError, match=r"not supported .*at odd\.test|at odd\.test"):
        ask("http://odd.test/")


def test_unanswered_address_times_out(blackhole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses(blackhole, free_port()))
    with pytest.raises(DeadlineError):
        ask("http://two.test/", connect=0.5)


def test_ipv6_and_ipv4_addresses_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    six = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (f"::{n}", 80, 0, 0)) for n in (1, 2, 3)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: six + addresses(1, 2))
    order = [address[1] for _, address in connection.resolve("many.test", 80, time.monotonic() + 1)]
    assert order == [80, 1, 80, 2, 80]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_refused_connection_names_the_host() -> None:
    port = free_port()
    with pytest.raises(UnreachableError, match=f"refused at 127.0.0.1:{port}") as caught:
        ask(f"http://127.0.0.1:{port}")
    assert not isinstance(caught.value, BrokenOffError)


def test_password_in_a_url_is_not_shown() -> None:
    with pytest.raises(UnreachableError) as caught:
        ask(f"http://me:{KEY}@127.0.0.1:{free_port()}/")
    assert KEY not in str(caught.value)
    with pytest.raises(BadRequestError) as refused:
        ask(f"ftp://me:{KEY}@host/?key={KEY}")
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("host", ["nobody.invalid", "999.999.999.999", "1.2.3.4.5"])
def test_unknown_host_is_reported(host: str) -> None:
    with pytest.raises(UnreachableError, match=rf"no such host: {host}|cannot resolve {host}"):
        ask(f"http://{host}/")


def test_temporary_dns_failure_is_not_an_unknown_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(UnreachableError, match="is the network up"):
        ask("http://somebody.test/")


def test_ip_addresses_are_not_sent_to_the_name_server(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    flags: list[int] = []
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *place, **more: flags.append(more["flags"]) or real(*place, **more)
    )
    assert ask(serve().url).body == b"ok"
    assert flags == [socket.AI_NUMERICHOST]


class RefusedError(ProviderError):
    pass


def test_guard_sees_all_addresses_and_can_refuse_the_connection(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_guard_sees_the_address_in_any_notation(serve: Any, host: str) -> None:
    server, seen = serve(), []
    ask(f"http://{host}:{server.port}", guard=lambda _, found: seen.extend(found))
    assert set(seen) <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in seen


def test_guard_sees_an_ipv4_address_mapped_to_ipv6(serve: Any) -> None:
    server, seen = serve(), []
    ask(f"http://[::ffff:127.0.0.1]:{server.port}", guard=lambda _, found: seen.extend(found))
    assert seen == ["::ffff:127.0.0.1"]


def test_name_is_resolved_once(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    good, trap, seen = serve(), serve(), []
    answers = iter([addresses(good.port), addresses(trap.port)])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: next(answers))
    ask("http://rebinding.test/", guard=lambda *found: seen.append(found))
    assert (len(good.requests), len(trap.requests), len(seen)) == (1, 0, 1)


# TLS


@pytest.fixture
def fresh_tls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Forget the TLS settings of this process and take others."""

    def use(**environ: str) -> None:
        tls.tls_context.cache_clear()
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)

    yield use
    tls.tls_context.cache_clear()


LOCAL = "DNS:localhost,IP:127.0.0.1"


def test_self_signed_certificate_is_refused(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    fresh_tls()
    server = serve(context=make_certificate(LOCAL).context)
    with pytest.raises(UnreachableError, match=rf"bad certificate at {server.netloc}: self.signed certificate"):
        ask(server.url)
    assert server.requests == []


def test_certificate_that_names_its_host_only_as_common_name_is_refused(
    serve: Any, make_certificate: Any, fresh_tls: Any
) -> None:
    certificate = make_certificate("", subject="localhost")
    fresh_tls(SSL_CERT_FILE=certificate.file)
    server = serve(context=certificate.context)
    with pytest.raises(UnreachableError, match="bad certificate"):
        ask(server.url.replace("127.0.0.1", "localhost"))
    assert server.requests == []


def test_ssl_cert_file_is_trusted(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    certificate = make_certificate(LOCAL)
    fresh_tls(SSL_CERT_FILE=certificate.file)
    assert ask(serve(context=certificate.context).url).body == b"ok"


def test_certificate_for_another_name_is_refused(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    certificate = make_certificate("DNS:other.test")
    fresh_tls(SSL_CERT_FILE=certificate.file)
    with pytest.raises(UnreachableError, match=r"bad certificate at .*not valid for"):
        ask(serve(context=certificate.context).url)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_invalid_ssl_cert_file_is_reported(tmp_path: Any, serve: Any, fresh_tls: Any, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    fresh_tls(SSL_CERT_FILE=str(tmp_path / "ca.pem"))
    with pytest.raises(UnreachableError, match="SSL_CERT_FILE"):
        ask(serve().url.replace("http:", "https:"))


def test_certificate_folder_is_recognised_by_hashed_names(tmp_path: Any) -> None:
    assert not tls.is_hashed(str(tmp_path / "absent"))
    assert not tls.is_hashed(str(tmp_path))
    (tmp_path / "01234567.0").write_text("")
    assert tls.is_hashed(str(tmp_path))


def test_default_certificates_are_loaded_without_a_hashed_folder(
    fresh_tls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_tls()
    monkeypatch.setattr(tls, "CA_FOLDERS", ())
    assert tls.tls_context().verify_mode == ssl.CERT_REQUIRED
    assert tls.tls_context() is tls.tls_context()


def test_tls_to_a_plain_port_is_reported(serve: Any) -> None:
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


def test_reply_that_drips_over_tls_ends_at_the_deadline(serve: Any, make_certificate: Any, fresh_tls: Any) -> None:
    certificate = make_certificate(LOCAL)
    fresh_tls(SSL_CERT_FILE=certificate.file)
    page = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 999
    server = serve(lambda connection, _: server.drip(connection, page), context=certificate.context)
    with pytest.raises(DeadlineError):
        ask(server.url, 0.3)
