"""A request as Chrome keeps the guard, the certificates, the deadline and the limits of plain requests."""

import sys
import time
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.guarded_proxy import run_proxy

from sleuth_providers.base import Request, Response
from sleuth_providers.browser.proxy import GuardedProxy
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BrokenOffError,
    DeadlineError,
    PrivateAddressError,
    UnreachableError,
)
from sleuth_providers.net import guard, impersonation, tls
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import ExchangeLimits, Policy

pytest.importorskip("wreq")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Trust a certificate during a test."""

    def use(certificate: Any) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", certificate.file)
        tls.tls_context.cache_clear()
        impersonation._certificates.cache_clear()

    yield use
    tls.tls_context.cache_clear()
    impersonation._certificates.cache_clear()


@pytest.fixture
def site(serve: Any, make_certificate: Any, trust: Any) -> Any:
    """Start TLS servers whose certificate is trusted."""
    certificate = make_certificate("DNS:localhost,IP:127.0.0.1")
    trust(certificate)

    def start(answer: Any) -> str:
        start.server = serve(answer, context=certificate.context)  # type: ignore[attr-defined]  # for the tests
        return f"https://localhost:{start.server.port}"  # type: ignore[attr-defined]  # as above

    return start


def send(url: str, **options: Any) -> Response:
    policy = Policy(**{"timeout": 20, "attempts": 1, "browser": True, **options})
    return HttpClient(policy).send(Request(url))


def test_response_arrives_with_status_headers_and_body(site: Any) -> None:
    url = site(HEAD + b"X-Mine: caf\xe9\r\nContent-Length: 5\r\n\r\nlarch")
    reply = send(f"{url}/a?b=%20c")
    assert (reply.status, reply.body, reply.url) == (200, b"larch", f"{url}/a?b=%20c")
    assert (reply.headers["x-mine"], reply.headers["content-type"]) == ("caf\xe9", "text/html")
    assert site.server.requests[0].startswith(b"GET /a?b=%20c HTTP/1.1\r\n")


def test_redirects_are_left_to_the_client(site: Any) -> None:
    url = site(b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(BadResponseError, match="another host"):
        send(url)
    assert len(site.server.requests) == 1


def test_certificate_of_an_unknown_authority_is_refused(serve: Any, make_certificate: Any, site: Any) -> None:
    other = make_certificate("DNS:localhost,DNS:other")
    server = serve(context=other.context)
    with pytest.raises(UnreachableError, match="bad certificate"):
        send(f"https://localhost:{server.port}/")
    assert server.requests == []


def test_certificate_for_another_host_is_refused(site: Any) -> None:
    url = site(HEAD + b"\r\n").replace("localhost", "127.0.0.2")
    with pytest.raises(UnreachableError):
        send(url)


def test_guard_sees_every_address_and_a_private_one_is_not_connected_to(site: Any) -> None:
    url = site(HEAD + b"\r\n")
    seen: list[Any] = []

    def watch(host: str, addresses: list[str]) -> None:
        seen.append((host, set(addresses) <= {"127.0.0.1", "::1"}))
        guard.check(host, addresses)

    for address in (url, url.replace("localhost", "127.0.0.1"), url.replace("localhost", "127.1")):
        with pytest.raises(PrivateAddressError):
            send(address, guard=watch)
    assert seen == [("localhost", True), ("127.0.0.1", True), ("127.1", True)]
    assert site.server.open == []


@pytest.mark.parametrize("host", ["site.example", "SITE.Example", "xn--bcher-kva.example", "Bücher.example"])
def test_name_is_resolved_once_by_us(
    host: str, serve: Any, make_certificate: Any, trust: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate("DNS:site.example,DNS:xn--bcher-kva.example")
    trust(certificate)
    server = serve(context=certificate.context)
    calls: list[str] = []
    real = impersonation.resolve

    def resolve(host: str, *rest: Any) -> Any:
        calls.append(host)
        return real("127.0.0.1", *rest)

    monkeypatch.setattr(impersonation, "resolve", resolve)
    assert send(f"https://{host}:{server.port}/").body == b"ok"
    assert calls == [host.lower().encode("idna").decode()]


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"\r\nsome words"])
def test_server_that_stops_sending_times_out(site: Any, sent: bytes) -> None:
    def stall(connection: Any, _: bytes) -> None:
        connection.sendall(sent)
        connection.recv(1)

    with pytest.raises(DeadlineError):
        send(site(stall), timeout=0.5)


def test_body_that_drips_times_out(site: Any) -> None:
    url = site(lambda connection, _: site.server.drip(connection, HEAD + b"\r\n" + b"x" * 1000))
    with pytest.raises(DeadlineError):
        send(url, timeout=0.5)


def test_endless_and_compressed_bodies_are_cut_off(site: Any) -> None:
    def pour(connection: Any, _: bytes) -> None:
        connection.sendall(HEAD + b"\r\n")
        while True:
            connection.sendall(b"x" * 10_000)

    bomb = zlib.compress(b"x" * 20_000_000, wbits=31)
    for answer in (pour, HEAD + b"Content-Encoding: gzip\r\n\r\n" + bomb):
        with pytest.raises(BadResponseError, match="larger than 1 MB"):
            send(site(answer), max_body=1_000_000)


def test_connection_that_is_closed_early_is_reported(site: Any) -> None:
    for answer in (b"", HEAD + b"Content-Length: 100\r\n\r\nshort"):
        with pytest.raises(BrokenOffError):
            send(site(answer))


def test_header_with_a_line_break_is_refused(site: Any) -> None:
    with pytest.raises(BadRequestError):
        HttpClient(Policy(browser=True)).send(Request(site(HEAD), headers={"Cookie": "a\r\nX: b"}))


def test_errors_do_not_hold_the_query(site: Any) -> None:
    with pytest.raises(UnreachableError) as caught:
        send(site(b"").replace("localhost", "127.0.0.1") + "/?q=my-secret")
    assert "my-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("reason", ["missing", "off", "own agent", "plain http"])
def test_plain_requests_serve_without_wreq(serve: Any, site: Any, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url = site(HEAD + b"Content-Length: 2\r\n\r\nok")
    if reason == "missing":
        monkeypatch.setitem(sys.modules, "wreq", None)
    if reason == "plain http":
        url = serve().url
    used: list[str] = []
    monkeypatch.setattr(impersonation, "_exchange", lambda *_: used.append("wreq"))
    headers = {"User-Agent": "Nokia6230/2.0"} if reason == "own agent" else {}
    policy = Policy(browser=True, impersonate=reason != "off")
    assert HttpClient(policy).send(Request(url, headers=headers)).body == b"ok"
    assert used == []


def test_proxy_is_used_and_local_names_are_still_refused(site: Any) -> None:
    url = site(HEAD + b"Content-Length: 2\r\n\r\nok")
    hosts: list[str] = []
    with run_proxy(GuardedProxy(lambda host, _: hosts.append(host), time.monotonic() + 60)) as address:
        proxy = f"http://{address.username}:{address.password}@{address.host}:{address.port}"
        transport = impersonation.chrome_transport(proxy)
        assert transport
        limits = ExchangeLimits(time.monotonic() + 20)
        assert transport(Request(url), {"Accept": "*/*"}, limits, None).body == b"ok"
        for name in ("localhost", "127.0.0.1", "nas", "foo.localhost.", "wiki.corp"):
            with pytest.raises(PrivateAddressError):
                transport(Request(f"https://{name}/"), {}, limits, guard.check)
    assert hosts == ["localhost"]


def test_proxy_that_refuses_connections_is_named_without_its_password() -> None:
    transport = impersonation.chrome_transport("http://me:word@127.0.0.1:9")
    assert transport
    with pytest.raises(UnreachableError, match=r"proxy '127\.0\.0\.1:9'") as caught:
        transport(Request("https://public.example/"), {}, ExchangeLimits(time.monotonic() + 20), None)
    assert "word" not in str(caught.value)


def test_unreadable_bundle_is_left_to_the_plain_transport(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("")
    monkeypatch.setattr(impersonation, "CA_BUNDLES", (str(bundle),))
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may read any file
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    impersonation._certificates.cache_clear()
    try:
        assert impersonation._certificates() is None
    finally:
        impersonation._certificates.cache_clear()
