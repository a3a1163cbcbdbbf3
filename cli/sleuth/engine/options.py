"""Turns the options of a search into a request: checks values, applies settings, reads rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean
from sleuth.base.urls import mask_login, without_path
from sleuth.engine.search_options import OPTIONS, SearchOptions
from sleuth.store.setting_types import LANGUAGE_CODE, choice, is_domain_pattern, number, whole
from sleuth.store.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME
from sleuth_providers.base import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from sleuth.engine.search import SearchRequest
    from sleuth.relevance.rules import Rules
    from sleuth.store.setting_types import SettingType
    from sleuth.store.settings import Settings

DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
NAMED_DAYS = {1: "day", 7: "week", 30: "month", 365: "year"}
FIRST_DAY = "1990-01-01"  # start of an open date range; the web has no older pages


def build_request(options: SearchOptions, settings: Settings, rules: Rules | None) -> SearchRequest:
    """Return the request for some options; settings fill in what is not given."""
    from sleuth.engine.search import SearchRequest

    for name in ("sites", "exclude", "engines", "rules", "output", "batch", "record", "replay", "template", "fields"):
        value, flag = getattr(options, name), OPTIONS[name].flags[0]
        if "" in (value if isinstance(value, tuple) else (value,)):  # a variable of the shell that is not set
            raise RequestError("{option} is empty", "give it a value, or omit it", option=flag)
    query = Query(
        "",
        count=options.count or settings[MAX_RESULTS],
        page=options.page,
        lang=language(options.language if options.language is not None else settings[LANGUAGE]),
        region=country(options.region if options.region is not None else settings[REGION]),
        safe=options.safe or settings[SAFE_SEARCH],
        category=options.category,
        include=domains(options.sites),
        exclude=domains(options.exclude),
        engines=split(options.engines),
        content=options.wants_content,
        dated=settings[SEARCH_WITH_TIME] if options.with_time is None else options.with_time,
    )
    without_words = options.batch or (options.interactive and not options.words)
    return SearchRequest(
        questions=() if without_words else questions(options.words, options.questions),
        query=with_freshness(query, options.freshness),
        providers=provider_ids(options.providers),
        fallback=options.fallback,
        cache=cache_use(options),
        offline=options.offline,
        timeout=options.timeout,
        rules=rules,
        continued=options.page > 1,
        fill=True,
        recent=options.recent,
        rerank=options.rerank,
        date_wanted=bool(options.with_time),
        from_settings=unset(lang=options.language, region=options.region, safe=options.safe),
    )


def unset(**options: str | None) -> tuple[str, ...]:
    """Return the names of options without a value, which come from the settings."""
    return tuple(name for name, value in options.items() if not value)


def cache_use(options: SearchOptions) -> str:
    """Return how to use the cache: one of `choices.CACHE_USE`."""
    return "off" if not options.cached else "refresh" if options.refresh else "use"


def check_options(values: Mapping[str, Any]) -> SearchOptions:
    """Return the options of a program, given by name; raises RequestError for a value that an option does not take."""
    for name, value in values.items():
        spec = OPTIONS[name]
        if spec.choices:
            check_value(name, value, choice(*spec.choices))
        elif spec.range:
            low, high = spec.range
            check_value(name, value, whole(int(low), int(high)) if spec.kind == "int" else number(low, high))
    return SearchOptions(**values)


def check_value(name: str, value: Any, type: SettingType) -> None:
    """Raise RequestError for a value that a parameter does not take; None means that it was not given."""
    if value is not None and not type.accepts(value):
        shown = clean(repr(value), 100)
        hint = "it takes {accepted}"
        raise RequestError("invalid {key}: {value}", hint, key=name, value=shown, accepted=type.description)


def split(values: Sequence[str] | None) -> tuple[str, ...]:
    """Return the parts of values that may be repeated and may contain commas."""
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())


def provider_ids(values: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of --provider. An empty value stays and is an unknown provider: it must not mean the default."""
    ids = (id.lower() if id.lower() in ("auto", "all") else id for id in split(values))
    return tuple(dict.fromkeys(ids)) or tuple(values)


def questions(words: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Return the queries: the words as one, then those given with -q."""
    queries = ([" ".join(words)] if words else []) + list(more)
    if not queries:
        raise RequestError("nothing to search for", "add some words: sleuth search rust async runtimes")
    return tuple(dict.fromkeys(queries))


def language(code: str) -> str:
    """Return a language code in its usual spelling; empty for `auto`."""
    if code in ("", "auto"):
        return ""
    head, _, tail = code.replace("_", "-").partition("-")
    if not LANGUAGE_CODE.accepts(code):
        raise RequestError("invalid language {language!r}", "use a code such as de or zh-CN", language=code)
    return f"{head.lower()}-{tail.upper() if len(tail) == 2 else tail}" if tail else head.lower()


def country(code: str) -> str:
    """Return a country code in upper case."""
    if code and not (len(code) == 2 and code.isascii() and code.isalpha()):
        raise RequestError("invalid region {region!r}", "use a two-letter country code such as CH or US", region=code)
    return code.upper()


def domains(values: Sequence[str]) -> tuple[str, ...]:
    """Return the domains of --site or --exclude: URLs become their host, patterns stay."""
    for value in split(values):
        if not is_domain_pattern(value):
            hint = "use example.com, *.example.com or /regex/"
            raise RequestError("invalid domain {value!r}", hint, value=mask_login(value))
    return tuple(map(without_path, split(values)))


def _spelled_out(freshness: str, today: date) -> str:
    """Return what d, w, m, y, or a number of them such as 7d stands for; other values as they are."""
    amount, unit = freshness.strip().lower()[:-1], freshness.strip().lower()[-1:]
    if unit not in DAYS or not (amount.isdecimal() or not amount) or len(amount) > 4:
        return freshness
    days = int(amount or 1) * DAYS[unit]
    return NAMED_DAYS.get(days) or f"{today - timedelta(days)}.."


def with_freshness(query: Query, freshness: str | None) -> Query:
    """Return the query limited to a date range."""
    if not freshness:
        return query
    from sleuth.relevance.dates import freshness_window

    try:
        today = datetime.now(UTC).date()
        name, since, until = freshness_window(_spelled_out(freshness, today), today)
    except ValueError as problem:
        hint = "use day, week, month, year, 7d or 2026-01-01..2026-06-30"
        message = "invalid freshness {value!r}: {reason}" if ".." in freshness else "invalid freshness {value!r}"
        raise RequestError(message, hint, value=freshness, reason=problem.args[0]) from problem
    if name == "range":  # adapters need both ends of a range
        since, until = since or FIRST_DAY, until or today.isoformat()
    return query._replace(freshness=name, since=since, until=until)


MAX_RULES_BYTES = 50_000_000
MAX_RULE_WARNINGS = 5


def load_rules(path: str | None, default: str, warn: Callable[[str], None]) -> Rules | None:
    """Load domain rules from a file, or from rules.txt next to the settings; warn about invalid lines."""
    import os

    if path is None and not os.path.exists(default):
        return None
    from sleuth.base.files import read_file, unreadable
    from sleuth.relevance.rules import Rules

    try:
        found = Rules.parse(read_file(path or default, MAX_RULES_BYTES, own=not path).decode("utf-8", "replace"))
    except OSError as problem:
        hint = "check that it exists, its owner and permissions: ls -l {path}"
        raise unreadable(path or default, problem, hint) from problem
    for line, message in found.problems[:MAX_RULE_WARNINGS]:
        warn(tr("{path}:{line}: {message}", path=path or default, line=line, message=message))
    if (left := len(found.problems) - MAX_RULE_WARNINGS) > 0:
        warn(trn("{path}: {count} more invalid line", "{path}: {count} more invalid lines", left, path=path or default))
    return found
