"""Manners: one request at a time to a site, and a short pause between two."""

import threading
import time

PAUSE = 0.25  # seconds
MANY = 1000  # sites to remember before those whose pause is over are forgotten


class HostQueue:
    """Who may ask which site; shared by all threads of a reader. Our own machine needs no such manners."""

    def __init__(self, pause: float = PAUSE) -> None:
        self.pause = pause
        self._changed = threading.Condition()
        self._free: dict[str, float] = {}  # from when a site may be asked

    def take(self, site: str, seconds: float) -> None:
        """Wait until a site may be asked, and keep others from it until it is given back, but only for so long."""
        if is_own_machine(site):
            return
        with self._changed:
            while (free := self._free.get(site, 0.0)) > (now := time.monotonic()):
                self._changed.wait(free - now)
            self._free[site] = time.monotonic() + seconds

    def give(self, site: str) -> None:
        """Let the next one ask, after the pause."""
        if is_own_machine(site):
            return
        with self._changed:
            now = time.monotonic()
            if len(self._free) > MANY:
                self._free = {name: free for name, free in self._free.items() if free > now}
            self._free[site] = now + self.pause
            self._changed.notify_all()


def is_own_machine(site: str) -> bool:
    """Tell whether a host is this machine by name."""
    return site in ("localhost", "::1") or site.startswith("127.")
