"""Reads sources from JSON: the output of search or summarize, or a list of pages."""

import json
from collections.abc import Mapping
from typing import Any

from sleuth.answers.citations import CitedSource
from sleuth.base.errors import RequestError

HINT = "use the output of sleuth search --json, or a list of objects with url and title"
MAX_SOURCES = 999  # citations have at most three digits


def read_sources(text: str) -> list[CitedSource]:
    """Return the sources in a JSON document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RequestError("the sources are not JSON", HINT) from problem
    entries = _entries(document)
    if len(entries) > MAX_SOURCES:
        raise RequestError("too many sources: {count}", "use at most {most}", count=len(entries), most=MAX_SOURCES)
    found = (_source(entry, place) for place, entry in enumerate(entries, 1))
    return [source for source in found if source.citation]


def _entries(document: Any) -> list[Any]:
    if isinstance(document, dict):
        document = document.get("results", document.get("sources"))
    if not isinstance(document, list):
        raise RequestError("the sources are not a list of pages", HINT)
    return document


def _source(entry: Any, place: int) -> CitedSource:
    if isinstance(entry, str):
        entry = {"url": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
        raise RequestError("source {place} has no url", HINT, place=place)
    number = entry.get("citation", place)
    if number is None:  # a page that could not be read
        number = 0
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_SOURCES:
        hint = "use numbers from 1 to {most}"
        raise RequestError("invalid citation {number!r}", hint, number=str(number)[:50], most=MAX_SOURCES)
    round = entry.get("round")
    return CitedSource(
        number,
        entry["url"],
        str(entry.get("title") or ""),
        _text(entry),
        round if isinstance(round, int) and round > 0 else 1,
        entry,
    )


def _text(entry: Mapping[str, Any]) -> str:
    for name in ("content", "snippet", "text"):
        if isinstance(value := entry.get(name), str) and value.strip():
            return value
    quotes = entry.get("summary")
    if not isinstance(quotes, list):
        return quotes if isinstance(quotes, str) else ""
    return "\n".join(str(quote.get("text") or "") for quote in quotes if isinstance(quote, dict))
