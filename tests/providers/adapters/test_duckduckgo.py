"""DuckDuckGo's page: links unwrapped, those that stay with it left out, and no page that keeps one waiting."""

import contextlib
from urllib.parse import quote

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers.adapters.duckduckgo import DuckDuckGo
from sleuth_providers.base import Account, Query, Response
from sleuth_providers.errors import BadResponseError, BlockedError
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
@pytest.mark.cpu_limit(30)
def test_deeply_nested_page_is_parsed_or_refused(body: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/html/").respond_with_data(body, content_type="text/html; charset=utf-8")
    account = Account(host=httpserver.url_for(""))
    for page in (1, 2):
        with contextlib.suppress(BadResponseError):
            DuckDuckGo().search(Query("x", page=page), account, HttpClient(Policy(timeout=20)))


@pytest.mark.parametrize(
    ("query", "code", "ignored"),
    [
        (Query("x"), "wt-wt", ()),
        (Query("x", lang="de"), "de-de", ()),
        (Query("x", region="DE"), "de-de", ()),
        (Query("x", region="CN"), "cn-zh", ()),
        (Query("x", region="GB"), "uk-en", ()),
        (Query("x", region="CH"), "ch-de", ()),
        (Query("x", lang="fr", region="CH"), "ch-fr", ()),
        (Query("x", lang="pt-BR"), "br-pt", ()),
        (Query("x", lang="zh-TW"), "tw-tzh", ()),
        (Query("x", lang="zh"), "cn-zh", ()),
        (Query("x", lang="ja"), "jp-jp", ()),
        (Query("x", lang="en", region="DE"), "de-de", ("lang",)),
        (Query("x", lang="sw"), "wt-wt", ("lang",)),
        (Query("x", region="TV"), "wt-wt", ("region",)),
    ],
)
def test_region_is_one_that_duckduckgo_has(query: Query, code: str, ignored: tuple[str, ...]) -> None:
    provider = DuckDuckGo()
    form = provider.request(query, Account()).form
    assert form
    assert form["kl"] == code
    assert provider.not_applied(query) == ignored


def test_language_is_also_in_the_headers() -> None:
    request = DuckDuckGo().request(Query("x", lang="de", region="CH"), Account())
    assert request.headers == {"Accept-Language": "de-CH,de;q=0.9,en;q=0.8"}


@pytest.mark.parametrize(
    ("text", "sent"), [("!g larch", '"!g" larch'), ("larch !!w", 'larch "!!w"'), ("hello! wow!", "hello! wow!")]
)
def test_bangs_are_quoted_so_that_they_do_not_redirect(text: str, sent: str) -> None:
    form = DuckDuckGo().request(Query(text), Account()).form
    assert form
    assert form["q"] == sent


@pytest.mark.parametrize("status", [202, 403, 200])
def test_bot_check_is_not_retried(status: int, httpserver: HTTPServer) -> None:
    page = "<form id=challenge-form><div class=anomaly-modal__title>"
    httpserver.expect_request("/html/").respond_with_data(page, status=status, content_type="text/html")
    with pytest.raises(BlockedError):
        DuckDuckGo().search(Query("x"), Account(host=httpserver.url_for("")), HttpClient(Policy(timeout=20)))
    assert len(httpserver.log) == 1
