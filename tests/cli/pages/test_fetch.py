"""Fetching one page: misbehaving servers, dangerous redirects, content that is not a page."""

import gzip
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.pages.errors import UnreadableError
from sleuth.pages.fetch import fetch, received, wire_url
from sleuth_providers.errors import BadRequestError, BlockedError, NotFoundError, PrivateAddressError, ProviderError
from sleuth_providers.net import guard
from sleuth_providers.net.identity import chrome_user_agent

TIMEOUT = 1.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


def get(url: str, timeout: float = TIMEOUT, **options: Any) -> Any:
    return received(fetch(url, timeout=timeout, **options), url)


def refuse(url: str, **options: Any) -> ProviderError:
    """Return the error that fetching a page raises."""
    with pytest.raises(ProviderError) as caught:
        get(url, **options)
    return caught.value


def test_a_page_comes_whole(site: Any, make_article: Callable[..., str]) -> None:
    page = get(site.page("/a?b=c", make_article()))
    assert (page.final_url, page.kind, page.charset) == (f"{site.address}/a?b=c", "html", "utf-8")
    assert page.text() == make_article()


def test_a_site_sees_a_browser_without_cookies_keys_or_referrer(site: Any) -> None:
    site.page("/next", "<p>hello")
    get(site.page("/", "", status=302, Location="/next", Set_Cookie="a=b"), language="de-CH")
    for request in site.requests:
        assert request.headers["user-agent"] == chrome_user_agent()
        assert request.headers["accept"].startswith("text/html")
        assert request.headers["accept-language"] == "de-CH,de;q=0.9,en;q=0.8"
        assert not {"cookie", "authorization", "referer"} & set(request.headers)


# Servers that misbehave


def endless(send: Callable[[bytes], None]) -> None:
    send(HEAD + b"\r\n")
    while True:
        send(b"<p>more</p>" * 5000)


def dripping_body(send: Callable[[bytes], None]) -> None:
    send(HEAD + b"\r\n")
    while True:
        send(b"x")
        time.sleep(0.05)


def bomb(send: Callable[[bytes], None]) -> None:
    send(HEAD + b"Content-Encoding: gzip\r\n\r\n")
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    for _ in range(600):
        send(engine.compress(bytes(1_000_000)))
    send(engine.flush())


def large_pdf(send: Callable[[bytes], None]) -> None:
    send(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 50000000\r\n\r\n%PDF-1.7\n")
    for _ in range(500):
        send(bytes(100_000))


MISBEHAVING = {
    endless: ("bad_response", "larger than 10 MB"),
    dripping_body: ("timeout", ""),
    bomb: ("bad_response", "larger than 10 MB"),
    large_pdf: ("bad_response", "larger than 10 MB"),
}


@pytest.mark.parametrize("behaviour", MISBEHAVING, ids=lambda behaviour: behaviour.__name__)
def test_a_misbehaving_server_gives_an_error(behaviour: Any, site: Any) -> None:
    state, detail = MISBEHAVING[behaviour]
    error = refuse(site.behaves("/", behaviour), timeout=TIMEOUT if state == "timeout" else 120)
    assert (error.state, error.detail) == (state, detail) or (not detail and error.state == state)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (b"", "unreachable"),
        (b"nonsense\r\n\r\n", "unreachable"),
        (HEAD + b"Content-Length: 100\r\n\r\nshort", "unreachable"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\nnot gzip", "bad_response"),
        (HEAD + b"Content-Encoding: br\r\n\r\nxx", "bad_response"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "unreachable"),
    ],
)
def test_a_broken_response_gives_an_error(answer: bytes, state: str, site: Any) -> None:
    assert refuse(site.behaves("/", lambda send: send(answer))).state == state


def test_a_closed_port_gives_an_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert refuse(f"http://127.0.0.1:{port}/").state == "unreachable"


@pytest.mark.parametrize("behaviour", [bomb, endless, large_pdf], ids=lambda behaviour: behaviour.__name__)
def test_a_huge_response_takes_little_memory(behaviour: Any, site: Any) -> None:
    script = (
        "import resource, sys\n"
        "from sleuth.pages.fetch import fetch\n"
        "def get(url):\n"
        "    try: fetch(url, timeout=10)\n"
        "    except Exception as problem: print(type(problem).__name__)\n"
        "get(sys.argv[1] + '/small')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "get(sys.argv[1] + '/flood')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    site.page("/small", "<p>hello")
    site.behaves("/flood", behaviour)
    root = Path(__file__).parents[3]
    environ = {"PYTHONPATH": f"{root}/cli:{root}/providers", "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script, site.address], capture_output=True, text=True, env=environ, check=True
    )
    kind, kilobytes = done.stdout.split()
    assert kind == "BadResponseError"
    assert int(kilobytes) < 40_000


# Redirects


def test_a_redirect_is_followed(site: Any, make_site: Callable[[], Any]) -> None:
    other = make_site()
    there = other.page("/there", "<p>hello")
    page = get(site.page("/", "", status=301, Location=there))
    assert (page.final_url, page.body) == (there, b"<p>hello")


def test_a_redirect_in_another_alphabet_is_followed(site: Any) -> None:
    site.page("/%E4%BD%A0%E5%A5%BD", "<p>hello")
    assert get(site.page("/", "", status=302, Location="/你好")).body == b"<p>hello"


def test_a_redirect_loop_ends(site: Any) -> None:
    assert refuse(site.page("/", "", status=302, Location="/")).detail == "too many redirects"
    assert len(site.requests) < 10


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "data:text/html,x", "//["]
)
def test_a_redirect_leads_to_web_pages_only(target: str, site: Any) -> None:
    assert refuse(site.page("/", "", status=302, Location=target)).state == "bad_response"


def test_every_hop_is_guarded(site: Any, make_site: Callable[[], Any]) -> None:
    inner = make_site()
    inner.page("/secret", "<p>secret")
    start = site.page("/", "", status=302, Location=f"http://localhost:{inner.port}/secret")

    def check(host: str, addresses: list[str]) -> None:
        guard.check(host, ["93.184.215.14"] if host == "127.0.0.1" else addresses)

    assert isinstance(refuse(start, guard=check), PrivateAddressError)
    assert not inner.requests


def test_a_private_page_is_refused_unless_allowed(site: Any) -> None:
    url = site.page("/", "<p>hello")
    assert isinstance(refuse(url, guard=guard.check), PrivateAddressError)
    assert not site.requests
    assert get(url, guard=guard.AddressGuard(allow_private=True)).body == b"<p>hello"


# What comes


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", b"<p>x", "html"),
        ("application/xhtml+xml", b"<p>x", "html"),
        ("text/plain", b"just text", "text"),
        ("text/plain", b"<!doctype html><p>x", "html"),
        ("", b"\n<html><p>x", "html"),
        ("", b"just text", "text"),
        ("application/octet-stream", b"%PDF-1.4", "pdf"),
        ("text/html", b"\n%PDF-1.4", "pdf"),
        ("application/pdf", b"%PDF-1.4", "pdf"),
        ("text/markdown", b"# x", "markdown"),
        ("application/json", b"{}", "json"),
        ("application/ld+json; charset=utf-8", b"{}", "json"),
        ("text/x-python", b"print()", "code"),
        ("application/yaml", b"a: b", "code"),
        ("text/css", b"a {}", "code"),
        ("application/xml", b'<?xml version="1.0"?><html xmlns="x"><p>x</p></html>', "html"),
        ("text/html", "größer".encode("utf-16"), "html"),
    ],
)
def test_the_kind_of_a_page_is_recognised(content_type: str, body: bytes, kind: str, site: Any) -> None:
    assert get(site.page("/", body, content_type)).kind == kind


@pytest.mark.cpu_limit(20)
def test_comments_before_the_text_are_skipped_in_linear_time(site: Any) -> None:
    assert get(site.page("/1", b"<!---->" * 60 + b"<p>x", "text/plain")).kind == "html"
    assert get(site.page("/2", b"<!---->" * 60 + b"x", "text/plain")).kind == "text"


def test_a_markdown_file_is_recognised_by_its_name(site: Any) -> None:
    assert get(site.page("/README.md", b"# x", "text/plain")).kind == "markdown"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("image/png", b"\x89PNG\r\n"),
        ("application/zip", b"PK\3\4"),
        ("video/mp4", b"xxxx"),
        ("application/octet-stream", bytes(range(256)) * 4),
        ("text/html", b"\0\1\2\3" * 100),
        ("application/pdf", b"not a PDF file"),
        ("application/rss+xml", b"<rss></rss>"),
        ("text/xml", b"<feed></feed>"),
    ],
)
def test_content_that_is_not_text_is_refused(content_type: str, body: bytes, site: Any) -> None:
    error = refuse(site.page("/", body, content_type))
    assert isinstance(error, UnreadableError)
    assert error.detail == content_type


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (202, "blocked"),
        (400, "bad_response"),
        (401, "blocked"),
        (403, "blocked"),
        (404, "bad_response"),
        (410, "bad_response"),
        (429, "rate_limited"),
        (451, "blocked"),
        (500, "unreachable"),
        (503, "unreachable"),
        (204, "bad_response"),
        (304, "bad_response"),
    ],
)
def test_a_status_becomes_an_error_about_pages(status: int, state: str, site: Any) -> None:
    error = refuse(site.page("/", "" if status in (204, 304) else "<p>x", status=status))
    assert (error.state, error.status, "key" in error.message) == (state, status, False)
    assert isinstance(error, NotFoundError) == (status in (404, 410))
    assert len(site.requests) == 1


def test_bot_checks_and_login_pages_are_errors(site: Any) -> None:
    error = refuse(site.page("/", "<title>Just a moment...</title><p>Checking your browser</p>"))
    assert (type(error), error.detail) == (BlockedError, "bot check")
    error = refuse(site.page("/", "<title>Log in</title><input type=password>"))
    assert (type(error), error.detail) == (BlockedError, "login page")
    error = refuse(site.page("/", "<p>x", status=403, cf_mitigated="challenge"))
    assert (type(error), error.detail) == (BlockedError, "bot check")


def test_a_compressed_page_is_read(site: Any, make_article: Callable[..., str]) -> None:
    url = site.page("/", gzip.compress(make_article().encode()), Content_Encoding="gzip")
    assert get(url).text() == make_article()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://example.org", "https://example.org/"),
        ("https://user:pass@example.org/a b?q=ä#top", "https://example.org/a%20b?q=%C3%A4"),
        ("https://münchen.example/straße", "https://xn--mnchen-3ya.example/stra%C3%9Fe"),
        ("https://Straße.example/", "https://xn--strae-oqa.example/"),
        ("http://[::1]:80/%41", "http://[::1]:80/%41"),
    ],
)
def test_a_url_is_encoded_for_the_request(url: str, address: str) -> None:
    assert wire_url(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "file:///etc/passwd",
        "ftp://x.example",
        "http://",
        "http://[::1",
        "http://a:b/",
        "http://" + "ä" * 99,
    ],
)
def test_an_invalid_page_url_is_refused(url: str) -> None:
    with pytest.raises(BadRequestError):
        get(url)
