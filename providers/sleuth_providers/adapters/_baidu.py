"""Baidu's parameter for dates, which resellers of its results use too."""

from datetime import datetime

from sleuth_providers.base import Query


def time_span(query: Query) -> str:
    """Return a freshness as a `gpc` value: from the first to the last second of the span, in Beijing."""
    start = datetime.fromisoformat(f"{query.since}T00:00:00+08:00").timestamp()
    end = datetime.fromisoformat(f"{query.until or query.today or query.since}T23:59:59+08:00").timestamp()
    return f"stf={start:.0f},{end:.0f}|stftype=1"
