"""What a refusal means, where the code of the error alone does not tell: money or haste, and for how long."""

import re

import pytest

from sleuth_providers import registry
from sleuth_providers.base import ON_OFF, Account, Found, Provider, Query, Response
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy


def ask(provider: Provider, status: int, body: str, headers: dict[str, str] | None = None) -> Found | ProviderError:
    sample = provider.samples[0]
    http = HttpClient(Policy(attempts=1), transport=lambda *_: Response(status, headers or {}, body.encode()))
    try:
        return provider.search(sample.query, sample.account, http)
    except ProviderError as error:
        return error


@pytest.mark.parametrize(
    ("name", "status", "body", "state"),
    [
        ("kagi", 429, '{"error": [{"message": "Usage limit exhausted."}]}', "quota"),
        ("kagi", 429, '{"error": [{"message": "Slow down."}]}', "rate_limited"),
        ("perplexity", 401, '{"error": {"type": "insufficient_quota"}}', "quota"),
        ("perplexity", 401, '{"error": {"type": "invalid_api_key"}}', "key_invalid"),
        ("firecrawl", 429, '{"error": "Rate limit exceeded"}', "rate_limited"),
        ("firecrawl", 429, '{"error": "Concurrency limit reached"}', "rate_limited"),
        ("firecrawl", 429, '{"error": "Daily limit without a key"}', "quota"),
        ("firecrawl", 402, "{}", "quota"),
        ("linkup", 429, '{"error": {"code": "EXCEED_BUDGET_LIMIT"}}', "quota"),
        ("linkup", 429, '{"error": {"code": "INSUFFICIENT_FUNDS_CREDITS"}}', "quota"),
        ("linkup", 429, '{"error": {"code": "TOO_MANY_REQUESTS"}}', "rate_limited"),
        ("linkup", 504, '{"error": {"code": "REQUEST_DEADLINE_EXCEEDED"}}', "timeout"),
        ("you", 429, '{"detail": "Daily limit reached"}', "quota"),
        ("you", 429, '{"message": "Too Many Requests"}', "rate_limited"),
        ("mojeek", 200, '{"response": {"status": "Monthly limit exceeded for this key"}}', "quota"),
        ("mojeek", 200, '{"response": {"status": "Invalid API key"}}', "key_invalid"),
        ("marginalia", 429, "QPM Limit Exceeded", "rate_limited"),
        ("marginalia", 429, "Daily Limit Exceeded", "quota"),
        ("marginalia", 400, "Missing API-Key header", "key_invalid"),
        ("deepseek-search", 402, "{}", "quota"),
        ("exa-mcp", 429, '{"jsonrpc": "2.0", "id": null, "error": {"code": -32000}}', "quota"),
        ("stackexchange", 400, '{"error_name": "throttle_violation", "error_message": ""}', "quota"),
        ("github", 403, '{"message": "You have exceeded a secondary rate limit."}', "rate_limited"),
        ("github", 403, '{"message": "Resource not accessible"}', "key_invalid"),
        ("openalex", 429, "{}", "rate_limited"),
        ("openverse", 429, '{"detail": "Request was throttled."}', "quota"),
        ("pubmed", 400, '{"error": "API key invalid"}', "key_invalid"),
        ("langsearch", 200, '{"code": 429, "msg": "Daily limit"}', "rate_limited"),
        ("google-news", 429, "", "blocked"),
        ("bing-news", 429, "", "blocked"),
        ("wikipedia", 403, "<html>User-Agent</html>", "blocked"),
        ("langsearch", 429, '{"msg": "The daily allowance is used up"}', "quota"),
        ("local-google", 429, "slow down", "rate_limited"),
        ("local-bing", 403, "", "blocked"),
        ("local-baidu", 200, '{"antiFlag": 1, "message": "Forbid spider access"}', "blocked"),
    ],
)
def test_error_body_is_mapped_to_a_state(name: str, status: int, body: str, state: str) -> None:
    error = ask(registry.load(name), status, body)
    assert isinstance(error, ProviderError)
    assert error.state == state


def test_exhausted_daily_budget_of_openalex_is_a_quota() -> None:
    error = ask(registry.load("openalex"), 429, "{}", {"x-ratelimit-remaining": "0"})
    assert isinstance(error, ProviderError)
    assert error.state == "quota"


def test_empty_result_of_linkup_is_not_an_error() -> None:
    assert ask(registry.load("linkup"), 400, '{"error": {"code": "SEARCH_QUERY_NO_RESULT"}}') == Found()


@pytest.mark.parametrize(
    ("name", "headers", "seconds"),
    [
        ("firecrawl", {"retry-after": "20"}, 20),
        ("perplexity", {"retry-after": "8"}, 8),
        ("deepseek-search", {"retry-after": "2"}, 2),
        ("keenable", {"retry-after": "9"}, 9),
        ("exa-mcp", {"retry-after": "3600"}, 3600),
        ("github", {"retry-after": "7"}, 60),
        ("github", {"retry-after": "90"}, 90),
        ("arxiv", {}, 3),
        ("arxiv", {"retry-after": "8"}, 8),
        ("pubmed", {}, 1),
        ("semantic-scholar", {}, 3),
        ("openlibrary", {}, 5),
        ("gdelt", {}, 1800),
        ("europepmc", {}, 2),
        ("bing-news", {}, 900),
        ("google-news", {}, 3600),
        ("local-google", {}, 3600),
        ("local-baidu", {}, 600),
    ],
)
def test_pause_after_a_rate_limit(name: str, headers: dict[str, str], seconds: float) -> None:
    error = ask(registry.load(name), 429, "Rate limit exceeded", headers)
    assert isinstance(error, ProviderError)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("name", "status", "body", "seconds"),
    [
        ("stackexchange", 400, '{"error_name": "throttle_violation", "error_message": "in 4821 seconds"}', 4821),
        ("openverse", 429, '{"detail": "Request was throttled. Expected available in 42 seconds."}', 42),
    ],
)
def test_pause_in_the_text_of_an_error_is_used(name: str, status: int, body: str, seconds: float) -> None:
    error = ask(registry.load(name), status, body)
    assert isinstance(error, ProviderError)
    assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("name", "header", "with_key", "without"),
    [
        ("keenable", "X-API-Key", "k", None),
        ("keenable", "X-Keenable-Title", None, "sleuth"),
        ("parallel", "Authorization", None, None),
        ("exa-mcp", "x-api-key", "k", None),
        ("github", "Authorization", "Bearer k", None),
        ("semantic-scholar", "x-api-key", "k", None),
        ("firecrawl", "Authorization", "Bearer k", None),
        ("you", "X-API-Key", "k", None),
        ("marginalia", "API-Key", "k", "public"),
    ],
)
def test_request_without_a_key_has_no_key_header(
    name: str, header: str, with_key: str | None, without: str | None
) -> None:
    provider = registry.load(name)
    assert not provider.needs_key
    assert provider.request(Query("x"), Account(key="k")).headers.get(header) == with_key
    assert provider.request(Query("x"), Account()).headers.get(header) == without


@pytest.mark.parametrize(
    ("name", "query", "missed"),
    [
        ("brave", Query("x", lang="fa", region="CH"), ("lang",)),
        ("brave", Query("x", lang="pt-BR"), ()),
        ("duckduckgo-media", Query("x", lang="eo", region="AQ", category="images"), ("lang", "region")),
        ("searxng", Query("x", region="CH"), ("region",)),
        ("searxng", Query("x", lang="zh-CN", region="TW"), ("region",)),
        ("searxng", Query("x", lang="de", region="CH", engines=("bing", "brave")), ()),
        ("github", Query("x", engines=("repositories", "issues"), category="it"), ("engines",)),
        ("github", Query("x", engines=("issues",), category="it"), ()),
        ("jina", Query("x", engines=("google", "nosuch")), ("engines",)),
        ("stackexchange", Query("x", engines=("superuser", "unix"), category="it"), ("engines",)),
        ("serpapi", Query("x", engines=("google", "nosuch")), ("engines",)),
        ("serpapi", Query("x", engines=("google", "bing")), ()),
        ("deepseek-search", Query("x" * 110, lang="de", freshness="day", since="2026-11-15"), ("lang",)),
        ("local-bing", Query("x", freshness="day", since="2026-11-15"), ("freshness",)),
        ("keenable", Query("x", page=2), ("page",)),
        ("stackexchange", Query("x", include=("superuser.com",), lang="ja", category="it"), ()),
        ("stackexchange", Query("x", include=("a.com",), lang="de", category="it"), ("include", "lang")),
        ("openlibrary", Query("x", freshness="year", since="2025-11-17"), ()),
        ("openlibrary", Query("x", freshness="week", since="2026-11-10"), ("freshness",)),
        ("mdn", Query("x", lang="it", category="it"), ("lang",)),
        ("mdn", Query("x", lang="it", category="it", engines=("learn",)), ()),
        ("bing-news", Query("x", category="news", freshness="day", since="2026-11-16"), ("freshness",)),
        ("kagi", Query("x", include=("a.com", "b.com"), exclude=("c.com",)), ()),
        ("kagi", Query("x", page=2, category="images"), ("page",)),
        ("brave", Query("x", category="images", freshness="range", since="2026-10-01", until="2026-10-31"), ("range",)),
    ],
)
def test_ignored_filters_are_reported(name: str, query: Query, missed: tuple[str, ...]) -> None:
    assert registry.load(name).not_applied(query) == missed


def test_contact_address_is_sent_only_where_it_is_asked_for() -> None:
    senders = set()
    for name in registry.names():
        provider = registry.load(name)
        if not provider.samples:  # registered by another test
            continue
        sample = provider.samples[0]
        request = provider.request(sample.query, sample.account._replace(contact="me@example.net", options={"cx": "1"}))
        if re.search("me(@|%40)example.net", f"{request.address} {request.headers} {request.json} {request.form}"):
            senders.add(name)
    assert senders == {"crossref", "pubmed", "openalex", "arxiv", "openlibrary", "wikimedia"}


@pytest.mark.parametrize(
    ("headers", "pause"), [({"retry-after": "120", "x-ratelimit-reset": "1"}, 120.0), ({"x-ratelimit-reset": "7"}, 7.0)]
)
def test_brave_honours_retry_after(headers: dict[str, str], pause: float) -> None:
    error = registry.load("brave").detect_error(Response(429, headers, b"{}"))
    assert error
    assert error.retry_after == pause


def test_options_with_fixed_values_declare_them() -> None:
    for name in registry.names():
        provider = registry.load(name)
        assert {*provider.option_choices, *provider.number_options} <= {*provider.options}
        switches = {option for option, meaning in provider.options.items() if meaning.startswith("on: ")}
        assert switches <= {option for option, words in provider.option_choices.items() if words == ON_OFF}


def test_every_provider_says_where_its_results_come_from() -> None:
    kinds = {name: registry.load(name).kind for name in registry.names() if name != "library"}
    assert set(kinds.values()) == {"official", "feed", "page"}
    assert {name for name, kind in kinds.items() if kind == "feed"} >= {"google-news", "bing-news"}
    assert {name for name, kind in kinds.items() if kind == "page"} >= {"duckduckgo", "local-bing", "startpage"}
