"""Answers kept for a while, shared by all processes. A cache that fails means "no cache", never a failed search.

diskcache does the writing, with a Disk of ours: it stores JSON text in the row itself and refuses pickles, which the
stock one would run. Its file is a plain SQLite table, so reading needs neither diskcache nor its import time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from sleuth.base.errors import UnwritableError
from sleuth.base.files import locked, private_folder
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Protocol = object

RAW = 1  # diskcache's mode for a value that stands in the row as it is
MAX_ENTRY = 2_000_000  # characters; a larger answer is not worth keeping
CLOCK = 60  # seconds that a clock may be put back unnoticed; of an answer from later than that nobody knows the age
READ = "SELECT value, store_time, expire_time FROM Cache WHERE key = ? AND raw = 1 AND mode = 1 AND filename IS NULL"


class CacheEntry(Record):
    """Something kept, and for how many seconds it has been."""

    value: Any
    age: float
    expired: bool


class Cache(Protocol):
    """What search and page reading know of a cache."""

    def get(self, key: str) -> CacheEntry | None:
        """Return what was kept under a key."""

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Keep a JSON value for some time."""

    def single(self, key: str, patience: float) -> Any:
        """Let one caller at a time work on a key, over all processes."""


class NoCache:
    """The cache that is turned off."""

    def get(self, key: str) -> CacheEntry | None:
        """Find nothing."""
        return None

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Keep nothing."""

    @contextmanager
    def single(self, key: str, patience: float) -> Iterator[bool]:
        """Let everybody work."""
        yield True


class DiskCache:
    """The cache in the user's cache folder."""

    def __init__(self, folder: str, max_entries: int) -> None:
        self.folder, self.max_entries = folder, max_entries
        self.file = os.path.join(folder, "cache.db")

    def get(self, key: str) -> CacheEntry | None:
        """Return what was kept under a key, be it expired: who needs it fresh looks at `expired`."""
        try:
            row = self._read(READ, (key,))
            if row is None or not isinstance(row[0], str):
                return None
            now = time.time()
            expired = (row[2] is not None and row[2] <= now) or row[1] > now + CLOCK
            return CacheEntry(json.loads(row[0]), max(0.0, now - row[1]), expired)
        except (sqlite3.Error, ValueError, TypeError, RecursionError):
            return None

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Keep a JSON value; the oldest entries leave when there are too many."""
        if seconds > 0:
            self._change(lambda cache: self._replace(cache, key, value, seconds))

    def _replace(self, cache: Any, key: str, value: Any, seconds: float) -> None:
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > MAX_ENTRY:
            return
        with cache.transact(retry=True):
            cache.delete(key)  # a new row, so that rows stand in the order they were stored
            cache.set(key, text, expire=seconds)
            while len(cache) > self.max_entries:
                oldest = next(iter(cache), None)
                if oldest is None or not cache.delete(oldest):
                    break

    def clear(self) -> int:
        """Throw everything away and return how many entries there were; says so where they cannot be."""
        removed: list[int] = []
        problem = self._change(lambda cache: removed.append(cache.clear(retry=True)))
        if problem and os.path.exists(self.file):
            raise UnwritableError(
                "cannot empty {path} ({reason})",
                "check the permissions and the free space there",
                path=self.file,
                reason=problem,
            )
        return removed[0] if removed else 0

    def stats(self) -> dict[str, Any]:
        """Return how much is kept."""
        found: dict[str, Any] = {"entries": 0, "bytes": 0, "oldestSeconds": None, "folder": self.folder}
        try:
            row = self._read("SELECT count(*), sum(length(value)), min(store_time) FROM Cache")
            oldest = max(0, round(time.time() - row[2])) if row[2] else None
        except (sqlite3.Error, TypeError, ValueError, OverflowError):
            return found
        return found | {"entries": row[0], "bytes": row[1] or 0, "oldestSeconds": oldest}

    @contextmanager
    def single(self, key: str, patience: float) -> Iterator[bool]:
        """Let one caller at a time work on a key; when it takes too long, the next one goes ahead all the same."""
        try:
            lock = locked(os.path.join(private_folder(os.path.join(self.folder, "locks")), key), patience, remove=True)
            lock.__enter__()
        except Exception:
            yield False
            return
        try:
            yield True
        finally:
            lock.__exit__(None, None, None)

    def _read(self, statement: str, values: tuple[Any, ...] = ()) -> Any:
        connection = sqlite3.connect(f"file:{quote(self.file)}?mode=rw", uri=True, timeout=1.0)
        try:
            return connection.execute(statement, values).fetchone()
        finally:
            connection.close()

    def _change(self, work: Any) -> Exception | None:
        """Do something to the cache; returns what went wrong, which is logged and stops nobody."""
        try:
            from sleuth.store.cache.json_disk import open_cache

            private_folder(self.folder)
            try:
                cache = open_cache(self.folder)
                try:
                    work(cache)
                finally:
                    cache.close()
            except Exception as problem:
                if _is_broken(problem):
                    self._throw_away()
                raise
        except Exception as problem:
            from sleuth.base.logs import log

            log("cache: not written: %r", problem)
            return problem
        return None

    def _throw_away(self) -> None:
        """Remove a file that is broken, or that somebody else has written to; the next answer starts a new one."""
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(self.file + ending)


def _is_broken(problem: Exception) -> bool:
    """Tell a file that is damaged, or that somebody else has written to, from one that is busy, full or forbidden."""
    if isinstance(problem, sqlite3.OperationalError):
        return "no such" in str(problem)
    return isinstance(problem, sqlite3.DatabaseError | AttributeError | LookupError | TypeError | ValueError)
