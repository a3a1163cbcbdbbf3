"""What was typed becomes what was meant: lists, languages, time spans, fields, rules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sleuth.errors import RequestError
from sleuth.language import retell
from sleuth.render import FIELDS
from sleuth.runtime import Runtime
from sleuth_providers.base import Query

if TYPE_CHECKING:
    from sleuth.relevance.rules import Rules

FIRST_DAY = "1990-01-01"  # the web has no older pages


def split(values: Sequence[str] | None) -> tuple[str, ...]:
    """Return the parts of options that may be repeated and may hold commas."""
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())


def questions(words: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Return what is asked: the words as one question, then those given by -q."""
    asked = ([" ".join(words)] if words else []) + list(more)
    if not asked:
        raise RequestError("there is nothing to search for", "say what: sleuth search rust async runtimes")
    return tuple(asked)


def fields(names: str | None) -> tuple[str, ...]:
    """Return the fields that were named, all of them known."""
    chosen = split([names]) if names else ()
    unknown = [name for name in chosen if name not in FIELDS]
    if unknown:
        raise RequestError("no such field: {name}", "fields: {fields}", name=unknown[0], fields=", ".join(FIELDS))
    return chosen


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


def rules(runtime: Runtime, path: str | None) -> "Rules | None":
    """Return the domain rules of a file, or of rules.txt beside the settings; lines that make no sense are told."""
    import os

    default = os.path.join(os.path.dirname(runtime.paths.config_file), "rules.txt")
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
