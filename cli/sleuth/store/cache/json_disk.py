"""diskcache limited to text rows; the only module that imports it."""

import os
from typing import Any

import diskcache
from diskcache.core import MODE_RAW

from sleuth.base.files import append_private


class ForeignRowError(ValueError):
    """A row that sleuth did not write."""


class JsonDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache ships no types
    """Stores text in the row; a row in any other mode is refused without reading it."""

    def put(self, key: Any) -> tuple[str, bool]:
        """Accept text keys only."""
        if not isinstance(key, str):
            raise TypeError("cache keys are text")
        return key, True

    def get(self, key: Any, raw: bool) -> Any:
        """Refuse a pickled key."""
        if not raw:
            raise ForeignRowError("refused: a cache key that is not plain text")
        return key

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, str]:
        """Accept text values only; they never become files."""
        if read or not isinstance(value, str):
            raise TypeError("cache values are text")
        return len(value), MODE_RAW, None, value

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:
        """Refuse pickles and files."""
        if mode != MODE_RAW or filename is not None or not isinstance(value, str):
            raise ForeignRowError("refused: a cache entry that is not plain text")
        return value

    def remove(self, file_path: Any) -> None:
        """Delete nothing: sleuth stores no files, and a planted row could name any."""


def open_cache(folder: str) -> Any:
    """Open the cache in a folder for writing; the file is created here because SQLite would not make it private."""
    os.close(append_private(os.path.join(folder, "cache.db")))
    return diskcache.Cache(folder, timeout=10, disk=JsonDisk, eviction_policy="none", cull_limit=10)
