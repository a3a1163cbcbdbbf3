"""JSON: the published form of an outcome."""

from __future__ import annotations

from sleuth.base.json_output import write_json
from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import chosen_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the outcome as indented JSON."""
    document = outcome.as_json(explain=view.explain)
    if view.fields:
        document["results"] = [chosen_fields(hit, view.fields, explain=view.explain) for hit in outcome.results]
    if view.age and outcome.cached:
        document["ageSeconds"] = view.age
    write_json(document, out)
