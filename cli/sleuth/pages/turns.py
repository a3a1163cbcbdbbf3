"""Manners: one request at a time to a site, and a short pause between two."""

import threading
import time

PAUSE = 0.25  # seconds
MANY = 1000  # sites to remember before those whose pause is over are forgotten


class Turns:
    """Who may ask which site; shared by all threads of a reader. Our own machine needs no such manners."""

    def __init__(self, pause: float = PAUSE) -> None:
        self.pause = pause
        self._changed = threading.Condition()
        self._free: dict[str, float | None] = {}  # from when a site may be asked; None while it is being asked

    def take(self, site: str) -> None:
        """Wait until a site may be asked, and keep others from it."""
        if is_own_machine(site):
            return
        with self._changed:
            while (free := self._free.get(site, 0.0)) is None or free > time.monotonic():
                self._changed.wait(None if free is None else free - time.monotonic())
            self._free[site] = None

    def give(self, site: str) -> None:
        """Let the next one ask, after the pause."""
        if is_own_machine(site):
            return
        with self._changed:
            now = time.monotonic()
            if len(self._free) > MANY:
                self._free = {name: free for name, free in self._free.items() if free is None or free > now}
            self._free[site] = now + self.pause
            self._changed.notify_all()


def is_own_machine(site: str) -> bool:
    """Tell whether a host is this machine by name."""
    return site in ("localhost", "::1") or site.startswith("127.")
