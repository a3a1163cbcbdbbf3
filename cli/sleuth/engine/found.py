"""What a provider found: limited in size, redacted, and as JSON for the cache and recordings."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from sleuth.base.text import is_common, redact
from sleuth_providers.base import Details, DirectAnswer, Found, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_RESULTS, MAX_TEXTS, MAX_ENGINES = 200, 100, 300
MAX_STORED_RESULTS = 1000  # more were not written by sleuth
MAX_CHARS = 10_000
MAX_FIELD_CHARS = {"snippet": 20_000, "content": 1_000_000}  # instead of MAX_CHARS; what is shown is shorter
FIELD_LIMITS = [MAX_FIELD_CHARS.get(name, MAX_CHARS) for name in Result._fields]
NO_DETAILS = Details()
TEXT_FIELDS = tuple(name for name in Result._fields if name not in ("score", "engines", "details"))


def limit_found(found: Found, secrets: tuple[str, ...] = ()) -> Found:
    """Return an answer with lists and texts truncated and the user's keys, if the server repeats them, redacted.

    A secret that is a common word stays: redacting it would change titles and URLs.
    """
    secrets = tuple(secret for secret in secrets if not is_common(secret))

    def safe(value: Any, max_chars: int = MAX_CHARS) -> Any:
        if isinstance(value, Details):
            return Details(*map(safe, value))
        if not isinstance(value, str):
            return tuple(map(safe, islice(value, MAX_TEXTS))) if isinstance(value, tuple | list) else value
        return redact(value, secrets)[:max_chars]

    return found._replace(
        results=tuple(Result(*map(safe, result, FIELD_LIMITS)) for result in found.results[:MAX_RESULTS]),
        answers=tuple(DirectAnswer(*map(safe, answer)) for answer in found.answers[:MAX_TEXTS]),
        suggestions=safe(tuple(found.suggestions)),
        corrections=safe(tuple(found.corrections)),
        engines={safe(name): safe(why) for name, why in islice(found.engines.items(), MAX_ENGINES)},
    )


def found_as_json(found: Found) -> dict[str, Any]:
    """Return an answer in the form that the cache and recordings store."""
    document = found._asdict()
    document["results"] = [result._asdict() | {"details": result.details.known()} for result in found.results]
    document["answers"] = [answer._asdict() for answer in found.answers]
    return document


def found_from_json(document: Any) -> Found | None:
    """Read a stored answer; None when it does not have the expected form."""
    try:
        if len(document["results"]) > MAX_STORED_RESULTS:
            return None
        results = tuple(_result(entry) for entry in document["results"])
        lists: Any = {name: _texts(document[name]) for name in ("suggestions", "corrections", "not_applied")}
        answers = tuple(DirectAnswer(*_texts(DirectAnswer(**entry))) for entry in document["answers"])
        engines = document["engines"]
        failed = dict(zip(_texts(engines), _texts(engines.values()), strict=True))
        return Found(results, answers, engines=failed, cost=float(document["cost"]), backoff=0.0, **lists)
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
        return None


def _result(entry: Any) -> Result:
    result = Result(**(entry | {"engines": _texts(entry["engines"]), "details": _details(entry.get("details", {}))}))
    _texts(getattr(result, name) for name in TEXT_FIELDS)
    if not isinstance(result.score, float | int | None):
        raise TypeError("not a number")
    return result


def _details(entry: Any) -> Details:
    if entry == {}:
        return NO_DETAILS
    details = Details(**(entry | {"authors": _texts(entry.get("authors", ()))}))
    for name, default in Details._field_defaults.items():
        expected = type(default) if default is not None else int | None  # a bool is an int
        if not isinstance(getattr(details, name), expected):
            raise TypeError("not a detail")
    return details


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    texts = tuple(values)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("not text")
    return texts
