"""What a provider found, as JSON: the form the cache and recordings keep."""

from typing import Any

from sleuth_providers.base import Answer, Found, Result


def found_as_json(found: Found) -> dict[str, Any]:
    """Return an answer in the form the cache and recordings keep."""
    document = found._asdict()
    document["results"] = [result._asdict() for result in found.results]
    document["answers"] = [answer._asdict() for answer in found.answers]
    return document


def found_from_json(document: Any) -> Found | None:
    """Read an answer back; anything that does not fit is no answer."""
    try:
        results = tuple(Result(**(entry | {"engines": tuple(entry["engines"])})) for entry in document["results"])
        lists = {name: tuple(document[name]) for name in ("suggestions", "corrections", "not_applied")}
        answers = tuple(Answer(**entry) for entry in document["answers"])
        return Found(results, answers, engines=dict(document["engines"]), cost=float(document["cost"]), **lists)
    except (TypeError, KeyError, ValueError):
        return None
