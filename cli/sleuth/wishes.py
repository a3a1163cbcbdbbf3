"""What is wished of a search, as typed or as a program says it, and the request it means."""

from __future__ import annotations

from collections.abc import Sequence

from sleuth.errors import RequestError
from sleuth.language import retell
from sleuth.runtime import Runtime
from sleuth.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME
from sleuth_providers.base import Query
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.relevance.rules import Rules
    from sleuth.search import SearchRequest

FIRST_DAY = "1990-01-01"  # the web has no older pages


class Wishes(Record):
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


def as_request(runtime: Runtime, wishes: Wishes) -> SearchRequest:
    """Return what the engine is asked to do: what was typed over what is set."""
    from sleuth.search import SearchRequest

    settings = runtime.settings
    query = Query(
        "",
        count=wishes.count or settings[MAX_RESULTS],
        page=wishes.page,
        lang=language(wishes.lang if wishes.lang is not None else settings[LANGUAGE]),
        region=(wishes.region if wishes.region is not None else settings[REGION]).upper(),
        safe=wishes.safe or settings[SAFE_SEARCH],
        category=wishes.category,
        include=split(wishes.site),
        exclude=split(wishes.exclude),
        engines=split(wishes.engine),
        content=wishes.wants_content,
        dated=settings[SEARCH_WITH_TIME] if wishes.with_time is None else wishes.with_time,
    )
    without_words = wishes.batch or (wishes.interactive and not wishes.words)
    return SearchRequest(
        questions=() if without_words else questions(wishes.words, wishes.question),
        query=with_freshness(query, wishes.freshness),
        providers=split(wishes.provider) or ("auto",),
        fallback=wishes.fallback,
        cache="off" if not wishes.cached else "refresh" if wishes.refresh else "use",
        offline=wishes.offline,
        timeout=wishes.timeout,
        rules=rules(runtime, wishes.rules),
        recent=wishes.recent,
        rerank=wishes.rerank,
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


def rules(runtime: Runtime, path: str | None) -> Rules | None:
    """Return the domain rules of a file, or of rules.txt beside the settings; lines that make no sense are told."""
    import os

    default = runtime.paths.rules
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
        runtime.warn(f"{path or default}:{number}: {retell(message)}")
    return found
