"""What a provider found, as JSON: the form the cache and recordings keep."""

from __future__ import annotations

from collections.abc import Iterable

from sleuth_providers.base import Answer, Found, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 1000  # results; no provider has so many on one page
TEXTS = tuple(name for name in Result._fields if name not in ("score", "engines"))


def found_as_json(found: Found) -> dict[str, Any]:
    """Return an answer in the form the cache and recordings keep."""
    document = found._asdict()
    document["results"] = [result._asdict() for result in found.results]
    document["answers"] = [answer._asdict() for answer in found.answers]
    return document


def found_from_json(document: Any) -> Found | None:
    """Read an answer back; anything that does not fit, whoever wrote it, is no answer."""
    try:
        if len(document["results"]) > MOST:
            return None
        results = tuple(_result(entry) for entry in document["results"])
        lists = {name: _texts(document[name]) for name in ("suggestions", "corrections", "not_applied")}
        answers = tuple(Answer(*_texts(Answer(**entry))) for entry in document["answers"])
        engines = document["engines"]
        failed = dict(zip(_texts(engines), _texts(engines.values()), strict=True))
        return Found(results, answers, engines=failed, cost=float(document["cost"]), **lists)
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
        return None


def _result(entry: Any) -> Result:
    result = Result(**(entry | {"engines": _texts(entry["engines"])}))
    _texts(getattr(result, name) for name in TEXTS)
    if not isinstance(result.score, float | int | None):
        raise TypeError("not a number")
    return result


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    texts = tuple(values)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("not texts")
    return texts
