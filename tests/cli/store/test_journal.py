"""Every search noted is in the database once: under many writers, kills, full disks and broken lines."""

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
from hypothesis import given
from hypothesis import strategies as st

from sleuth.base import append
from sleuth.base.errors import UnwritableError
from sleuth.base.files import locked
from sleuth.engine.outcome import Attempt, Outcome
from sleuth.relevance.hit import Hit
from sleuth.store import journal_import
from sleuth.store.database import MEMORY, open_database
from sleuth.store.journal import FULL, ROOM, append_search, journal_line
from sleuth.store.journal_import import import_full_journal, import_journal, open_usage_database, read
from sleuth.store.migrations import MIGRATIONS

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
HIT = Hit(1, "A", "https://a.example/")


class Home:
    """A journal and a database."""

    def __init__(self, folder: Path) -> None:
        self.journal, self.database = str(folder / "state" / "searches.jsonl"), str(folder / "data" / "sleuth.db")

    def note(self, query: str | None = "rust", *attempts: Attempt) -> bool:
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


def run(script: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", script, *arguments], env=ENVIRON, capture_output=True, timeout=60)
    assert (done.stderr.decode(), done.returncode) == ("", 0)
    return done.stdout.decode()


# Noting


def test_search_is_noted_with_everything_the_ledger_needs(home: Home) -> None:
    attempts = Attempt("searxng", "ok", 5, 3, cached=True), Attempt("library", "empty", 0, 40)
    before = time.time()
    home.note('say "hi" \\ 日本語', *attempts)
    (noted,) = read(home.journal)
    assert noted.query == 'say "hi" \\ 日本語'
    assert noted[2:7] == ("searxng", "success", 1, 12, True)
    assert noted.asked == (("searxng", "ok", 3, True), ("library", "empty", 40, False))
    assert before - 0.001 <= noted.at <= time.time() + 0.001


def test_words_are_not_noted_where_no_history_is_kept(home: Home) -> None:
    home.note(None)
    assert "secret" not in Path(home.journal).read_text()
    assert [noted.query for noted in read(home.journal)] == [None]


def test_journal_is_private_when_the_umask_is_open(home: Home) -> None:
    before = os.umask(0)
    try:
        home.note()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(home.journal).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(home.journal)).st_mode) == 0o700


@given(
    st.text(max_size=3000),
    st.text(max_size=700),
    st.lists(st.tuples(st.text(max_size=100), st.integers(0, 10**9)), max_size=150),
)
def test_line_is_one_line_of_json_and_short_whatever_is_searched_for(
    query: str, providers: str, asked: list[tuple[str, int]]
) -> None:
    attempts = [Attempt(id, "ok", 1, ms, cached=True) for id, ms in asked]
    line = "{" + journal_line(Outcome(query, providers), attempts, with_query=True) + "}"
    assert len(line.encode("utf-8", "replace")) <= 4096
    assert "\n" not in line
    entry = json.loads(line)
    assert len(entry["query"]) == len(query) or len(entry["query"]) in (100, 800)
    assert "".join(max(sign, " ") for sign in query).startswith(entry["query"])


def test_journal_that_is_full_is_to_be_folded_and_ends_where_nobody_does(home: Home) -> None:
    assert not home.note()
    with open(home.journal, "ab") as stream:
        stream.write(b"x" * FULL)
    assert home.note()
    with open(home.journal, "ab") as stream:
        stream.write(b"x" * (ROOM - FULL))
    size = os.path.getsize(home.journal)
    assert home.note()
    assert os.path.getsize(home.journal) == size


@pytest.mark.parametrize("place", ["file/state/searches.jsonl", "folder.jsonl", "/proc/nowhere/searches.jsonl"])
def test_place_that_cannot_be_written_fails_nobody(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.jsonl").mkdir()
    assert not append_search(str(tmp_path / place), journal_line(Outcome("x", "y"), (), with_query=True))


def test_writer_goes_to_the_new_file_when_its_own_was_set_aside(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.note("before")
    real, moved = os.open, []

    def slow(path: Any, *more: Any) -> int:
        handle = real(path, *more)
        if not moved:
            moved.append(os.rename(path, f"{path}.aside"))
        return handle

    monkeypatch.setattr(os, "open", slow)
    home.note("after")
    assert [noted.query for noted in read(f"{home.journal}.aside")] == ["before"]
    assert [noted.query for noted in read(home.journal)] == ["after"]


def test_line_is_written_all_the_same_where_files_cannot_be_locked(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(append.fcntl, "flock", refuse)
    home.note("one")
    assert append.wait_for_writers(home.journal)
    monkeypatch.setattr(append, "fcntl", None)
    home.note("two")
    assert append.wait_for_writers(home.journal)
    assert [noted.query for noted in read(home.journal)] == ["one", "two"]


def test_line_is_written_all_the_same_when_somebody_keeps_the_file_locked(home: Home) -> None:
    home.note("one")
    with open(home.journal, "rb") as stream:
        append.fcntl.flock(stream, append.fcntl.LOCK_EX)
        home.note("two")
    assert [noted.query for noted in read(home.journal)] == ["one", "two"]


# Folding


def test_journal_becomes_searches_and_cached_requests(home: Home) -> None:
    home.note("rust", Attempt("searxng", "ok", 5, 3, cached=True), Attempt("library", "empty", 0, 40))
    home.note(None)
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


def test_folding_twice_adds_nothing(home: Home) -> None:
    home.note()
    assert home.import_journal()
    assert home.import_journal()
    assert home.rows() == ["rust"]


def test_nothing_is_made_where_there_is_nothing_to_fold(home: Home) -> None:
    assert home.import_journal()
    assert not os.path.exists(os.path.dirname(home.journal))


@pytest.mark.parametrize("where", ["rename", "unlink"])
def test_fold_that_dies_half_way_is_finished_by_the_next(
    home: Home, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real = getattr(os, where)

    def die(*arguments: Any) -> None:
        if where == "rename":
            real(*arguments)
        raise KeyboardInterrupt

    home.note("one")
    with monkeypatch.context() as patch:
        patch.setattr(os, where, die)
        with pytest.raises(KeyboardInterrupt):
            home.import_journal()
    assert len(home.files()) == 2
    home.note("two")
    assert home.import_journal()
    assert home.rows() == ["one", "two"]
    assert home.files() == ["searches.jsonl.lock"]


def test_fold_waits_for_a_writer_and_leaves_one_that_never_ends(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_import, "wait_for_writers", lambda path: append.wait_for_writers(path, 0.02))
    home.note("one")
    with open(home.journal, "rb") as stream:
        append.fcntl.flock(stream, append.fcntl.LOCK_SH)
        assert not home.import_journal()
    assert home.rows() == []
    assert home.import_journal()
    assert home.rows() == ["one"]


def test_one_folds_at_a_time(home: Home) -> None:
    home.note()
    with locked(f"{home.journal}.lock"), closing(open_database(home.database, MIGRATIONS)) as connection:
        assert not import_journal(connection, home.journal, patience=0.01)
    assert [noted.query for noted in read(home.journal)] == ["rust"]


def test_database_in_memory_does_not_swallow_the_journal(home: Home) -> None:
    home.note()
    with closing(open_database(MEMORY, MIGRATIONS)) as connection:
        assert not import_journal(connection, home.journal)
    assert os.path.exists(home.journal)


def test_trouble_in_passing_is_not_the_users(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    home.note()
    monkeypatch.setattr(os, "rename", refuse)
    with closing(open_database(home.database, MIGRATIONS)) as connection:
        import_full_journal(connection, home.journal)
        with pytest.raises(UnwritableError, match="Read-only file system"):
            import_journal(connection, home.journal)
    assert os.path.exists(home.journal)


def test_search_folds_a_journal_that_is_full(sleuth: Any) -> None:
    path = sleuth.home / "state" / "searches.jsonl"
    sleuth("search", "--offline", "first")
    with open(path, "ab") as stream:
        stream.write(b"x" * FULL)
    sleuth("search", "--offline", "second")
    assert not path.exists()
    assert sleuth("history").out == "second\nfirst\n"


# What is database_error, old or too much


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
def test_garbage_in_the_journal_costs_no_other_line(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("state") / "searches.jsonl"
    good = b"{" + b'"at":5.0,' + journal_line(Outcome("rust", "searxng"), (), with_query=True).encode() + b"}"
    path.write_bytes(b"".join(b"\n" + part.replace(b"\n", b"") + b"\n" + good for part in parts))
    assert [noted.query for noted in read(str(path)) if noted.at == 5.0] == ["rust"] * len(parts)


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
def test_line_that_makes_no_sense_is_left_out(home: Home, change: dict[str, Any]) -> None:
    home.note()
    entry = json.loads(Path(home.journal).read_text()) | change
    Path(home.journal).write_text(json.dumps(entry) + "\n")
    assert list(read(home.journal)) == []
    assert home.import_journal()


def test_half_of_a_character_pair_does_not_stop_the_fold(home: Home) -> None:
    home.note("x")
    Path(home.journal).write_text(Path(home.journal).read_text().replace('"x"', '"x\\ud800"'))
    assert home.import_journal()
    assert home.rows() == ["x?"]


FULL_DISK = """
import os, resource, sys
from contextlib import closing
from sleuth.base.errors import UnwritableError
from sleuth.engine.outcome import Outcome
from sleuth.store.database import explain_errors, open_database
from sleuth.store.journal_import import import_journal
from sleuth.store.journal import journal_line, append_search
from sleuth.store.migrations import MIGRATIONS

journal, database = sys.argv[1:]
def note(query):
    append_search(journal, journal_line(Outcome(query, "searxng"), (), with_query=True))
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, -1))
note("one")
limit(os.path.getsize(journal) + 30)
note("cut")
limit(-1)
note("two")
with closing(open_database(database, MIGRATIONS)) as connection:
    limit(4096)
    try:
        with explain_errors(database):
            import_journal(connection, journal)
    except UnwritableError as problem:
        print("refused")
    limit(-1)
"""


def test_full_disk_costs_the_line_that_found_no_room_and_no_other(home: Home) -> None:
    assert run(FULL_DISK, home.journal, home.database) == "refused\n"
    assert home.import_journal()
    assert home.rows() == ["one", "two"]


def test_old_entries_go_and_the_history_has_an_end(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_import, "MAX_HISTORY", 3)
    now = time.time()
    for days, query in ((101, "old"), (99, "a"), (2, "b"), (1, "c"), (0, "d")):
        monkeypatch.setattr(time, "time", lambda moment=now - days * 86400: moment)
        home.note(query, Attempt("searxng", "ok", 5, 3, cached=True))
    assert home.import_journal()
    assert home.rows() == [None, "b", "c", "d"]
    assert home.rows("SELECT count(*) FROM request") == [4]


def test_clock_that_goes_back_loses_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for moment, query in ((now, "one"), (now - 5 * 86400, "two"), (now - 5 * 86400 + 1, "three")):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        home.note(query)
        assert home.import_journal()
    assert home.rows() == ["one", "two", "three"]


def test_ledger_of_a_place_that_cannot_be_written_is_complete(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> sqlite3.Connection:
        raise UnwritableError("cannot open {path}", path=home.database)

    home.note("folded")
    assert home.import_journal()
    home.note("aside")
    os.rename(home.journal, f"{home.journal}.123-abc")
    home.note("noted")
    before = {name: Path(home.journal).with_name(name).read_bytes() for name in home.files()}
    monkeypatch.setattr(journal_import, "open_database", refuse)
    for _ in range(2):
        with closing(open_usage_database(home.database, home.journal)) as connection:
            found = [row[0] for row in connection.execute("SELECT query FROM search ORDER BY id")]
        assert found == ["folded", "aside", "noted"]
    assert {name: Path(home.journal).with_name(name).read_bytes() for name in home.files()} == before


def test_ledger_is_empty_where_there_is_nothing_at_all(tmp_path: Path) -> None:
    with closing(open_usage_database("/proc/nowhere/sleuth.db", str(tmp_path / "no" / "searches.jsonl"))) as connection:
        assert connection.execute("SELECT count(*) FROM search").fetchone()[0] == 0


def test_database_of_the_first_schema_is_brought_up_to_date_after_a_backup(home: Home) -> None:
    with closing(open_database(home.database, MIGRATIONS[:1])) as connection:
        connection.execute("INSERT INTO request (provider, at, state) VALUES ('searxng', 5.0, 'ok')")
    assert home.rows("SELECT provider, at FROM request") == [("searxng", 5.0)]
    with closing(sqlite3.connect(f"{home.database}.v1")) as backup:
        assert backup.execute("PRAGMA user_version").fetchone() == (1,)
        assert backup.execute("SELECT provider FROM request").fetchall() == [("searxng",)]


# Many at once, and killed at any moment

TOGETHER = """
import os, sys
from contextlib import closing
from sleuth.engine.outcome import Outcome
from sleuth.store.database import open_database
from sleuth.store.journal_import import import_journal
from sleuth.store.journal import journal_line, append_search
from sleuth.store.migrations import MIGRATIONS

journal, database = sys.argv[1:]
open_database(database, MIGRATIONS).close()
start, go = os.pipe()
children = []
for number in range(64):
    child = os.fork()
    if not child:
        os.close(go)
        os.read(start, 1)
        for line in range(25):
            append_search(journal, journal_line(Outcome(f"{number} {line}", "searxng"), (), with_query=True))
            if number % 8 == 0 and line % 5 == 0:
                with closing(open_database(database, MIGRATIONS)) as connection:
                    import_journal(connection, journal)
        os._exit(0)
    children.append(child)
os.close(go)
print(sum(os.waitpid(child, 0)[1] for child in children))
"""


def test_64_processes_lose_no_line_and_double_none(home: Home) -> None:
    assert run(TOGETHER, home.journal, home.database) == "0\n"
    assert home.import_journal()
    rows = home.rows()
    assert sorted(rows) == sorted(f"{number} {line}" for number in range(64) for line in range(25))
    for number in range(64):
        own = [row for row in rows if row.startswith(f"{number} ")]
        assert own == [f"{number} {line}" for line in range(25)]
    assert home.files() == ["searches.jsonl.lock"]


KILLED = """
import os, random, signal, sys, time
from contextlib import closing
from sleuth.engine.outcome import Outcome
from sleuth.store.database import open_database
from sleuth.store.journal_import import import_journal
from sleuth.store.journal import journal_line, append_search
from sleuth.store.migrations import MIGRATIONS

journal, database = sys.argv[1:]
open_database(database, MIGRATIONS).close()
for life in range(40):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with closing(open_database(database, MIGRATIONS)) as connection:
            for line in range(10_000):
                append_search(journal, journal_line(Outcome(f"{life} {line}", "searxng"), (), with_query=True))
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


def test_kill_at_any_moment_loses_no_line_and_doubles_none(home: Home) -> None:
    reported = run(KILLED, home.journal, home.database).splitlines()
    assert len(reported) > 40
    assert home.import_journal()
    rows = home.rows()
    assert len(rows) == len(set(rows))
    assert set(reported) <= set(rows)
    assert len(rows) <= len(reported) + 40  # noted, and killed before it could say so
    with closing(open_database(home.database, MIGRATIONS)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
