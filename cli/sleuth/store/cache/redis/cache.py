"""The cache in the shared server, as JSON text; while the server is down, the cache on disk takes its place."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

from sleuth.base.logs import log
from sleuth.store.cache.disk import MAX_ENTRY_CHARS, Cache, CacheEntry, renewing
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
        """Wait for the caller that works on a key, first on this machine, then on all, at most `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with ExitStack() as stack:
            stack.enter_context(self.fallback.single_flight(key, timeout))
            if lock := self._acquire(f"{self.kind}:{key}", deadline):
                stack.callback(self.server.release, lock)
                stack.enter_context(renewing(partial(self.server.renew, lock, LOCK_TTL_S), LOCK_TTL_S / 4))
            yield

    def _acquire(self, name: str, deadline: float) -> RedisLock | None:
        """Return the lock if it is free; else None, as soon as it is, at the deadline, or without the server."""
        with suppress(RedisUnavailableError):
            if lock := self.server.acquire(name, LOCK_TTL_S):
                return lock
            while (left := deadline - time.monotonic()) > 0:
                time.sleep(min(LOCK_POLL_S, left))
                if lock := self.server.acquire(name, LOCK_TTL_S):
                    self.server.release(lock)
                    break
        return None

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
        return CacheEntry(value, ttl - fresh, fresh) if fresh <= ttl and 0 < ttl <= MAX_TTL_S else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
