"""The cache on disk, shared by all processes. A cache that fails means "no cache", never a failed search.

diskcache does the writing, with `JsonDisk`: it stores JSON text in the row and refuses pickles, which the stock Disk
would execute. The file is a plain SQLite table, so reading it does not import diskcache, which takes long.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from urllib.parse import quote

from sleuth.base.files import check_own_database, locked, private_folder, unwritable
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_ENTRY_CHARS = 2_000_000
LOCK_RENEWAL_S = 0.1
LOCK_STALL_TIMEOUT_S = 2.0  # after the last renewal; a process that was stopped keeps its locks
CLOCK_TOLERANCE_S = 60  # entries further in the future were stored before the clock was set back: their age is unknown
# raw = 1 and mode = 1: plain text that diskcache keeps in the row itself.
READ = "SELECT value, store_time, expire_time FROM Cache WHERE key = ? AND raw = 1 AND mode = 1 AND filename IS NULL"


class CacheEntry(Record):
    """A cached value, its age, and for how long it is still valid, in seconds."""

    value: Any
    age: float
    fresh_s: float

    def fresh_for(self, ttl_s: float) -> float:
        """Return for how long the value is valid if entries may be no older than `ttl_s`, a setting that can change."""
        return min(self.fresh_s, ttl_s - self.age)


class Cache:
    """The interface of all caches; this one, for when caching is turned off, stores nothing."""

    is_shared = False  # with other machines

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry for a key, even if expired; callers that need a fresh one check `fresh_for`."""
        return None

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a JSON value for some time."""

    def single_flight(self, key: str, timeout: float) -> Any:
        """Return a context manager that waits while another caller, of all processes, works on a key."""
        return nullcontext()


@contextmanager
def renewing(renew: Callable[[], object], seconds: float) -> Iterator[None]:
    """Renew a lock again and again, in a thread, so that others can tell a slow holder from one that was stopped."""
    done = threading.Event()

    def run() -> None:
        with suppress(Exception):  # the file or the server is gone
            while not done.wait(seconds):
                renew()

    threading.Thread(target=run, daemon=True).start()
    try:
        yield
    finally:
        done.set()


class DiskCache(Cache):
    """The cache in the cache folder of the user."""

    def __init__(self, folder: str, max_entries: int) -> None:
        self.folder, self.max_entries = folder, max_entries
        self.file = os.path.join(folder, "cache.db")

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry for a key, even if expired."""
        try:
            check_own_database(self.file)
            with closing(sqlite3.connect(f"file:{quote(self.file)}?mode=rw", uri=True, timeout=1.0)) as connection:
                row = connection.execute(READ, (key,)).fetchone()
            if row is None or not isinstance(row[0], str):
                return None
            now = time.time()
            known = row[2] is not None and row[1] <= now + CLOCK_TOLERANCE_S
            return CacheEntry(json.loads(row[0]), max(0.0, now - row[1]), row[2] - now if known else 0.0)
        except (OSError, sqlite3.Error, ValueError, TypeError, RecursionError):
            return None

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a JSON value; the oldest entries are evicted when there are too many."""
        if seconds > 0:
            self._change(lambda cache: self._replace(cache, key, value, seconds))

    def _replace(self, cache: Any, key: str, value: Any, seconds: float) -> None:
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > MAX_ENTRY_CHARS:
            return
        with cache.transact(retry=True):
            cache.delete(key)  # a new row, so that rows are in the order they were stored
            cache.set(key, text, expire=seconds)
            for oldest in list(islice(cache, max(0, len(cache) - self.max_entries))):
                cache.delete(oldest)

    def clear(self) -> int:
        """Delete all entries and return how many there were."""
        from shutil import rmtree

        removed: list[int] = []
        problem = self._change(lambda cache: removed.append(cache.clear(retry=True)))
        if problem and os.path.exists(self.file):
            raise unwritable(self.file, problem)
        rmtree(os.path.join(self.folder, "locks"), ignore_errors=True)  # killed processes leave some
        return removed[0] if removed else 0

    def stats(self) -> dict[str, Any]:
        """Return the number, size and age of the entries."""
        from sleuth.store.database import open_read_only

        found: dict[str, Any] = {"entries": 0, "bytes": 0, "oldestSeconds": None, "folder": self.folder}
        try:
            with closing(open_read_only(self.file)) as connection:
                row = connection.execute("SELECT count(*), sum(length(value)), min(store_time) FROM Cache").fetchone()
            oldest = max(0, round(time.time() - row[2])) if row[2] else None
        except (OSError, sqlite3.Error, TypeError, ValueError, OverflowError):
            return found
        return found | {"entries": row[0], "bytes": row[1] or 0, "oldestSeconds": oldest}

    @contextmanager
    def single_flight(self, key: str, timeout: float) -> Iterator[None]:
        """Wait for the caller that works on a key, but less than `timeout` seconds for one that was stopped.

        Callers that waited go ahead together: the result is in the cache, or each has to try for itself.
        """
        with ExitStack() as stack:
            with suppress(Exception):  # without a lock, callers may do the same work twice
                path = os.path.join(private_folder(os.path.join(self.folder, "locks")), key)
                if stack.enter_context(locked(path, min(LOCK_STALL_TIMEOUT_S, timeout / 3), once=True)):
                    stack.enter_context(renewing(partial(os.utime, path), LOCK_RENEWAL_S))
            yield

    def _change(self, work: Any) -> Exception | None:
        """Change the cache; an error is logged and returned, not raised."""
        try:
            from sleuth.store.cache.json_disk import open_cache

            private_folder(self.folder)
            check_own_database(self.file)
            with closing(open_cache(self.folder)) as cache:
                work(cache)
        except Exception as problem:
            from sleuth.base.logs import log

            log("cache: not written: %r", problem)
            if _is_damaged(problem):
                for ending in ("", "-wal", "-shm"):
                    with suppress(OSError):
                        os.unlink(self.file + ending)
            return problem
        return None


def _is_damaged(problem: Exception) -> bool:
    """Tell a file that is damaged, or was written by another program, from one that is busy, full or forbidden."""
    if isinstance(problem, sqlite3.OperationalError):
        return "no such" in str(problem)
    return isinstance(problem, sqlite3.DatabaseError | AttributeError | LookupError | TypeError | ValueError)
