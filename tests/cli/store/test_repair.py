"""A damaged database: searches go on without it, and a repair keeps what can be read."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

KEY = "key-1234567890"


def damage(path: Path, kind: str) -> None:
    """Damage the file: its whole content, its second half, or the root page of one table or index."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    if kind == "not a database":
        data = bytearray(b"plain text, not a database")
    elif kind == "truncated":
        data = data[: len(data) // 2]
    else:
        data[(roots[kind] - 1) * size : roots[kind] * size] = b"\xff" * size
    path.write_bytes(data)


@pytest.fixture
def database(sleuth: Any) -> Path:
    assert sleuth("providers", "set", "brave", "--api-key", "-", stdin=KEY).exit == 0
    assert sleuth("search", "-p", "library", "searxng json").exit == 0
    path: Path = sleuth.home / "data" / "sleuth.db"
    return path


@pytest.mark.parametrize("kind", ["not a database", "truncated", "websearch_provider"])
def test_search_goes_on_without_a_damaged_database(sleuth: Any, database: Path, kind: str) -> None:
    damage(database, kind)
    before = database.read_bytes()
    done = sleuth("search", "-p", "library", "--json", "--no-cache", "searxng json")
    assert done.exit == 0
    assert done.json["results"]
    assert f"{database} is damaged" in done.err
    assert "sleuth doctor" in done.err
    assert database.read_bytes() == before


def test_search_goes_on_beside_the_database_of_a_newer_version(sleuth: Any, database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    done = sleuth("search", "-p", "library", "--json", "--no-cache", "searxng json")
    assert (done.exit, "newer sleuth" in done.err) == (0, True)
    repaired = sleuth("doctor", "--repair")
    assert (repaired.exit, "written by a newer version of sleuth" in repaired.err) == (2, True)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 99


@pytest.mark.parametrize("kind", ["not a database", "truncated", "request", "sqlite_autoindex_websearch_provider_1"])
def test_repair_keeps_a_copy_and_the_readable_rows(sleuth: Any, database: Path, kind: str) -> None:
    damage(database, kind)
    damaged = database.read_bytes()
    done = sleuth("doctor", "--repair")
    assert done.exit == 0
    (copy,) = database.parent.glob("sleuth.db.damaged-*")
    assert copy.read_bytes() == damaged
    assert copy.stat().st_mode & 0o077 == 0
    assert str(copy) in done.out
    listed = sleuth("providers", "show", "brave", "--json")
    assert listed.exit == 0
    is_lost = kind == "not a database"
    assert listed.json["keySource"] == (None if is_lost else "table")
    assert ("keys and hosts that you had set are lost" in done.err) is is_lost
    assert "nothing to repair" in sleuth("doctor", "--repair").out
    as_json = sleuth("doctor", "--repair", "--json")
    assert (as_json.exit, as_json.out, "cannot be combined" in as_json.err) == (2, "", True)


@pytest.mark.parametrize("version", [0, 1])
def test_database_with_a_version_below_its_tables_is_repaired(sleuth: Any, database: Path, version: int) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    assert "already exists" in sleuth("providers", "show", "brave").err
    assert "unexpected column: " in sleuth("doctor", "--only", "install").out
    assert "websearch_provider: " in sleuth("doctor", "--repair").out
    assert sleuth("providers", "show", "brave", "--json").json["keySource"] == "table"


def test_repair_restores_keys_from_the_newest_backup(sleuth: Any, database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, closing(sqlite3.connect(f"{database}.v1")) as backup:
        connection.backup(backup)
    damage(database, "not a database")
    assert "websearch_provider" in sleuth("doctor", "--repair").out
    assert sleuth("providers", "show", "brave", "--json").json["keySource"] == "table"


@pytest.mark.parametrize("column", ["name", "adapter"])
def test_table_that_lacks_a_column_is_not_changed(sleuth: Any, database: Path, column: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"ALTER TABLE websearch_provider DROP COLUMN {column}")
    done = sleuth("providers", "set", "brave", "--disable")
    assert (done.exit, f"{database} is damaged (no such column: {column})" in done.err) == (2, True)


@pytest.mark.parametrize("column", ["options", "using_browser", "name", "type", "adapter", "created_at", "updated_at"])
def test_table_that_lacks_a_column_is_not_used_and_repaired(sleuth: Any, database: Path, column: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"ALTER TABLE websearch_provider DROP COLUMN {column}")
    done = sleuth("search", "-p", "library", "--no-cache", "searxng json")
    assert (done.exit, f"{database} is damaged" in done.err) == (0, True)
    assert "websearch_provider: " in sleuth("doctor", "--repair").out
    assert sleuth("providers", "show", "brave", "--json").json["keySource"] == "table"


def test_key_whose_host_is_lost_is_cleared(sleuth: Any, database: Path) -> None:
    assert sleuth("providers", "set", "searxng", "--api-host", "https://searx.example").exit == 0
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("ALTER TABLE websearch_provider DROP COLUMN api_host")
    done = sleuth("doctor", "--repair")
    assert "websearch_provider: " in done.out
    assert done.err == (
        "warning: cleared the keys of brave, because the hosts they belong to are lost\n"
        "hint: set both again: sleuth providers set ID --api-host URL --api-key -\n"
    )
    shown = sleuth("providers", "show", "brave", "--json").json
    assert (shown["keySource"], shown["apiHost"]) == (None, "https://api.search.brave.com")
    assert KEY.encode() not in database.read_bytes()


def test_database_that_another_process_has_open_is_not_replaced(sleuth: Any, database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("ALTER TABLE websearch_provider DROP COLUMN options")
        connection.execute("PRAGMA journal_mode = WAL")
    before = database.read_bytes()
    code = f"import sqlite3; c = sqlite3.connect({str(database)!r}); c.execute('SELECT * FROM meta'); print(); input()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        done = sleuth("doctor", "--repair")
    assert (done.exit, "is in use by another process" in done.err, "sleuth serve" in done.err) == (2, True, True)
    assert database.read_bytes() == before
    assert not list(database.parent.glob("*.damaged-*"))
    assert "repaired" in sleuth("doctor", "--repair").out


def test_repair_of_a_linked_database_reads_its_log(sleuth: Any, database: Path, tmp_path: Path) -> None:
    target = tmp_path / "disk" / "kept.db"
    target.parent.mkdir()
    database.rename(target)
    database.symlink_to(target)
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE websearch_provider SET api_key = 'newest' WHERE id = 'tavily'")
        connection.commit()
        connection.execute("PRAGMA user_version = 1")
        unfinished = {path: path.read_bytes() for path in target.parent.iterdir()}
    for path, data in unfinished.items():  # as after a crash: SQLite would have moved the log into the database
        path.write_bytes(data)
    assert "repaired" in sleuth("doctor", "--repair").out
    assert database.is_symlink()
    assert list(target.parent.glob("kept.db.damaged-*"))
    assert sleuth("providers", "show", "tavily", "--json").json["keySource"] == "table"


def test_repair_names_what_it_cannot_repair(sleuth: Any, database: Path) -> None:
    library = database.with_name("library.db")
    library.write_bytes(b"\xff" * 5000)
    done = sleuth("doctor", "--repair")
    assert (done.exit, done.out) == (2, "")
    assert f"{library}: file is not a database: the file is damaged; move it away" in done.err
    assert "hint: see the commands for this: sleuth doctor\n" in done.err
    database.unlink()
    database.mkdir()
    done = sleuth("doctor", "--repair")
    assert (done.exit, done.out) == (2, "")
    assert f"the database {database} is not used (not a regular file)" in done.err
    assert "hint: move it away" in done.err
