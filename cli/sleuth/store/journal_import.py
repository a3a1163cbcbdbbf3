"""Import the journal into the database: every line exactly once, even if a process is killed half-way.

The journal is renamed to a unique name. One transaction inserts its lines together with that name, then the file is
deleted. A process that finds such a file later sees in the database whether it was imported already.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from glob import escape, glob
from typing import Any

from sleuth.base.errors import UnwritableError
from sleuth.base.files import explain_unwritable, locked, read_file, unreadable, wait_for_writers
from sleuth.base.logs import log
from sleuth.store.database import explain_errors, open_copy, open_database, transaction
from sleuth.store.health import RETENTION_S
from sleuth.store.migrations import MIGRATIONS

MAX_HISTORY = 10_000  # queries; older searches stay without their text
IMPORTED = "journal"  # the row of `meta` with the name of the last imported file
MAX_JOURNAL_BYTES = 100_000_000  # a longer one was not written by sleuth
MAX_TIME = 1e11  # seconds since 1970; a later time is invalid
ADD_SEARCH = (
    "INSERT INTO search (at, query, providers, outcome, results, elapsed_ms, cached) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
ADD_REQUEST = "INSERT INTO request (at, provider, state, elapsed_ms, cached) VALUES (?, ?, ?, ?, ?)"
DELETE_OLD = ("DELETE FROM search WHERE at < ?", "DELETE FROM request WHERE at < ?", "DELETE FROM answer WHERE at < ?")
DELETE_OLD_QUERIES = """UPDATE search SET query = NULL WHERE query IS NOT NULL AND id <=
    (SELECT id FROM search WHERE query IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?)"""

Row = tuple[Any, ...]  # of the table `search` or `request`


def open_usage_database(path: str, journal: str) -> sqlite3.Connection:
    """Open the database with the journal imported; where it is not writable, a copy in memory."""
    try:
        with ExitStack() as stack, explain_errors(path):
            connection = stack.enter_context(closing(open_database(path, MIGRATIONS)))
            import_journal(connection, journal)
            stack.pop_all()
            return connection
    except UnwritableError as problem:
        log("journal: not imported: %r", problem)
    copy = open_copy(path, MIGRATIONS)
    for file in _pending_files(journal):
        _insert(copy, file)
    return copy


def import_journal(connection: sqlite3.Connection, journal: str, stall_timeout: float = 2.0) -> bool:
    """Import the journal; False when another process holds its lock."""
    if not connection.execute("PRAGMA database_list").fetchone()[2]:
        return False  # a database in memory must not consume it
    if not _pending_files(journal):
        return True
    with locked(f"{journal}.lock", stall_timeout) as held:
        if not held:
            return False
        with explain_unwritable(journal):
            next(read(journal), None)  # raises before a file that is not a journal is renamed
            with suppress(FileNotFoundError):
                os.rename(journal, f"{journal}.{time.time_ns()}-{os.urandom(4).hex()}")
            return all(_import_file(connection, file) for file in _renamed_files(journal))


def import_full_journal(connection: sqlite3.Connection, journal: str) -> None:
    """Import the journal unless another process does; an error is logged, and the next search tries again."""
    try:
        import_journal(connection, journal, stall_timeout=0.0)
    except Exception as problem:
        log("journal: not imported: %r", problem)


def read(path: str) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the searches of a journal, each with its requests; truncated and unknown lines are skipped."""
    try:
        lines = read_file(path, MAX_JOURNAL_BYTES).split(b"\n")
    except FileNotFoundError:  # another process imported it
        return
    except OSError as problem:
        hint = "check type, owner and permissions, or move it away; a new one is created"
        raise unreadable(path, problem, hint) from problem
    for line in lines:
        with suppress(ValueError, KeyError, TypeError, OverflowError, RecursionError):
            yield _rows(json.loads(line))


def _rows(entry: dict[str, Any]) -> tuple[Row, list[Row]]:
    at, query = float(entry["at"]), entry["query"]
    if not 0 < at < MAX_TIME:
        raise ValueError(at)
    texts = (None if query is None else _text(query), _text(entry["providers"]), _text(entry["outcome"]))
    requests = [(at, _text(id), _text(state), _count(ms), bool(hit)) for id, state, ms, hit in entry["asked"]]
    return (at, *texts, _count(entry["results"]), _count(entry["ms"]), bool(entry["cached"])), requests


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value.encode("utf-8", "replace").decode()  # SQLite rejects lone surrogates


def _count(value: Any) -> int:
    return max(0, min(int(value), 2**31))


def _pending_files(journal: str) -> list[str]:
    return [*_renamed_files(journal), *([journal] if os.path.exists(journal) else [])]


def _renamed_files(journal: str) -> list[str]:
    """Return the renamed journals that are not imported yet, oldest first."""
    return sorted(glob(f"{escape(journal)}.[0-9]*"))


def _import_file(connection: sqlite3.Connection, file: str) -> bool:
    if not wait_for_writers(file):
        return False
    _insert(connection, file)
    os.unlink(file)
    return True


def _insert(connection: sqlite3.Connection, file: str) -> None:
    """Insert the searches of a file, unless it was imported before."""
    name = os.path.basename(file)
    with transaction(connection):
        row = connection.execute("SELECT value FROM meta WHERE name = ?", (IMPORTED,)).fetchone()
        if row and row[0] == name:
            return
        for search, requests in read(file):
            connection.execute(ADD_SEARCH, search)
            connection.executemany(ADD_REQUEST, requests)
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (IMPORTED, name))
        for statement in DELETE_OLD:
            connection.execute(statement, (time.time() - RETENTION_S,))
        connection.execute(DELETE_OLD_QUERIES, (MAX_HISTORY,))
