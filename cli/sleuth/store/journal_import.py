"""Moving the journal into the database: every line once, whatever dies on the way.

The journal is renamed to a name that never comes again. One transaction takes in its lines together with that name,
then the file is removed. Who finds such a file sees from the name whether its lines are in the database already.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

from sleuth.base.append import settle
from sleuth.base.errors import UnwritableError
from sleuth.base.files import locked
from sleuth.base.logs import log
from sleuth.store.database import in_words, open_copy, open_database, transaction
from sleuth.store.health import KEEP
from sleuth.store.migrations import MIGRATIONS
from sleuth_providers.records import Record

MOST_QUERIES = 10_000  # of the history; older searches stay as numbers
FOLDED = "journal"  # the row of `meta` with the name of the last file that was folded
LATEST = 1e11  # seconds; a later time is no time
ADD_SEARCH = (
    "INSERT INTO search (at, query, providers, outcome, results, elapsed_ms, cached) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
ADD_REQUEST = "INSERT INTO request (at, provider, state, elapsed_ms, cached) VALUES (?, ?, ?, ?, ?)"
OUT_OF_DATE = ("DELETE FROM search WHERE at < ?", "DELETE FROM request WHERE at < ?", "DELETE FROM answer WHERE at < ?")


class Noted(Record):
    """A search as the journal has it."""

    at: float
    query: str | None
    providers: str
    outcome: str
    results: int
    elapsed_ms: int
    cached: bool
    asked: tuple[tuple[str, str, int, bool], ...]


def open_usage_database(path: str, journal: str) -> sqlite3.Connection:
    """Open the database with the whole journal in it; a copy in memory where nothing can be written."""
    try:
        connection = open_database(path, MIGRATIONS)
        try:
            with in_words(path):
                import_journal(connection, journal)
            return connection
        except BaseException:
            connection.close()
            raise
    except UnwritableError as problem:
        log("journal: not folded: %r", problem)
    copy = open_copy(path, MIGRATIONS)
    for name in _waiting(journal):
        _pour(copy, os.path.basename(name), read(name))
    return copy


def import_journal(connection: sqlite3.Connection, journal: str, patience: float = 2.0) -> bool:
    """Move the journal into the database; False when somebody else keeps it."""
    if not _file_of(connection):
        return False  # what lives in memory must not swallow it
    if not _waiting(journal):
        return True
    with locked(f"{journal}.lock", patience) as held:
        try:
            return held and _move(connection, journal)
        except OSError as problem:
            raise UnwritableError(
                "cannot write {path} ({reason})",
                "check the permissions and the free space there",
                path=journal,
                reason=problem.strerror or problem,
            ) from problem


def _move(connection: sqlite3.Connection, journal: str) -> bool:
    if not all(_take(connection, piece) for piece in _pieces(journal)):
        return False
    if not os.path.exists(journal):
        return True
    piece = f"{journal}.{time.time_ns()}-{os.urandom(4).hex()}"
    os.rename(journal, piece)
    return _take(connection, piece)


def import_full_journal(connection: sqlite3.Connection, journal: str) -> None:
    """Move the journal into the database if nobody else does; trouble costs nothing, it can be done another time."""
    try:
        import_journal(connection, journal, patience=0.0)
    except Exception as problem:
        log("journal: not folded: %r", problem)


def read(path: str) -> Iterator[Noted]:
    """Return the searches of a journal; lines that were cut off, or are none of ours, are left out."""
    try:
        with open(path, "rb") as stream:
            lines = stream.read().split(b"\n")
    except FileNotFoundError:  # somebody else folded it
        return
    for line in lines:
        try:
            yield _noted(json.loads(line))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue


def _noted(entry: dict[str, Any]) -> Noted:
    query = entry["query"]
    at = float(entry["at"])
    if not 0 < at < LATEST:
        raise ValueError(at)
    return Noted(
        at,
        None if query is None else _text(query),
        _text(entry["providers"]),
        _text(entry["outcome"]),
        _whole(entry["results"]),
        _whole(entry["ms"]),
        bool(entry["cached"]),
        tuple((_text(id), _text(state), _whole(ms), bool(hit)) for id, state, ms, hit in entry["asked"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value.encode("utf-8", "replace").decode()  # an escaped half of a pair would fail the database


def _whole(value: Any) -> int:
    return max(0, min(int(value), 2**31))


def _waiting(journal: str) -> list[str]:
    return [*_pieces(journal), *([journal] if os.path.exists(journal) else [])]


def _pieces(journal: str) -> list[str]:
    """Return the files that were set aside and are still there, the oldest first."""
    folder, name = os.path.split(journal)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    pieces = [other for other in sorted(names) if other.startswith(f"{name}.") and other[len(name) + 1 :][:1].isdigit()]
    return [os.path.join(folder, piece) for piece in pieces]


def _take(connection: sqlite3.Connection, piece: str) -> bool:
    if not settle(piece):
        return False
    _pour(connection, os.path.basename(piece), read(piece))
    os.unlink(piece)
    return True


def _pour(connection: sqlite3.Connection, name: str, searches: Iterator[Noted]) -> None:
    """Put searches into the database, if the file of that name has not been put there before."""
    with transaction(connection):
        row = connection.execute("SELECT value FROM meta WHERE name = ?", (FOLDED,)).fetchone()
        if row and row[0] == name:
            return
        for noted in searches:
            connection.execute(ADD_SEARCH, noted[:7])
            connection.executemany(ADD_REQUEST, [(noted.at, *attempt) for attempt in noted.asked])
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (FOLDED, name))
        _trim(connection)


def _trim(connection: sqlite3.Connection) -> None:
    oldest = time.time() - KEEP
    for statement in OUT_OF_DATE:
        connection.execute(statement, (oldest,))
    connection.execute(
        "UPDATE search SET query = NULL WHERE query IS NOT NULL AND id <="
        " (SELECT id FROM search WHERE query IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (MOST_QUERIES,),
    )


def _file_of(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA database_list").fetchone()[2] or "")
