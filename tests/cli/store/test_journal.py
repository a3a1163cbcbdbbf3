"""Every journaled search is imported exactly once: with many writers, kills, full disks and damaged lines."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.base import append, files
from sleuth.base.errors import UnwritableError
from sleuth.base.files import locked
from sleuth.engine.outcome import Attempt, Outcome
from sleuth.relevance.hit import Hit
from sleuth.store import journal_import
from sleuth.store.database import MEMORY, open_database
from sleuth.store.journal import IMPORT_SIZE, MAX_SIZE, append_search, journal_line
from sleuth.store.journal_import import import_full_journal, import_journal, open_usage_database, read
from sleuth.store.migrations import MIGRATIONS

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
HIT = Hit(1, "A", "https://a.example/")


class Home:
    """A journal and a database."""

    def __init__(self, folder: Path) -> None:
        self.journal, self.database = str(folder / "state" / "searches.jsonl"), str(folder / "data" / "sleuth.db")

    def add(self, query: str | None = "rust", *attempts: Attempt) -> bool:
        outcome = Outcome(query or "secret", "searxng", (HIT,), "success", 12, cached=True)
        return append_search(self.journal, journal_line(outcome, attempts, with_query=query is not None))

    def import_journal(self) -> bool:
        with closing(open_database(self.database, MIGRATIONS)) as connection:
            return import_journal(connection, self.journal)

    def rows(self, statement: str = "SELECT query FROM search ORDER BY id") -> list[Any]:
        with closing(open_database(self.database, MIGRATIONS)) as connection:
            return [row[0] if len(row) == 1 else tuple(row) for row in connection.execute(statement)]

    def files(self) -> list[str]:
        return sorted(os.listdir(os.path.dirname(self.journal)))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


HEADER = """
import os, random, resource, signal, sys, time
from contextlib import closing
from sleuth.base.errors import UnwritableError
from sleuth.engine.outcome import Outcome
from sleuth.store.database import explain_errors, open_database
from sleuth.store.journal_import import import_journal
from sleuth.store.journal import journal_line, append_search
from sleuth.store.migrations import MIGRATIONS

journal, database = sys.argv[1:]
def add(query):
    append_search(journal, journal_line(Outcome(query, "searxng"), (), with_query=True))
"""


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HEADER + script, *arguments], env=ENVIRON, capture_output=True, timeout=60
    )
    assert (done.stderr.decode(), done.returncode) == ("", 0)
    return done.stdout.decode()


# Writing


def test_entry_has_everything_the_usage_report_needs(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempt("searxng", "ok", 5, 3, cached=True), Attempt("library", "empty", 0, 40)
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.25)
    home.add('say "hi" \\ 日本語', *attempts)
    at = 1_700_000_000.25
    search = (at, 'say "hi" \\ 日本語', "searxng", "success", 1, 12, True)
    assert list(read(home.journal)) == [
        (search, [(at, "searxng", "ok", 3, True), (at, "library", "empty", 40, False)]),
    ]


def test_query_is_left_out_without_a_history(home: Home) -> None:
    home.add(None)
    assert "secret" not in Path(home.journal).read_text()
    assert [search[1] for search, _ in read(home.journal)] == [None]


def test_journal_is_private_whatever_the_umask(home: Home) -> None:
    before = os.umask(0)
    try:
        home.add()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(home.journal).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(home.journal)).st_mode) == 0o700


@settings(max_examples=50, deadline=None)
@given(
    st.text(max_size=3000),
    st.text(max_size=700),
    st.lists(st.tuples(st.text(max_size=100), st.integers(0, 10**9)), max_size=150),
)
def test_any_query_becomes_one_short_line_of_json(query: str, providers: str, asked: list[tuple[str, int]]) -> None:
    attempts = [Attempt(id, "ok", 1, ms, cached=True) for id, ms in asked]
    line = "{" + journal_line(Outcome(query, providers), attempts, with_query=True) + "}"
    assert len(line.encode("utf-8", "replace")) <= 4096
    assert "\n" not in line
    entry = json.loads(line)
    assert len(entry["query"]) == len(query) or len(entry["query"]) in (100, 800)
    assert query.startswith(entry["query"])


def test_full_journal_asks_for_an_import_and_stops_growing(home: Home) -> None:
    assert not home.add()
    with open(home.journal, "ab") as stream:
        stream.write(b"x" * IMPORT_SIZE)
    assert home.add()
    with open(home.journal, "ab") as stream:
        stream.write(b"x" * (MAX_SIZE - IMPORT_SIZE))
    size = os.path.getsize(home.journal)
    assert home.add()
    assert os.path.getsize(home.journal) == size


@pytest.mark.parametrize("place", ["file/state/searches.jsonl", "folder.jsonl", "/proc/nowhere/searches.jsonl"])
def test_unwritable_journal_is_ignored(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    assert not append_search(str(tmp_path / place), journal_line(Outcome("x", "y"), (), with_query=True))


def test_writer_reopens_a_file_that_was_renamed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.add("before")
    real, moved = os.open, []

    def slow(path: Any, *more: Any) -> int:
        handle = real(path, *more)
        if not moved:
            moved.append(os.rename(path, f"{path}.aside"))
        return handle

    monkeypatch.setattr(os, "open", slow)
    home.add("after")
    assert [search[1] for search, _ in read(f"{home.journal}.aside")] == ["before"]
    assert [search[1] for search, _ in read(home.journal)] == ["after"]


def test_line_is_written_on_file_systems_without_locks(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(append.fcntl, "flock", refuse)
    home.add("one")
    assert files.wait_for_writers(home.journal)
    monkeypatch.setattr(append, "fcntl", None)
    home.add("two")
    assert files.wait_for_writers(home.journal)
    assert [search[1] for search, _ in read(home.journal)] == ["one", "two"]


def test_line_is_written_while_another_process_keeps_the_file_locked(home: Home) -> None:
    home.add("one")
    with open(home.journal, "rb") as stream:
        append.fcntl.flock(stream, append.fcntl.LOCK_EX)
        home.add("two")
    assert [search[1] for search, _ in read(home.journal)] == ["one", "two"]


# Importing


def test_import_inserts_searches_and_cached_requests(home: Home) -> None:
    home.add("rust", Attempt("searxng", "ok", 5, 3, cached=True), Attempt("library", "empty", 0, 40))
    home.add(None)
    assert home.import_journal()
    assert home.rows("SELECT query, providers, outcome, results, elapsed_ms, cached FROM search ORDER BY id") == [
        ("rust", "searxng", "success", 1, 12, 1),
        (None, "searxng", "success", 1, 12, 1),
    ]
    assert home.rows("SELECT provider, state, elapsed_ms, cached, cost FROM request ORDER BY id") == [
        ("searxng", "ok", 3, 1, 0.0),
        ("library", "empty", 40, 0, 0.0),
    ]
    assert home.files() == ["searches.jsonl.lock"]


def test_import_without_a_journal_does_nothing(home: Home) -> None:
    assert home.import_journal()
    assert not os.path.exists(os.path.dirname(home.journal))
    home.add()
    assert [home.import_journal(), home.import_journal()] == [True, True]
    assert home.rows() == ["rust"]


@pytest.mark.parametrize("where", ["rename", "unlink"])
def test_interrupted_import_is_finished_by_the_next_one(
    home: Home, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real = getattr(os, where)

    def die(*arguments: Any) -> None:
        if where == "rename":
            real(*arguments)
        raise KeyboardInterrupt

    home.add("one")
    with monkeypatch.context() as patch:
        patch.setattr(os, where, die)
        with pytest.raises(KeyboardInterrupt):
            home.import_journal()
    assert len(home.files()) == 2
    home.add("two")
    assert home.import_journal()
    assert home.rows() == ["one", "two"]
    assert home.files() == ["searches.jsonl.lock"]


def test_import_leaves_a_file_whose_writer_never_ends(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_import, "wait_for_writers", lambda path: files.wait_for_writers(path, 0))
    home.add("one")
    with open(home.journal, "rb") as stream:
        append.fcntl.flock(stream, append.fcntl.LOCK_SH)
        assert not home.import_journal()
    assert home.rows() == []
    assert home.import_journal()
    assert home.rows() == ["one"]


def test_only_one_process_imports_at_a_time(home: Home) -> None:
    home.add()
    with locked(f"{home.journal}.lock"), closing(open_database(home.database, MIGRATIONS)) as connection:
        assert not import_journal(connection, home.journal, stall_timeout=0)
    assert [search[1] for search, _ in read(home.journal)] == ["rust"]


def test_database_in_memory_does_not_consume_the_journal(home: Home) -> None:
    home.add()
    with closing(open_database(MEMORY, MIGRATIONS)) as connection:
        assert not import_journal(connection, home.journal)
    assert os.path.exists(home.journal)


def test_import_after_a_search_ignores_errors(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    home.add()
    monkeypatch.setattr(os, "rename", refuse)
    with closing(open_database(home.database, MIGRATIONS)) as connection:
        import_full_journal(connection, home.journal)
        with pytest.raises(UnwritableError, match="Read-only file system"):
            import_journal(connection, home.journal)
    assert os.path.exists(home.journal)


def test_search_imports_a_full_journal(sleuth: Any) -> None:
    path = sleuth.home / "state" / "searches.jsonl"
    sleuth("search", "--offline", "first")
    with open(path, "ab") as stream:
        stream.write(b"x" * IMPORT_SIZE)
    sleuth("search", "--offline", "second")
    assert not path.exists()
    assert sleuth("history").out == "second\nfirst\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_pipe_in_place_of_the_journal_keeps_its_name(sleuth: Any) -> None:
    path = sleuth.home / "state" / "searches.jsonl"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    for command in ("history", "usage", "history --clear --yes"):
        done = sleuth(*command.split())
        assert (done.exit, f"cannot read {path} (not a regular file)" in done.err) == (2, True)
        assert "move it away; a new one is created" in done.err
        assert sorted(path.parent.glob("searches.jsonl*")) == [path, Path(f"{path}.lock")]
    path.rename(f"{path}.old")
    assert sleuth("history").exit == 0


# Damaged, old and surplus entries


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.recursive(
                st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["at", "query", "providers", "results", "ms", "asked"]), inner)
                ),
            ).map(lambda value: json.dumps(value).encode()),
        ),
        max_size=8,
    )
)
def test_garbage_in_the_journal_does_not_affect_other_lines(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("state") / "searches.jsonl"
    good = b"{" + b'"at":5.0,' + journal_line(Outcome("rust", "searxng"), (), with_query=True).encode() + b"}"
    path.write_bytes(b"".join(b"\n" + part.replace(b"\n", b"") + b"\n" + good for part in parts))
    assert [search[1] for search, _ in read(str(path)) if search[0] == 5.0] == ["rust"] * len(parts)


@pytest.mark.parametrize(
    "change",
    [
        {"at": "soon"},
        {"at": -5},
        {"at": float("nan")},
        {"at": 1e300},
        {"results": float("inf")},
        {"query": 5},
        {"query": ["x"]},
        {"asked": [["x"]]},
        {"asked": 5},
        {"providers": None},
    ],
    ids=str,
)
def test_invalid_line_is_skipped(home: Home, change: dict[str, Any]) -> None:
    home.add()
    entry = json.loads(Path(home.journal).read_text()) | change
    Path(home.journal).write_text(json.dumps(entry) + "\n")
    assert list(read(home.journal)) == []
    assert home.import_journal()


def test_lone_surrogate_does_not_stop_the_import(home: Home) -> None:
    home.add("x")
    Path(home.journal).write_text(Path(home.journal).read_text().replace('"x"', '"x\\ud800"'))
    assert home.import_journal()
    assert home.rows() == ["x?"]


FULL_DISK = """
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, -1))
add("one")
limit(os.path.getsize(journal) + 30)
add("cut")
limit(-1)
add("two")
with closing(open_database(database, MIGRATIONS)) as connection:
    limit(4096)
    try:
        with explain_errors(database):
            import_journal(connection, journal)
    except UnwritableError as problem:
        print("refused")
    limit(-1)
"""


def test_full_disk_loses_only_the_truncated_line(home: Home) -> None:
    assert run(FULL_DISK, home.journal, home.database) == "refused\n"
    assert home.import_journal()
    assert home.rows() == ["one", "two"]


def test_old_entries_are_deleted_and_the_history_is_limited(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_import, "MAX_HISTORY", 3)
    now = time.time()
    for days, query in ((101, "old"), (99, "a"), (2, "b"), (1, "c"), (0, "d")):
        monkeypatch.setattr(time, "time", lambda moment=now - days * 86400: moment)
        home.add(query, Attempt("searxng", "ok", 5, 3, cached=True))
    assert home.import_journal()
    assert home.rows() == [None, "b", "c", "d"]
    assert home.rows("SELECT count(*) FROM request") == [4]


def test_clock_that_is_set_back_loses_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for moment, query in ((now, "one"), (now - 5 * 86400, "two"), (now - 5 * 86400 + 1, "three")):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        home.add(query)
        assert home.import_journal()
    assert home.rows() == ["one", "two", "three"]


def test_usage_includes_the_journal_when_the_database_is_read_only(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> sqlite3.Connection:
        raise UnwritableError("cannot open {path}", path=home.database)

    home.add("folded")
    assert home.import_journal()
    home.add("aside")
    os.rename(home.journal, f"{home.journal}.123-abc")
    home.add("noted")
    before = {name: Path(home.journal).with_name(name).read_bytes() for name in home.files()}
    monkeypatch.setattr(journal_import, "open_database", refuse)
    for _ in range(2):
        with closing(open_usage_database(home.database, home.journal)) as connection:
            found = [row[0] for row in connection.execute("SELECT query FROM search ORDER BY id")]
        assert found == ["folded", "aside", "noted"]
    assert {name: Path(home.journal).with_name(name).read_bytes() for name in home.files()} == before


def test_usage_is_empty_without_database_and_journal(tmp_path: Path) -> None:
    with closing(open_usage_database("/proc/nowhere/sleuth.db", str(tmp_path / "no" / "searches.jsonl"))) as connection:
        assert connection.execute("SELECT count(*) FROM search").fetchone()[0] == 0


def test_database_of_the_first_schema_is_migrated_after_a_backup(home: Home) -> None:
    with closing(open_database(home.database, MIGRATIONS[:1])) as connection:
        connection.execute("INSERT INTO request (provider, at, state) VALUES ('searxng', 5.0, 'ok')")
    assert home.rows("SELECT provider, at FROM request") == [("searxng", 5.0)]
    with closing(sqlite3.connect(f"{home.database}.v1")) as backup:
        assert backup.execute("PRAGMA user_version").fetchone() == (1,)
        assert backup.execute("SELECT provider FROM request").fetchall() == [("searxng",)]


# Many at once, and killed at any moment

TOGETHER = """
open_database(database, MIGRATIONS).close()
start, go = os.pipe()
children = []
for number in range(64):
    child = os.fork()
    if not child:
        os.close(go)
        os.read(start, 1)
        for line in range(25):
            add(f"{number} {line}")
            if number % 8 == 0 and line % 5 == 0:
                with closing(open_database(database, MIGRATIONS)) as connection:
                    import_journal(connection, journal)
        os._exit(0)
    children.append(child)
os.close(go)
print(sum(os.waitpid(child, 0)[1] for child in children))
"""


def test_64_processes_lose_and_duplicate_no_line(home: Home) -> None:
    assert run(TOGETHER, home.journal, home.database) == "0\n"
    assert home.import_journal()
    rows = home.rows()
    assert sorted(rows) == sorted(f"{number} {line}" for number in range(64) for line in range(25))
    for number in range(64):
        own = [row for row in rows if row.startswith(f"{number} ")]
        assert own == [f"{number} {line}" for line in range(25)]
    assert home.files() == ["searches.jsonl.lock"]


KILLED = """
open_database(database, MIGRATIONS).close()
for life in range(40):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with closing(open_database(database, MIGRATIONS)) as connection:
            for line in range(10_000):
                add(f"{life} {line}")
                os.write(writing, f"{life} {line}\\n".encode())
                import_journal(connection, journal)
    os.close(writing)
    first = os.read(reading, 20)
    time.sleep(random.random() * 0.012)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 65536):
        first += more
    os.close(reading)
    sys.stdout.write(first.decode())
"""


def test_killed_processes_lose_and_duplicate_no_line(home: Home) -> None:
    reported = run(KILLED, home.journal, home.database).splitlines()
    assert len(reported) >= 40
    assert home.import_journal()
    rows = home.rows()
    assert len(rows) == len(set(rows))
    assert set(reported) <= set(rows)
    assert len(rows) <= len(reported) + 40  # written, then killed before it was reported
    with closing(open_database(home.database, MIGRATIONS)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
