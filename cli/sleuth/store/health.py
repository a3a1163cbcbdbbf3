"""Cooldowns, rate limits and usual response times of providers, shared by all processes."""

from __future__ import annotations

import functools
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from sleuth.base.logs import log
from sleuth.store.database import transaction
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, ParamSpec, TypeVar

    from sleuth.store.cache.redis.server import RedisServer

    P = ParamSpec("P")
    T = TypeVar("T")

COOLDOWNS_S = (60, 300, 1500, 3600)
KEYLESS_COOLDOWNS_S = (900, 1800, 3600)
CLOCK_TOLERANCE_S = 60
MAX_QUEUE_S = 600  # a request further in the future was logged before the clock was set back
MAX_FAILURES = 3  # in a row before a cooldown; a refusal starts one at once
REFUSALS = ("blocked", "rate_limited", "quota", "key_invalid")
FAILURES = (*REFUSALS, "timeout", "bad_response", "unreachable")
MAX_COOLDOWN_S = 31 * 86400  # a longer one comes from a wrong Retry-After or a wrong clock
LAST_SENT = "(SELECT max(id) FROM request WHERE provider = ? AND state = 'sent')"  # the last reservation
RETENTION_S = 100 * 86400  # of the request log


class Slot(Record):
    """When a request may be sent."""

    at: float
    granted: bool = True  # otherwise `at` is when to try again
    paced: bool = False  # refused because it would have to wait longer than allowed
    left: int = sys.maxsize  # requests until a limit is reached, with this one


class Cooldown(Record):
    """Why and until when a provider is skipped."""

    until: float
    state: str


class LoggedRequest(Record):
    """A finished request."""

    provider: str
    state: str
    elapsed_ms: int | None
    cost: float


def _in_spare_database(method: Callable[Concatenate[Health, P], T]) -> Callable[Concatenate[Health, P], T]:
    """Call a method again with another database if that on disk is damaged."""

    @functools.wraps(method)
    def call(health: Health, /, *args: P.args, **options: P.kwargs) -> T:
        before = health.connection
        try:
            return method(health, *args, **options)
        except sqlite3.DatabaseError as problem:
            if health.spare:
                health.connection, health.spare = health.spare(problem), None
            elif health.connection is before:  # else a method that this one calls has replaced it
                raise
            return method(health, *args, **options)

    return call


class Health:
    """The request log and the cooldowns in the database."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        shared: RedisServer | None = None,
        spare: Callable[[sqlite3.Error], sqlite3.Connection] | None = None,
    ) -> None:
        self.connection, self.shared = connection, shared  # `shared` has rate limits and counts over all machines
        self.spare = spare  # returns another database for a damaged one; raises any other problem again
        self._unshared: list[LoggedRequest] = []

    @_in_spare_database
    def cooldown(self, name: str, now: float | None = None) -> Cooldown | None:
        """Return the cooldown of a provider, or of one of its keys; None when it may be used."""
        row = self.connection.execute("SELECT until, state FROM health WHERE name = ?", (name,)).fetchone()
        now = now or time.time()
        if not row or not now < row[0] <= now + MAX_COOLDOWN_S:
            return None
        sql = "SELECT max(at) FROM request WHERE provider = ? AND at <= ?"
        started = self.connection.execute(sql, (name.partition("#")[0], row[0])).fetchone()[0] or 0.0
        return None if started > now + CLOCK_TOLERANCE_S else Cooldown(*row)  # else the clock was set back since

    def note_outcome(
        self, name: str, state: str, *, retry_after: float | None = None, quick: bool = False, keyless: bool = False
    ) -> None:
        """Update the cooldown after a request.

        A `quick` failure, such as a refused connection, starts none. A service that is used without a key (`keyless`)
        refuses automated clients in general, for example with a captcha, so its cooldown is longer.
        """
        if state in ("ok", "empty") and self._failures(name):  # a write only where it is needed
            self.connection.execute("DELETE FROM health WHERE name = ?", (name,))
        if state not in FAILURES or quick:
            return
        with transaction(self.connection):
            running = self.cooldown(name)  # then the request was sent before it began, or in spite of it
            failures = self._failures(name) + (running is None)
            strikes = failures if state in REFUSALS else failures - MAX_FAILURES + 1
            steps = KEYLESS_COOLDOWNS_S if keyless and state in REFUSALS else COOLDOWNS_S
            pause = steps[min(strikes, len(steps)) - 1] if strikes > 0 else 0
            until = time.time() + max(pause, min(retry_after or 0, MAX_COOLDOWN_S)) if pause else 0
            until = max(until, running.until) if running else until
            row = (name, failures, until, running.state if running else state)
            self.connection.execute("INSERT OR REPLACE INTO health VALUES (?, ?, ?, ?)", row)

    def note_backoff(self, provider: str, seconds: float) -> None:
        """Make the next request wait, because the provider asked for a pause with its answer."""
        values = f"{provider}#backoff", time.time() + seconds
        self.connection.execute("INSERT OR REPLACE INTO health VALUES (?, 0, ?, 'rate_limited')", values)

    def _failures(self, name: str) -> int:
        row = self.connection.execute("SELECT failures FROM health WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def forget(self, name: str) -> None:
        """End the cooldowns of a provider and of its keys."""
        sql = "DELETE FROM health WHERE name = ?1 OR substr(name, 1, length(?1) + 1) = ?1 || '#'"
        self.connection.execute(sql, (name,))

    @_in_spare_database
    def reserve(
        self,
        provider: str,
        per_minute: int,
        per_day: int,
        interval: float = 0.0,
        paced_with: Sequence[str] = (),
        max_wait: float = 0.0,
    ) -> Slot:
        """Count a request and return when it may be sent, or why not: a limit is reached, or the wait is too long."""
        if not (per_minute or per_day or interval):
            return Slot(time.time())
        try:
            slot = self._reserve(provider, ((per_minute, 60), (per_day, 86400)), interval, paced_with, max_wait)
        except sqlite3.OperationalError as problem:  # an unwritable database must not stop the search
            log("health: nothing reserved: %r", problem)
            slot = Slot(time.time())
        if slot.granted and self.shared and (per_minute or per_day):
            free_at = self.shared.reserve(provider, per_minute, per_day)
            if free_at is not None:
                self.cancel(provider)
                return Slot(free_at, granted=False)
        return slot

    def _reserve(
        self, provider: str, limits: Sequence[tuple[int, int]], interval: float, paced_with: Sequence[str], wait: float
    ) -> Slot:
        left = sys.maxsize
        with transaction(self.connection):
            now = time.time()  # read under the lock: others may have counted requests while we waited
            for limit, span in limits:
                if not limit:
                    continue
                rows = self.connection.execute(
                    "SELECT at FROM request WHERE provider = ? AND at > ? AND at <= ? AND cached = 0"
                    " ORDER BY at DESC LIMIT ?",
                    (provider, now - span, now + span, limit),  # a clock that was set back must not free capacity
                ).fetchall()
                if len(rows) == limit:
                    return Slot(float(rows[-1][0]) + span, granted=False)
                left = min(left, limit - len(rows))
            at = max(now, self._last(paced_with, now + MAX_QUEUE_S) + interval) if interval else now
            backoff = self.cooldown(f"{provider}#backoff", now)
            at = max(at, backoff.until) if backoff else at
            if at - now > wait:
                return Slot(at, granted=False, paced=True)
            self._insert(provider, at, "sent", None, 0.0)
        return Slot(at, left=left)

    def _last(self, providers: Sequence[str], before: float) -> float:
        """Return the time of the last request to any of these providers."""
        sql = "SELECT max(at) FROM request WHERE provider = ? AND at <= ? AND cached = 0"
        return max(self.connection.execute(sql, (id, before)).fetchone()[0] or 0.0 for id in providers)

    def cancel(self, provider: str) -> None:
        """Undo a reservation: the limit over all machines is reached, or the request was not needed."""
        with suppress(sqlite3.OperationalError):
            self.connection.execute(f"DELETE FROM request WHERE id = {LAST_SENT}", (provider,))  # noqa: S608 - constant

    def record(self, provider: str, state: str, elapsed_ms: int | None, cost: float, reserved: bool) -> None:
        """Log a finished request; a reserved one is completed."""
        if self.shared:
            self._unshared.append(LoggedRequest(provider, state, elapsed_ms, cost))
        with transaction(self.connection):
            update = f"UPDATE request SET state = ?, elapsed_ms = ?, cost = ? WHERE id = {LAST_SENT}"  # noqa: S608 - constant
            if not reserved or not self.connection.execute(update, (state, elapsed_ms, cost, provider)).rowcount:
                self._insert(provider, time.time(), state, elapsed_ms, cost)

    def share(self) -> None:
        """Add the logged requests to the counts over all machines; call it when the results are out."""
        requests, self._unshared = self._unshared, []
        if self.shared and requests:
            from sleuth.store.cache.redis.usage import count_requests

            count_requests(self.shared, requests)

    @_in_spare_database
    def has_answered(self, provider: str) -> bool:
        """Tell whether a provider has answered before."""
        sql = "SELECT 1 FROM request WHERE provider = ? AND state IN ('ok', 'empty') LIMIT 1"
        return self.connection.execute(sql, (provider,)).fetchone() is not None

    @_in_spare_database
    def request_count(self, provider: str) -> int:
        """Return the number of searches sent so far, by which the keys of a provider rotate; retries do not count."""
        sql = "SELECT count(*) FROM request WHERE provider = ? AND NOT cached AND (elapsed_ms >= 0 OR state = 'sent')"
        return int(self.connection.execute(sql, (provider,)).fetchone()[0])

    @_in_spare_database
    def usual_time(self, provider: str) -> float | None:
        """Return the 90th percentile of recent response times in seconds; None if too few are known.

        Abandoned requests count with the time until then; without them, the estimate would be of fast answers only.
        """
        rows = self.connection.execute(
            "SELECT elapsed_ms, state = 'skipped' FROM (SELECT elapsed_ms, state FROM request WHERE provider = ?"
            " AND state IN ('ok', 'empty', 'skipped') AND elapsed_ms NOTNULL AND cached = 0"
            " ORDER BY at DESC LIMIT 20) ORDER BY elapsed_ms",
            (provider,),
        ).fetchall()
        elapsed_ms, is_abandoned = rows[int(len(rows) * 0.9)] if rows else (0, True)
        return None if is_abandoned or sum(not row[1] for row in rows) < 5 else float(elapsed_ms) / 1000

    def _insert(self, provider: str, at: float, state: str, ms: int | None, cost: float) -> None:
        cursor = self.connection.execute(
            "INSERT INTO request (provider, at, state, elapsed_ms, cost) VALUES (?, ?, ?, ?, ?)",
            (provider, at, state, ms, cost),
        )
        if cursor.lastrowid and cursor.lastrowid % 500 == 0:
            self.connection.execute("DELETE FROM request WHERE at < ?", (at - RETENTION_S,))
