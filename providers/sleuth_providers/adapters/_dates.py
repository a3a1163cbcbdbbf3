"""Days of a query in the forms that APIs want."""

from datetime import date

from sleuth_providers.base import Query

SECONDS_PER_DAY = 86400


def unix_time(day: str, days_later: int = 0) -> int | None:
    """Return the start of an ISO day in UTC as Unix time, None without a day."""
    if not day:
        return None
    return ((date.fromisoformat(day) - date(1970, 1, 1)).days + days_later) * SECONDS_PER_DAY


def last_day(query: Query) -> str:
    """Return the last day of a freshness; a period ends today."""
    return query.until or query.today or query.since
