"""Answers and pages in the shared server; where it is gone, those on this disk. JSON text, nothing else."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sleuth.base.logs import log
from sleuth.store.cache.disk import MAX_ENTRY, Cache, CacheEntry
from sleuth.store.cache.redis.server import PREFIX, RedisLock, RedisServer, RedisUnavailableError

GRACE = 86400.0  # seconds that an entry is kept beyond its time: --offline takes an old answer rather than none
LONGEST = 366 * 86400.0  # seconds; whoever wrote more was not sleuth
LASTING = 2.0  # seconds that a turn is there for somebody who is not
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.1  # seconds between two looks whether a turn is free


class RedisCache:
    """The cache of all machines; `behind` is that of this one."""

    def __init__(self, server: RedisServer, kind: str, behind: Cache) -> None:
        self.server, self.kind, self.behind = server, kind, behind

    def get(self, key: str) -> CacheEntry | None:
        """Return what was kept under a key, be it expired: who needs it fresh looks at `expired`."""
        name = self._name(key)
        try:
            text, left = self.server.ask(("GETRANGE", name, 0, MAX_ENTRY), ("PTTL", name))
        except RedisUnavailableError:
            return self.behind.get(key)
        return _read(text, left)

    def put(self, key: str, value: Any, seconds: float) -> None:
        """Keep a JSON value; when there is too much, the server decides what leaves."""
        if seconds <= 0:
            return
        try:
            text = json.dumps({"kept": seconds, "value": value}, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as problem:
            log("shared cache: not written: %r", problem)
            return
        if len(text) > MAX_ENTRY:
            return
        try:
            self.server.ask(("SET", self._name(key), text, "PX", round((seconds + GRACE) * 1000)))
        except RedisUnavailableError:
            self.behind.put(key, value, seconds)

    @contextmanager
    def single(self, key: str, patience: float) -> Iterator[bool]:
        """Let one caller at a time work on a key, on this machine and then on all; nobody waits longer than asked."""
        until = time.monotonic() + patience
        with self.behind.single(key, patience) as alone:
            turn = self._wait(f"{self.kind}:{key}", until)
            done = threading.Event()
            if turn:
                threading.Thread(target=self._keep, args=(turn, done), daemon=True).start()
            try:
                yield alone
            finally:
                done.set()
                if turn:
                    self.server.give(turn)

    def _keep(self, turn: RedisLock, done: threading.Event) -> None:
        """Prolong a turn while the work lasts: whoever is killed lets go of it soon."""
        with suppress(RedisUnavailableError):
            while not done.wait(LASTING / 4) and self.server.keep(turn, LASTING):
                pass

    def _wait(self, name: str, until: float) -> RedisLock | None:
        """Return the turn as soon as it is free; None when the time is up, or nobody can tell."""
        pause = FIRST_PAUSE
        try:
            while not (turn := self.server.take(name, LASTING)):
                left = until - time.monotonic()
                if left <= 0:
                    return None
                time.sleep(min(pause, left))
                pause = min(pause * 1.5, LONGEST_PAUSE)
        except RedisUnavailableError:
            return None
        return turn

    def _name(self, key: str) -> str:
        return f"{PREFIX}{self.kind}:{key}"


def _read(text: Any, left: Any) -> CacheEntry | None:
    """Read an entry that anybody may have written. Its age is told by the server's clock: ours may differ."""
    if not text or len(text) > MAX_ENTRY or not isinstance(left, int) or left < 0:
        return None
    try:
        document = json.loads(text.decode())
        kept, value = document["kept"], document["value"]
        fresh = left / 1000 - GRACE
        if not 0 < kept <= LONGEST or fresh > kept:
            return None
        return CacheEntry(value, kept - fresh, expired=fresh <= 0)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
