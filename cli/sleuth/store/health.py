"""Who is cooling down, who has been asked how often, and how long an answer usually takes: shared by all processes."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress

from sleuth.base.logs import log
from sleuth.store.database import transaction
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

COOLDOWNS = (60, 300, 1500, 3600)  # seconds: 1, 5, 25 and 60 minutes
PATIENCE = 3  # failures in a row before a provider rests; one is enough where it said no
SAYS_NO = ("blocked", "rate_limited", "quota", "key_invalid")
RESTS = (*SAYS_NO, "timeout", "bad_response", "unreachable")
LONGEST = 31 * 86400  # seconds; a longer rest is a server's mistake, or a clock that was wrong
CLOCK = 60  # seconds that a clock may be put back unnoticed
KEEP = 100 * 86400  # seconds that requests are remembered


class Cooldown(Record):
    """Why and until when somebody is not asked."""

    until: float
    state: str


class RateLimits(Protocol):
    """Allowances that several machines share."""

    def reserve(self, provider: str, per_minute: int, per_day: int) -> float | None:
        """Take a place; returns when the next one is free if there is none now."""


class Health:
    """The memory of good and bad answers."""

    def __init__(self, connection: sqlite3.Connection, limits: RateLimits | None = None) -> None:
        self.connection, self.limits = connection, limits

    def resting(self, name: str, now: float | None = None) -> Cooldown | None:
        """Return until when a provider, or one key of it, rests; None when it may be asked."""
        row = self.connection.execute("SELECT until, state FROM health WHERE name = ?", (name,)).fetchone()
        now = now or time.time()
        if not row or not now < row[0] <= now + LONGEST or self._began(name, row[0]) > now + CLOCK:
            return None
        return Cooldown(row[0], row[1])

    def _began(self, name: str, until: float) -> float:
        """Return when a rest began; one that begins in the future was set by a clock that has been put back since."""
        sql = "SELECT max(at) FROM request WHERE provider = ? AND at <= ?"
        return self.connection.execute(sql, (name.partition("#")[0], until)).fetchone()[0] or 0.0

    def note(self, name: str, state: str, *, retry_after: float | None = None, quick: bool = False) -> None:
        """Remember how a request ended. A `quick` failure, such as a refused connection, costs nobody time: no rest."""
        row = self.connection.execute("SELECT failures FROM health WHERE name = ?", (name,)).fetchone()
        if row and state in ("ok", "empty"):
            self.connection.execute("DELETE FROM health WHERE name = ?", (name,))
        if state not in RESTS or quick:
            return
        with transaction(self.connection):
            row = self.connection.execute("SELECT failures FROM health WHERE name = ?", (name,)).fetchone()
            failures = (row[0] if row else 0) + 1
            grave = failures if state in SAYS_NO else failures - PATIENCE + 1
            pause = COOLDOWNS[min(grave, len(COOLDOWNS)) - 1] if grave > 0 else 0
            until = time.time() + max(pause, min(retry_after or 0, LONGEST)) if pause else 0
            self.connection.execute("INSERT OR REPLACE INTO health VALUES (?, ?, ?, ?)", (name, failures, until, state))

    def forget(self, name: str) -> None:
        """End the rest of a provider and of its keys."""
        self.connection.execute(
            "DELETE FROM health WHERE name = ? OR substr(name, 1, length(?) + 1) = ? || '#'", (name, name, name)
        )

    def reserve(self, provider: str, per_minute: int, per_day: int) -> float | None:
        """Take a place in the provider's allowance; returns when the next one is free if there is none now."""
        if not per_minute and not per_day:
            return None
        try:
            free_at = self._reserve(provider, per_minute, per_day)
        except sqlite3.OperationalError as problem:  # a file that cannot be written stops no search
            log("health: nothing reserved: %r", problem)
            free_at = None
        if free_at is None and self.limits:
            free_at = self.limits.reserve(provider, per_minute, per_day)
            if free_at is not None:
                self.give_back(provider)
        return free_at

    def _reserve(self, provider: str, per_minute: int, per_day: int) -> float | None:
        with transaction(self.connection):
            now = time.time()  # not before the lock is ours: others may have taken places while we waited
            for limit, span in ((per_minute, 60), (per_day, 86400)):
                if not limit:
                    continue
                rows = self.connection.execute(
                    "SELECT at FROM request WHERE provider = ? AND at > ? AND at <= ? AND cached = 0"
                    " ORDER BY at DESC LIMIT ?",
                    (provider, now - span, now + span, limit),  # a clock put back must not free any place
                ).fetchall()
                if len(rows) == limit:
                    return float(rows[-1][0]) + span
            self._insert(provider, now, "sent", None, False, 0.0)
        return None

    def give_back(self, provider: str) -> None:
        """Take a reservation back: the other machines left no room for it, or it was not needed."""
        with suppress(sqlite3.OperationalError):
            self.connection.execute(
                "DELETE FROM request WHERE id = (SELECT max(id) FROM request WHERE provider = ? AND state = 'sent')",
                (provider,),
            )

    def record(self, provider: str, state: str, elapsed_ms: int, cached: bool, cost: float, reserved: bool) -> None:
        """Count a finished request; one that was reserved is completed."""
        with transaction(self.connection):
            if reserved:
                changed = self.connection.execute(
                    "UPDATE request SET state = ?, elapsed_ms = ?, cost = ? WHERE id ="
                    " (SELECT max(id) FROM request WHERE provider = ? AND state = 'sent')",
                    (state, elapsed_ms, cost, provider),
                ).rowcount
                if changed:
                    return
            self._insert(provider, time.time(), state, elapsed_ms, cached, cost)

    def turn(self, provider: str) -> int:
        """Return a number that grows with every request, so that several keys take turns."""
        row = self.connection.execute("SELECT count(*) FROM request WHERE provider = ? AND cached = 0", (provider,))
        return int(row.fetchone()[0])

    def usual_time(self, provider: str) -> float | None:
        """Return the seconds nine of ten good answers took lately, None while too few are known."""
        rows = self.connection.execute(
            "SELECT elapsed_ms FROM (SELECT elapsed_ms FROM request WHERE provider = ? AND state = 'ok' AND cached = 0"
            " ORDER BY at DESC LIMIT 20) ORDER BY elapsed_ms",
            (provider,),
        ).fetchall()
        return float(rows[int(len(rows) * 0.9)][0]) / 1000 if len(rows) >= 5 else None

    def _insert(self, provider: str, at: float, state: str, ms: int | None, cached: bool, cost: float) -> None:
        cursor = self.connection.execute(
            "INSERT INTO request (provider, at, state, elapsed_ms, cached, cost) VALUES (?, ?, ?, ?, ?, ?)",
            (provider, at, state, ms, cached, cost),
        )
        if cursor.lastrowid and cursor.lastrowid % 500 == 0:
            self.connection.execute("DELETE FROM request WHERE at < ?", (at - KEEP,))
