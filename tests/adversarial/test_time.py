"""Clocks that are set back or wrong, and versions of sleuth that share a home: nothing blocks, no row is lost."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import Home, well_behaved

from sleuth import runtime
from sleuth.store import migrations
from sleuth.store.database import open_database
from sleuth_providers import registry

pytestmark = pytest.mark.adversarial

MINUTE, DAY = 60, 86_400


@pytest.fixture
def server(serve: Any) -> Any:
    return serve(well_behaved)


@pytest.fixture
def home(tmp_path: Path, server: Any) -> Home:
    return Home(tmp_path, server.url)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that offsets time.time by some seconds; time.monotonic stays."""
    real = time.time
    return lambda seconds: monkeypatch.setattr(time, "time", lambda: real() + seconds)


def database(home: Home, statement: str) -> None:
    with closing(sqlite3.connect(home.path / "data/sleuth.db")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        connection.execute(statement)


# Clocks


@pytest.mark.parametrize("back", [2 * MINUTE, DAY, 400 * DAY])
def test_cached_answer_from_the_future_is_requested_again(back: float, home: Home, server: Any, set_clock: Any) -> None:
    words = ("search", "-p", "searxng", "--json", "x")
    for _ in range(2):
        home.main(*words)
    assert len(server.requests) == 1
    set_clock(-back)
    assert json.loads(home.main(*words).out)["cached"] is False
    assert json.loads(home.main(*words).out)["cached"] is True, "not cached by the new clock"
    assert len(server.requests) == 2


def test_small_clock_correction_costs_no_request(home: Home, server: Any, set_clock: Any) -> None:
    home.main("search", "-p", "searxng", "x")
    set_clock(-5)
    assert json.loads(home.main("search", "-p", "searxng", "--json", "x").out)["cached"] is True
    assert len(server.requests) == 1


def test_rendered_answer_from_the_future_is_not_printed(home: Home, set_clock: Any) -> None:
    words = ("search", "-p", "searxng", "--json", "x")
    for _ in range(3):
        home.main(*words)
    set_clock(-DAY)
    assert json.loads(home.main(*words).out)["cached"] is False


@pytest.mark.parametrize("back", [0, 2 * MINUTE, DAY, 400 * DAY])
def test_provider_pause_ends_when_the_clock_is_set_back(back: float, home: Home, serve: Any, set_clock: Any) -> None:
    refusing = serve(lambda exchange: exchange.respond(b"{}", status="429 Too Many Requests"))
    home.environ |= {"SLEUTH_WEBSEARCH_FALLBACK": '["searxng", "library"]', "SLEUTH_WEBSEARCH_RETRIES": "1"}
    home.main("search", "x", exits=(5,), SEARXNG_URL=refusing.url)
    set_clock(-back)
    row = json.loads(home.main("providers", "show", "searxng", "--json", SEARXNG_URL=refusing.url).out)
    assert row["usable"] is (back > 0), "a pause of a minute became one of a day"


def test_rate_limit_holds_when_the_clock_is_set_back(home: Home, server: Any, set_clock: Any) -> None:
    home.main("providers", "set", "searxng", "--option", "per_minute=2")
    for words in ("a", "b"):
        home.main("search", "-p", "searxng", words)
    assert home.main("search", "-p", "searxng", "c", exits=(5,)).exit == 5
    set_clock(-30)
    assert home.main("search", "-p", "searxng", "c", exits=(5,)).exit == 5
    set_clock(-DAY)
    home.main("search", "-p", "searxng", "c")
    assert len(server.requests) == 3


def test_every_command_works_in_every_year(home: Home, set_clock: Any) -> None:
    """A machine boots in 1970 or 2100 and is corrected later; no command fails and no table is emptied."""
    home.main("search", "-p", "searxng", "now")
    for year in (1970.1, 2100.0, 2026.0, 2038.2):
        set_clock((year - 1970) * 365.25 * DAY - time.time())
        for words in (("search", "-p", "searxng", f"in {year}"), ("usage",), ("history",), ("providers", "list")):
            home.main(*words)
        home.main("cache", "stats")
        home.main("library", "stats")
    set_clock(0)
    assert json.loads(home.main("search", "-p", "searxng", "--json", "now").out)["results"]


# Versions


def test_home_of_the_first_version_is_migrated_with_all_data(home: Home) -> None:
    path = home.path / "data/sleuth.db"
    path.parent.mkdir(parents=True)
    with closing(open_database(str(path), migrations.MIGRATIONS[:1])) as connection:
        connection.execute(
            "INSERT INTO websearch_provider (id, name, type, api_key, created_at, updated_at, adapter, built_in)"
            " VALUES ('brave', 'Mine', 'api', 'env:KEY', 1, 1, 'brave', 1)"
        )
        connection.execute("INSERT INTO request (provider, at, state) VALUES ('brave', ?, 'ok')", (time.time(),))
    home.main("search", "-p", "searxng", "x")
    row = json.loads(home.main("providers", "show", "brave", "--json").out)
    assert (row["name"], row["apiKey"], row["createdAt"]) == ("Mine", "env:KEY", 1)
    counted = {row["provider"]: row["total"] for row in json.loads(home.main("usage", "--json").out)["providers"]}
    assert counted == {"brave": 1, "searxng": 1}
    with closing(sqlite3.connect(f"{path}.v1")) as backup:
        assert backup.execute("SELECT name FROM websearch_provider").fetchall() == [("Mine",)]


@pytest.mark.parametrize("name", ["sleuth.db", "library.db"])
def test_home_of_a_later_version_is_left_unchanged(name: str, home: Home) -> None:
    home.main("search", "-p", "searxng,library", "x")
    path = home.path / "data" / name
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    searched = home.main("search", "-p", "library", "--no-cache", "searxng", exits=(0, 1, 2))
    assert "newer sleuth" in searched.message
    home.main("providers", "set", "brave", "--name", "Mine", exits=(0, 2))
    home.main("library", "add", home.file("a.md", "# a\n\nb\n"), exits=(0, 2))
    assert path.read_bytes() == before


FUTURE = {
    "an additional column": "ALTER TABLE websearch_provider ADD COLUMN qubits TEXT",
    "an additional table": "CREATE TABLE qubit (id INTEGER PRIMARY KEY)",
    "a provider with an unknown adapter": "INSERT INTO websearch_provider (id, name, type, created_at, updated_at,"
    " adapter) VALUES ('quantum', 'Quantum', 'api', 1, 1, 'quantum')",
    "an unknown provider type": "UPDATE websearch_provider SET type = 'quantum' WHERE id = 'brave'",
    "engines that are not a list": """UPDATE websearch_provider SET engines = '{"a": 1}' WHERE id = 'searxng'""",
    "engines that are not names": "UPDATE websearch_provider SET engines = '[1, null, []]' WHERE id = 'searxng'",
    "engines that are not JSON": "UPDATE websearch_provider SET engines = 'google' WHERE id = 'searxng'",
    "options that are not a table": "UPDATE websearch_provider SET options = '[1]' WHERE id = 'brave'",
    "options that are not JSON": "UPDATE websearch_provider SET options = 'x' WHERE id = 'brave'",
    "an unknown state": "UPDATE request SET state = 'entangled'",
    "a pause of a thousand years": "INSERT INTO health VALUES ('wikipedia', 9, 4e10, 'entangled')",
    "an unknown outcome": "INSERT INTO search (at, query, providers, outcome, results, elapsed_ms)"
    " VALUES (1e9, 'q', 'quantum', 'superposed', 1, 1)",
    "an unknown mark": "INSERT OR REPLACE INTO meta VALUES ('seeded', '99.0 quantum')",
}


@pytest.mark.parametrize("name", FUTURE)
def test_data_of_a_later_version_breaks_no_command(name: str, home: Home) -> None:
    home.main("search", "-p", "searxng", "x")
    home.main("history")
    database(home, FUTURE[name])
    for words in (
        ("search", "-p", "searxng", "new"),
        ("providers", "list"),
        ("providers", "show", "searxng", "--json"),
        ("providers", "set", "tavily", "--name", "Mine"),
        ("usage",),
        ("history",),
    ):
        home.main(*words)


def test_two_versions_alternate_in_one_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each adds the providers that the other does not know, and neither changes what the user has set."""
    ours, theirs = registry.names(), [name for name in registry.names() if name not in ("brave", "tavily")]
    for run in range(4):
        newer = run % 2 == 0
        monkeypatch.setattr(runtime, "__version__", "99.0" if newer else "0.1")
        monkeypatch.setattr(registry, "names", lambda newer=newer: ours if newer else theirs)
        home.main("search", "-p", "searxng", f"run {run}")
        if run == 1:
            home.main("providers", "set", "brave", "--name", "Mine", "--api-key", "env:MINE")
        row = json.loads(home.main("providers", "show", "brave", "--json").out)
        assert (row["name"], row["apiKey"]) == (("Mine", "env:MINE") if run else ("Brave Search", None))
    listed = [row["id"] for row in json.loads(home.main("providers", "list", "--json").out)["items"]]
    assert sorted(listed) == sorted(ours)
