"""An LRU cache in memory in front of another cache: `chat`, `mcp` and `serve` repeat the same queries."""

import threading
import time
from collections import OrderedDict
from typing import Any

from sleuth.store.cache.disk import Cache, CacheEntry

MAX_ENTRIES = 20


class MemoryCache(Cache):
    """Evicts the least recently used entry; thread-safe."""

    def __init__(self, backend: Cache, max_entries: int = MAX_ENTRIES) -> None:
        self.backend, self.max_entries = backend, max_entries
        self._entries: OrderedDict[str, tuple[Any, float, float]] = OrderedDict()  # value, time stored, time of expiry
        self._lock = threading.Lock()

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry for a key, from memory or the backend."""
        now = time.time()
        with self._lock:
            value, stored, expires = self._entries.get(key, (None, 0.0, 0.0))
            if now < expires:
                self._entries.move_to_end(key)
                return CacheEntry(value, max(0.0, now - stored), expires - now)
        return self.backend.get(key)

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a value in memory and in the backend, unless it has expired already."""
        if seconds <= 0:
            return
        now = time.time()
        with self._lock:
            self._entries[key] = (value, now, now + seconds)
            self._entries.move_to_end(key)
            while len(self._entries) > self.max_entries:
                self._entries.popitem(last=False)
        self.backend.put(key, value, seconds)

    def clear(self) -> None:
        """Forget what is in memory."""
        with self._lock:
            self._entries.clear()

    def single_flight(self, key: str, timeout: float) -> Any:
        """Return a context manager that waits while another caller, of all processes, works on a key."""
        return self.backend.single_flight(key, timeout)
