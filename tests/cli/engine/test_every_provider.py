"""Every provider from end to end: the table, the command, the HTTP layer and back, with its key masked everywhere."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from sleuth.base.errors import EXITS, Exit
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth_providers import registry
from sleuth_providers.base import Provider, Sample

KEY = "sk-very-secret-0123456789"
PROVIDERS = [name for name in registry.names() if name != "library"]


def good(provider: Provider) -> Sample:
    return next(sample for sample in provider.samples if not sample.error and sample.finds)


def set_up(sleuth: Any, provider: Provider, server: HTTPServer, sample: Sample) -> None:
    headers = {name: value for name, value in sample.headers.items() if name.lower() != "content-length"}
    server.clear()
    server.expect_request(re.compile(".*")).respond_with_handler(
        lambda _: Response(sample.body.encode(), sample.status, headers)
    )
    host = server.url_for("/page?q=%s" if provider.type == "local" else "")
    words = ["--api-host", host, *[f"--option={name}=x" for name in provider.required_options]]
    words += [f"--option={name}={value}" for name, value in sample.account.options.items()]
    if sample.account.engines:
        words += ["--engines", ",".join(sample.account.engines)]
    done = sleuth("providers", "set", provider.id, *words, "--api-key", "-", stdin=f"{KEY}\n")
    assert done.exit == 0, done.err
    sleuth.environ.pop("SEARXNG_URL", None)


def options(sample: Sample) -> list[str]:
    query = sample.query
    words = ["--category", query.category, "--safe", query.safe, "-n", "50"]
    words += ["--lang", query.lang] if query.lang else []
    words += [f"--engine={name}" for name in query.engines]
    return words


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_works_through_the_command(sleuth: Any, httpserver: HTTPServer, name: str) -> None:
    provider = registry.load(name)
    sample = good(provider)
    set_up(sleuth, provider, httpserver, sample)
    done = sleuth("search", "-p", name, "--json", "--debug", *options(sample), sample.query.text)
    assert done.exit == 0, done.err
    found = {hit["url"] for hit in done.json["results"]}
    assert found, "the sample's results come through"
    assert len(found) >= len(sample.finds) - 1, "but for duplicates"
    shown = sleuth("providers", "show", name, "--json")
    assert shown.json["apiKey"] == "sk-v…89"
    tested = sleuth("providers", "test", name, "--json")
    assert tested.json[0]["success"], tested.json
    for output in (done, shown, tested, sleuth("providers", "list")):
        assert KEY not in output.out + output.err


def refusals() -> Iterator[tuple[str, int]]:
    """Yield one refusal of each provider, and one of each kind; test_samples.py has all of them."""
    kinds: set[str] = set()
    for name in PROVIDERS:
        errors = [(number, sample.error) for number, sample in enumerate(registry.load(name).samples) if sample.error]
        new = [number for number, kind in errors if kind not in kinds]
        kinds.update(kind for _, kind in errors)
        yield from ((name, number) for number in (new or [number for number, _ in errors[:1]]))


@pytest.mark.parametrize(("name", "number"), list(refusals()))
def test_refusal_has_its_exit_code_and_shows_no_key(
    sleuth: Any, httpserver: HTTPServer, name: str, number: int
) -> None:
    provider = registry.load(name)
    sample = provider.samples[number]
    set_up(sleuth, provider, httpserver, sample)
    words = ["search", "-p", name, "--json", *options(sample), sample.query.text]
    done = sleuth(*words, SLEUTH_WEBSEARCH_RETRIES="1")
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert error["code"] == sample.error
    assert done.exit == EXITS.get(sample.error, Exit.FAILED)
    assert error["hint"]
    assert KEY not in done.out + done.err


def test_all_leaves_out_opt_in_providers_and_other_categories(sleuth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def named(selector: ProviderSelector, ids: tuple[str, ...], category: str = "") -> list[Candidate]:
        candidates = original(selector, ids, category)
        found.extend(candidate.id for candidate in candidates)
        return [candidate for candidate in candidates if candidate.id == "library"]

    original = ProviderSelector.named
    monkeypatch.setattr(ProviderSelector, "named", named)
    sleuth("search", "-p", "all", "searxng")
    assert {"duckduckgo", "keenable", "sogou", "library"} <= set(found)
    assert not {"startpage", "brave-html", "mojeek-html", "so360", "marginalia", "bing-media"} & set(found)
