"""Sources read from JSON: an answer of search or summarize, or a plain list of pages."""

import json
from collections.abc import Mapping
from typing import Any

from sleuth.answers.citations import CitedSource
from sleuth.base.errors import RequestError

HINT = "give what sleuth search --json wrote, or a list of objects with url and title"
MOST = 999  # numbers have three digits


def read_sources(text: str) -> list[CitedSource]:
    """Return the sources that a JSON document names."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RequestError("the sources are not JSON", HINT) from problem
    entries = _entries(document)
    if len(entries) > MOST:
        raise RequestError("{count} sources are too many", "{most} at the most", count=len(entries), most=MOST)
    found = (_source(entry, place) for place, entry in enumerate(entries, 1))
    return [source for source in found if source.citation]


def _entries(document: Any) -> list[Any]:
    if isinstance(document, dict):
        document = document.get("results", document.get("sources"))
    if not isinstance(document, list):
        raise RequestError("the sources are no list of pages", HINT)
    return document


def _source(entry: Any, place: int) -> CitedSource:
    if isinstance(entry, str):
        entry = {"url": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
        raise RequestError("source {place} has no address", HINT, place=place)
    number = entry.get("citation", place)
    if number is None:  # a page that could not be read
        number = 0
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MOST:
        raise RequestError("{number!r} is no number of a source", "1 to {most}", number=str(number)[:50], most=MOST)
    turn = entry.get("round")
    return CitedSource(
        number,
        entry["url"],
        str(entry.get("title") or ""),
        _text(entry),
        turn if isinstance(turn, int) and turn > 0 else 1,
    )


def _text(entry: Mapping[str, Any]) -> str:
    for name in ("content", "snippet", "text"):
        if isinstance(value := entry.get(name), str) and value.strip():
            return value
    quotes = entry.get("summary")
    if not isinstance(quotes, list):
        return quotes if isinstance(quotes, str) else ""
    return "\n".join(str(quote.get("text") or "") for quote in quotes if isinstance(quote, dict))
