"""No option is ignored without a word: a request shows it, or the provider reports that it is not applied."""

from typing import Any

import pytest

from sleuth.base.choices import CATEGORIES
from sleuth.engine.query_fit import fit_query
from sleuth_providers import registry
from sleuth_providers.base import Provider, Query, Response
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

PROVIDERS = [registry.load(name) for name in registry.names() if name != "library"]
DATES = {"since": "2026-11-10", "today": "2026-11-17"}
RANGE = {"freshness": "range", "since": "2026-10-01", "until": "2026-10-31"}
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("lang", {"lang": "de"}),
    ("lang", {"lang": "xx"}),
    ("lang", {"lang": "zh-TW"}),
    ("region", {"region": "CH"}),
    ("region", {"region": "AQ"}),
    *(("freshness", {"freshness": period} | DATES) for period in ("day", "week", "month", "year")),
    ("range", RANGE),
    ("safe", {"safe": "off"}),
    ("engines", {"engines": ("nosuch",)}),
    ("page", {"page": 2}),
]
every_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.id)


def sent(provider: Provider, query: Query) -> Any:
    """Return everything that the request of a query sends."""
    account = provider.samples[0].account
    request = provider.request(query, account._replace(options=dict.fromkeys(provider.required_options, "x")))
    return request.address, dict(request.headers), request.json, request.form


def ignored(provider: Provider, query: Query) -> set[str]:
    """Return what the engine would report for a query: declared, found in the reply, or noted when it was fitted."""
    sample = next(sample for sample in provider.samples if sample.finds and not sample.error)
    response = Response(sample.status, sample.headers, sample.body.encode(), sample.sends.split()[1])
    account = sample.account._replace(options=dict.fromkeys(provider.required_options, "x"))
    found = provider.search(query, account, HttpClient(Policy(attempts=1), transport=lambda *_: response))
    return {*provider.not_applied(query), *found.not_applied, *fit_query(query, provider)[1]}


@every_provider
def test_options_are_sent_or_reported(provider: Provider) -> None:
    plain = Query("example 示例", category=provider.categories[0], today="2026-11-17")
    for name, values in OPTIONS:
        query = plain._replace(**values)
        if (provider.id, name) != ("duckduckgo", "page"):  # a page's form leads to the next: see test_duckduckgo.py
            assert sent(provider, query) != sent(provider, plain) or name in ignored(provider, query), values


@every_provider
def test_categories_are_known_or_reported(provider: Provider) -> None:
    reported = [name for name in CATEGORIES if "category" in provider.not_applied(Query("x", category=name))]
    assert reported == [name for name in CATEGORIES if name not in provider.categories]


@every_provider
def test_strict_and_no_filter_for_adult_content_differ_or_are_reported(provider: Provider) -> None:
    plain = Query("x", category=provider.categories[0])
    off, strict = plain._replace(safe="off"), plain._replace(safe="strict")
    assert sent(provider, off) != sent(provider, strict) or "safe" in ignored(provider, strict)


@every_provider
def test_domains_are_within_the_limits_of_the_provider(provider: Provider) -> None:
    domains = tuple(f"longdomainname{number}.example.com" for number in range(600))
    for query in (Query("x", include=domains[:30]), Query("x", exclude=domains), Query("x", include=domains[:1])):
        query, _ = fit_query(query, provider)
        assert len(query.include) <= provider.max_include
        assert len(query.exclude) <= provider.max_exclude
        assert not provider.operators or len(query.with_operators()) <= provider.max_query
    both, notes = fit_query(Query("x", include=domains[:1], exclude=domains[1:2]), provider)
    assert len(both.exclude) == (0 if provider.one_domain_list else 1)
    assert bool(notes) == provider.one_domain_list


@every_provider
def test_more_results_than_a_provider_has_are_reported_or_paged(provider: Provider) -> None:
    query, notes = fit_query(Query("x", count=1001), provider)
    assert query.count == provider.max_results
    assert notes == (() if "page" in provider.supports else (f"--count (at most {provider.max_results} results)",))
