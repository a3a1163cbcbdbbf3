"""Bing's parameter for dates, which resellers of its results use too."""

from datetime import date

from sleuth_providers.base import Query

TIME_FILTERS = {"day": "ez1", "week": "ez2", "month": "ez3"}


def time_filter(query: Query) -> str:
    """Return a freshness as the value of an `ex1` filter; dates are counted in days since 1970."""
    if query.freshness in TIME_FILTERS:
        return TIME_FILTERS[query.freshness]
    until = query.until or query.today or query.since
    first, last = ((date.fromisoformat(day) - date(1970, 1, 1)).days for day in (query.since, until))
    return f"ez5_{first}_{last}"
