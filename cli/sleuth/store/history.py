"""The search history: list it, newest first, and erase it from every file."""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from sleuth.base.files import write_atomic
from sleuth.base.json_output import camel_case
from sleuth.store.database import transaction
from sleuth.store.journal import QUESTION_SEPARATOR
from sleuth_providers.records import Record

PROMPT_FILE_SUFFIX = "_history"


class HistoryEntry(Record):
    """One past search."""

    id: int
    at: float
    query: str
    providers: str
    outcome: str
    results: int
    elapsed_ms: int
    cached: bool
    number: int = 0  # counted back from the newest one
    questions: tuple[str, ...] = ()


def history_as_json(entry: HistoryEntry) -> dict[str, Any]:
    """Return the published JSON form of a past search."""
    from datetime import datetime

    fields = camel_case(entry._asdict())
    del fields["id"], fields["questions"]
    at = datetime.fromtimestamp(entry.at).astimezone().isoformat(timespec="seconds")
    return {"number": entry.number} | fields | {"at": at, "providers": [id for id in entry.providers.split(",") if id]}


def entries(connection: sqlite3.Connection, words: Sequence[str] = (), count: int | None = None) -> list[HistoryEntry]:
    """Return past searches whose query contains all the words, newest first."""
    rows = connection.execute(
        "SELECT id, min(max(at, 0), 4e9), query, providers, outcome, results, elapsed_ms, cached FROM search"
        " WHERE query IS NOT NULL ORDER BY id DESC"
    )
    found = (_entry(row)._replace(number=number) for number, row in enumerate(rows, 1))
    return list(islice((entry for entry in found if contains_all(entry.query, words)), count))


def _entry(row: sqlite3.Row) -> HistoryEntry:
    questions = tuple(filter(None, row["query"].split("\n")))  # a truncated list may end with a newline
    query = QUESTION_SEPARATOR.join(questions)
    return HistoryEntry(*row)._replace(query=query, questions=questions, cached=bool(row["cached"]))


def contains_all(text: str, words: Iterable[str]) -> bool:
    """Tell whether a text contains all words, ignoring case."""
    folded = text.casefold()
    return all(word.casefold() in folded for word in words)


def clear(connection: sqlite3.Connection, words: Sequence[str] = ()) -> bool:
    """Erase the queries that contain the words, or all; False while another process keeps the old pages readable.

    Times, providers and outcomes stay for the usage report. An updated row leaves its old text in free pages and in the
    write-ahead log, so both are rewritten.
    """
    with transaction(connection):
        for entry in entries(connection, words):
            connection.execute("UPDATE search SET query = NULL WHERE id = ?", (entry.id,))
    connection.execute("VACUUM")
    return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]


def clear_prompts(folder: str, words: Sequence[str] = ()) -> int:
    """Delete prompt history lines that contain the words, or all, and return how many there were."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    paths = (os.path.join(folder, name) for name in names if name.endswith(PROMPT_FILE_SUFFIX))
    return sum(_delete_lines(path, words) for path in paths if os.path.isfile(path))  # reading a pipe would block


def _delete_lines(path: str, words: Sequence[str]) -> int:
    with open(path, "rb") as stream:
        lines = stream.read().splitlines(keepends=True)
    kept = [line for line in lines if not contains_all(line.decode("utf-8", "replace"), words)]
    if len(kept) < len(lines):
        write_atomic(path, b"".join(kept))  # never unlinked: of a symbolic link, only the link would go
    return len(lines) - len(kept)
