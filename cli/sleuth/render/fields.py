"""Results as named fields, for CSV, JSON, templates and --fields."""

from __future__ import annotations

from sleuth.base.urls import domain
from sleuth.engine.outcome import hit_as_json
from sleuth.relevance.hit import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def hit_fields(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """Return every field of a result by name."""
    return {"rank": hit.citation, "domain": domain(hit.url)} | hit_as_json(hit, explain=explain)


def chosen_fields(hit: Hit, names: tuple[str, ...], *, explain: bool = False) -> dict[str, Any]:
    """Return the chosen fields of a result in order, or its whole JSON form if none are chosen."""
    if not names:
        return hit_as_json(hit, explain=explain)
    fields = hit_fields(hit, explain=explain)
    return {name: fields.get(name) for name in names}


def explanation(hit: Hit) -> list[str]:
    """Return how the score of a result came about, for --explain."""
    votes = [f"{vote.provider} #{vote.rank} × {vote.weight:g} → {vote.points:.6f}" for vote in hit.votes]
    return [*votes, *hit.adjustments, f"= {hit.score:.6f}"]


def as_cell(value: Any) -> str:
    """Return a field as one cell of text."""
    return "" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)
