"""The last few answers of one session in memory, in front of the cache: `chat`, `mcp` and `serve` ask in circles."""

import threading
import time
from collections import OrderedDict
from typing import Any

from sleuth.store.cache.disk import Cache, CacheEntry
from sleuth_providers.records import Record

SIZE = 20


class _Kept(Record):
    value: Any
    stored: float
    expires: float


class MemoryCache:
    """The least recently used goes first; safe to use from many threads."""

    def __init__(self, behind: Cache, size: int = SIZE) -> None:
        self.behind, self.size = behind, size
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> CacheEntry | None:
        """Return what was kept under a key, here or behind."""
        with self._lock:
            known = self._kept.get(key)
            if known:
                self._kept.move_to_end(key)
        now = time.time()
        if known and now < known.expires:
            return CacheEntry(known.value, max(0.0, now - known.stored), expired=False)
        return self.behind.get(key)

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Keep a value here and behind."""
        now = time.time()
        with self._lock:
            self._kept[key] = _Kept(value, now, now + seconds)
            self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
        self.behind.put(key, value, seconds)

    def single(self, key: str, patience: float) -> Any:
        """Let one caller at a time work on a key, over all processes."""
        return self.behind.single(key, patience)
