"""Clocks that go wrong, and versions of sleuth that share a home: nobody waits for ever, and nobody's rows are lost."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import Home, good

from sleuth import runtime
from sleuth.store import migrations
from sleuth.store.database import open_database
from sleuth_providers import registry

pytestmark = pytest.mark.adversarial

MINUTE, DAY = 60, 86_400


@pytest.fixture
def server(serve: Any) -> Any:
    return serve(good)


@pytest.fixture
def home(tmp_path: Path, server: Any) -> Home:
    return Home(tmp_path, server.url)


@pytest.fixture
def wind(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the clock so many seconds off; what measures how long something takes is not moved."""
    real = time.time
    return lambda seconds: monkeypatch.setattr(time, "time", lambda: real() + seconds)


def database(home: Home, statement: str) -> None:
    with closing(sqlite3.connect(home.path / "data/sleuth.db")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(statement)


# Clocks


@pytest.mark.parametrize("back", [2 * MINUTE, DAY, 400 * DAY])
def test_kept_answer_from_the_future_is_asked_for_anew(back: float, home: Home, server: Any, wind: Any) -> None:
    words = ("search", "-p", "searxng", "--json", "x")
    for _ in range(2):
        home.ask(*words)
    assert len(server.requests) == 1
    wind(-back)
    assert json.loads(home.ask(*words).out)["cached"] is False
    assert json.loads(home.ask(*words).out)["cached"] is True, "kept, by the new clock"
    assert len(server.requests) == 2


def test_clock_that_is_set_right_by_a_moment_costs_no_request(home: Home, server: Any, wind: Any) -> None:
    home.ask("search", "-p", "searxng", "x")
    wind(-5)
    assert json.loads(home.ask("search", "-p", "searxng", "--json", "x").out)["cached"] is True
    assert len(server.requests) == 1


def test_written_answer_from_the_future_is_not_handed_out(home: Home, wind: Any) -> None:
    words = ("search", "-p", "searxng", "--json", "x")
    for _ in range(3):
        home.ask(*words)
    wind(-DAY)
    assert json.loads(home.ask(*words).out)["cached"] is False


@pytest.mark.parametrize("back", [0, 2 * MINUTE, DAY, 400 * DAY])
def test_rest_ends_when_its_clock_is_put_back(back: float, home: Home, serve: Any, wind: Any) -> None:
    refusing = serve(lambda caller: caller.answer(b"{}", status="429 Too Many Requests"))
    home.environ |= {"SLEUTH_WEBSEARCH_FALLBACK": '["searxng", "library"]', "SLEUTH_WEBSEARCH_RETRIES": "1"}
    home.ask("search", "x", SEARXNG_URL=refusing.url)
    wind(-back)
    row = json.loads(home.ask("providers", "show", "searxng", "--json").out)
    assert row["usable"] is (back > 0), "a rest of a minute is not one of a day"


def test_allowance_is_kept_when_the_clock_is_put_back(home: Home, server: Any, wind: Any) -> None:
    home.ask("providers", "set", "searxng", "--option", "per_minute=2")
    for words in ("a", "b"):
        home.ask("search", "-p", "searxng", words)
    assert home.ask("search", "-p", "searxng", "c", exits=(5,)).exit == 5
    wind(-30)
    assert home.ask("search", "-p", "searxng", "c", exits=(5,)).exit == 5, "nobody gains by setting the clock"
    wind(-DAY)
    home.ask("search", "-p", "searxng", "c")
    assert len(server.requests) == 3


def test_everything_works_in_every_year(home: Home, wind: Any) -> None:
    """A machine wakes up in 1970 or in 2100, is set right, and none of it stops a command or empties a table."""
    home.ask("search", "-p", "searxng", "now")
    for year in (1970.1, 2100.0, 2026.0, 2038.2):
        wind((year - 1970) * 365.25 * DAY - time.time())
        for words in (("search", "-p", "searxng", f"in {year}"), ("usage",), ("history",), ("providers", "list")):
            home.ask(*words)
        home.ask("cache", "stats")
        home.ask("library", "stats")
    wind(0)
    assert json.loads(home.ask("search", "-p", "searxng", "--json", "now").out)["results"]


# Versions


def test_home_of_the_first_version_is_taken_over_with_all_that_is_in_it(home: Home) -> None:
    path = home.path / "data/sleuth.db"
    path.parent.mkdir(parents=True)
    with closing(open_database(str(path), migrations.MIGRATIONS[:1])) as connection:
        connection.execute(
            "INSERT INTO websearch_provider (id, name, type, api_key, created_at, updated_at, adapter, built_in)"
            " VALUES ('brave', 'Mine', 'api', 'env:KEY', 1, 1, 'brave', 1)"
        )
        connection.execute("INSERT INTO request (provider, at, state) VALUES ('brave', ?, 'ok')", (time.time(),))
    home.ask("search", "-p", "searxng", "x")
    row = json.loads(home.ask("providers", "show", "brave", "--json").out)
    assert (row["name"], row["apiKey"], row["createdAt"]) == ("Mine", "env:KEY", 1)
    counted = {row["provider"]: row["total"] for row in json.loads(home.ask("usage", "--json").out)["providers"]}
    assert counted == {"brave": 1, "searxng": 1}
    with closing(sqlite3.connect(f"{path}.v1")) as backup:
        assert backup.execute("SELECT name FROM websearch_provider").fetchall() == [("Mine",)]


@pytest.mark.parametrize("name", ["sleuth.db", "library.db"])
def test_home_of_a_later_version_is_left_as_it_is(name: str, home: Home) -> None:
    home.ask("search", "-p", "searxng,library", "x")
    path = home.path / "data" / name
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    searched = home.ask("search", "-p", "library", "--no-cache", "searxng", exits=(1, 2))
    assert "newer sleuth" in searched.said
    home.ask("providers", "set", "brave", "--name", "Mine", exits=(0, 2))
    home.ask("library", "add", home.file("a.md", "# a\n\nb\n"), exits=(0, 2))
    assert path.read_bytes() == before


FUTURE = {
    "a column more": "ALTER TABLE websearch_provider ADD COLUMN qubits TEXT",
    "a table more": "CREATE TABLE qubit (id INTEGER PRIMARY KEY)",
    "a provider with an adapter nobody has": "INSERT INTO websearch_provider (id, name, type, created_at, updated_at,"
    " adapter) VALUES ('quantum', 'Quantum', 'api', 1, 1, 'quantum')",
    "a type of provider nobody knows": "UPDATE websearch_provider SET type = 'quantum' WHERE id = 'brave'",
    "engines that are no list": """UPDATE websearch_provider SET engines = '{"a": 1}' WHERE id = 'searxng'""",
    "engines that are no names": "UPDATE websearch_provider SET engines = '[1, null, []]' WHERE id = 'searxng'",
    "engines that are no JSON": "UPDATE websearch_provider SET engines = 'google' WHERE id = 'searxng'",
    "options that are no table": "UPDATE websearch_provider SET options = '[1]' WHERE id = 'brave'",
    "options that are no JSON": "UPDATE websearch_provider SET options = 'x' WHERE id = 'brave'",
    "a state nobody knows": "UPDATE request SET state = 'entangled'",
    "a rest of a thousand years": "INSERT INTO health VALUES ('searxng', 9, 4e10, 'entangled')",
    "an outcome nobody knows": "INSERT INTO search (at, query, providers, outcome, results, elapsed_ms)"
    " VALUES (1e9, 'q', 'quantum', 'superposed', 1, 1)",
    "a mark nobody set": "INSERT OR REPLACE INTO meta VALUES ('seeded', '99.0 quantum')",
}


@pytest.mark.parametrize("name", FUTURE)
def test_row_from_the_future_disturbs_nobody(name: str, home: Home) -> None:
    home.ask("search", "-p", "searxng", "x")
    home.ask("history")
    database(home, FUTURE[name])
    for words in (
        ("search", "-p", "searxng", "new"),
        ("providers", "list"),
        ("providers", "show", "searxng", "--json"),
        ("providers", "set", "tavily", "--name", "Mine"),
        ("usage",),
        ("history",),
    ):
        home.ask(*words)


def test_two_versions_take_turns_in_one_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each adds what the other does not know, and neither touches what the user set."""
    ours, theirs = registry.names(), [name for name in registry.names() if name not in ("brave", "tavily")]
    for turn in range(4):
        newer = turn % 2 == 0
        monkeypatch.setattr(runtime, "__version__", "99.0" if newer else "0.1")
        monkeypatch.setattr(registry, "names", lambda newer=newer: ours if newer else theirs)
        home.ask("search", "-p", "searxng", f"turn {turn}")
        if turn == 1:
            home.ask("providers", "set", "brave", "--name", "Mine", "--api-key", "env:MINE")
        row = json.loads(home.ask("providers", "show", "brave", "--json").out)
        assert (row["name"], row["apiKey"]) == (("Mine", "env:MINE") if turn else ("Brave Search", None))
    listed = [row["id"] for row in json.loads(home.ask("providers", "list", "--json").out)["items"]]
    assert sorted(listed) == sorted(ours)
