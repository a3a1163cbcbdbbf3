"""The requests of all machines, counted in the shared server: one hash per day, in UTC."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError
from sleuth.store.health import RETENTION_S, LoggedRequest
from sleuth.store.usage import ANSWERED

DAYS = PREFIX + "{usage}:"  # the hash tag keeps all days on the same node of a cluster
FIELD = re.compile(rb"([\w.-]{1,100}) ([a-z_]{1,40})")  # a provider and what is counted
COUNT = re.compile(rb"[0-9]{1,15}")
MICRO = 1_000_000  # costs are counted in millionths of a dollar


def count_requests(server: RedisServer, requests: Iterable[LoggedRequest]) -> None:
    """Add requests to the counts of today, in one exchange; a failure loses them and nothing else."""
    counts: Counter[str] = Counter()
    for provider, state, elapsed_ms, cost in requests:
        counts[f"{provider} {state}"] += 1
        counts[f"{provider} cost"] += round(cost * MICRO)
        if state in ANSWERED and elapsed_ms:
            counts.update({f"{provider} timed": 1, f"{provider} ms": elapsed_ms})
    name = DAYS + time.strftime("%Y-%m-%d", time.gmtime())
    changes = [("HINCRBY", name, field, count) for field, count in counts.items() if count]
    with suppress(RedisUnavailableError):
        server.execute_raw(*changes, ("EXPIRE", name, RETENTION_S))


def read_counts(server: RedisServer, days: Sequence[str], provider: str) -> Iterator[dict[str, Any]]:
    """Yield what was counted on some days; anyone may have written it."""
    for day, reply in zip(days, server.execute(*(("HGETALL", DAYS + day) for day in days)), strict=True):
        pairs = zip(reply[::2], reply[1::2], strict=False) if isinstance(reply, list) else ()
        for field, count in (pair for pair in pairs if all(isinstance(part, bytes) for part in pair)):
            if (found := FIELD.fullmatch(field)) and COUNT.fullmatch(count):
                id, what = found[1].decode(), found[2].decode()
                if provider in ("", id):
                    yield {"day": day, "provider": id, "what": what, "count": int(count)}
