"""A database is private from birth, brought up to date after a backup, and left alone when it is newer or broken."""

import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.forks import run_at_once

from sleuth.base.errors import DatabaseError, SettingsError, UnwritableError
from sleuth.base.files import locked
from sleuth.store import database as module
from sleuth.store.database import MEMORY, database_error, open_database, open_immutable, transaction
from sleuth.store.migrations import MIGRATIONS

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "data" / "sleuth.db")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def first(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE note (text TEXT)")


def second(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE note ADD COLUMN at INTEGER")
    connection.execute("UPDATE note SET at = 1")


def failing(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM note")
    raise ZeroDivisionError


def run_out_of_space(connection: sqlite3.Connection) -> None:
    connection.execute("ROLLBACK")  # as SQLite does itself
    raise sqlite3.OperationalError("database or disk is full")


def version(path: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_new_database_has_the_schema_and_runs_in_wal(path: str) -> None:
    with closing(open_database(path, MIGRATIONS)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert {"websearch_provider", "meta", "request", "health"} <= tables
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 10_000
    assert version(path) == len(MIGRATIONS)


def test_provider_table_has_the_documented_columns(path: str) -> None:
    with closing(open_database(path, MIGRATIONS)) as connection:
        columns = {row[1]: (row[2], row[3]) for row in connection.execute("PRAGMA table_info(websearch_provider)")}
    required = {"name": 1, "type": 1, "created_at": 1, "updated_at": 1}
    optional = dict.fromkeys(("api_key", "api_host", "engines", "basic_auth_username", "basic_auth_password"), 0)
    for name, needed in (required | optional).items():
        assert columns[name][1] == needed, name
    assert {"id", "using_browser", "is_default", "enabled", "options"} <= set(columns)
    assert columns["created_at"][0] == columns["updated_at"][0] == columns["using_browser"][0] == "INTEGER"


@pytest.mark.usefixtures("open_umask")
def test_files_and_folders_are_private_whatever_the_umask(path: str, tmp_path: Path) -> None:
    with closing(open_database(path, [first])) as connection:
        connection.execute("INSERT INTO note VALUES ('x')")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.rglob("*")}
    with closing(open_database(path, [first, second])):
        modes |= {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.rglob("*")}
    assert modes.pop("data") == 0o700
    assert set(modes) == {"sleuth.db", "sleuth.db-wal", "sleuth.db-shm", "sleuth.db.lock", "sleuth.db.v1"}
    assert set(modes.values()) == {0o600}


def test_database_in_memory_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_database(MEMORY, [first, second])) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 2
    assert os.listdir(tmp_path) == []


def test_older_database_is_migrated_after_a_backup(path: str) -> None:
    with closing(open_database(path, [first])) as connection:
        connection.execute("INSERT INTO note VALUES ('kept')")
    with closing(open_database(path, [first, second])) as connection:
        assert tuple(connection.execute("SELECT text, at FROM note").fetchone()) == ("kept", 1)
    assert (version(path), version(f"{path}.v1")) == (2, 1)
    with closing(sqlite3.connect(f"{path}.v1")) as backup:
        assert backup.execute("SELECT * FROM note").fetchall() == [("kept",)]


def test_new_database_needs_no_backup(path: str) -> None:
    open_database(path, [first, second]).close()
    assert not [name for name in os.listdir(os.path.dirname(path)) if ".v" in name]


def test_failed_migration_changes_nothing(path: str) -> None:
    with closing(open_database(path, [first])) as connection:
        connection.execute("INSERT INTO note VALUES ('kept')")
    with pytest.raises(ZeroDivisionError):
        open_database(path, [first, failing])
    with closing(open_database(path, [first])) as connection:
        assert connection.execute("SELECT text FROM note").fetchone()[0] == "kept"
    with closing(open_database(path, [first, second])) as connection:
        assert connection.execute("SELECT at FROM note").fetchone()[0] == 1


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_database_of_a_newer_sleuth_is_refused_and_unchanged(path: str, journal: str) -> None:
    os.makedirs(os.path.dirname(path))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE future (x)")
        connection.execute("PRAGMA user_version = 99")
    before = digest(path)
    with pytest.raises(SettingsError, match=r"newer sleuth .schema 99") as caught:
        open_database(path, MIGRATIONS)
    assert digest(path) == before
    assert "SLEUTH_HOME" in caught.value.hint
    assert caught.value.exit == 2


@pytest.mark.parametrize(
    "data",
    [
        b"this is no database at all, but long enough to have a header of a hundred bytes" * 3,
        b"SQLite format 3\0" + b"\xff" * 200,
    ],
    ids=["text", "broken header"],
)
def test_damaged_file_is_an_error_and_unchanged(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(data)
    with pytest.raises(SettingsError, match="is damaged") as caught:
        open_database(path, MIGRATIONS)
    assert Path(path).read_bytes() == data
    assert "sleuth doctor" in caught.value.hint


def test_empty_file_becomes_a_database(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).touch()
    open_database(path, MIGRATIONS).close()
    assert version(path) == len(MIGRATIONS)


@pytest.mark.parametrize("place", ["file/data/sleuth.db", "folder.db", "/proc/sleuth.db"])
def test_unusable_path_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(UnwritableError):
        open_database(str(tmp_path / place), MIGRATIONS)


def test_read_only_file_system_is_an_error(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refuse(name: str, *more: int) -> int:
        if name == path:
            raise OSError(30, "Read-only file system")
        return real(name, *more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UnwritableError, match="Read-only file system"):
        open_database(path, MIGRATIONS)


def test_lock_that_never_changes_hands_is_an_error(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.makedirs(os.path.dirname(path))
    monkeypatch.setattr(module, "locked", lambda name: locked(name, 0))
    with locked(f"{path}.lock"), pytest.raises(SettingsError, match="locked"):
        open_database(path, MIGRATIONS)


def test_database_locked_by_another_process_is_an_error(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.01)
    open_database(path, [first]).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SettingsError, match=r"is locked by another process"):
            open_database(path, [first, second])


@pytest.mark.parametrize(
    ("message", "kind", "says"),
    [
        ("database is locked", SettingsError, "locked"),
        ("attempt to write a readonly database", UnwritableError, "cannot write"),
        ("database or disk is full", UnwritableError, "cannot write"),
        ("disk I/O error", UnwritableError, "cannot write"),
        ("no such table: meta", DatabaseError, "is damaged"),
    ],
)
def test_sqlite_error_becomes_a_settings_error(message: str, kind: type[SettingsError], says: str) -> None:
    error = database_error("/x/sleuth.db", sqlite3.OperationalError(message))
    assert type(error) is kind
    assert says in str(error)


def test_io_error_of_a_full_disk_is_reported_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
    error = database_error("/x/sleuth.db", sqlite3.OperationalError("disk I/O error"))
    assert str(error) == "cannot write the database /x/sleuth.db (No space left on device)"


@pytest.mark.parametrize("name", ["plain.db", "what?#%41.db", "with blank.db"])
def test_database_is_readable_in_a_read_only_folder(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE note (text TEXT)")
        connection.execute("INSERT INTO note VALUES ('x')")
        connection.commit()
    before = sorted(os.listdir(tmp_path))
    with closing(open_immutable(path)) as frozen:
        assert frozen.execute("SELECT text FROM note").fetchone()["text"] == "x"
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            frozen.execute("DELETE FROM note")
    assert sorted(os.listdir(tmp_path)) == before


def test_transaction_is_atomic(path: str) -> None:
    with closing(open_database(path, [first])) as connection:
        with pytest.raises(ZeroDivisionError), transaction(connection):
            failing(connection.execute("INSERT INTO note VALUES ('lost')").connection)
        with transaction(connection):
            connection.execute("INSERT INTO note VALUES ('kept')")
        assert [row[0] for row in connection.execute("SELECT text FROM note")] == ["kept"]


def test_error_that_rolled_back_the_transaction_is_reported(path: str) -> None:
    with closing(open_database(path, [first])) as connection:
        with pytest.raises(sqlite3.OperationalError, match="full"), transaction(connection):
            run_out_of_space(connection)
        assert not connection.in_transaction


def test_waiting_for_the_write_lock_goes_on_while_others_commit(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.01)
    with (
        closing(open_database(path, [first])) as waiting,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        handovers = 5

        def data_version(connection: sqlite3.Connection) -> int:  # asked before and after each busy timeout
            nonlocal handovers
            handovers -= 1
            if not handovers:
                other.execute("ROLLBACK")
            return handovers  # another process committed in the meantime

        monkeypatch.setattr(module, "_data_version", data_version)
        with transaction(waiting):
            assert waiting.in_transaction
    assert handovers <= 0


KILLED = """
import sys
from sleuth.store.database import open_database, transaction
from sleuth.store.migrations import MIGRATIONS
connection = open_database(sys.argv[1], MIGRATIONS)
n = 0
while True:
    n += 1
    with transaction(connection):
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('a', ?)", (str(n),))
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('b', ?)", (str(n),))
    print(n, flush=True)
"""


def test_killed_writer_loses_nothing_it_reported(path: str) -> None:
    for lines in range(1, 7):
        process = subprocess.Popen([sys.executable, "-c", KILLED, path], env=ENVIRON, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        done = [process.stdout.readline() for _ in range(lines * 3)][-1]
        process.kill()
        rest, _ = process.communicate()
        done = (rest.splitlines() or [done])[-1].strip()
        with closing(open_database(path, MIGRATIONS)) as connection:
            a, b = (int(row[0]) for row in connection.execute("SELECT value FROM meta ORDER BY name"))
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert a == b >= int(done)


OPENER_IMPORTS = """
from sleuth.runtime import built_in
from sleuth.store.database import open_database
from sleuth.store.provider_table import ProviderTable
from sleuth.store.migrations import MIGRATIONS
"""
OPENER = """
connection = open_database(arguments[0], MIGRATIONS)
table = ProviderTable(connection, arguments[0])
table.seed("mark", built_in)
table.update("brave", {"options": {"n": number}})
print(len(table.all()))
"""


def test_32_processes_create_the_database_at_once(path: str) -> None:
    counts = run_at_once(32, OPENER_IMPORTS, OPENER, path).split()
    assert (len(counts), len(set(counts))) == (32, 1)
