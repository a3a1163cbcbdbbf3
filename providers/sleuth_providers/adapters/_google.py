"""Google's own words for time spans and languages, which everyone who resells its results speaks too."""

from sleuth_providers.base import Query

TRADITIONAL = ("TW", "HK", "MO", "HANT")


def time_span(query: Query, padded: bool = False) -> str:
    """Return a freshness as `tbs` says it: months come first, with or without a leading nought."""
    if query.freshness != "range":
        return f"qdr:{query.freshness[0]}"
    first, last = (_american(day, padded) for day in (query.since, query.until))
    return f"cdr:1,cd_min:{first},cd_max:{last}"


def language(lang: str) -> str:
    """Return a language as `hl` and `lr` say it: Chinese in one of its two scripts, others without a country."""
    if not lang.lower().startswith("zh"):
        return lang.split("-")[0].lower()
    return "zh-TW" if lang.upper().endswith(TRADITIONAL) else "zh-CN"


def _american(day: str, padded: bool) -> str:
    year, month, date = day.split("-")
    return f"{month}/{date}/{year}" if padded else f"{int(month)}/{int(date)}/{year}"
