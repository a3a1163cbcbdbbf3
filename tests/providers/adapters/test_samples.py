"""Every provider keeps the promises of its declarations and samples, and survives a server gone mad."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers import registry
from sleuth_providers.base import Account, Details, Found, Provider, Query, Response, Sample
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

PROVIDERS = [registry.load(name) for name in registry.names()]
SAMPLES = [
    pytest.param(provider, sample, id=f"{provider.id}-{number}")
    for provider in PROVIDERS
    for number, sample in enumerate(provider.samples)
]
EMPTY_REPLIES = [
    pytest.param(provider, sample, id=provider.id)
    for provider in PROVIDERS
    for sample in provider.samples
    if provider.type == "api" and sample.status == 200 and not sample.error and not sample.finds
    if sample.body.startswith("{") and '"error"' not in sample.body
]
JSON = {"content-type": "application/json"}
SECRET = "s3cr3t-0123456789"
STATUSES = (200, 202, 301, 400, 401, 402, 403, 404, 409, 422, 429, 432, 433, 451, 500, 503)
WRONG = (None, True, 7, -1.5, 10**400, float("inf"), "text", "", [], {}, [None], [[7]], {"x": None}, [{"x": []}])
WHOLE = ("", "null", "7", '"text"', "[]", "{}", "[[]]", '{"results": null}', '{"data": 7}', "{", "<html>", "NaN")

every_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.id)
every_provider_with_a_key = pytest.mark.parametrize(
    "provider", [provider for provider in PROVIDERS if provider.env], ids=lambda provider: provider.id
)
every_sample = pytest.mark.parametrize(("provider", "sample"), SAMPLES)


def moved(provider: Provider, account: Account, address: str) -> Account:
    """Return the account with the server part of its host, which may be a template, replaced."""
    there = urlsplit(address)
    host = urlsplit(account.host or provider.host)._replace(scheme=there.scheme, netloc=there.netloc)
    return account._replace(host=host.geturl())


def ask(provider: Provider, query: Query, account: Account, http: HttpClient) -> Found | ProviderError:
    """Return what a search ends in."""
    try:
        return provider.search(query, account, http)
    except ProviderError as error:
        return error


def canned(status: int, headers: Mapping[str, str], body: str) -> HttpClient:
    """Return the real HTTP policy with one reply in place of the network."""
    response = Response(status, headers, body.encode())
    return HttpClient(Policy(attempts=1), transport=lambda *_: response)


def told(error: ProviderError) -> str:
    """Return all that could be shown of an error."""
    return f"{error} {error!r} {error.detail} {error.message} {error.hint} {error.values}"


@every_sample
def test_sample_is_sent_and_parsed_as_recorded(provider: Provider, sample: Sample, httpserver: HTTPServer) -> None:
    request = provider.request(sample.query, sample.account)
    assert f"{request.method} {request.address}" == sample.sends
    assert sample.account.key in f"{request.address} {request.headers}"
    if sample.sends_body is not None:
        assert (request.form if request.json is None else request.json) == sample.sends_body

    handler = httpserver.expect_request(re.compile(""))
    handler.respond_with_data(sample.body, status=sample.status, headers=dict(sample.headers))
    account = moved(provider, sample.account, httpserver.url_for("/"))
    outcome = ask(provider, sample.query, account, HttpClient(Policy(timeout=5, attempts=1)))
    if isinstance(outcome, ProviderError):
        assert outcome.code == sample.error
        assert sample.state in ("", outcome.state)
        assert outcome.hint
    else:
        assert not sample.error
        assert tuple(result.url for result in outcome.results) == sample.finds


@every_provider
def test_provider_declares_what_users_need(provider: Provider) -> None:
    assert provider.name
    assert provider.notes
    assert provider.price == "free" or re.search(r"\(20\d\d-\d\d\)$", provider.price)
    assert provider.homepage.startswith("https://")
    assert any(sample.finds and not sample.error for sample in provider.samples)
    if provider.needs_key:
        assert provider.key_page.startswith("https://")
        assert provider.env


@every_provider
def test_declarations_are_in_the_order_of_the_interface(provider: Provider) -> None:
    order = [name for name in vars(Provider) if name in Provider.__annotations__]
    declared = [name for name in vars(type(provider)) if name in order]
    assert declared == sorted(declared, key=order.index)


@every_provider
def test_every_option_in_use_is_declared(provider: Provider) -> None:
    class Recording(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            assert name in provider.options
            return super().get(name, default)

    for sample in provider.samples:
        account = sample.account._replace(options=Recording(sample.account.options))
        ask(provider, sample.query, account, canned(sample.status, sample.headers, sample.body))
    assert set(provider.required_options) | set(provider.option_env) <= set(provider.options)


@every_provider
def test_provider_tolerates_wrong_types(provider: Provider) -> None:
    for sample in provider.samples:
        for body in [*WHOLE, *spoiled(sample.body)]:
            outcome = ask(provider, sample.query, sample.account, canned(sample.status, sample.headers, body))
            if isinstance(outcome, Found):
                assert_plain(outcome)


@pytest.mark.parametrize("body", ['{"error": "x"}', '{"errors": [{"message": "x"}]}', '{"status": "ok"}'])
@every_provider
def test_reply_without_results_is_an_error(provider: Provider, body: str) -> None:
    for sample in provider.samples:
        outcome = ask(provider, sample.query, sample.account, canned(200, JSON, body))
        assert isinstance(outcome, ProviderError), sample.sends
        assert outcome.code != "SEARCH_FAILED"


@pytest.mark.parametrize(("provider", "sample"), EMPTY_REPLIES)
def test_empty_reply_that_reports_an_error_is_an_error(provider: Provider, sample: Sample) -> None:
    body = json.dumps(json.loads(sample.body) | {"error": {"message": "x"}})
    assert isinstance(ask(provider, sample.query, sample.account, canned(200, JSON, body)), ProviderError)


@every_provider_with_a_key
def test_errors_contain_no_key_that_the_server_repeats(provider: Provider) -> None:
    names = ("code", "errCode", "message", "msg", "detail", "error", "errors", "tag", "status", "name", "statusCode")
    sample = provider.samples[0]
    account = sample.account._replace(key=SECRET)
    headers = {"content-type": "application/json", "retry-after": SECRET, "x-ratelimit-reset": SECRET}
    flat = dict.fromkeys(names, SECRET)
    for status, body in product(STATUSES, (flat, dict.fromkeys(names, flat), {name: [flat] for name in names})):
        outcome = ask(provider, sample.query, account, canned(status, headers, json.dumps(body)))
        assert isinstance(outcome, Found) or SECRET not in told(outcome), status


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "gopher://127.0.0.1", "http://127.0.0.1:port"])
@every_provider_with_a_key
def test_errors_without_a_connection_contain_no_key(provider: Provider, address: str) -> None:
    sample = provider.samples[0]
    account = moved(provider, sample.account._replace(key=SECRET), address)
    outcome = ask(provider, sample.query, account, HttpClient(Policy(timeout=5, attempts=1)))
    assert isinstance(outcome, ProviderError)
    assert SECRET not in told(outcome)


@pytest.mark.parametrize(
    ("name", "status", "body", "state"),
    [
        ("brave", 429, '{"error": {"meta": {"quota_limit": 2000, "quota_current": 2000}}}', "quota"),
        ("brave", 429, '{"error": {"meta": {"quota_limit": 0, "quota_current": 812}}}', "rate_limited"),
        ("tavily", 432, "{}", "quota"),
        ("tavily", 429, '{"error": {"retry_after_seconds": 9}}', "rate_limited"),
        ("metaso", 200, '{"errCode": 3003}', "quota"),
        ("bocha", 403, '{"code": "403", "message": "You do not have enough money"}', "quota"),
        ("serpapi", 429, '{"error": "Your account has run out of searches."}', "quota"),
        ("serpapi", 429, '{"error": "hourly throughput"}', "rate_limited"),
        ("google", 429, '{"error": {"details": [{"metadata": {"quota_limit": "DefaultPerDayPerProject"}}]}}', "quota"),
        ("google", 429, '{"error": {"status": "RESOURCE_EXHAUSTED"}}', "rate_limited"),
        ("exa", 402, '{"tag": "NO_MORE_CREDITS"}', "quota"),
        ("jina", 402, '{"name": "InsufficientBalanceError"}', "quota"),
        ("zhipu", 429, '{"error": {"code": "1113"}}', "quota"),
        ("zhipu", 429, '{"error": {"code": "1302"}}', "rate_limited"),
        ("serper", 400, '{"message": "Not enough credits", "statusCode": 400}', "quota"),
    ],
)
def test_exhausted_quota_is_told_from_a_rate_limit(name: str, status: int, body: str, state: str) -> None:
    provider = registry.load(name)
    sample = provider.samples[0]
    error = ask(provider, sample.query, sample.account, canned(status, {}, body))
    assert isinstance(error, ProviderError)
    assert (error.state, error.retryable) == (state, state == "rate_limited")


@pytest.mark.parametrize(
    ("name", "headers", "body", "seconds"),
    [
        ("brave", {"x-ratelimit-reset": "3, 1419704"}, "{}", 3),
        ("tavily", {}, '{"error": {"retry_after_seconds": 3600}}', 3600),
        ("tavily", {"retry-after": "30"}, "{}", 30),
        ("exa", {"retry-after": "2"}, "{}", 2),
        ("jina", {"retry-after": "12"}, "{}", 12),
        ("serper", {}, "{}", None),
    ],
)
def test_retry_after_of_the_server_is_used(
    name: str, headers: dict[str, str], body: str, seconds: float | None
) -> None:
    provider = registry.load(name)
    sample = provider.samples[0]
    error = ask(provider, sample.query, sample.account, canned(429, headers, body))
    assert isinstance(error, ProviderError)
    assert error.retry_after == seconds


def spoiled(body: str) -> Iterator[str]:
    """Yield a body with each value in turn replaced by each wrong one; what is not JSON is truncated instead."""
    try:
        tree = [json.loads(body)]
    except ValueError:
        yield from (body[:length] for length in range(0, len(body), 1 + len(body) // 50))
        return
    for holder, key in places(tree):
        kept = holder[key]
        for value in WRONG:
            holder[key] = value
            yield json.dumps(tree[0]).replace("Infinity", "1e999")
        holder[key] = kept


def places(root: Any) -> list[tuple[Any, Any]]:
    """Return the places of a JSON tree that hold a value; items of a list count as one place."""
    found: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def visit(tree: Any, path: tuple[Any, ...]) -> None:
        keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
        for key in keys:
            below = (*path, key if isinstance(tree, dict) else "*")
            found.setdefault(below, (tree, key))
            visit(tree[key], below)

    visit(root, ())
    return list(found.values())


def assert_plain(found: Found) -> None:
    """Check that nothing of a wrong type has come through."""
    for result in found.results:
        values = result._asdict()
        score = values.pop("score")
        assert score is None or math.isfinite(score)
        assert all(isinstance(name, str) for name in values.pop("engines"))
        assert_plain_details(values.pop("details"))
        assert all(isinstance(value, str) for value in values.values())
        assert result.url.startswith(("http://", "https://"))
    for answer in found.answers:
        assert isinstance(answer.text, str)
        assert isinstance(answer.url, str)
    assert all(isinstance(text, str) for text in (*found.suggestions, *found.corrections, *found.not_applied))
    assert math.isfinite(found.cost)


def assert_plain_details(details: Details) -> None:
    """Check that each detail has the type of its field."""
    assert all(isinstance(name, str) for name in details.authors)
    for name, default in Details._field_defaults.items():
        assert isinstance(getattr(details, name), int | None if default is None else type(default)), name
