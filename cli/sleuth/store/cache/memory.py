"""An LRU cache in memory in front of another cache: `chat`, `mcp` and `serve` repeat the same queries."""

import threading
import time
from collections import OrderedDict
from typing import Any

from sleuth.store.cache.disk import Cache, CacheEntry
from sleuth_providers.records import Record

MAX_ENTRIES = 20


class _Stored(Record):
    value: Any
    stored: float
    expires: float


class MemoryCache:
    """Evicts the least recently used entry; thread-safe."""

    def __init__(self, backend: Cache, size: int = MAX_ENTRIES) -> None:
        self.backend, self.size = backend, size
        self._entries: OrderedDict[str, _Stored] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry for a key, from memory or the backend."""
        with self._lock:
            known = self._entries.get(key)
            if known:
                self._entries.move_to_end(key)
        now = time.time()
        if known and now < known.expires:
            return CacheEntry(known.value, max(0.0, now - known.stored), expired=False)
        return self.backend.get(key)

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a value in memory and in the backend."""
        now = time.time()
        with self._lock:
            self._entries[key] = _Stored(value, now, now + seconds)
            self._entries.move_to_end(key)
            while len(self._entries) > self.size:
                self._entries.popitem(last=False)
        self.backend.put(key, value, seconds)

    def single_flight(self, key: str, timeout: float) -> Any:
        """Let one caller at a time, of all processes, work on a key."""
        return self.backend.single_flight(key, timeout)
