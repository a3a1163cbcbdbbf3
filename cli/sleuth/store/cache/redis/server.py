"""The Redis or Valkey server that machines share: a connection pool, locks, rate limits, and a circuit breaker."""

import os
import re
import threading
import time
from binascii import crc_hqx
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sleuth.base.files import text_beside
from sleuth.base.i18n import tr
from sleuth.base.logs import log
from sleuth.store.cache.redis.address import RedisAddress
from sleuth.store.cache.redis.connection import Command, Node, NotRedisError, RedisConnection, RedisReplyError
from sleuth_providers.records import Record

PREFIX = "sleuth:1:"  # of all keys; the number is the version of the format
CLEARED = f"{PREFIX}cleared"  # gets another value when the cache is cleared
CLEARED_POLL_S = 1.0
REPLY_TIMEOUT_S = 1.0
RETRY_AFTER_S = 30.0  # for which a server that failed is not used
MAX_IDLE_CONNECTIONS = 4
MAX_REDIRECTS = 3
CLUSTER_SLOTS = 16_384
KEYED_COMMANDS = ("GETRANGE", "PTTL", "SET", "EVAL", "UNLINK", "HINCRBY", "HGETALL")
HASH_TAG = re.compile(rb"\{([^{}]+)\}")  # keys with the same one are on the same node

# A lock expires, and another process may hold it by then: release and renew only what carries our token.
RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
RESERVE = text_beside(__file__, "reserve.lua")  # counts a request in the rate limits of a provider


def key_slot(command: Command) -> int:
    """Return the slot of a cluster that a command's key belongs to; -1 if it has none."""
    place = 3 if command[0] == "EVAL" else 1
    if command[0] not in KEYED_COMMANDS or len(command) <= place:
        return -1
    key = command[place]
    key = key if isinstance(key, bytes) else str(key).encode()
    tag = HASH_TAG.search(key)
    return crc_hqx(tag[1] if tag else key, 0) % CLUSTER_SLOTS


class RedisUnavailableError(Exception):
    """The server is not usable at the moment; callers do without it."""

    def __init__(self, why: str = "", problem: Exception | None = None) -> None:
        super().__init__(why)
        self.problem = problem  # None while the server is skipped after an earlier failure


class RedisLock(Record):
    """A lock, and the token that proves it is ours."""

    name: str
    token: str


class RedisServer:
    """Runs commands from many threads. The first failure is reported; then the server is skipped for a while."""

    def __init__(self, address: RedisAddress, warn: Callable[[str], None]) -> None:
        self.address, self._warn = address, warn
        self._retry_at = 0.0
        self._warned = False
        self._closed = False
        self._cleared: tuple[float, Any] = 0.0, None  # when to read CLEARED again, and its value
        self._start()

    def _start(self) -> None:
        """Start without connections and locks."""
        self._pid = os.getpid()
        self._mutex = threading.Lock()
        self._idle: list[RedisConnection] = []
        self._slots: dict[int, Node] = {}  # where a cluster keeps keys, as far as known
        self._held: set[RedisLock] = set()

    def _check_process(self) -> None:
        """Start anew in a forked process: two processes on one socket would get each other's replies."""
        if self._pid != os.getpid():
            for connection in self._idle:
                connection.close()  # the copy of this process only
            self._start()

    def execute(self, *commands: Command, node: Node | None = None) -> list[Any]:
        """Send commands together and return their replies; None for a key of another type than expected."""
        replies = self.execute_raw(*commands, node=node)
        for reply in replies:
            if isinstance(reply, RedisReplyError) and reply.code != "WRONGTYPE":
                raise self._failed(reply)
        return [None if isinstance(reply, RedisReplyError) else reply for reply in replies]

    def execute_raw(self, *commands: Command, node: Node | None = None) -> list[Any]:
        """Send commands together and return their replies, error replies included."""
        self._check_process()
        self._check_available()
        try:
            replies = self._exchange(commands, node)
        except (OSError, NotRedisError, RedisReplyError, ValueError) as problem:  # ValueError: an odd redirect
            raise self._failed(problem) from problem
        self._retry_at = 0.0
        return replies

    def acquire(self, name: str, seconds: float) -> RedisLock | None:
        """Try to get a lock; it expires after `seconds` unless it is renewed."""
        lock = RedisLock(f"{PREFIX}lock:{name}", os.urandom(16).hex())
        [reply] = self.execute(("SET", lock.name, lock.token, "NX", "PX", max(1, round(seconds * 1000))))
        if reply is None:
            return None
        self._held.add(lock)
        return lock

    def renew(self, lock: RedisLock, seconds: float) -> bool:
        """Extend a lock; False when it is no longer ours."""
        self._check_process()
        return lock in self._held and self.execute(("EVAL", RENEW, 1, *lock, max(1, round(seconds * 1000)))) == [1]

    def release(self, lock: RedisLock) -> None:
        """Release a lock that is ours."""
        self._check_process()
        if lock in self._held:
            self._held.discard(lock)
            with suppress(RedisUnavailableError):  # it expires automatically
                self.execute(("EVAL", RELEASE, 1, *lock))

    def reserve(self, provider: str, per_minute: int, per_day: int) -> float | None:
        """Count a request; if a limit is reached, return the time at which the next one is allowed instead."""
        windows = [("minute", per_minute, 60_000), ("day", per_day, 86_400_000)]
        names = [f"{PREFIX}limit:{{{provider}}}:{name}" for name, limit, _ in windows if limit]
        numbers = [number for _, limit, span in windows if limit for number in (limit, span)]
        try:
            [wait] = self.execute(("EVAL", RESERVE, len(names), *names, os.urandom(8).hex(), *numbers))
        except RedisUnavailableError:
            return None  # the limits of this machine still apply
        return time.time() + wait / 1000 if isinstance(wait, int) and wait > 0 else None

    def cleared(self) -> Any:
        """Return a value that differs after a machine has cleared the cache; it is read once a second."""
        if time.monotonic() >= self._cleared[0]:
            with suppress(RedisUnavailableError):
                [value] = self.execute(("GETRANGE", CLEARED, 0, 64))
                self._cleared = time.monotonic() + CLEARED_POLL_S, value or None
        return self._cleared[1]

    def close(self) -> None:
        """Release the locks of abandoned work and close all connections."""
        self._check_process()
        for lock in tuple(self._held):
            self.release(lock)
        with self._mutex:
            self._closed = True  # abandoned work that finishes later closes its own connection
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _check_available(self) -> None:
        with self._mutex:
            now = time.monotonic()
            if now < self._retry_at:
                raise RedisUnavailableError
            if self._retry_at:
                self._retry_at = now + RETRY_AFTER_S  # one caller may try; the others wait for its result

    def nodes(self) -> list[Node | None]:
        """Return the nodes of a cluster that hold keys; one None for a single server."""
        [reply] = self.execute_raw(("CLUSTER", "SLOTS"))
        if not isinstance(reply, list):
            return [None]
        first = [entry[2] for entry in reply if isinstance(entry, list) and len(entry) > 2]
        found = [(host.decode() or self.address.host, port) for host, port, *_ in first]
        return list(dict.fromkeys(found)) or [None]

    def _exchange(self, commands: tuple[Command, ...], node: Node | None = None) -> list[Any]:
        """Send commands to the node that has their key; a cluster says where that is."""
        if self._slots and node is None:
            node = self._slots.get(key_slot(commands[0]))
        replies = self._on_node(commands, node)
        for _ in range(MAX_REDIRECTS):
            moved = next((r for r in replies if isinstance(r, RedisReplyError) and r.code == "MOVED"), None)
            if moved is None:
                break
            slot, place = moved.text.split()[1:3]
            host, _, port = place.rpartition(":")
            node = self._slots[int(slot)] = (host or self.address.host, int(port))
            replies = self._on_node(commands, node)
        return replies

    def _on_node(self, commands: tuple[Command, ...], node: Node | None) -> list[Any]:
        with self._mutex:
            fitting = [connection for connection in self._idle if connection.node == node]
            if fitting:
                self._idle.remove(fitting[-1])
        if fitting:
            with suppress(ConnectionError):  # the server closes idle connections; a new one may work
                return self._send(fitting[-1], commands)
        return self._send(RedisConnection(self.address, node), commands)

    def _send(self, connection: RedisConnection, commands: tuple[Command, ...]) -> list[Any]:
        try:
            replies = connection.ask(commands, time.monotonic() + REPLY_TIMEOUT_S)
        except BaseException:
            connection.close()
            raise
        with self._mutex:
            if not self._closed and len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return replies
        connection.close()
        return replies

    def _failed(self, problem: Exception) -> RedisUnavailableError:
        """Skip the server for a while, and warn the first time."""
        from sleuth.store.cache.redis.errors import reason

        with self._mutex:
            self._retry_at = time.monotonic() + RETRY_AFTER_S
            first, self._warned = not self._warned, True
            idle, self._idle, self._slots = self._idle, [], {}  # after a failover, another server may be the primary
        for connection in idle:
            connection.close()
        why = reason(problem)
        log("shared cache: %s: %s", self.address.place, why)
        if first:
            template = "the shared cache at {host} is unavailable ({why}); using the local cache"
            self._warn(tr(template, host=self.address.place, why=why))
        return RedisUnavailableError(why, problem)
