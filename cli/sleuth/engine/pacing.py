"""How often sleuth sends requests to services that it uses without a key, on top of the limits of their adapters."""

from __future__ import annotations

from sleuth.engine.selector import Candidate
from sleuth.store.provider_fields import number_option
from sleuth_providers.records import Record

INTERVAL_S = 1.0  # between two requests to the same service
INTERVALS_S = {"arxiv": 3.0, "bing": 2.0, "duckduckgo": 3.0, "gdelt": 5.0, "github": 6.0}
# Adapters of one host share its interval.
HOSTS = {"bing": ("local-bing", "bing-news", "bing-media"), "duckduckgo": ("duckduckgo", "duckduckgo-media")}
PER_DAY = {"exa-mcp": 50, "openalex": 100, "openverse": 100, "stackexchange": 300, "you": 100}  # without a key


class RequestLimits(Record):
    """How many requests a provider gets, and how far apart."""

    per_minute: int = 0
    per_day: int = 0
    interval: float = 0.0  # seconds
    paced_with: tuple[str, ...] = ()  # ids of the providers that share the interval


def request_limits(candidate: Candidate, *, third_party: bool) -> RequestLimits:
    """Return the limits of a provider; `third_party` says that it is used without a key, on a host not the user's."""
    adapter, options, id = candidate.adapter, candidate.row.options, candidate.row.adapter
    minute, day = number_option(options, "per_minute"), number_option(options, "per_day")
    daily = PER_DAY.get(id, adapter.per_day) if third_party else adapter.per_day
    limits = RequestLimits(adapter.per_minute if minute is None else int(minute), daily if day is None else int(day))
    if not third_party:
        return limits
    host = next((host for host, ids in HOSTS.items() if id in ids), id)
    shared = tuple(dict.fromkeys((candidate.id, *HOSTS.get(host, ()))))
    return limits._replace(interval=INTERVALS_S.get(host, INTERVAL_S), paced_with=shared)
