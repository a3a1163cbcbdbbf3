"""Count and delete the entries in the shared server, and describe the server."""

import os
import time
from typing import Any

from sleuth.base.text import clean
from sleuth.store.cache.redis.server import CLEARED, PREFIX, RedisServer, RedisUnavailableError
from sleuth_providers.records import Record

SCAN_COUNT = 1000  # keys per SCAN
PINGS = 3
CLEAR_TIMEOUT_S = 60.0
TRIAL_LOCK, TRIAL_LOCK_S = "stats", 2.0


class CacheContents(Record):
    """The number of cache entries."""

    answers: int = 0
    pages: int = 0
    complete: bool = True  # False: the time was up before all keys were scanned


class ServerInfo(Record):
    """What a server reports about itself; empty where it does not."""

    latency_ms: float | None = None
    software: str = ""
    version: str = ""
    policy: str = ""  # which keys it evicts when its memory is full
    limit: int = 0  # bytes of memory; 0 is no limit


def count(server: RedisServer, seconds: float = 2.0, *, remove: bool = False) -> CacheContents:
    """Count the entries of all machines, for at most `seconds`."""
    until = time.monotonic() + seconds
    seen: dict[bytes, set[bytes]] = {f"{PREFIX}{kind}:".encode(): set() for kind in ("answer", "page")}
    complete = True
    for node in server.nodes():
        cursor, ended = b"0", False
        while not ended and time.monotonic() < until:
            [reply] = server.execute(("SCAN", cursor, "MATCH", f"{PREFIX}*", "COUNT", SCAN_COUNT), node=node)
            if not isinstance(reply, list) or len(reply) != 2 or not isinstance(reply[1], list):
                break  # not a reply to SCAN
            cursor, names = reply
            names = [name for name in names if isinstance(name, bytes)]
            for prefix, known in seen.items():
                found = [name for name in names if name.startswith(prefix) and name not in known]
                known.update(found)  # SCAN may return a key twice
                if remove and found:  # one by one: a cluster refuses several keys in one command
                    server.execute(*(("UNLINK", name) for name in found), node=node)
            ended = cursor == b"0"
        complete &= ended
    answers, pages = map(len, seen.values())
    return CacheContents(answers, pages, complete)


def clear(server: RedisServer) -> CacheContents:
    """Delete the entries of all machines; rate limits, locks and keys of other programs are kept."""
    server.execute(("SET", CLEARED, os.urandom(16).hex()))
    return count(server, CLEAR_TIMEOUT_S, remove=True)


def server_info(server: RedisServer) -> dict[str, Any]:
    """Return the server and its entries in the published JSON form."""
    known: dict[str, Any] = {"address": server.address.shown, "reachable": True, "problem": None}
    facts, found = ServerInfo(), CacheContents(complete=False)
    try:
        facts = inspect_server(server)
        found = count(server)
        if lock := server.acquire(TRIAL_LOCK, TRIAL_LOCK_S):  # a replica or a full server can be read, but not used
            server.release(lock)
    except RedisUnavailableError as problem:
        known |= {"reachable": facts.latency_ms is not None, "problem": str(problem)}
    return known | {
        "software": facts.software or None,
        "version": facts.version or None,
        "latencyMs": facts.latency_ms,
        "answers": found.answers,
        "pages": found.pages,
        "complete": found.complete,
    }


def inspect_server(server: RedisServer) -> ServerInfo:
    """Return software, version, memory policy and latency of a server."""
    server.execute(("PING",))  # the first one has to connect
    times = []
    for _ in range(PINGS):
        started = time.perf_counter()
        server.execute(("PING",))
        times.append(time.perf_counter() - started)
    [reply] = server.execute_raw(("INFO",))  # not every user may run it
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else ""
    lines = (line.partition(":") for line in text.splitlines())
    reported = {name: clean(value, 60, entities=False) for name, _, value in lines}
    software = reported.get("server_name") or ("redis" if reported else "")
    return ServerInfo(
        latency_ms=round(min(times) * 1000, 2),
        software=software,
        version=reported.get(f"{software}_version") or reported.get("redis_version", ""),
        policy=reported.get("maxmemory_policy", ""),
        limit=int(reported["maxmemory"]) if reported.get("maxmemory", "").isdecimal() else 0,
    )
