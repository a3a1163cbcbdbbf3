"""NDJSON: one result per line."""

from typing import TextIO

from sleuth.base.json_output import write_json
from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import chosen_fields


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write each result as a line of JSON."""
    for hit in outcome.results:
        write_json(chosen_fields(hit, view.fields, explain=view.explain), out, indent=None)
