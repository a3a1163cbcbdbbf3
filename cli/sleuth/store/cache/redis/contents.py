"""What lies in the shared server: counted and thrown away by our names alone; and what it says of itself."""

import time
from typing import Any

from sleuth.base.text import clean
from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError
from sleuth_providers.records import Record

STEP = 1000  # names looked at in one go
PINGS = 3


class CacheContents(Record):
    """How many entries there are."""

    answers: int = 0
    pages: int = 0
    complete: bool = True  # else the time was up before all names had been looked at


class ServerInfo(Record):
    """What a server says of itself; empty where it does not tell."""

    latency_ms: float | None = None
    software: str = ""
    version: str = ""
    policy: str = ""  # what leaves when the memory is full
    limit: int = 0  # bytes of memory; 0 is no limit


def count(server: RedisServer, seconds: float = 2.0) -> CacheContents:
    """Count the entries of all machines, for so long at the most."""
    return _walk(server, seconds, remove=False)


def clear(server: RedisServer, seconds: float = 60.0) -> CacheContents:
    """Throw the entries of all machines away; limits and turns stay, and what is not ours."""
    return _walk(server, seconds, remove=True)


def _walk(server: RedisServer, seconds: float, *, remove: bool) -> CacheContents:
    until = time.monotonic() + seconds
    seen: dict[bytes, set[bytes]] = {f"{PREFIX}{kind}:".encode(): set() for kind in ("answer", "page")}
    cursor, complete = b"0", False
    while not complete and time.monotonic() < until:
        [reply] = server.ask(("SCAN", cursor, "MATCH", f"{PREFIX}*", "COUNT", STEP))
        if not isinstance(reply, list) or len(reply) != 2 or not isinstance(reply[1], list):
            break  # it is no scan that a Redis makes
        cursor, names = reply
        names = [name for name in names if isinstance(name, bytes)]
        for prefix, known in seen.items():
            found = [name for name in names if name.startswith(prefix) and name not in known]
            known.update(found)  # a scan may show a name twice
            if remove and found:
                server.ask(("UNLINK", *found))
        complete = cursor == b"0"
    answers, pages = map(len, seen.values())
    return CacheContents(answers, pages, complete)


def server_info(server: RedisServer) -> dict[str, Any]:
    """Return what there is to say of a server and what lies in it, in the published form."""
    known: dict[str, Any] = {"address": server.address.shown, "reachable": True, "problem": None}
    try:
        facts, found = describe(server), count(server)
    except RedisUnavailableError as problem:
        facts, found = ServerInfo(), CacheContents(complete=False)
        known |= {"reachable": False, "problem": str(problem)}
    return known | {
        "software": facts.software or None,
        "version": facts.version or None,
        "latencyMs": facts.latency_ms,
        "answers": found.answers,
        "pages": found.pages,
        "complete": found.complete,
    }


def describe(server: RedisServer) -> ServerInfo:
    """Ask a server who it is, and how long it takes to answer."""
    server.ask(("PING",))  # the first one has to connect
    times = []
    for _ in range(PINGS):
        started = time.perf_counter()
        server.ask(("PING",))
        times.append(time.perf_counter() - started)
    [reply] = server.try_out(("INFO",))  # not everybody may ask for it
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else ""
    lines = (line.partition(":") for line in text.splitlines())
    told = {name: clean(value, 60, entities=False) for name, _, value in lines}
    software = told.get("server_name") or ("redis" if told else "")
    return ServerInfo(
        latency_ms=round(min(times) * 1000, 2),
        software=software,
        version=told.get(f"{software}_version") or told.get("redis_version", ""),
        policy=told.get("maxmemory_policy", ""),
        limit=int(told["maxmemory"]) if told.get("maxmemory", "").isdecimal() else 0,
    )
