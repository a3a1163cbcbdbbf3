"""The server that machines share: a few connections, turns to work on something, and a rest for it when it fails."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.logs import log
from sleuth.store.cache.redis.address import RedisAddress
from sleuth.store.cache.redis.connection import Command, ErrorReply, NotRedisError, RedisConnection, RedisReplyError
from sleuth_providers.records import Record

PREFIX = "sleuth:1:"  # before all names; the number is that of the form in which things are kept
PATIENCE = 1.0  # seconds for an answer
REST = 30.0  # seconds for which a server that failed is left alone
IDLE = 4  # connections that are kept

# A turn ends by itself, and somebody else may have it by now: give back and prolong one's own and no other.
GIVE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
KEEP = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"


class RedisUnavailableError(Exception):
    """The server cannot be used now; whoever asked does without."""

    def __init__(self, why: str = "", problem: Exception | None = None) -> None:
        super().__init__(why)
        self.problem = problem  # None while it is left alone after an earlier one


class RedisLock(Record):
    """The right to work on something, and the proof of having it."""

    name: str
    token: str


class RedisServer:
    """Asks a Redis or Valkey server, from many threads; the first failure is told, then nobody waits for it."""

    def __init__(self, address: RedisAddress, warn: Callable[[str], None]) -> None:
        self.address, self._warn = address, warn
        self._lock = threading.Lock()
        self._idle: list[RedisConnection] = []
        self._held: set[RedisLock] = set()
        self._rests_until = 0.0
        self._told = False

    def ask(self, *commands: Command) -> list[Any]:
        """Return the replies to commands that are sent together; None for a value of another kind than expected."""
        replies = self.try_out(*commands)
        wrong = next((reply for reply in replies if isinstance(reply, ErrorReply) and reply.code != "WRONGTYPE"), None)
        if wrong:
            raise self._lost(RedisReplyError(wrong))
        return [None if isinstance(reply, ErrorReply) else reply for reply in replies]

    def try_out(self, *commands: Command) -> list[Any]:
        """Return the replies to commands, refusals too, which then mean nothing else."""
        self._stop_at_rest()
        try:
            replies = self._exchange(commands)
        except (OSError, NotRedisError, RedisReplyError) as problem:
            raise self._lost(problem) from problem
        self._rests_until = 0.0
        return replies

    def take(self, name: str, seconds: float) -> RedisLock | None:
        """Try to have the turn to work on something, for so long unless it is kept."""
        turn = RedisLock(f"{PREFIX}turn:{name}", os.urandom(16).hex())
        [reply] = self.ask(("SET", turn.name, turn.token, "NX", "PX", max(1, round(seconds * 1000))))
        if reply is None:
            return None
        self._held.add(turn)
        return turn

    def keep(self, turn: RedisLock, seconds: float) -> bool:
        """Prolong a turn, and tell whether it is still there to be kept."""
        return turn in self._held and self.ask(("EVAL", KEEP, 1, *turn, max(1, round(seconds * 1000)))) == [1]

    def give(self, turn: RedisLock) -> None:
        """Let the next one have a turn."""
        if turn in self._held:
            self._held.discard(turn)
            with suppress(RedisUnavailableError):  # then it ends by itself
                self.ask(("EVAL", GIVE, 1, *turn))

    def close(self) -> None:
        """Give back the turns of work that nobody waits for any more, and hang up."""
        for turn in tuple(self._held):
            self.give(turn)
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _stop_at_rest(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now < self._rests_until:
                raise RedisUnavailableError
            if self._rests_until:
                self._rests_until = now + REST  # one may try; the others go on resting until it has an answer

    def _exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection:
            with suppress(ConnectionError):  # a server hangs up on who is silent for long; a new one may do
                return self._over(connection, commands)
        return self._over(RedisConnection(self.address), commands)

    def _over(self, connection: RedisConnection, commands: tuple[Command, ...]) -> list[Any]:
        try:
            replies = connection.ask(commands, time.monotonic() + PATIENCE)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < IDLE:
                self._idle.append(connection)
                return replies
        connection.close()
        return replies

    def _lost(self, problem: Exception) -> RedisUnavailableError:
        """Leave the server alone for a while, and say so the first time."""
        from sleuth.store.cache.redis.errors import reason

        with self._lock:
            self._rests_until = time.monotonic() + REST
            first, self._told = not self._told, True
        why = reason(problem)
        log("shared cache: %s: %s", self.address.place, why)
        if first:
            template = "the shared cache at {host} does not answer ({why}); this machine's own cache serves"
            self._warn(tr(template, host=self.address.place, why=why))
        return RedisUnavailableError(why, problem)
