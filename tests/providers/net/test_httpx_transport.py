"""The httpx transport: proxies of all kinds, one deadline, the guard."""

import select
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import DeadlineError, PrivateAddressError, UnreachableError
from sleuth_providers.net import guard, tls
from sleuth_providers.net.httpx_transport import Deadline, proxy_transport, stream
from sleuth_providers.net.policy import ExchangeLimits


@pytest.fixture
def certificate(make_certificate: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A certificate for localhost that is trusted."""
    made = make_certificate("DNS:localhost,IP:127.0.0.1")
    tls.tls_context.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", made.file)
    yield made
    tls.tls_context.cache_clear()


def tunnel_to(port: int) -> Callable[[Any, bytes], None]:
    """Answer a CONNECT with a tunnel to a port of this machine."""

    def answer(connection: Any, request: bytes) -> None:
        assert request.startswith(b"CONNECT ")
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with socket.create_connection(("127.0.0.1", port)) as target:
            while True:
                for source in select.select([connection, target], [], [])[0]:
                    data = source.recv(65536)
                    if not data:
                        return
                    (target if source is connection else connection).sendall(data)

    return answer


def send(proxy: str, url: str, timeout: float = 30.0) -> Response:
    return proxy_transport(proxy)(
        Request(url), {"Connection": "close"}, ExchangeLimits(time.monotonic() + timeout), None
    )


@pytest.mark.parametrize("encrypted", [False, True], ids=["http proxy", "https proxy"])
def test_tls_through_a_proxy_works(serve: Any, certificate: Any, encrypted: bool) -> None:
    target = serve(context=certificate.context)
    proxy = serve(tunnel_to(target.port), context=certificate.context if encrypted else None)
    assert send(proxy.url, f"https://localhost:{target.port}/x").body == b"ok"
    assert target.requests[0].startswith(b"GET /x HTTP/1.1\r\n")


def test_reply_that_drips_through_an_https_proxy_ends_at_the_deadline(serve: Any, certificate: Any) -> None:
    target = serve(
        lambda connection, _: target.drip(connection, b"HTTP/1.1 200 OK\r\nX: y\r\n"), context=certificate.context
    )
    proxy = serve(tunnel_to(target.port), context=certificate.context)
    with pytest.raises(DeadlineError):
        send(proxy.url, f"https://localhost:{target.port}/", timeout=0.5)


def test_certificate_of_the_target_is_checked_through_an_https_proxy(
    serve: Any, make_certificate: Any, certificate: Any
) -> None:
    target = serve(context=make_certificate("DNS:other.test").context)
    proxy = serve(tunnel_to(target.port), context=certificate.context)
    with pytest.raises(UnreachableError, match="bad certificate at localhost"):
        send(proxy.url, f"https://localhost:{target.port}/")
    assert target.requests == []


def test_socks_proxy_that_is_none_is_an_error(serve: Any) -> None:
    proxy = serve(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises((UnreachableError, DeadlineError)):
        send(f"socks5://{proxy.netloc}", "http://example.test/", timeout=1.0)


def test_guard_checks_the_address_without_a_proxy(serve: Any) -> None:
    server = serve()
    deadline = Deadline(lambda: time.monotonic() + 30, 5.0)
    with pytest.raises(PrivateAddressError), stream("GET", server.url, {}, None, deadline, guard=guard.check):
        pass
    assert server.open == []


def test_deadline_can_be_moved_while_the_reply_streams(serve: Any) -> None:
    def answer(connection: Any, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nfirst")
        server.over.wait()

    server, until = serve(answer), [time.monotonic() + 600]
    with stream("GET", server.url, {}, None, Deadline(lambda: until[0], 5.0)) as reply:
        chunks = reply.iter_raw()
        assert next(chunks) == b"first"
        until[0] = time.monotonic() + 0.1
        with pytest.raises(TimeoutError):
            next(chunks)
