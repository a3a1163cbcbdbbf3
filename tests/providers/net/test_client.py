"""The HTTP client: retries, errors for statuses, redirects, common headers and proxies."""

import gzip
import itertools
import socket
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BrokenOffError,
    DeadlineError,
    KeyInvalidError,
    NotFoundError,
    ProviderError,
    QuotaError,
    RateLimitError,
    UnavailableError,
    UnreachableError,
)
from sleuth_providers.net.client import (
    MAX_RETRY_AFTER_S,
    HttpClient,
    _same_origin,
    retry_after,
    status_error,
    system_proxy,
)
from sleuth_providers.net.policy import Policy

KEY = "sk-secret-0123456789"


class FakeSleep:
    """Stands in for time.sleep: records the pauses and does not wait."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)


def send(request: Request | str, detect_error: Any = None, sleep: FakeSleep | None = None, **policy: Any) -> Response:
    request = Request(request) if isinstance(request, str) else request
    policy = {"timeout": 5.0} | policy
    return HttpClient(Policy(**policy), sleep=sleep or FakeSleep()).send(request, detect_error)


def answer(status: int, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} X", *headers, f"Content-Length: {len(body)}", "", ""]).encode() + body


def in_turn(*answers: bytes) -> Callable[[Any, bytes], None]:
    """Answer each request with the next of several; the last one stays."""
    left = itertools.chain(answers, itertools.repeat(answers[-1]))
    return lambda connection, _: connection.sendall(next(left))


def lines(request: bytes) -> list[str]:
    return request.partition(b"\r\n\r\n")[0].decode().split("\r\n")


def header(request: bytes, name: str) -> str | None:
    return next(
        (line[len(name) + 2 :] for line in lines(request) if line.lower().startswith(f"{name}: ".lower())), None
    )


# Retries


@pytest.mark.parametrize("trouble", [b"", b"nonsense", answer(500), answer(502), answer(503), answer(429)])
def test_temporary_errors_are_retried(serve: Any, trouble: bytes) -> None:
    server = serve(in_turn(trouble, trouble, answer(200, body=b"good")))
    assert send(server.url).body == b"good"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("trouble", "error"),
    [(b"", BrokenOffError), (answer(500), UnavailableError), (answer(429), RateLimitError)],
)
@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_number_of_attempts_is_limited(serve: Any, trouble: bytes, error: type[ProviderError], attempts: int) -> None:
    server, sleep = serve(trouble), FakeSleep()
    with pytest.raises(error):
        send(server.url, sleep=sleep, attempts=attempts)
    assert len(server.requests) == attempts
    assert len(sleep.pauses) == attempts - 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 408, 410, 413, 418, 422, 451, 204, 202, 304, 300])
def test_final_statuses_are_not_retried(serve: Any, status: int) -> None:
    server = serve(answer(status))
    with pytest.raises(ProviderError):
        send(server.url)
    assert len(server.requests) == 1


def test_unreadable_body_is_not_retried(serve: Any) -> None:
    server = serve(answer(200, "Content-Encoding: br", body=b"x"))
    with pytest.raises(BadResponseError):
        send(server.url)
    assert len(server.requests) == 1


def test_refused_connection_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    sleep = FakeSleep()
    with pytest.raises(UnreachableError):
        send(f"http://127.0.0.1:{port}", sleep=sleep)
    assert sleep.pauses == []


def test_pauses_between_attempts_grow_and_vary(serve: Any) -> None:
    sleep = FakeSleep()
    with pytest.raises(UnavailableError):
        send(serve(answer(500)).url, sleep=sleep, attempts=4, timeout=60)
    for place, pause in enumerate(sleep.pauses):
        assert 0.15 * 2**place <= pause <= 0.3 * 2**place


def test_retry_after_within_the_deadline_is_respected(serve: Any) -> None:
    sleep = FakeSleep()
    server = serve(in_turn(answer(429, "Retry-After: 2"), answer(200)))
    send(server.url, sleep=sleep, timeout=5)
    assert sleep.pauses == [2.0]


def test_retry_after_of_zero_retries_at_once(serve: Any) -> None:
    sleep = FakeSleep()
    send(serve(in_turn(answer(503, "Retry-After: 0"), answer(200))).url, sleep=sleep)
    assert sleep.pauses == [0.0]


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_beyond_the_deadline_fails_at_once(serve: Any, status: int) -> None:
    server, sleep = serve(answer(status, "Retry-After: 60")), FakeSleep()
    with pytest.raises(ProviderError) as caught:
        send(server.url, sleep=sleep, timeout=5)
    assert (len(server.requests), sleep.pauses, caught.value.retry_after) == (1, [], 60.0)


def test_retry_after_may_be_a_date(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now, sleep = 1_800_000_000.0, FakeSleep()
    monkeypatch.setattr(time, "time", lambda: now)
    server = serve(in_turn(answer(429, f"Retry-After: {formatdate(now + 3, usegmt=True)}"), answer(200)))
    send(server.url, sleep=sleep, timeout=60)
    assert sleep.pauses == [3.0]
    with pytest.raises(RateLimitError) as caught:
        send(serve(answer(429, f"Retry-After: {formatdate(now + 600, usegmt=True)}")).url, timeout=60)
    assert caught.value.retry_after == 600.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", None),
        ("5", 5.0),
        (" 7 ", 7.0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("²", None),
        ("9" * 400, MAX_RETRY_AFTER_S),
        ("99999999", MAX_RETRY_AFTER_S),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER_S),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Fri, 99 Foo 2024 23:59:59 GMT", None),
    ],
)
def test_retry_after_is_parsed(value: str, seconds: float | None) -> None:
    assert retry_after(Response(429, {"retry-after": value}, b"")) == seconds


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_any_retry_after_is_parsed_or_ignored(value: str) -> None:
    seconds = retry_after(Response(429, {"retry-after": value}, b""))
    assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER_S


def test_deadline_covers_all_attempts(serve: Any) -> None:
    server = serve(lambda connection, _: server.over.wait(0.4) or connection.sendall(answer(500)))
    with pytest.raises(ProviderError):
        send(server.url, timeout=0.6, attempts=10)
    assert len(server.requests) <= 2


# Errors for statuses


@pytest.mark.parametrize(
    ("status", "error", "code", "retried"),
    [
        (202, BadResponseError, "BAD_RESPONSE", False),
        (204, BadResponseError, "BAD_RESPONSE", False),
        (304, BadResponseError, "BAD_RESPONSE", False),
        (400, BadRequestError, "INVALID_REQUEST", False),
        (401, KeyInvalidError, "API_KEY_INVALID", False),
        (402, QuotaError, "RATE_LIMIT_EXCEEDED", False),
        (403, KeyInvalidError, "API_KEY_INVALID", False),
        (404, NotFoundError, "BAD_RESPONSE", False),
        (408, DeadlineError, "TIMEOUT", False),
        (422, BadRequestError, "INVALID_REQUEST", False),
        (429, RateLimitError, "RATE_LIMIT_EXCEEDED", True),
        (500, UnavailableError, "PROVIDER_UNAVAILABLE", True),
        (503, UnavailableError, "PROVIDER_UNAVAILABLE", True),
        (599, UnavailableError, "PROVIDER_UNAVAILABLE", True),
    ],
)
def test_status_is_mapped_to_an_error(
    serve: Any, status: int, error: type[ProviderError], code: str, retried: bool
) -> None:
    with pytest.raises(error) as caught:
        send(serve(answer(status, body=b"the server's words" if status not in (204, 304) else b"")).url, attempts=1)
    found = caught.value
    assert type(found) is error
    assert (found.code, found.status, found.retryable, found.detail) == (code, status, retried, f"HTTP {status}")
    assert "server's words" not in f"{found} {found.message} {found.hint}"


@pytest.mark.parametrize("status", [200, 201, 203])
def test_successful_status_is_no_error(status: int) -> None:
    assert status_error(Response(status, {}, b"")) is None


def test_error_of_the_provider_takes_precedence_over_the_status(serve: Any) -> None:
    detect_error = lambda response: QuotaError("used up") if b"quota" in response.body else None  # noqa: E731
    server = serve(answer(429, body=b"quota"))
    with pytest.raises(QuotaError):
        send(server.url, detect_error)
    assert len(server.requests) == 1
    with pytest.raises(QuotaError):
        send(serve(answer(200, body=b"quota")).url, detect_error)
    assert send(serve(answer(200, body=b"fine")).url, detect_error).body == b"fine"


# Redirects


def moved(status: int, target: str) -> bytes:
    return answer(status, f"Location: {target}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_on_the_same_origin_is_followed_with_the_headers(serve: Any, status: int) -> None:
    server = serve(in_turn(moved(status, "/new?x=1"), answer(200, body=b"there")))
    response = send(Request(f"{server.url}/old", {"q": "words"}, headers={"X-Api-Key": KEY}))
    assert (response.body, response.url) == (b"there", f"{server.url}/new?x=1")
    assert lines(server.requests[1])[0] == "GET /new?x=1 HTTP/1.1"
    assert header(server.requests[1], "X-Api-Key") == KEY


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("next", "/a/next"),
        ("../up", "/up"),
        ("?only=query", "/a/b?only=query"),
        ("  /blank  ", "/blank"),
        ("/with blank", "/with%20blank"),
        ("/%C3%A9", "/%C3%A9"),
        ("/\u00c3\u00a9", "/%C3%A9"),  # é in UTF-8, as http.client hands it over
        ("/x#fragment", "/x"),
    ],
)
def test_redirect_is_relative_to_the_page(serve: Any, target: str, path: str) -> None:
    line = b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: " + target.encode("latin-1") + b"\r\n\r\n"
    server = serve(in_turn(line, answer(200)))
    send(f"{server.url}/a/b")
    assert lines(server.requests[1])[0].split(" ")[1] == path


def test_redirect_to_another_host_is_refused(serve: Any) -> None:
    elsewhere = serve()
    server = serve(moved(302, f"{elsewhere.url}/steal"))
    with pytest.raises(BadResponseError, match="redirected to another host") as caught:
        send(Request(server.url, {"api_key": KEY}, headers={"X-Api-Key": KEY}))
    assert elsewhere.requests == []
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_host_of_a_redirect_is_never_cut(serve: Any) -> None:
    host = f"{'x' * 60}.{'y' * 60}.test"
    with pytest.raises(BadResponseError, match=host):
        send(serve(moved(302, f"http://{host}/")).url)
    with pytest.raises(BadResponseError, match="invalid URL") as caught:
        send(serve(moved(302, f"http://{'x' * 9000}.test/")).url)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("target", ["http://[::1", "http://h:99999/", "http://h:port/", "//["])
@pytest.mark.parametrize("cross_origin", [False, True])
def test_redirect_to_an_invalid_url_is_an_error(serve: Any, target: str, cross_origin: bool) -> None:
    with pytest.raises(BadResponseError, match="redirected"):
        send(serve(moved(302, target)).url, cross_origin=cross_origin)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "javascript:alert(1)", "ftp://127.0.0.1/", "data:,x"])
@pytest.mark.parametrize("cross_origin", [False, True])
def test_redirect_to_another_scheme_is_refused(serve: Any, target: str, cross_origin: bool) -> None:
    with pytest.raises((BadResponseError, BadRequestError)):
        send(serve(moved(302, target)).url, cross_origin=cross_origin)


@pytest.mark.parametrize(
    ("here", "there", "same"),
    [
        ("http://a/x", "http://a/y", True),
        ("http://a/", "http://a:80/", True),
        ("https://a:443/", "https://a/", True),
        ("http://a/", "http://A/", True),
        ("http://a/", "https://a/", True),
        ("http://a:80/", "https://a:443/", True),
        ("http://[::1]/", "https://[::1]/", True),
        ("http://a/", "http://a.test/", False),
        ("http://a/", "http://b.a/", False),
        ("http://a:8080/", "http://a/", False),
        ("http://a:8080/", "https://a/", False),
        ("http://a/", "https://a:8443/", False),
        ("https://a/", "http://a/", False),
        ("http://a/", "http://b@a/", True),
        ("http://a/", "http://a@b/", False),
        ("http://a/", "ftp://a/", False),
        ("http://a/", "http://[::1", False),
        ("http://a/", "http:///", False),
    ],
)
def test_origins_are_compared(here: str, there: str, same: bool) -> None:
    assert _same_origin(here, there) is same


@pytest.mark.parametrize("status", [302, 307, 308])
def test_redirect_to_another_origin_drops_headers_and_body(serve: Any, status: int) -> None:
    elsewhere = serve(answer(200, body=b"page"))
    server = serve(moved(status, f"{elsewhere.url}/page"))
    request = Request(server.url, {"k": KEY}, "POST", {"Authorization": KEY}, json={"key": KEY})
    assert send(request, cross_origin=True).body == b"page"
    assert KEY.encode() in server.requests[0]
    assert KEY.encode() not in elsewhere.requests[0]
    assert lines(elsewhere.requests[0])[0] == "GET /page HTTP/1.1"
    assert header(elsewhere.requests[0], "User-Agent") == "sleuth"


def test_redirect_back_to_the_first_origin_does_not_restore_headers(serve: Any) -> None:
    elsewhere = serve(lambda connection, _: connection.sendall(moved(302, f"{server.url}/home")))
    server = serve(in_turn(moved(302, elsewhere.url), answer(200)))
    send(Request(server.url, headers={"Authorization": KEY}), cross_origin=True)
    assert KEY.encode() not in server.requests[1]


def test_guard_checks_every_redirect(serve: Any) -> None:
    elsewhere, seen = serve(), []
    server = serve(moved(302, elsewhere.url))
    send(server.url, cross_origin=True, guard=lambda host, found: seen.append((host, found)))
    assert seen == [("127.0.0.1", ["127.0.0.1"])] * 2


def test_redirect_loop_ends(serve: Any) -> None:
    server = serve(moved(302, "/again"))
    with pytest.raises(BadResponseError, match="too many redirects"):
        send(server.url)
    assert len(server.requests) == 6


def test_five_redirects_are_followed(serve: Any) -> None:
    server = serve(in_turn(*[moved(302, f"/{n}") for n in range(5)], answer(200, body=b"end")))
    assert send(server.url).body == b"end"


def test_redirect_without_a_location_is_an_error(serve: Any) -> None:
    with pytest.raises(BadResponseError, match="HTTP 302"):
        send(serve(answer(302)).url)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_post_becomes_get_when_redirected(serve: Any, status: int) -> None:
    server = serve(in_turn(moved(status, "/new"), answer(200)))
    send(Request(server.url, method="POST", form={"q": "words"}))
    assert lines(server.requests[1])[0] == "GET /new HTTP/1.1"
    assert server.requests[1].endswith(b"\r\n\r\n")
    assert header(server.requests[1], "Content-Type") is None


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("body", ["json", "form"])
def test_post_stays_post_after_307_and_308(serve: Any, status: int, body: str) -> None:
    server = serve(in_turn(moved(status, "/new"), answer(200)))
    send(Request(server.url, method="POST", **{body: {"q": "words"}}))  # type: ignore[arg-type]
    before, after = (request.partition(b"\r\n\r\n")[2] for request in server.requests)
    assert lines(server.requests[1])[0] == "POST /new HTTP/1.1"
    assert before == after != b""


# Common headers


def test_common_headers_are_sent(serve: Any) -> None:
    server = serve()
    send(server.url, user_agent="sleuth/9 (test)")
    request = server.requests[0]
    assert header(request, "User-Agent") == "sleuth/9 (test)"
    assert header(request, "Accept-Encoding") == "gzip, deflate"
    assert header(request, "Connection") == "close"
    assert header(request, "Cookie") is None
    assert sum(line.lower().startswith("host:") for line in lines(request)) == 1


def test_adapter_can_replace_the_user_agent(serve: Any) -> None:
    server = serve()
    send(Request(server.url, headers={"User-Agent": "Mozilla/5.0"}))
    assert [line for line in lines(server.requests[0]) if line.startswith("User-Agent")] == ["User-Agent: Mozilla/5.0"]


def test_cookies_are_not_kept(serve: Any) -> None:
    server = serve(in_turn(answer(302, "Location: /b", "Set-Cookie: track=1"), answer(200)))
    send(server.url)
    assert header(server.requests[1], "Cookie") is None


# Proxies


@pytest.fixture
def proxy(serve: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An HTTP forward proxy that answers everything itself."""
    server = serve(answer(200, body=b"by proxy"))
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    return server


def test_proxy_is_used_for_other_hosts(proxy: Any) -> None:
    assert send(Request("http://example.test/p", {"q": "a b"}, headers={"X-Api-Key": KEY})).body == b"by proxy"
    assert lines(proxy.requests[0])[0] == "GET http://example.test/p?q=a+b HTTP/1.1"
    assert header(proxy.requests[0], "Host") == "example.test"
    assert header(proxy.requests[0], "User-Agent") == "sleuth"
    assert header(proxy.requests[0], "X-Api-Key") == KEY


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1."])
def test_proxy_is_not_used_for_loopback(proxy: Any, serve: Any, host: str) -> None:
    server = serve()
    try:
        assert send(f"http://{host}:{server.port}/").body == b"ok"
    except UnreachableError:
        assert host.endswith(".")
    assert proxy.requests == []


@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("*", "example.test", True),
        ("example.test", "example.test", True),
        ("example.test", "www.example.test", True),
        (".example.test", "www.example.test", True),
        ("other.test", "example.test", False),
        ("", "example.test", False),
        ("", "127.0.0.1", True),
        ("", "[::1]", True),
        ("", "localhost.", True),
        ("", "foo.localhost", True),
        ("", "127.0.0.1.example.test", False),
    ],
)
def test_no_proxy_is_honoured(
    proxy: Any, monkeypatch: pytest.MonkeyPatch, no_proxy: str, host: str, direct: bool
) -> None:
    monkeypatch.setenv("no_proxy", no_proxy)
    assert (system_proxy(f"http://{host}/") is None) is direct
    assert (system_proxy(f"https://{host}/") is None) is direct


@pytest.mark.parametrize(
    ("value", "proxy"), [("http://p:1", "http://p:1"), ("p:1", "http://p:1"), ("socks5://p:1", "socks5://p:1")]
)
def test_proxy_for_all_schemes_is_honoured(monkeypatch: pytest.MonkeyPatch, value: str, proxy: str) -> None:
    monkeypatch.setenv("all_proxy", value)
    assert system_proxy("https://example.test/") == proxy


def test_no_proxy_without_environment_variables() -> None:
    assert system_proxy("http://example.test/") is None


def test_compressed_body_through_a_proxy_is_decompressed(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(answer(200, "Content-Encoding: gzip", body=gzip.compress(b"squeezed")))
    monkeypatch.setenv("http_proxy", server.url)
    assert send("http://example.test/").body == b"squeezed"


def test_redirects_through_a_proxy_follow_the_same_rules(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(in_turn(moved(302, "/new"), moved(302, "http://other.test/")))
    monkeypatch.setenv("http_proxy", server.url)
    with pytest.raises(BadResponseError, match=r"redirected to another host: 'other\.test'"):
        send("http://example.test/")
    assert [lines(request)[0].split(" ")[1] for request in server.requests] == [
        "http://example.test/",
        "http://example.test/new",
    ]


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (b"", BrokenOffError),
        (b"nonsense\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx", BrokenOffError),
        (answer(503), UnavailableError),
        (answer(200, "Content-Encoding: gzip", body=b"\x1f\x8b\x08 broken"), BadResponseError),
        (answer(200, "Content-Encoding: br", body=b"x"), BadResponseError),
        (answer(200, body=b"x" * 2000), BadResponseError),
    ],
)
def test_errors_through_a_proxy_are_mapped(
    serve: Any, monkeypatch: pytest.MonkeyPatch, trouble: bytes, error: type[ProviderError]
) -> None:
    server = serve(trouble)
    monkeypatch.setenv("http_proxy", server.url)
    with pytest.raises(error):
        send("http://example.test/", max_body=1000, attempts=1)


def test_connect_timeout_applies_to_a_proxy(blackhole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{blackhole}")
    with pytest.raises(DeadlineError):
        send("http://example.test/", timeout=600, connect_timeout=0.3)


def test_unreachable_proxy_is_reported_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://me:{KEY}@127.0.0.1:{port}")
    with pytest.raises(UnreachableError, match=f"cannot connect through proxy '127.0.0.1:{port}'") as caught:
        send("http://example.test/")
    assert KEY not in str(caught.value)
    assert "HTTP_PROXY" in caught.value.hint


@pytest.mark.parametrize("value", [f"quic://me:{KEY}@p:1", f"http://me:{KEY}@[::1", f"http://me:{KEY}@p:port"])
def test_invalid_proxy_is_reported_without_its_password(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("http_proxy", value)
    with pytest.raises(UnreachableError, match="system proxy setting is not a valid URL") as caught:
        send("http://example.test/")
    assert KEY not in str(caught.value)
    assert "HTTP_PROXY" in caught.value.hint


@pytest.mark.parametrize("address", ["http://[::1", "ftp://example.test/", "http://", "http://ex ample.test/"])
def test_invalid_url_is_a_bad_request_with_a_proxy_too(proxy: Any, address: str) -> None:
    with pytest.raises(BadRequestError):
        send(address)


@pytest.mark.parametrize("value", [f"{KEY}\r\nX-Evil: 1", f"{KEY}中"])
def test_key_with_invalid_characters_is_not_shown_with_a_proxy(proxy: Any, value: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        send(Request("http://example.test/", headers={"X-Api-Key": value}))
    assert KEY not in str(caught.value)
    assert not any(b"X-Evil" in request for request in proxy.requests)


@pytest.mark.parametrize(
    ("host", "address"),
    [("169.254.169.254", "169.254.169.254"), ("0x7f.1", "127.0.0.1"), ("[::ffff:10.0.0.1]", "::ffff:10.0.0.1")],
)
def test_guard_checks_ip_addresses_with_a_proxy_too(proxy: Any, host: str, address: str) -> None:
    def guard(_host: str, found: list[str]) -> None:
        raise BadRequestError(" ".join(found))

    with pytest.raises(BadRequestError, match=address):
        send(f"http://{host}/", guard=guard)
    assert proxy.requests == []


def test_proxy_resolves_names(proxy: Any) -> None:
    seen: list[str] = []
    for name in ("example.org", "abc.onion"):
        assert send(f"http://{name}/", guard=lambda host, _: seen.append(host)).body == b"by proxy"
    assert seen == []


def test_parallel_requests_get_their_own_replies(serve: Any) -> None:
    server = serve(lambda connection, request: connection.sendall(answer(200, body=request.split(b" ")[1])))
    bodies: list[bytes] = []
    workers = [
        threading.Thread(target=lambda n=n: bodies.append(send(f"{server.url}/{n}").body))  # type: ignore[misc]
        for n in range(20)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(bodies) == sorted(f"/{n}".encode() for n in range(20))
