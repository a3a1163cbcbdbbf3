"""Google's parameters for dates and languages, which resellers of its results use too."""

from sleuth_providers.base import Query

TRADITIONAL_CHINESE = ("TW", "HK", "MO", "HANT")


def time_span(query: Query, padded: bool = False) -> str:
    """Return a freshness as a `tbs` value; dates are month/day/year, with or without leading zeros."""
    if query.freshness != "range":
        return f"qdr:{query.freshness[0]}" if query.freshness else ""
    first, last = (american_date(day, padded) for day in (query.since, query.until))
    return f"cdr:1,cd_min:{first},cd_max:{last}"


def language(lang: str) -> str:
    """Return a language for `hl` and `lr`: Chinese with its script, others without a country."""
    if not lang.lower().startswith("zh"):
        return lang.split("-")[0].lower()
    return "zh-TW" if lang.upper().endswith(TRADITIONAL_CHINESE) else "zh-CN"


def american_date(day: str, padded: bool) -> str:
    """Return an ISO date as month/day/year, with or without leading zeros."""
    year, month, date = day.split("-")
    return f"{month}/{date}/{year}" if padded else f"{int(month)}/{int(date)}/{year}"
