"""What a provider found, cut to what a search can use: no endless lists and texts, and none of our own keys in them."""

from __future__ import annotations

from functools import partial
from itertools import islice

from sleuth.base.text import redact, spellings
from sleuth_providers.base import Answer, Found, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Safe = Callable[..., Any]

MOST_RESULTS, MOST_WORDS, MOST_ENGINES = 200, 100, 300
LONGEST = {"snippet": 20_000, "content": 1_000_000}  # characters; what is shown is shorter
LONG = 10_000  # of everything else


def limited(found: Found, secrets: tuple[str, ...] = ()) -> Found:
    """Return as much of an answer as a search can use, without the keys that a server repeats to us."""
    hidden = [form for secret in secrets for form in spellings(secret)]
    safe = partial(_safe, hidden=hidden, secrets=secrets)
    return found._replace(
        results=tuple(_result(result, safe) for result in found.results[:MOST_RESULTS]),
        answers=tuple(Answer(safe(text), safe(url)) for text, url in found.answers[:MOST_WORDS]),
        suggestions=_texts(found.suggestions, safe),
        corrections=_texts(found.corrections, safe),
        engines={safe(name): safe(why) for name, why in islice(found.engines.items(), MOST_ENGINES)},
    )


def _result(result: Result, safe: Safe) -> Result:
    fields = {name: safe(value, LONGEST.get(name, LONG)) for name, value in result._asdict().items()}
    return Result(**fields | {"engines": _texts(result.engines, safe)})


def _texts(texts: Iterable[str], safe: Safe) -> tuple[str, ...]:
    return tuple(safe(text) for text in islice(texts, MOST_WORDS))


def _safe(value: Any, most: int = LONG, *, hidden: list[str], secrets: tuple[str, ...]) -> Any:
    if not isinstance(value, str):
        return value
    text = value[:most] if len(value) > most else value
    return redact(text, secrets) if any(form in text for form in hidden) else text
