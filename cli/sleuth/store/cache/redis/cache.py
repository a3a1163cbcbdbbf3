"""The cache in the shared server, as JSON text; while the server is down, the cache on disk takes its place."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sleuth.base.logs import log
from sleuth.store.cache.disk import MAX_ENTRY_CHARS, Cache, CacheEntry
from sleuth.store.cache.redis.server import PREFIX, RedisLock, RedisServer, RedisUnavailableError

STALE_S = 86400.0  # entries stay this long after they expire: --offline prefers an old result to none
MAX_TTL_S = 366 * 86400.0  # a longer one was not written by sleuth
LOCK_TTL_S = 2.0  # renewed while the work lasts, so that a lock expires soon after its holder dies
LOCK_POLL_S = 0.02  # between two attempts to acquire a lock


class RedisCache(Cache):
    """The cache of all machines; `fallback` is the cache of this one."""

    is_shared = True

    def __init__(self, server: RedisServer, kind: str, fallback: Cache) -> None:
        self.server, self.kind, self.fallback = server, kind, fallback

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry for a key, even if expired."""
        name = self._name(key)
        try:
            text, ttl_ms = self.server.execute(("GETRANGE", name, 0, MAX_ENTRY_CHARS), ("PTTL", name))
        except RedisUnavailableError:
            return self.fallback.get(key)
        return _parse_entry(text, ttl_ms)

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Store a JSON value; when its memory is full, the server decides what to evict."""
        if seconds <= 0:
            return
        try:
            text = json.dumps({"kept": seconds, "value": value}, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as problem:
            log("shared cache: not written: %r", problem)
            return
        if len(text) > MAX_ENTRY_CHARS:
            return
        try:
            self.server.execute(("SET", self._name(key), text, "PX", round((seconds + STALE_S) * 1000)))
        except RedisUnavailableError:
            self.fallback.put(key, value, seconds)

    @contextmanager
    def single_flight(self, key: str, timeout: float) -> Iterator[None]:
        """Let one caller at a time work on a key, first on this machine, then on all; waits at most `timeout`."""
        deadline = time.monotonic() + timeout
        with self.fallback.single_flight(key, timeout):
            lock = self._acquire(f"{self.kind}:{key}", deadline)
            if lock is None:
                yield
                return
            done = threading.Event()
            threading.Thread(target=self._renew, args=(lock, done), daemon=True).start()
            try:
                yield
            finally:
                done.set()
                self.server.release(lock)

    def _renew(self, lock: RedisLock, done: threading.Event) -> None:
        with suppress(RedisUnavailableError):
            while not done.wait(LOCK_TTL_S / 4) and self.server.renew(lock, LOCK_TTL_S):
                pass

    def _acquire(self, name: str, deadline: float) -> RedisLock | None:
        """Return the lock as soon as it is free; None at the deadline, or when the server is unavailable."""
        try:
            while not (lock := self.server.acquire(name, LOCK_TTL_S)):
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                time.sleep(min(LOCK_POLL_S, left))
        except RedisUnavailableError:
            return None
        return lock

    def _name(self, key: str) -> str:
        return f"{PREFIX}{self.kind}:{key}"


def _parse_entry(text: Any, ttl_ms: Any) -> CacheEntry | None:
    """Read an entry that anyone may have written; its age comes from the clock of the server, ours may differ."""
    if not isinstance(text, bytes) or len(text) > MAX_ENTRY_CHARS or not isinstance(ttl_ms, int) or ttl_ms < 0:
        return None
    try:
        document = json.loads(text.decode())
        ttl, value = document["kept"], document["value"]
        fresh = ttl_ms / 1000 - STALE_S
        if not 0 < ttl <= MAX_TTL_S or fresh > ttl:
            return None
        return CacheEntry(value, ttl - fresh, fresh)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
