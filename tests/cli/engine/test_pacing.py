"""Services without a key get few requests: paced, limited per day, and one try when they refuse."""

import time
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from tests.fake_internet import OVER_QUOTA, FakeInternet, fake_internet

from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import Job
from sleuth.engine.pacing import INTERVALS_S, RequestLimits, request_limits
from sleuth.engine.search import SearchRequest
from sleuth.runtime import Runtime
from sleuth.store.health import MAX_FAILURES, Health
from sleuth_providers.base import Account, Query
from sleuth_providers.net.policy import Policy


@pytest.fixture
def runtime(sleuth: Any) -> Iterator[Runtime]:
    runtime = Runtime(sleuth.environ | {"SLEUTH_WEBSEARCH_CONTACT": "me@example.org"})
    yield runtime
    runtime.close()


@pytest.fixture
def fresh(sleuth: Any) -> Any:
    del sleuth.environ["SEARXNG_URL"]
    sleuth.environ["SLEUTH_WEBSEARCH_KEYLESS"] = "true"
    return sleuth


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeInternet]:
    with fake_internet(monkeypatch) as internet:
        yield internet


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses before requests, which take no time here; the interval is so long that no test outlasts it."""
    monkeypatch.setitem(INTERVALS_S, "duckduckgo", 50.0)
    made: list[float] = []

    class InstantEvent(Event):
        def wait(self, timeout: float | None = None) -> bool:
            made.extend([timeout] if timeout else [])
            return self.is_set()

    monkeypatch.setattr("sleuth.engine.job.Event", InstantEvent)
    return made


def test_limits_depend_on_the_key(runtime: Runtime) -> None:
    openalex = runtime.selector.candidate("openalex")
    assert request_limits(openalex, third_party=True).per_day == 100
    assert request_limits(openalex, third_party=False) == RequestLimits(60, openalex.adapter.per_day)


def test_adapters_of_one_host_share_its_interval(runtime: Runtime) -> None:
    news = request_limits(runtime.selector.candidate("bing-news"), third_party=True)
    assert news.interval == 2.0
    assert {"bing-news", "local-bing"} <= set(news.paced_with)
    assert request_limits(runtime.selector.candidate("mdn"), third_party=True)[2:] == (1.0, ("mdn",))


def test_limits_of_the_user_come_first(sleuth: Any, runtime: Runtime) -> None:
    sleuth("providers", "set", "you", "--option", "per_day=7")
    assert request_limits(runtime.selector.candidate("you"), third_party=True).per_day == 7


def test_request_that_was_not_sent_is_not_counted(
    runtime: Runtime, internet: FakeInternet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(INTERVALS_S, "duckduckgo", 50.0)
    dispatcher = Dispatcher(runtime.selector, runtime.cache, SearchRequest((), Query("")))
    duckduckgo = runtime.selector.candidate("duckduckgo")
    for text in ("first", "second"):
        dispatcher.start(duckduckgo, Query(text))
    assert dispatcher.next_reply()
    (waiting,) = dispatcher.running
    reply = dispatcher.abandon(waiting, "", "timeout")
    assert (reply.attempt.state, reply.attempt.code) == ("skipped", "PACED")
    assert runtime.selector.health.request_count("duckduckgo") == len(internet.asked) == 1
    assert waiting.thread
    assert waiting.is_sent is False
    waiting.thread.join(30)
    assert not waiting.thread.is_alive()
    dispatcher.finish()


def test_share_of_the_time_limit_is_about_work_and_not_about_waiting(
    runtime: Runtime, internet: FakeInternet, pauses: list[float]
) -> None:
    request = SearchRequest((), Query(""), timeout=120)
    dispatcher = Dispatcher(runtime.selector, runtime.cache, request)
    duckduckgo = runtime.selector.candidate("duckduckgo")
    first, second = (dispatcher.start(duckduckgo, Query(text), time_share=0.5) for text in ("first", "second"))
    assert isinstance(first, Job)
    assert isinstance(second, Job)
    assert second.deadline - first.deadline > 30  # its turn comes 50 seconds later
    dispatcher.finish()


@pytest.mark.parametrize(
    ("timeout", "left", "is_skipped"), [(0, 1e9, True), (6, 6, True), (300, 3, True), (300, 2, False)]
)
def test_timeout_of_a_request_with_little_time_left_starts_no_cooldown(
    runtime: Runtime, timeout: float, left: float, is_skipped: bool
) -> None:
    """A request to SearXNG has five seconds as a rule."""
    searxng = runtime.selector.candidate("searxng")
    for number in range(MAX_FAILURES):
        dispatcher = Dispatcher(runtime.selector, runtime.cache, SearchRequest((), Query(""), timeout=timeout))
        job = Job(searxng, Query(str(number)), time.monotonic())
        dispatcher.end = job.started + left
        dispatcher.running.add(job)
        dispatcher.jobs.append(job)
        assert dispatcher.next_reply()
    assert bool(runtime.selector.skipped(searxng)) == is_skipped


def test_wait_for_the_turn_is_no_response_time(fresh: Any, internet: FakeInternet) -> None:
    runtime = Runtime(fresh.environ)
    dispatcher = Dispatcher(runtime.selector, runtime.cache, SearchRequest((), Query("")))
    job = Job(runtime.selector.candidate("duckduckgo"), Query("x"), time.monotonic() + 60)
    job.started -= 1000
    dispatcher._query(job, [Account("duckduckgo", host="https://html.duckduckgo.com")], Policy())
    assert job.elapsed_ms() < 900_000
    runtime.close()


def test_member_of_a_group_that_was_used_a_moment_ago_is_reported(
    fresh: Any, internet: FakeInternet, pauses: list[float]
) -> None:
    fresh.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "DuckDuckGo + wikipedia"
    assert fresh("search", "--json", "first").json["outcome"] == "success"
    second = fresh("search", "--json", "second")
    assert second.json["outcome"] == "partial"
    assert "warning: DuckDuckGo was skipped: too soon after the last request\n" in second.err


def test_chain_uses_the_next_service_instead_of_a_long_wait(
    fresh: Any, internet: FakeInternet, pauses: list[float]
) -> None:
    assert fresh("search", "--json", "first").json["provider"] == "duckduckgo"
    second = fresh("search", "--json", "second")
    assert (second.json["provider"], second.err, pauses) == ("keenable", "", [])


def test_named_service_is_waited_for(fresh: Any, internet: FakeInternet, pauses: list[float]) -> None:
    for text in ("first", "second"):
        assert fresh("search", "-p", "duckduckgo", text).exit == 0
    assert [0 < pause <= 50 for pause in pauses] == [True]
    third = fresh("search", "-p", "duckduckgo", "third")  # after more than a minute
    assert (third.exit != 0, "DuckDuckGo was skipped: too soon after the last request" in third.err) == (True, True)


def test_turn_after_the_time_limit_is_not_waited_for(fresh: Any, internet: FakeInternet, pauses: list[float]) -> None:
    for text in ("first", "second"):
        done = fresh("search", "-p", "duckduckgo", "--timeout", "20", text)
    assert "DuckDuckGo was skipped: too soon after the last request" in done.err
    assert pauses == []


def test_time_limit_of_a_comparison_is_for_each_request(
    fresh: Any, internet: FakeInternet, pauses: list[float]
) -> None:
    words = ("providers", "compare", "-p", "duckduckgo,keenable", "--timeout", "20", "--json", "first", "second")
    assert [one["answered"] for one in fresh(*words).json["providers"]] == [2, 2]
    assert max(pauses) > 30


def test_only_service_of_a_chain_is_waited_for(fresh: Any, internet: FakeInternet, pauses: list[float]) -> None:
    fresh.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "duckduckgo"
    for text in ("first", "second"):
        assert fresh("search", text).exit == 0
    assert [0 < pause <= 50 for pause in pauses] == [True]


def test_own_server_and_own_key_are_not_paced(sleuth: Any, internet: FakeInternet, pauses: list[float]) -> None:
    for number in range(3):
        sleuth("search", "-p", "tavily", str(number), TAVILY_API_KEY="k")
        sleuth("search", "-p", "searxng", str(number), SEARXNG_URL="http://search.example")
    assert pauses == []


def test_refusal_costs_one_try_in_a_chain(fresh: Any, internet: FakeInternet) -> None:
    internet.replies["html.duckduckgo.com"] = OVER_QUOTA
    assert fresh("search", "--json", "x").json["provider"] == "keenable"
    assert internet.asked.count("html.duckduckgo.com") == 1
    listed = {row["id"]: row for row in fresh("providers", "list", "--json").json["items"]}
    assert "is skipped until" in listed["duckduckgo"]["why"]


def test_successful_test_ends_the_pause(fresh: Any, internet: FakeInternet, pauses: list[float]) -> None:
    internet.replies["html.duckduckgo.com"] = OVER_QUOTA
    fresh("search", "x")
    internet.replies.clear()
    assert fresh("providers", "test", "duckduckgo").exit == 0
    fresh.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "duckduckgo,keenable"
    listed = {row["id"]: row for row in fresh("providers", "list", "--json").json["items"]}
    assert listed["duckduckgo"]["usable"]


def test_backoff_of_an_answer_delays_the_next_request(fresh: Any, internet: FakeInternet, pauses: list[float]) -> None:
    def ask(backoff: int) -> Any:
        body = b'{"items": [{"item_type": "question", "question_id": 7, "title": "A"}], "backoff": %d}' % backoff
        internet.replies["api.stackexchange.com"] = (200, {"Content-Type": "application/json"}, body)
        return fresh("search", "-p", "stackexchange", "--no-cache", "x", STACKEXCHANGE_KEY="k")

    assert [ask(40).exit, ask(4000).exit] == [0, 0]
    assert [30 < pause <= 40 for pause in pauses] == [True]
    assert "Stack Exchange was skipped: too soon after the last request" in ask(0).err


@pytest.mark.parametrize(("interval", "requests"), [(5.0, 1), (0.0, 3)])
def test_service_that_refuses_one_question_gets_no_retries_and_none_that_waits(
    fresh: Any, internet: FakeInternet, monkeypatch: pytest.MonkeyPatch, interval: float, requests: int
) -> None:
    for host in INTERVALS_S:
        monkeypatch.setitem(INTERVALS_S, host, interval if host == "duckduckgo" else 0.0)
    monkeypatch.setattr(Health, "usual_time", lambda *_: 1000.0)
    internet.replies["html.duckduckgo.com"] = (429, {}, b"")
    questions = ("-q", "pizza", "-q", "pasta", "-q", "gelato")
    done = fresh("search", "--json", *questions, SLEUTH_WEBSEARCH_FALLBACK="duckduckgo,local-bing")
    assert done.json["provider"] == "local-bing", done.err
    assert internet.asked.count("html.duckduckgo.com") == requests
    assert done.err.count("\n") == 1
