"""Spaces out requests: one at a time to a host, and a short pause between two."""

import threading
import time

from sleuth.base.urls import is_loopback

PAUSE_S = 0.25
MAX_HOSTS = 1000  # with more, those whose pause is over are dropped


class HostQueue:
    """Which host may be requested from when, for all threads of a reader; this machine needs no pause."""

    def __init__(self, pause: float = PAUSE_S) -> None:
        self.pause = pause
        self._changed = threading.Condition()
        self._free_at: dict[str, float] = {}

    def acquire(self, host: str, timeout: float) -> None:
        """Wait until the host is free and reserve it until it is released, for at most `timeout` seconds."""
        if is_loopback(host):
            return
        with self._changed:
            while (free := self._free_at.get(host, 0.0)) > (now := time.monotonic()):
                self._changed.wait(free - now)
            self._free_at[host] = time.monotonic() + timeout

    def release(self, host: str) -> None:
        """Let the next request start after the pause."""
        if is_loopback(host):
            return
        with self._changed:
            now = time.monotonic()
            if len(self._free_at) > MAX_HOSTS:
                self._free_at = {name: free for name, free in self._free_at.items() if free > now}
            self._free_at[host] = now + self.pause
            self._changed.notify_all()
