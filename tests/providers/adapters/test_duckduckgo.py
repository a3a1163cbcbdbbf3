"""DuckDuckGo's page: links unwrapped, those that stay with it left out, and no page that keeps one waiting."""

import contextlib
from urllib.parse import quote

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers.adapters.duckduckgo import DuckDuckGo
from sleuth_providers.base import Account, Query, Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

HTML = {"content-type": "text/html; charset=utf-8"}
BLOCK = '<div class="web-result"><a class="result__a" href="{href}">Title</a></div>'


def wrapped(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&amp;rut=9"


def urls(body: str) -> list[str]:
    found = DuckDuckGo().parse(Response(200, HTML, body.encode()), Query("x"))
    return [result.url for result in found.results]


@pytest.mark.parametrize(
    ("href", "found"),
    [
        (wrapped("https://a.example/?x=1&y=%20"), ["https://a.example/?x=1&y=%20"]),
        ("https://a.example/", ["https://a.example/"]),
        (wrapped("https://a.example/url?q=https://b.example/"), ["https://a.example/url?q=https://b.example/"]),
        (wrapped("https://duckduckgo.com/y.js?ad_domain=shop.example&u=https://shop.example/"), []),
        ("https://duckduckgo.com/y.js?ad_domain=shop.example&url=https%3A%2F%2Fshop.example%2F", []),
        ("/feedback?url=https://a.example/", []),
        ("https://help.duckduckgo.com/", []),
        (wrapped("javascript:alert(1)"), []),
        ("http://[no address", []),
        (wrapped("http://[no address"), []),
    ],
)
def test_redirect_links_are_unwrapped_and_own_links_skipped(href: str, found: list[str]) -> None:
    assert urls(BLOCK.format(href=href)) == found


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 100_000,
        "<span>" * 100_000 + "<p>x" * 100_000,
        '<div class="web-result"><b class="result__url">x</b>' * 6000,
        '<div class="web-result result__snippet"><a class="result__a" href="https://a.example/">x</a>' * 5000,
    ],
)
@pytest.mark.timeout(30)
def test_deeply_nested_page_is_parsed_or_refused(body: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/html/").respond_with_data(body, content_type="text/html; charset=utf-8")
    account = Account(host=httpserver.url_for(""))
    for page in (1, 2):
        with contextlib.suppress(BadResponseError):
            DuckDuckGo().search(Query("x", page=page), account, HttpClient(Policy(timeout=20)))
