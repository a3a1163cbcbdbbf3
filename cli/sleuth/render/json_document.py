"""One JSON document: the published form of an outcome."""

from typing import TextIO

from sleuth.notation import write_json
from sleuth.outcome import Outcome, as_json
from sleuth.render import View
from sleuth.render.fields import chosen_fields


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the outcome as indented JSON."""
    document = as_json(outcome, explain=view.explain)
    if view.fields:
        document["results"] = [chosen_fields(hit, view.fields, explain=view.explain) for hit in outcome.results]
    write_json(document, out)
