"""The results of the last few searches, for `sleuth open` and `sleuth again`; nothing is kept without a history."""

import os
from contextlib import suppress

from sleuth.relevance.hit import Hit
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    # For each round of requests, the ids of the providers that answered and the numbers of the questions.
    Rounds = Sequence[Collection[tuple[str, int]]]

MAX_SEARCHES = 5
MAX_FILE_BYTES = 2_000_000
MAX_TEXT_CHARS = 400
SCHEMES = ("http", "https", "file")
FIELDS = ("citation", "title", "url", "snippet", "site_name", "published", "providers")


class SavedSearch(Record):
    """A search, what it found, and what is needed to continue it."""

    query: str
    provider: str  # those that answered, as they were shown
    at: float
    results: tuple[Hit, ...]
    questions: tuple[str, ...] = ()  # none: the results are of several searches, which cannot be continued
    page_size: int = 0  # results that were wanted
    next_provider: str = ""  # what -p takes for more of the same
    options: "Mapping[str, Any]" = {}  # those of `SearchOptions` that shaped the list
    rounds: "Rounds" = ()  # the requests whose answers the list was merged from


def _path(folder: str) -> str:
    return os.path.join(folder, "last-results.json")


def save(folder: str, search: SavedSearch) -> bool:
    """Save the results of a search; return False if those of an earlier one stay in their place."""
    import json

    from sleuth.base.errors import SleuthError
    from sleuth.base.files import private_folder, write_atomic

    with suppress(OSError, SleuthError):
        private_folder(folder)
        searches = [as_entry(search), *_read(folder)[: MAX_SEARCHES - 1]]
        data = json.dumps(searches, ensure_ascii=False, separators=(",", ":"))
        write_atomic(_path(folder), data.encode("utf-8", "replace"), sync=False)
        return True
    return not os.path.exists(_path(folder))


def as_entry(search: SavedSearch) -> "list[Any]":
    """Return a search in the form in which it is saved."""
    return [*search[:3], [[_safe(name, getattr(hit, name)) for name in FIELDS] for hit in search.results], *search[4:]]


def _safe(name: str, value: "Any") -> "Any":
    """Return a field, sanitised and short enough to keep; a URL is kept whole."""
    from sleuth.base.text import clean
    from sleuth.base.urls import clean_url

    if name == "url":
        return clean_url(value, SCHEMES)
    if isinstance(value, list | tuple):
        return tuple(_safe(name, part) for part in value)
    return clean(value, MAX_TEXT_CHARS, entities=False) if isinstance(value, str) else value


def _read(folder: str) -> "list[Any]":
    import json

    from sleuth.base.files import read_file

    try:
        found = json.loads(read_file(_path(folder), MAX_FILE_BYTES), parse_constant=int)  # Infinity is an error
    except (OSError, ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def load(folder: str, newest: "Sequence[Any]" = ()) -> list[SavedSearch]:
    """Return the saved searches, newest first; entries of another form, and URLs no browser should get, are skipped.

    `newest` are entries that were saved elsewhere.
    """
    found = []
    for entry in (*newest, *_read(folder)):
        with suppress(TypeError, ValueError, OverflowError):
            query, provider, at, hits, questions, size, next_provider, options, rounds = entry
            results = (
                Hit(**{name: _safe(name, value) for name, value in zip(FIELDS, hit, strict=True)}) for hit in hits
            )
            shown = tuple(hit for hit in results if hit.url)
            asked = tuple(map(str, questions))
            facts = str(query), str(provider), float(at), shown, asked, int(size), str(next_provider)
            made = [[(str(id), int(at)) for id, at in pairs] for pairs in rounds]
            found.append(SavedSearch(*facts, dict(options), made))
    return found


def forget(folder: str, words: "Sequence[str]" = ()) -> None:
    """Delete the saved searches whose query contains all the words, or all of them."""
    import json

    from sleuth.base.files import write_atomic
    from sleuth.store.history import contains_all

    saved = [entry for entry in _read(folder) if isinstance(entry, list) and entry]
    kept = [entry for entry in saved if not contains_all(str(entry[0]), words)] if words else []
    if kept:
        write_atomic(_path(folder), json.dumps(kept).encode("utf-8", "replace"))
        return
    with suppress(FileNotFoundError):
        os.unlink(_path(folder))
