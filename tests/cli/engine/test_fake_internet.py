"""The first search, in a fresh home without keys and servers, on a good and on a bad day of the internet."""

import socket
import time
from collections.abc import Iterator
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.fake_internet import (
    OVER_QUOTA,
    PORTAL,
    PORTAL_REDIRECT,
    WALL,
    FakeInternet,
    Reply,
    fake_internet,
)

from sleuth.base import choices
from sleuth.store.health import Health
from sleuth_providers import registry
from sleuth_providers.base import Provider, Request
from sleuth_providers.errors import DeadlineError
from sleuth_providers.net import client

DUCKDUCKGO, KEENABLE, WIKIPEDIA = "html.duckduckgo.com", "api.keenable.ai", "en.wikipedia.org"
COMMERCIAL = (KEENABLE, "api.you.com", "search.parallel.ai", "mcp.exa.ai", "api.firecrawl.dev", "api.tavily.com")
NOTHING = (200, {"Content-Type": "text/html"}, b"<title>x at DuckDuckGo</title>No results.")
PIZZA = ("best", "pizza", "in", "rome")


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeInternet]:
    with fake_internet(monkeypatch) as internet:
        yield internet


@pytest.fixture
def fresh(sleuth: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """A home as after the installation; only services that hang get competition, at once."""
    del sleuth.environ["SEARXNG_URL"]
    sleuth.environ |= {"SLEUTH_WEBSEARCH_KEYLESS": "true", "SLEUTH_WEBSEARCH_RETRIES": "1"}
    delays = {"duckduckgo": 0.01, "keenable": 0.01} if "slow" in request.fixturenames else {}
    monkeypatch.setattr(Health, "usual_time", lambda self, id: delays.get(id, 1000.0))
    return sleuth


@pytest.fixture
def slow(internet: FakeInternet) -> FakeInternet:
    """An internet where DuckDuckGo, Google and Wikipedia never answer."""
    internet.hanging |= {DUCKDUCKGO, "www.google.com", WIKIPEDIA, "zh.wikipedia.org"}
    return internet


def check(done: Any, provider: str, notice: str = "") -> None:
    """Check that there are results, from this provider, and at most one line of notice."""
    assert done.exit == 0, done.err
    assert done.json["results"]
    assert done.json["provider"] == provider
    assert done.err == notice


def test_everything_works(fresh: Any, internet: FakeInternet) -> None:
    check(fresh("search", "--json", *PIZZA), "duckduckgo")
    assert fresh(*PIZZA).exit == 0
    assert set(internet.asked) == {DUCKDUCKGO}


def test_duckduckgo_shows_a_wall(fresh: Any, internet: FakeInternet) -> None:
    internet.replies[DUCKDUCKGO] = WALL
    notice = "note: DuckDuckGo returned a bot check instead of results (HTTP 202); used Keenable instead\n"
    check(fresh("search", "--json", *PIZZA), "keenable", notice)
    assert internet.asked.count(DUCKDUCKGO) == 1
    again = fresh("search", "--json", "another", "question")
    assert internet.asked.count(DUCKDUCKGO) == 1
    assert "is skipped until" in again.err
    assert "sleuth providers test duckduckgo" in again.err


def test_all_commercial_services_are_over_quota(fresh: Any, internet: FakeInternet) -> None:
    internet.replies |= dict.fromkeys((DUCKDUCKGO, "www.bing.com", *COMMERCIAL), OVER_QUOTA)
    notice = "note: no answer from DuckDuckGo, Keenable, You.com …; used Wikipedia (an encyclopedia, not a web search)"
    check(fresh("search", "--json", *PIZZA), "wikipedia", f"{notice} instead (details: --debug)\n")
    assert internet.asked.count(KEENABLE) == 1


def test_all_services_but_an_empty_one_are_over_quota(fresh: Any, internet: FakeInternet) -> None:
    internet.replies |= dict.fromkeys(("www.bing.com", WIKIPEDIA, *COMMERCIAL), OVER_QUOTA)
    internet.replies[DUCKDUCKGO] = NOTHING
    done = fresh("search", "--json", *PIZZA)
    assert (done.exit, done.json["outcome"]) == (0, "partial")
    reported = "no answer from Keenable, You.com, Parallel …; DuckDuckGo found nothing (details: --debug)"
    assert done.json["warnings"] == [reported]


def test_service_that_finds_nothing_is_not_the_last(fresh: Any, internet: FakeInternet) -> None:
    internet.replies[DUCKDUCKGO] = NOTHING
    own_list = fresh("search", "--json", *PIZZA, SLEUTH_WEBSEARCH_FALLBACK="duckduckgo,keenable")
    assert (own_list.json["outcome"], own_list.json["provider"]) == ("no_results", "duckduckgo")
    check(fresh("search", "--json", *PIZZA), "keenable", "note: DuckDuckGo found nothing; used Keenable instead\n")


def test_no_network(fresh: Any, internet: FakeInternet) -> None:
    internet.unknown = lambda host: True
    done = fresh("search", *PIZZA)
    assert (done.exit, done.out, internet.asked) == (6, "", [])
    assert done.err.startswith("error: no provider answered (duckduckgo, keenable, you, ")
    assert "\nhint: check the network connection; without a network: sleuth search --offline" in done.err
    assert done.err.count("\n") == 2


def test_no_network_shows_the_handbook_on_its_subjects(fresh: Any, internet: FakeInternet) -> None:
    internet.unknown = lambda host: True
    done = fresh("search", "--json", "enable", "json", "in", "searxng")
    assert (done.exit, done.json["provider"], done.json["outcome"]) == (0, "library", "partial")
    assert done.err.count("\n") == 1


def test_china(fresh: Any, slow: FakeInternet) -> None:
    assert fresh("search", "--json", *PIZZA).json["provider"] in ("keenable", "you")
    check(fresh("search", "--json", "北京", "天气"), "local-baidu")


def test_first_services_are_slow(fresh: Any, slow: FakeInternet) -> None:
    slow.hanging.add(KEENABLE)
    check(fresh("search", "--json", *PIZZA), "you")


def test_time_limit_is_one_for_the_whole_chain(
    fresh: Any, internet: FakeInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, skipped = time.monotonic, [0.0]

    def exchange(request: Request, *_: Any) -> Any:
        skipped[0] += 300
        internet.asked.append(str(urlsplit(request.url).hostname))
        raise DeadlineError

    monkeypatch.setattr(time, "monotonic", lambda: clock() + skipped[0])
    monkeypatch.setattr(client, "transmit", exchange)
    done = fresh("search", "--timeout", "200", *PIZZA)
    assert (done.exit, internet.asked) == (6, [DUCKDUCKGO])
    assert done.err.endswith(
        "DuckDuckGo did not answer in time\nhint: check the network, or allow more time: --timeout 30\n"
    )


def test_portal_that_intercepts_http_only(fresh: Any, internet: FakeInternet) -> None:
    """The services of the chain are reached by https, so that only a plain address is affected."""
    internet.replies["example.org"] = PORTAL
    check(fresh("search", "--json", *PIZZA), "duckduckgo")


@pytest.mark.parametrize("reply", [PORTAL, PORTAL_REDIRECT])
def test_portal_that_intercepts_everything_is_an_error(fresh: Any, internet: FakeInternet, reply: Reply) -> None:
    internet.replies[""] = reply
    done = fresh("search", *PIZZA)
    assert (done.exit != 0, done.out) == (True, "")
    assert done.err.startswith("error: no provider answered")
    assert "Free Wi-Fi" not in done.err


def test_ipv6_only(fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_internet(monkeypatch, socket.AF_INET6):
        check(fresh("search", "--json", *PIZZA), "duckduckgo")


@pytest.mark.parametrize("category", choices.CATEGORIES)
def test_every_category_answers_without_a_key(fresh: Any, internet: FakeInternet, category: str) -> None:
    done = fresh("search", "--json", "--category", category, "sqlite")
    assert done.exit == 0, done.err
    assert done.json["results"]
    assert done.err.count("\n") <= 1, done.err


def test_category_that_nobody_asked_for_is_not_missed(fresh: Any, internet: FakeInternet) -> None:
    done = fresh("search", "--json", "-p", "GitHub,github", "-q", "sqlite", "-q", "sqlite")
    assert (done.err, len(internet.asked), done.json["attempts"][0]["notApplied"]) == ("", 1, [])
    assert "not applied by GitHub: --category" in fresh("search", "-p", "github", "--category", "news", "x").err


def test_sources_of_a_category_are_merged(fresh: Any, internet: FakeInternet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth.engine.pacing.INTERVAL_S", 0.0)
    monkeypatch.setattr("sleuth.engine.pacing.INTERVALS_S", {})
    done = fresh("search", "--json", "-n", "20", "--category", "science", "sqlite")
    assert set(done.json["provider"].split(",")) == {"openalex", "crossref", "arxiv"}
    internet.replies["api.crossref.org"] = OVER_QUOTA
    done = fresh("search", "--json", "-n", "20", "--category", "science", "database")
    assert "openalex" in done.json["provider"]
    assert done.err.count("\n") <= 1, done.err


ADAPTERS = [registry.load(id) for id in registry.names() if id not in ("library", "local")]


@pytest.mark.parametrize(
    "adapter", [one for one in ADAPTERS if not one.needs_key and not one.needs_host], ids=attrgetter("id")
)
def test_login_page_is_never_an_empty_result(fresh: Any, internet: FakeInternet, adapter: Provider) -> None:
    internet.replies[""] = PORTAL
    done = fresh("search", "--json", "-p", adapter.id, "--category", adapter.categories[0], "sqlite")
    assert done.json["outcome"] == "failed"
