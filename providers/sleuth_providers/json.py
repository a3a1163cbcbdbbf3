"""Reading JSON replies whose shape cannot be trusted: each function returns a usable value for any input."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sleuth_providers.base import DirectAnswer, Response, Result
from sleuth_providers.errors import BadResponseError
from sleuth_providers.net.urls import host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_ITEMS = 1000  # of a list
MAX_NUMBER = 1e300
MAX_COUNT = 10**15


def strip_tags(markup: Any) -> str:
    """Return marked-up text as plain text: tags removed, entities decoded once."""
    text = re.sub(r"<[^<>]*>", "", as_text(markup)).strip()
    if "&" not in text:
        return text
    from html import unescape  # its table of entities is large, and rarely needed

    return unescape(text).strip()


def as_text(value: Any) -> str:
    """Return a string or number as text, anything else as an empty string."""
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, bool | list | dict) else str(value)


def as_number(value: Any) -> float | None:
    """Return a JSON number, None for anything else."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and abs(value) < MAX_NUMBER else None


def as_count(value: Any) -> int | None:
    """Return a number or digits as a whole number from 0 to MAX_COUNT, None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}", value):
        return int(value)
    number = as_number(value)
    return int(number) if number is not None and 0 <= number <= MAX_COUNT else None


def as_list(value: Any) -> list[Any]:
    """Return the first items of a JSON list, an empty list for anything else."""
    return value[:MAX_ITEMS] if isinstance(value, list) else []


def as_dict(value: Any) -> dict[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(response: Response, *path: str, envelope: str | None = None) -> list[dict[str, Any]]:
    """Return the objects of the list at `path` in a reply, as `objects` does; null is an empty list.

    A reply without the list raises BadResponseError. Where the API leaves out an empty list, `envelope` is a field
    that every successful reply has.
    """
    value: Any = (reply := document(response))
    absent = None if envelope in reply else ""
    for name in path:
        value = None if value is None else as_dict(value).get(name, absent)
    if not isinstance(value, list | None) or (not value and _reports_error(reply)):
        raise BadResponseError("no list of results", status=response.status)
    return objects(value)


def document(response: Response, *fields: str) -> dict[str, Any]:
    """Return the JSON object of a reply; raise BadResponseError for anything else.

    `fields` are for replies in which the list has one of several places: the object has at least one of them.
    """
    value = response.json()
    if not isinstance(value, dict):
        raise BadResponseError("not a JSON object", status=response.status)
    found = [value[name] for name in fields if isinstance(value.get(name, ""), list | dict | None)]
    if fields and not (any(found) if _reports_error(value) else found):
        raise BadResponseError("no list of results", status=response.status)
    return value


def _reports_error(reply: Mapping[str, Any]) -> bool:
    return bool(reply.get("error") or reply.get("errors"))


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, for other items an empty one, so that `web_results` counts them."""
    return [as_dict(item) for item in as_list(value)]


def result_of(item: Mapping[str, object], **names: str) -> Result:
    """Return a result with text fields of an object: `result_of(item, title="name", url="link")`."""
    texts: Any = {field: as_text(item.get(name)) for field, name in names.items()}
    return Result(**texts)


def marked_result_of(item: Mapping[str, object], **names: str) -> Result:
    """Return a result like `result_of`, whose title and snippet are marked up, without the markup."""
    result = result_of(item, **names)
    return result._replace(title=strip_tags(result.title), snippet=strip_tags(result.snippet))


def direct_answers(*answers: tuple[str, str]) -> tuple[DirectAnswer, ...]:
    """Return pairs of text and source URL as answers; those without text are left out."""
    return tuple(DirectAnswer(text, url) for text, url in answers if text)


class Results(tuple[Result, ...]):
    """The results of a reply, and how many were left out as malformed."""

    skipped = 0


def web_results(results: Iterable[Result]) -> Results:
    """Keep results with an http(s) URL; one without a title gets its host as the title."""
    found = list(results)
    visitable = (result for result in found if result.url.startswith(("http://", "https://")))
    named = (result if result.title else result._replace(title=host_of(result.url)) for result in visitable)
    kept = Results(result for result in named if result.title)
    kept.skipped = len(found) - len(kept)
    return kept
