"""What a fallback chain waits for, what it abandons, and which provider it asks again."""

import json
from collections.abc import Iterator
from contextlib import closing
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from tests.fake_internet import FakeInternet, fake_internet
from werkzeug import Request, Response

from sleuth.engine.fallback_chain import FallbackChain
from sleuth.engine.job import Job, ProviderReply
from sleuth.engine.outcome import Attempt
from sleuth.runtime import Runtime
from sleuth_providers.base import Query

RESULTS = '{"results": [{"title": "A", "url": "https://a.example/"}]}'
ANSWER = (200, {"Content-Type": "application/json"}, RESULTS.encode())


def candidate(id: str) -> Any:
    adapter = SimpleNamespace(offline=False, caveat="")
    return SimpleNamespace(id=id, adapter=adapter, row=SimpleNamespace(name=id))


class Arrivals:
    """A dispatcher whose replies come in a given order, such as "b empty"; what comes later is too late for a wait."""

    def __init__(self, *replies: str) -> None:
        self.replies = [reply.split() for reply in replies]
        self.running: set[Job] = set()
        self.abandoned: list[str] = []

    def start(self, candidate: Any, query: Query, *_: float, **__: bool) -> Job:
        job = Job(candidate, query, 0.0)
        self.running.add(job)
        return job

    def next_reply(self, _: float) -> tuple[Job, ProviderReply] | None:
        job = next((job for job in self.running if self.replies and job.candidate.id == self.replies[0][0]), None)
        if job is None:
            return None
        self.running.remove(job)
        return job, job.reply(Attempt(*self.replies.pop(0)))

    def abandon(self, job: Job, _: str) -> ProviderReply:
        self.running.remove(job)
        self.abandoned.append(job.candidate.id)
        return job.reply(Attempt(job.candidate.id, "skipped"))


@pytest.mark.parametrize(
    ("enough", "groups", "replies", "states"),
    [
        (1, "a b", ["b empty", "a ok"], ["ok", "empty"]),
        (1, "a b", ["b empty", "a unreachable"], ["unreachable", "empty"]),
        (1, "a b c", ["b empty", "a empty"], ["empty", "empty"]),  # c is not asked
        (1, "a+b", ["b empty", "a ok"], ["ok", "empty"]),
        (3, "a b c d", ["b empty", "c empty", "d empty", "a ok"], ["ok", "empty", "empty", "empty"]),
        (3, "a b", ["a empty", "b ok"], ["empty", "ok"]),
    ],
)
def test_empty_answers_do_not_end_a_search_while_others_may_have_results(
    enough: int, groups: str, replies: list[str], states: list[str]
) -> None:
    dispatcher: Any = Arrivals(*replies)
    chain = FallbackChain(dispatcher, [Query("x")], enough, chosen=True)
    for group in groups.split():
        if chain.query([candidate(id) for id in group.split("+")], {}, 1.0):
            break
    assert [reply.attempt.state for reply in chain.finish().all] == states
    assert dispatcher.abandoned == []


def test_results_end_a_search_at_once() -> None:
    dispatcher: Any = Arrivals("b empty", "c ok", "a ok")
    chain = FallbackChain(dispatcher, [Query("x")], 3, chosen=True)
    assert [chain.query([candidate(id)], {}, 1.0) for id in "abc"] == [False, False, True]
    assert [reply.attempt.state for reply in chain.finish().all] == ["skipped", "empty", "ok"]
    assert dispatcher.abandoned == ["a"]


def test_replies_are_in_the_order_of_the_chain() -> None:
    jobs: list[Job] = []

    def start(candidate: Any, query: Query, *_: float, **__: bool) -> Job:
        jobs.append(Job(candidate, query, 0.0))
        return jobs[-1]

    def next_reply(_: float = 0.0) -> tuple[Job, ProviderReply] | None:
        job = jobs.pop() if jobs else None  # the last one arrives first
        return (job, job.reply(Attempt(job.candidate.id, "ok", 1))) if job else None

    dispatcher: Any = SimpleNamespace(start=start, next_reply=next_reply, running=())
    chain = FallbackChain(dispatcher, [Query("x"), Query("y")], 1, chosen=True)
    assert chain.query([candidate(id) for id in "ab"], {}, 0.0)
    found = [(reply.candidate.id, reply.query.text) for reply in chain.finish().all]
    assert found == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


@pytest.mark.parametrize(("code", "waits"), [("", [1.0, 60.0, 60.0]), ("PACED", [1.0, 1.0, 1.0])])
def test_further_questions_wait_for_their_turn(code: str, waits: list[float]) -> None:
    seen: list[float] = []

    def start(candidate: Any, query: Query, max_wait: float, **_: bool) -> ProviderReply:
        seen.append(max_wait)
        return ProviderReply(candidate, query, Attempt(candidate.id, "skipped" if code else "ok", code=code))

    dispatcher: Any = SimpleNamespace(start=start, next_reply=lambda _: None)
    chain = FallbackChain(dispatcher, [Query("a"), Query("b"), Query("c")], 1, chosen=True)
    chain.query([candidate("a")], {}, 0.0)
    assert seen == waits


@pytest.fixture
def slow_first(sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """SearXNG, which answers when `other` has: SearXNG as well, and without results unless it is told otherwise."""
    monkeypatch.setattr("sleuth.engine.search.HEDGE_S", 0.0)
    monkeypatch.setattr("sleuth.engine.fallback_chain.GROUP_GRACE_S", 0.0)
    state = SimpleNamespace(answered=Event(), first=Response(RESULTS, content_type="application/json"))

    def first(_: Request) -> Response:
        state.answered.wait(60)
        return state.first

    def other(_: Request) -> Response:
        response = Response('{"results": []}', content_type="application/json")
        response.call_on_close(state.answered.set)
        return response

    httpserver.expect_request("/search").respond_with_handler(first)
    httpserver.expect_request("/other/search").respond_with_handler(other)
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_RETRIES": "1"}
    sleuth("providers", "add", "other", "--adapter", "searxng", "--api-host", httpserver.url_for("/other"))
    return state


@pytest.mark.parametrize(
    ("options", "chain"),
    [((), "searxng,other"), ((), "searxng+other"), (("-p", "searxng", "--fallback"), "other")],
)
def test_slower_provider_is_waited_for_if_the_quicker_one_finds_nothing(
    sleuth: Any, slow_first: Any, options: tuple[str, ...], chain: str
) -> None:
    done = sleuth("search", *options, "--json", "x", SLEUTH_WEBSEARCH_FALLBACK=chain)
    assert (done.exit, done.json["outcome"], done.json["provider"], done.err) == (0, "success", "searxng", "")


def test_failure_of_a_slower_provider_is_reported_if_the_quicker_one_finds_nothing(
    sleuth: Any, slow_first: Any
) -> None:
    slow_first.first = Response(status=500)
    done = sleuth("search", "--json", "x", SLEUTH_WEBSEARCH_FALLBACK="searxng,other")
    assert (done.exit, done.json["outcome"]) == (0, "partial")
    assert done.json["warnings"] == ["SearXNG is unavailable (HTTP 500); other found nothing"]


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeInternet]:
    with fake_internet(monkeypatch) as internet:
        yield internet


@pytest.fixture
def cool_down(sleuth: Any) -> Any:
    """Start cool-downs of providers, after failures such as "rate_limited"."""

    def start(state: str, *ids: str) -> None:
        with closing(Runtime(sleuth.environ)) as runtime:
            for name in [runtime.selector.cooldown_name(runtime.selector.candidate(id)) for id in ids] * 3:
                runtime.health.note_outcome(name, state)

    sleuth.environ |= {"SEARXNG_URL": "http://search.example", "SLEUTH_WEBSEARCH_RETRIES": "1"}
    return start


def error(done: Any) -> Any:
    return json.loads(done.err.splitlines()[-1])["error"]


@pytest.mark.parametrize("state", ["unreachable", "rate_limited", "blocked", "bad_response", "key_invalid"])
def test_own_server_is_asked_in_spite_of_its_cooldown_if_no_other_answers(
    sleuth: Any, cool_down: Any, internet: FakeInternet, state: str
) -> None:
    """A client in a closed network, whose user has repaired the server."""
    cool_down(state, "searxng")
    internet.unknown = lambda host: "search.example" not in str(host)
    internet.replies["search.example"] = ANSWER
    for environ in ({"SLEUTH_WEBSEARCH_KEYLESS": "true"}, {"SLEUTH_WEBSEARCH_FALLBACK": "searxng"}):
        assert sleuth("search", "--json", "--no-cache", "x", **environ).json["provider"] == "searxng"
    assert internet.asked == ["search.example"] * 2


@pytest.mark.parametrize(("state", "requests"), [("unreachable", 1), ("rate_limited", 0), ("key_invalid", 0)])
def test_service_is_asked_in_spite_of_its_cooldown_only_if_it_was_unreachable(
    sleuth: Any, cool_down: Any, internet: FakeInternet, state: str, requests: int
) -> None:
    cool_down(state, "wikipedia")
    exit = sleuth("search", "x", SLEUTH_WEBSEARCH_FALLBACK="wikipedia").exit
    assert (len(internet.asked), exit) == (requests, {"unreachable": 0, "rate_limited": 5, "key_invalid": 4}[state])


@pytest.mark.parametrize("chain", ["", "wikipedia,you,searxng"])
def test_error_is_about_the_own_server(sleuth: Any, cool_down: Any, internet: FakeInternet, chain: str) -> None:
    cool_down("rate_limited", "searxng")
    internet.unknown = lambda host: "search.example" not in str(host)
    internet.replies["search.example"] = (403, {"Content-Type": "text/html"}, b"")
    environ = {"SLEUTH_WEBSEARCH_FALLBACK": chain} if chain else {"SLEUTH_WEBSEARCH_KEYLESS": "true"}
    done = sleuth("search", "--json", "x", **environ)
    found = error(done)
    assert (done.exit, found["provider"], done.json["attempts"][0]["provider"]) == (1, "searxng", "searxng")
    assert found["message"].endswith(": SearXNG does not allow JSON responses (HTTP 403)")
    assert "`- json`" in found["hint"]


def test_cooldown_of_a_chosen_service_is_reported_but_decides_no_exit_code(
    sleuth: Any, cool_down: Any, internet: FakeInternet
) -> None:
    """The default provider has reached a limit, and there is no network."""
    cool_down("quota", "brave", "duckduckgo")
    internet.unknown = lambda host: True
    environ = {"BRAVE_API_KEY": "k", "SEARXNG_URL": "", "SLEUTH_WEBSEARCH_KEYLESS": "true"}
    done = sleuth("search", "--json", "x", SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="brave", **environ)
    found = error(done)
    assert (done.exit, found["code"]) == (6, "UNREACHABLE")
    assert ": Brave Search is skipped until " in found["message"]
    assert found["hint"].startswith("check the network connection; ")
    assert ": Keenable cannot be reached" in error(sleuth("search", "--json", "x", **environ))["message"]
