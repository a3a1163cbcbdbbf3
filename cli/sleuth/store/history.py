"""Past queries: listed newest first, and forgotten so that no file holds them any longer."""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from sleuth.base.files import write_atomic
from sleuth.store.database import transaction
from sleuth_providers.records import Record

PROMPTS = "_history"  # how the files of prompts end


class HistoryEntry(Record):
    """One search of the past."""

    id: int
    at: float
    query: str
    providers: str
    outcome: str
    results: int
    elapsed_ms: int
    cached: bool

    def as_json(self) -> dict[str, Any]:
        """Return the published form."""
        from datetime import datetime

        return {
            "at": datetime.fromtimestamp(self.at).astimezone().isoformat(timespec="seconds"),
            "query": self.query,
            "providers": [id for id in self.providers.split(",") if id],
            "outcome": self.outcome,
            "results": self.results,
            "elapsedMs": self.elapsed_ms,
            "cached": self.cached,
        }


def entries(connection: sqlite3.Connection, words: Sequence[str] = (), count: int | None = None) -> list[HistoryEntry]:
    """Return past queries that have all the words in them, the newest first."""
    rows = connection.execute(
        "SELECT id, at, query, providers, outcome, results, elapsed_ms, cached FROM search"
        " WHERE query IS NOT NULL ORDER BY id DESC"
    )
    found = (HistoryEntry(*row)._replace(cached=bool(row["cached"])) for row in rows if has_all(row["query"], words))
    return list(islice(found, count))


def has_all(text: str, words: Iterable[str]) -> bool:
    """Tell whether all words are in a text, in capitals or not."""
    folded = text.casefold()
    return all(word.casefold() in folded for word in words)


def clear(connection: sqlite3.Connection, words: Sequence[str] = ()) -> bool:
    """Forget the queries with these words, or all; False while another process keeps a file with remains of them.

    What is counted stays: time, providers, outcome. A row that is overwritten leaves remains in the database and in its
    log of changes; both are written anew.
    """
    with transaction(connection):
        for entry in entries(connection, words):
            connection.execute("UPDATE search SET query = NULL WHERE id = ?", (entry.id,))
    connection.execute("VACUUM")
    return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]


def clear_prompts(folder: str, words: Sequence[str] = ()) -> int:
    """Take the lines with these words, or all, out of what was typed at prompts; returns how many there were."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sum(_forget_lines(os.path.join(folder, name), words) for name in names if name.endswith(PROMPTS))


def _forget_lines(path: str, words: Sequence[str]) -> int:
    with open(path, "rb") as stream:
        lines = stream.read().splitlines(keepends=True)
    kept = [line for line in lines if not has_all(line.decode("utf-8", "replace"), words)]
    if not kept:
        os.unlink(path)
    elif len(kept) < len(lines):
        write_atomic(path, b"".join(kept))
    return len(lines) - len(kept)
