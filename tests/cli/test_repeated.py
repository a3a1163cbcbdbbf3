"""Searches that were answered from the cache are repeated from memory, until anything they depend on changes."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import sleuth
from sleuth.engine.search import Searcher
from sleuth.store.usage import report


class Repeats:
    """A client, the searches that its engine has run, and the requests that its provider has received."""

    def __init__(self, client: sleuth.Client, run: list[str], asked: list[str]) -> None:
        self.client, self.run, self.asked = client, run, asked

    def search(self, **options: Any) -> sleuth.Outcome:
        return self.client.search("rust", providers="searxng", **options)

    def warm(self, **options: Any) -> sleuth.Outcome:
        """Search until the outcome is repeated from memory."""
        for _ in range(2):
            self.search(**options)
        before = len(self.run)
        found = self.search(**options)
        assert (len(self.run), found.cached) == (before, True)
        return found

    def runs(self, **options: Any) -> bool:
        """Search, and tell whether the engine ran."""
        before = len(self.run)
        self.search(**options)
        return len(self.run) > before


@pytest.fixture
def repeats(make_sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repeats]:
    asked: list[str] = []
    run: list[str] = []
    original = Searcher._run

    def answer(request: Request) -> Response:
        asked.append(request.args["q"])
        hits = [
            {"url": f"https://{n}.example/", "title": f"Answer {len(asked)}", "content": f"Text {n}."} for n in range(8)
        ]
        return Response(json.dumps({"results": hits}), content_type="application/json")

    def counted(self: Searcher, request: Any, *more: Any) -> sleuth.Outcome:
        run.append(request.questions[0])
        return original(self, request, *more)

    httpserver.expect_request("/search").respond_with_handler(answer)
    monkeypatch.setattr(Searcher, "_run", counted)
    client = sleuth.Client(make_sleuth("home", SEARXNG_URL=httpserver.url_for("")).environ)
    yield Repeats(client, run, asked)
    client.close()


def test_repeated_outcome_is_the_one_of_the_engine(repeats: Repeats) -> None:
    repeats.search()
    computed = repeats.search()
    repeated = repeats.warm()
    assert repeated._replace(age=0, elapsed_ms=0, attempts=()) == computed._replace(age=0, elapsed_ms=0, attempts=())
    assert repeated.age >= computed.age
    assert repeats.asked == ["rust"]


def test_every_repeated_search_is_in_history_and_usage(repeats: Repeats) -> None:
    repeats.warm()
    connection = repeats.client.runtime.usage_database
    assert [row[0] for row in connection.execute("SELECT query FROM search")] == ["rust"] * 3
    found = report(connection, 1)
    assert (found.searches.total, found.searches.cached) == (3, 2)
    assert (found.total.requests, found.total.cache_hits) == (1, 2)


def test_repeated_search_without_history_stores_no_query(repeats: Repeats, make_sleuth: Any) -> None:
    assert make_sleuth("home")("config", "set", "history.enabled", "false").exit == 0
    repeats.warm()
    with closing(sqlite3.connect(repeats.client.runtime.paths.database)) as connection:
        repeats.client.runtime.usage_database.close()
        assert connection.execute("SELECT count(*), count(query) FROM search").fetchone() == (3, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"count": 3},
        {"page": 2},
        {"language": "de"},
        {"sites": "1.example"},
        {"safe": "strict"},
        {"exclude": "1.example"},
    ],
)
def test_other_options_are_another_search(repeats: Repeats, other: dict[str, Any]) -> None:
    repeats.warm()
    assert repeats.runs(**other)


@pytest.mark.parametrize("use", ["off", "refresh"])
def test_cache_switch_reaches_the_provider(repeats: Repeats, use: Any) -> None:
    repeats.warm()
    assert repeats.search(cache=use).results[0].title == "Answer 2"
    assert repeats.search(cache=use).results[0].title == "Answer 3"


def test_refresh_replaces_what_is_repeated(repeats: Repeats) -> None:
    repeats.warm()
    repeats.search(cache="refresh")
    assert repeats.warm().results[0].title == "Answer 2"


def test_refresh_replaces_it_without_a_cache_folder_too(repeats: Repeats) -> None:
    paths = repeats.client.runtime.paths
    Path(paths.cache).parent.mkdir(parents=True, exist_ok=True)
    Path(paths.cache).write_text("not a folder")
    repeats.warm()
    repeats.search(cache="refresh")
    assert repeats.warm().results[0].title == "Answer 2"


def test_changed_setting_counts_at_once(repeats: Repeats, make_sleuth: Any) -> None:
    assert len(repeats.warm().results) == 5
    assert make_sleuth("home")("config", "set", "websearch.max_results", "3").exit == 0
    assert len(repeats.search().results) == 3
    assert make_sleuth("home")("config", "set", "websearch.exclude_domains", '["0.example"]').exit == 0
    assert "https://0.example/" not in [hit.url for hit in repeats.search().results]


def test_changed_rules_count_at_once(repeats: Repeats) -> None:
    repeats.warm()
    rules = Path(repeats.client.runtime.paths.rules)
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text("$discard,site=0.example\n")
    assert "https://0.example/" not in [hit.url for hit in repeats.search().results]


def test_changed_provider_counts_at_once(repeats: Repeats, make_sleuth: Any) -> None:
    repeats.warm()
    assert make_sleuth("home")("providers", "set", "searxng", "--engines", "bing").exit == 0
    assert repeats.search().results[0].title == "Answer 2"
    assert make_sleuth("home")("providers", "set", "searxng", "--disable").exit == 0
    with pytest.raises(sleuth.SleuthError, match="disabled"):
        repeats.search()


@pytest.mark.parametrize("command", [("cache", "clear"), ("history", "--clear", "--yes")])
def test_clearing_reaches_a_running_client(repeats: Repeats, make_sleuth: Any, command: tuple[str, ...]) -> None:
    repeats.warm()
    assert make_sleuth("home")(*command).exit == 0
    assert repeats.runs()
    assert len(repeats.asked) == (2 if command[0] == "cache" else 1)


def test_refresh_of_another_process_reaches_a_running_client(
    repeats: Repeats, make_sleuth: Any, httpserver: HTTPServer
) -> None:
    repeats.warm()
    other = make_sleuth("home", SEARXNG_URL=httpserver.url_for(""))
    assert other("search", "-p", "searxng", "--refresh", "--json", "rust").exit == 0
    assert repeats.search().results[0].title == "Answer 2"


def test_expired_answer_is_not_repeated(repeats: Repeats, monkeypatch: pytest.MonkeyPatch) -> None:
    repeats.warm()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 14 * 60)
    assert repeats.search().age >= 14 * 60
    assert repeats.asked == ["rust"]
    monkeypatch.setattr(time, "time", lambda: now() + 16 * 60)
    assert repeats.search().results[0].title == "Answer 2"


def test_answer_expires_as_its_writer_said(
    repeats: Repeats, make_sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_sleuth("home", SEARXNG_URL=httpserver.url_for(""), SLEUTH_CACHE_TTL_MINUTES="1")
    assert other("search", "-p", "searxng", "--json", "rust").exit == 0
    repeats.warm()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 61)
    assert repeats.search().results[0].title == "Answer 2"


def test_next_day_is_another_search(repeats: Repeats, monkeypatch: pytest.MonkeyPatch) -> None:
    repeats.warm()
    day = time.gmtime(time.time() + 86400)
    monkeypatch.setattr(time, "gmtime", lambda *_: day)
    assert repeats.runs()


@pytest.mark.parametrize("options", [{"rerank": True}, {"offline": True}])
def test_what_depends_on_more_is_computed_every_time(repeats: Repeats, options: dict[str, Any]) -> None:
    repeats.search()
    assert [repeats.runs(**options) for _ in range(3)] == [True] * 3


def test_learned_weights_are_computed_every_time(repeats: Repeats, make_sleuth: Any) -> None:
    assert make_sleuth("home")("config", "set", "history.learn_weights", "true").exit == 0
    assert [repeats.runs() for _ in range(4)] == [True] * 4


def test_failed_provider_is_tried_again(repeats: Repeats, httpserver: HTTPServer, make_sleuth: Any) -> None:
    httpserver.expect_request("/broken/search").respond_with_data("down", status=500)
    words = ("providers", "add", "broken", "--adapter", "searxng", "--api-host", httpserver.url_for("/broken"))
    assert make_sleuth("home")(*words).exit == 0
    found = [repeats.client.search("rust", providers=["searxng", "broken"]) for _ in range(3)]
    assert [outcome.outcome for outcome in found] == ["partial"] * 3
    assert len(repeats.run) == 3


def test_memory_is_bounded(repeats: Repeats) -> None:
    outcomes = repeats.client.runtime.outcomes
    for number in range(outcomes.max_entries + 10):
        outcomes.put(str(number), number, 60)
    assert outcomes.get("0") is None
    assert outcomes.get(str(outcomes.max_entries + 9))
