"""A query is fitted to the limits of a provider: the user's words first, and what is left out is said."""

import re
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.engine.query_fit import fit_query
from sleuth_providers import registry
from sleuth_providers.base import Query

DOMAINS = tuple(f"longdomainname{number}.example.com" for number in range(60))
NATURAL = ("tavily", "perplexity", "exa", "metaso", "linkup", "you", "deepseek-search", "zhipu", "bocha")


@pytest.mark.parametrize("id", ["brave", "duckduckgo", "searxng", "google", "local-bing"])
def test_domains_never_displace_words(id: str) -> None:
    adapter = registry.load(id)
    query, notes = fit_query(Query("rust async", exclude=DOMAINS), adapter)
    assert query.with_operators().startswith("rust async -site:longdomainname0.example.com")
    assert len(query.with_operators()) <= adapter.max_query
    assert notes == (f"--exclude ({len(query.exclude)} of 60 domains sent; the rest is filtered locally)",)


def test_operators_count_as_words() -> None:
    brave = registry.load("brave")
    query, _ = fit_query(Query("rust async", exclude=tuple(f"{number}.de" for number in range(60))), brave)
    assert len(query.with_operators().split()) <= 50


def test_domains_to_include_are_sent_all_or_none() -> None:
    query, notes = fit_query(Query("rust async", include=DOMAINS), registry.load("duckduckgo"))
    assert query.include == ()
    assert notes == ("--site (0 of 60 domains sent; the rest is filtered locally)",)
    assert fit_query(Query("rust", include=DOMAINS[:2]), registry.load("duckduckgo")) == (
        Query("rust", include=DOMAINS[:2]),
        (),
    )
    assert fit_query(Query("x", include=DOMAINS[:2]), registry.load("metaso"))[1] == (
        "--site (0 of 2 domains sent; the rest is filtered locally)",
    )


def test_words_beyond_the_limit_of_a_provider_are_reported() -> None:
    query, notes = fit_query(Query(" ".join(map(str, range(60)))), registry.load("brave"))
    assert query.text == " ".join(map(str, range(50)))
    assert notes == (f"query (truncated to {len(query.text)} characters)",)


@pytest.mark.parametrize("id", NATURAL)
def test_date_is_added_for_providers_that_read_language(id: str) -> None:
    adapter = registry.load(id)
    dated = Query("latest news about AI", dated=True, today="2026-11-17")
    assert fit_query(dated, adapter)[0].text == "latest news about AI (today is 2026-11-17)"
    assert fit_query(fit_query(dated, adapter)[0], adapter)[0].text == "latest news about AI (today is 2026-11-17)"
    assert fit_query(dated._replace(dated=False), adapter)[0].text == "latest news about AI"
    long = "x" * (adapter.max_query - 5)
    assert fit_query(dated._replace(text=long), adapter, date_wanted=True)[0].text == long


def test_date_that_cannot_be_added_is_reported_only_if_it_was_wanted() -> None:
    dated = Query("news", dated=True, today="2026-11-17")
    assert fit_query(dated, registry.load("duckduckgo")) == (dated, ())
    assert fit_query(dated, registry.load("duckduckgo"), date_wanted=True)[1] == ("with-time",)


def test_date_that_the_first_page_has_is_not_reported_as_missing_from_the_next(
    sleuth: Any, httpserver: HTTPServer
) -> None:
    page = [{"title": str(number), "url": f"https://{number}.example/"} for number in range(10)]
    httpserver.expect_request("/search").respond_with_json({"results": page})
    sleuth("providers", "set", "tavily", "--api-host", httpserver.url_for(""), "--api-key", "k")
    done = sleuth("search", "-p", "tavily", "--json", "--with-time", "-n", "10", "--exclude", "1.example", "x").json
    sent = [request.json["query"] for request, _ in httpserver.log if request.path == "/search"]
    assert len(sent) == 2
    assert all("(today is " in query for query in sent)
    assert [attempt["notApplied"] for attempt in done["attempts"]] == [[], []]


def test_truncated_query_is_reported(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    done = sleuth("search", "-p", "searxng", "word " * 200)
    assert done.err == "warning: the query was truncated to 400 characters\n"
    assert fit_query(Query("x" * 100), registry.load("zhipu"))[1] == ("query (truncated to 70 characters)",)


def test_angle_brackets_are_searched_for(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search", query_string={"q": "vector<int> ->", "format": "json", "safesearch": "1"})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    assert sleuth("search", "-p", "searxng", "--json", "vector<int> ->").json["query"] == "vector<int> ->"


def test_dated_results_out_of_range_are_dropped(sleuth: Any, httpserver: HTTPServer) -> None:
    results = [
        {"title": "old", "url": "https://a.example/", "publishedDate": "2001-05-01T00:00:00"},
        {"title": "undated", "url": "https://b.example/"},
    ]
    httpserver.expect_request("/search").respond_with_json({"results": results})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    done = sleuth("search", "-p", "searxng", "--json", "--freshness", "week", "x")
    assert [result["title"] for result in done.json["results"]] == ["undated"]


@pytest.mark.parametrize(("id", "status"), [("searxng", 503), ("brave", 429)])
def test_every_request_counts_in_usage(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, id: str, status: int
) -> None:
    monkeypatch.setattr("sleuth_providers.net.client.RETRY_PAUSE_S", 0.0)
    sent = []

    def unavailable(request: Request) -> Response:
        sent.append(request.path)
        return Response(status=status)

    httpserver.expect_request(re.compile("/.*search")).respond_with_handler(unavailable)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "k")
    sleuth("search", "-p", id, "x")
    assert len(sent) == sleuth("usage", "--json").json["requests"]["total"] == 3


def test_lower_cache_ttl_applies_to_stored_answers(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    sleuth("search", "-p", "searxng", "x")
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 120)
    assert sleuth("search", "-p", "searxng", "--json", "x").json["cached"]
    assert not sleuth("search", "-p", "searxng", "--json", "x", SLEUTH_CACHE_TTL_MINUTES="1").json["cached"]
