"""The provider table: one default, seeds that never touch a user's values, changes that fit or are not made."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import pytest
from tests.cli.store.conftest import SECRET, SEEDS, raw, seed

from sleuth.base.errors import Exit, RequestError, SettingsError, UnknownProviderError, UnwritableError
from sleuth.store.provider_table import ProviderRow, ProviderTable
from sleuth_providers.base import Provider

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}


# Seeding


def test_first_use_adds_every_built_in_provider(table: ProviderTable) -> None:
    rows = table.all()
    assert [(row.id, row.name, row.type) for row in rows] == sorted((one.id, one.name, one.type) for one in SEEDS)
    row = rows[0]
    assert (row.adapter, row.built_in, row.enabled, row.using_browser) == (row.id, True, True, False)
    assert (row.api_key, row.api_host, row.engines, row.options) == (None, None, (), {})
    assert row.created_at == row.updated_at


def test_seeding_happens_once_per_mark(table: ProviderTable) -> None:
    def fail() -> list[Provider]:
        raise AssertionError("seeded twice")

    table.seed("1", fail)


def test_newer_sleuth_adds_providers_and_keeps_values(table: ProviderTable) -> None:
    table.update("brave", {"name": "Mine", "api_key": SECRET, "enabled": False, "options": {"a": 1}})
    table.add("own", "Own", "api", "searxng", {"api_host": "https://own.test"})
    before = raw(table)
    table.seed("2", lambda: [*SEEDS, seed("new", "New", "api"), seed("own", "Now built in", "api")])
    assert [row for row in raw(table) if row[0] != "new"] == before
    assert table.get("new").built_in
    assert table.get("own").name == "Own"


def test_plugin_is_added_once(table: ProviderTable) -> None:
    table.add_plugin(seed("theirs", "Theirs", "api"))
    table.update("theirs", {"name": "Renamed"})
    table.add_plugin(seed("theirs", "Theirs", "api"))
    assert table.get("theirs").name == "Renamed"
    assert not table.get("theirs").built_in


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE websearch_provider SET is_default = 1",
        "UPDATE websearch_provider SET is_default = 2",
        "UPDATE websearch_provider SET type = 'magic'",
        "UPDATE websearch_provider SET name = NULL",
        "UPDATE websearch_provider SET engines = '{}'",
        "UPDATE websearch_provider SET options = '[]'",
        "UPDATE websearch_provider SET using_browser = 5",
        "UPDATE websearch_provider SET enabled = NULL",
        "INSERT INTO websearch_provider (id, name, type, created_at, updated_at, adapter)"
        " VALUES ('brave', 'x', 'api', 0, 0, 'x')",
    ],
)
def test_database_constraints_hold(table: ProviderTable, statement: str) -> None:
    before = raw(table)
    with pytest.raises(sqlite3.IntegrityError):
        table.connection.execute(statement)
    assert raw(table) == before


# Looking up


@pytest.mark.parametrize(
    ("id", "near"), [("braev", "brave"), ("searx", "searxng"), ("zzz", ""), ("", ""), ("'; --", "")]
)
def test_unknown_id_suggests_the_closest_one(table: ProviderTable, id: str, near: str) -> None:
    with pytest.raises(UnknownProviderError, match="unknown provider") as caught:
        table.get(id)
    assert caught.value.exit == Exit.UNKNOWN_PROVIDER
    assert ("did you mean" in str(caught.value)) is bool(near)
    assert near in str(caught.value)


# Changing


@pytest.mark.parametrize("id", ["EXA", "École", " ÉCOLE "])
def test_row_that_is_found_is_the_one_that_changes(table: ProviderTable, id: str) -> None:
    table.add("exa", "École", "api", "searxng", {"api_host": "https://own.test", "api_key": SECRET})
    others = [row for row in raw(table) if row[0] != "exa"]
    assert table.update(id, {"name": "Other", "api_key": None}, {"weight": 2}) == table.get("exa")
    assert (table.get("exa").name, table.get("exa").api_key, table.get("exa").options) == ("Other", None, {"weight": 2})
    table.update("exa", {"name": "École"})
    table.remove(id)
    assert raw(table) == others


def test_update_changes_only_the_given_fields(table: ProviderTable) -> None:
    before = table.get("searxng")
    others = [row for row in raw(table) if row[0] != "searxng"]
    changes: dict[str, Any] = {
        "name": "My own",
        "api_key": SECRET,
        "api_host": "https://search.test:8443/searx",
        "engines": ["google", "bing"],
        "using_browser": True,
        "basic_auth_username": "me",
        "basic_auth_password": "pass word",
        "enabled": False,
        "options": {"deep": {"er": [1, None]}, "ü": "中"},
    }
    after = table.update("searxng", changes)
    expected = before._asdict() | changes | {"engines": ("google", "bing"), "updated_at": after.updated_at}
    assert after == ProviderRow(**expected)
    assert [row for row in raw(table) if row[0] != "searxng"] == others
    assert table.update("searxng", {}) == after


def test_update_sets_updated_at(table: ProviderTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.5)
    row = table.update("brave", {"name": "x"})
    assert row.updated_at == 4_000_000_000
    assert row.created_at < 4_000_000_000


def test_type_change_checks_the_host(table: ProviderTable) -> None:
    table.update("brave", {"api_host": "https://api.test"})
    with pytest.raises(RequestError, match="has no %s"):
        table.update("brave", {"type": "local"})
    assert table.get("brave").type == "api"
    assert table.update("brave", {"type": "local", "api_host": "https://api.test/?q=%s"}).type == "local"
    assert table.update("searxng", {"type": "local"}).type == "local"


# A user's own


def test_custom_provider_is_added_changed_and_removed(table: ProviderTable) -> None:
    row = table.add(
        "work-searxng", "Work", "api", "searxng", {"api_host": "https://search.work.test", "engines": ["a"]}
    )
    assert (row.adapter, row.built_in, row.engines) == ("searxng", False, ("a",))
    table.remove("work-searxng")
    with pytest.raises(UnknownProviderError):
        table.get("work-searxng")


@pytest.mark.parametrize("id", ["", "-", "-rf", "a b", "a/b", "ü", "a#b", "a,b", "../x", "a\n", "auto", "All"])
def test_invalid_id_is_refused(table: ProviderTable, id: str) -> None:
    with pytest.raises(RequestError, match="invalid id"):
        table.add(id, "Name", "api", "searxng", {})


@pytest.mark.parametrize(
    ("name", "type", "changes"),
    [
        ("", "api", {}),
        ("x", "magic", {}),
        ("x", "local", {"api_host": "https://x.test"}),
        ("x", "api", {"nonsense": 1}),
    ],
)
def test_invalid_custom_provider_is_refused(
    table: ProviderTable, name: str, type: str, changes: dict[str, Any]
) -> None:
    before = raw(table)
    with pytest.raises(RequestError):
        table.add("own", name, type, "searxng", changes)
    assert raw(table) == before


@pytest.mark.parametrize("id", ["brave", "BRAVE"])
def test_existing_id_is_refused(table: ProviderTable, id: str) -> None:
    with pytest.raises(RequestError, match=f"'{id}' exists already"):
        table.add(id, "Again", "api", "brave", {})
    assert table.get("brave").name == "Brave Search"


def test_built_in_provider_can_be_reset_but_not_removed(table: ProviderTable) -> None:
    table.update("brave", {"api_key": SECRET, "name": "Mine", "enabled": False, "options": {"a": 1}, "engines": ["x"]})
    with pytest.raises(RequestError, match="built in"):
        table.remove("brave")
    row = table.reset("brave", SEEDS[0])
    assert (row.name, row.api_key, row.enabled, row.options, row.engines) == ("Brave Search", None, True, {}, ())
    table.add("own", "Own", "api", "searxng", {})
    with pytest.raises(RequestError, match="not built in"):
        table.reset("own", SEEDS[0])


# Trouble


def test_damaged_database_is_an_error(table: ProviderTable) -> None:
    table.connection.execute("DROP TABLE meta")
    with pytest.raises(SettingsError, match="is damaged"):
        table.seed("2", lambda: SEEDS)
    table.connection.execute("DROP TABLE websearch_provider")
    with pytest.raises(SettingsError, match="is damaged"):
        table.all()
    with pytest.raises(SettingsError, match="is damaged"):
        table.update("brave", {"name": "x"})


def test_read_only_database_is_an_error(path: str, table: ProviderTable) -> None:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        reader = ProviderTable(connection, path)
        assert reader.get("brave").name == "Brave Search"
        with pytest.raises(UnwritableError, match="cannot write the database"):
            reader.update("brave", {"name": "x"})


CHANGER = """
import sys
from sleuth.store.database import open_database
from sleuth.store.provider_table import ProviderTable
from sleuth.store.migrations import MIGRATIONS
table = ProviderTable(open_database(sys.argv[1], MIGRATIONS), sys.argv[1])
for n in range(20):
    table.update("brave", {sys.argv[2]: f"value {n}"})
"""


def test_parallel_changes_of_one_row_are_all_kept(path: str, table: ProviderTable) -> None:
    fields = ["name", "api_key", "basic_auth_username", "basic_auth_password"]
    processes = [subprocess.Popen([sys.executable, "-c", CHANGER, path, field], env=ENVIRON) for field in fields]
    assert [process.wait(300) for process in processes] == [0] * 4
    row = table.get("brave")
    assert [getattr(row, field) for field in fields] == ["value 19"] * 4
