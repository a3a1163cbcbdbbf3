"""SearXNG: a page instead of JSON where that is allowed, and errors that say what to change."""

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers.adapters.searxng import SearXNG
from sleuth_providers.base import Account, Found, Query
from sleuth_providers.errors import BadRequestError, BadResponseError, BlockedError, NotFoundError, RateLimitError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

PAGE = """<html><body><form id="search"><input name="q"></form><div id="urls">
<article class="result result-default"><a href="https://a.example/" class="url_header">a.example</a>
<h3><a href="https://a.example/">Larch &amp; pine</a></h3><time class="published_date">2026-11-02</time>
<p class="content">About <b>larches</b>.</p><div class="engines"><span>brave</span><span>bing</span></div></article>
<article class="result"><h3><a href="javascript:alert(1)">Bad</a></h3></article>
</div></body></html>"""
RESULTS = {"results": [{"url": "https://a.example/", "title": "A", "engines": ["brave"]}]}


def search(httpserver: HTTPServer, query: Query | None = None, **account: Any) -> Found:
    chosen = Account(host=httpserver.url_for("").rstrip("/"), **account)
    return SearXNG().search(query or Query("larch"), chosen, HttpClient(Policy(timeout=20)))


@pytest.fixture
def without_json(httpserver: HTTPServer) -> HTTPServer:
    httpserver.expect_request("/search", query_string={"format": "json"}).respond_with_data(status=403)
    sent = {"q": "larch", "locale": "en", "safesearch": "1"}
    httpserver.expect_request("/search", query_string=sent).respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/search").respond_with_data("Forbidden", status=403)
    return httpserver


def test_page_is_read_where_the_account_allows_it(without_json: HTTPServer) -> None:
    found = search(without_json, options={"html": "on"})
    [result] = found.results
    assert (result.title, result.url, result.snippet) == ("Larch & pine", "https://a.example/", "About larches.")
    assert (result.published, result.engines) == ("2026-11-02", ("bing", "brave"))
    assert found.not_applied == ("json",)


def test_page_is_not_read_by_default(without_json: HTTPServer) -> None:
    with pytest.raises(BadResponseError) as caught:
        search(without_json)
    assert "json" in caught.value.hint
    assert len(without_json.log) == 1


@pytest.mark.parametrize(
    ("status", "page", "headers"),
    [
        (403, "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue", {}),
        (403, "<title>example.org</title>", {"cf-mitigated": "challenge"}),
        (200, "<title>Making sure you&#39;re not a bot!</title><p>Loading...", {}),
    ],
)
@pytest.mark.parametrize("html", ["on", "off"])
def test_bot_check_in_front_of_the_server_is_named(
    httpserver: HTTPServer, status: int, page: str, headers: dict[str, str], html: str
) -> None:
    reply = {"status": status, "headers": headers, "content_type": "text/html"}
    httpserver.expect_request("/search").respond_with_data(page, **reply)
    with pytest.raises(BlockedError) as caught:
        search(httpserver, options={"html": html})
    assert caught.value.hint == "check the server: sleuth doctor"


def test_results_about_captchas_are_no_bot_check(without_json: HTTPServer) -> None:
    page = PAGE.replace("<body>", "<head><title>captcha - SearXNG</title></head><body>").replace(
        "larches", "g-recaptcha"
    )
    sent = {"q": "captcha", "locale": "en", "safesearch": "1"}
    without_json.expect_ordered_request("/search").respond_with_data(status=403)
    without_json.expect_ordered_request("/search", query_string=sent).respond_with_data(page, content_type="text/html")
    assert len(search(without_json, Query("captcha"), options={"html": "on"}).results) == 1


def test_error_in_place_of_results_is_no_empty_result(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [], "error": "search backend is down"})
    with pytest.raises(BadResponseError, match="the API reports an error"):
        search(httpserver)


def test_page_of_another_site_is_no_empty_result(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_data("<html><p>Welcome", content_type="text/html")
    with pytest.raises(BadResponseError):
        search(httpserver, options={"html": "on"})


def test_engine_that_the_server_does_not_have_is_named(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json(RESULTS)
    engines = [{"name": "brave", "shortcut": "br"}, {"name": "bing", "shortcut": "bi"}]
    httpserver.expect_request("/config").respond_with_json({"engines": engines})
    assert search(httpserver, Query("x", engines=("brave", "bing", "nosuch"))).engines == {"nosuch": "unknown engine"}
    found = search(httpserver, engines=("nosuch",), username="me", password="word")
    assert httpserver.log[-1][0].headers["Authorization"].startswith("Basic ")
    assert (found.engines, found.not_applied) == ({"nosuch": "unknown engine"}, ("engines",))


def test_configuration_is_only_read_when_an_engine_is_missing(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json(RESULTS)
    assert search(httpserver, Query("x", engines=("brave",))).engines == {}
    assert search(httpserver).engines == {}
    assert [request.path for request, _ in httpserver.log] == ["/search", "/search"]
    httpserver.expect_request("/config").respond_with_data("gone", status=404)
    assert search(httpserver, Query("x", engines=("bing",))).engines == {}


@pytest.mark.parametrize(("headers", "pause"), [({}, 30.0), ({"Retry-After": "120"}, 120.0)])
def test_rate_limit_is_not_retried_at_once(httpserver: HTTPServer, headers: dict[str, str], pause: float) -> None:
    httpserver.expect_request("/search").respond_with_data("Too Many Requests", status=429, headers=headers)
    with pytest.raises(RateLimitError) as caught:
        search(httpserver)
    assert caught.value.retry_after == pause
    assert len(httpserver.log) == 1


def test_wrong_path_is_a_case_for_doctor(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_data("Not Found", status=404)
    with pytest.raises(NotFoundError) as caught:
        search(httpserver)
    assert "sleuth doctor" in caught.value.hint


def test_another_json_service_is_a_case_for_doctor(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"status": "ok"})
    with pytest.raises(BadResponseError) as caught:
        search(httpserver)
    assert "sleuth doctor" in caught.value.hint


@pytest.mark.parametrize(
    "address", ["localhost:8080", "http:/localhost:8080", "http//localhost:8080", "//localhost:8080"]
)
def test_address_without_a_scheme_is_explained(address: str, make_sleuth: Any) -> None:
    done = make_sleuth(SEARXNG_URL=address)("search", "-p", "searxng", "larch")
    assert f"the address of SearXNG does not start with http:// or https://: {address}\n" in done.err
    assert "use http://localhost:8080, in SEARXNG_URL" in done.err


@pytest.mark.parametrize("provider", ["searxng", "firecrawl", "keenable", "perplexity"])
@pytest.mark.parametrize("address", ["joe:{}@search.example", "http:/joe:{}@search.example", "ftp://{}@search.example"])
def test_password_in_an_address_without_a_scheme_is_not_shown(provider: str, address: str, make_sleuth: Any) -> None:
    variables = ("SEARXNG_URL", "FIRECRAWL_API_URL", "KEENABLE_API_URL", "PERPLEXITY_BASE_URL")
    environ = dict.fromkeys(variables, address.format("pw")) | {"PERPLEXITY_API_KEY": "pplx-0123456789"}
    done = make_sleuth(**environ)("search", "-p", provider, "larch")
    assert "search.example" in done.err
    assert "pw" not in done.err


@pytest.mark.parametrize("address", ["http://[bad", "http://a b", "not a url", "http://127.0.0.1:99999", "http:"])
def test_invalid_address_is_explained(address: str, make_sleuth: Any) -> None:
    done = make_sleuth(SEARXNG_URL=address)("search", "-p", "searxng", "larch")
    assert f"the address of SearXNG is invalid: '{address}'" in done.err
    assert "correct it in SEARXNG_URL, or with: sleuth providers set searxng --api-host URL" in done.err


def test_bang_that_leads_to_another_site_is_explained(httpserver: HTTPServer) -> None:
    headers = {"Location": "https://elsewhere.example/?q=larch"}
    httpserver.expect_request("/search").respond_with_data(status=302, headers=headers)
    with pytest.raises(BadRequestError, match="!!"):
        search(httpserver, Query("!!g larch"))


def test_password_of_the_second_address_is_not_shown(make_sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json(RESULTS)
    second = f"http://joe:pwB@127.0.0.1:{httpserver.port}"
    done = make_sleuth(SEARXNG_URL=f"http://joe:pwA@127.0.0.1:1,{second}")("search", "-p", "searxng", "--json", "x")
    assert f"http://…@127.0.0.1:{httpserver.port} answered" in done.json["attempts"][0]["message"]
    assert "pw" not in done.out + done.err


def test_several_addresses_are_tried_in_order(make_sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/dead/search").respond_with_data("down", status=503)
    httpserver.expect_request("/alive/search").respond_with_json(RESULTS)
    dead, alive = httpserver.url_for("/dead"), httpserver.url_for("/alive")
    sleuth = make_sleuth(SEARXNG_URL="")
    assert sleuth("providers", "set", "searxng", "--api-host", f"{dead}, {alive}").exit == 0
    done = sleuth("search", "-p", "searxng", "--json", "--no-cache", "larch")
    assert (done.exit, [hit["url"] for hit in json.loads(done.out)["results"]]) == (0, ["https://a.example/"])
    assert f"SearXNG is unavailable (HTTP 503); {alive} answered" in done.out
    paths = [request.path for request, _ in httpserver.log]
    assert paths[0] == "/dead/search"
    assert paths[-1] == "/alive/search"


def test_an_address_that_keeps_failing_is_tried_last(make_sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/limited/search").respond_with_data("no", status=429)
    httpserver.expect_request("/alive/search").respond_with_json(RESULTS)
    hosts = f"{httpserver.url_for('/limited')},{httpserver.url_for('/alive')}"
    sleuth = make_sleuth(SEARXNG_URL=hosts)
    for word in ("one", "two"):
        done = sleuth("search", "-p", "searxng", "--no-cache", word)
        assert done.exit == 0, done.err
    assert [request.path for request, _ in httpserver.log] == ["/limited/search", "/alive/search", "/alive/search"]


def test_the_error_is_that_of_the_last_address(make_sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/a/search").respond_with_data("no", status=429)
    httpserver.expect_request("/b/search").respond_with_data("no", status=403)
    hosts = f"{httpserver.url_for('/a')},{httpserver.url_for('/b')}"
    done = make_sleuth(SEARXNG_URL=hosts)("search", "-p", "searxng", "--no-cache", "x")
    assert done.exit != 0
    assert "does not allow JSON" in done.err


def test_doctor_checks_every_address(make_sleuth: Any, httpserver: HTTPServer) -> None:
    hosts = f"{httpserver.url_for('/a')},http://127.0.0.1:9"
    done = make_sleuth(SEARXNG_URL=hosts)("doctor", "--json", "--only", "searxng.address")
    seen = [finding for finding in json.loads(done.out)["checks"] if finding["id"] == "searxng.address"]
    assert len(seen) == 2
