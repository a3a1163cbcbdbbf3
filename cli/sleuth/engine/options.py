"""What is wished of a search, as typed or as a program says it, and the request it means."""

from __future__ import annotations

from collections.abc import Sequence

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr_detail
from sleuth.store.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME
from sleuth_providers.base import Query
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sleuth.engine.search import SearchRequest
    from sleuth.relevance.rules import Rules
    from sleuth.store.settings import Settings

FIRST_DAY = "1990-01-01"  # the web has no older pages


class SearchOptions(Record):
    """The options of `sleuth search` as they were typed; what they mean stands in `options.py`."""

    words: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    count: int | None = None  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    page: int = 1
    lang: str | None = None
    region: str | None = None
    freshness: str | None = None
    safe: str | None = None
    category: str = "general"
    engine: tuple[str, ...] = ()
    site: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    format: str | None = None
    as_json: bool = False
    template: str | None = None
    fields: str | None = None
    output: str | None = None
    rerank: bool = False
    recent: bool = False
    rules: str | None = None
    explain: bool = False
    record: str | None = None
    replay: str | None = None
    batch: str | None = None
    ordered: bool = False
    resume: bool = False
    jobs: int = 8
    interactive: bool = False
    content: bool = False
    compress: str | None = None
    limit: int | None = None
    unit: str | None = None
    max_tokens: int | None = None
    progress: str = "auto"
    cached: bool = True
    refresh: bool = False
    offline: bool = False
    timeout: float | None = None
    fallback: bool | None = None
    with_time: bool | None = None
    open_result: int | None = None
    open_first: bool = False
    exit_status: bool = False

    @property
    def wants_content(self) -> bool:
        """Tell whether pages are to be read; squeezing them implies it."""
        return bool(self.content or self.compress or self.limit or self.max_tokens)


def build_request(options: SearchOptions, settings: Settings, rules: Rules | None) -> SearchRequest:
    """Return what the engine is asked to do: what was typed over what is set."""
    from sleuth.engine.search import SearchRequest

    query = Query(
        "",
        count=options.count or settings[MAX_RESULTS],
        page=options.page,
        lang=language(options.lang if options.lang is not None else settings[LANGUAGE]),
        region=(options.region if options.region is not None else settings[REGION]).upper(),
        safe=options.safe or settings[SAFE_SEARCH],
        category=options.category,
        include=split(options.site),
        exclude=split(options.exclude),
        engines=split(options.engine),
        content=options.wants_content,
        dated=settings[SEARCH_WITH_TIME] if options.with_time is None else options.with_time,
    )
    without_words = options.batch or (options.interactive and not options.words)
    return SearchRequest(
        questions=() if without_words else questions(options.words, options.question),
        query=with_freshness(query, options.freshness),
        providers=split(options.provider) or ("auto",),
        fallback=options.fallback,
        cache="off" if not options.cached else "refresh" if options.refresh else "use",
        offline=options.offline,
        timeout=options.timeout,
        rules=rules,
        recent=options.recent,
        rerank=options.rerank,
    )


def split(values: Sequence[str] | None) -> tuple[str, ...]:
    """Return the parts of options that may be repeated and may hold commas."""
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())


def questions(words: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Return what is asked: the words as one question, then those given by -q."""
    asked = ([" ".join(words)] if words else []) + list(more)
    if not asked:
        raise RequestError("there is nothing to search for", "say what: sleuth search rust async runtimes")
    return tuple(asked)


def language(code: str) -> str:
    """Return a language in its usual spelling; nothing for `auto`."""
    if code in ("", "auto"):
        return ""
    head, _, tail = code.replace("_", "-").partition("-")
    if not (head.isalpha() and head.isascii() and 2 <= len(head) <= 3):
        raise RequestError("{language!r} is not a language", "write it like de or zh-CN", language=code)
    return f"{head.lower()}-{tail.upper() if len(tail) == 2 else tail}" if tail else head.lower()


def with_freshness(query: Query, freshness: str | None) -> Query:
    """Return the query limited to a time span."""
    if not freshness:
        return query
    from datetime import UTC, datetime

    from sleuth.relevance.dates import freshness_window

    try:
        today = datetime.now(UTC).date()
        name, since, until = freshness_window(freshness, today)
    except ValueError as problem:
        raise RequestError(
            "{value!r} says not how new results must be ({reason})",
            "write day, week, month, year or 2026-01-01..2026-06-30",
            value=freshness,
            reason=problem,
        ) from problem
    if name == "range":  # an open end is closed here, so that no adapter meets an empty date
        since, until = since or FIRST_DAY, until or today.isoformat()
    return query._replace(freshness=name, since=since, until=until)


def load_rules(path: str | None, default: str, warn: Callable[[str], None]) -> Rules | None:
    """Load domain rules from a file, or from rules.txt beside the settings; warn about invalid lines."""
    import os

    if path is None and not os.path.exists(default):
        return None
    from sleuth.relevance.rules import Rules

    try:
        with open(path or default, encoding="utf-8", errors="replace") as stream:
            found = Rules.parse(stream.read())
    except OSError as problem:
        raise RequestError(
            "cannot read {path} ({reason})", "check --rules", path=path or default, reason=problem.strerror
        ) from problem
    for number, message in found.problems:
        warn(f"{path or default}:{number}: {tr_detail(message)}")
    return found
