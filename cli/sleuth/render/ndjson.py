"""One JSON object a line, one line a result."""

import json
from typing import TextIO

from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import chosen_fields


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write each result as a line of JSON."""
    out.writelines(json.dumps(chosen_fields(hit, view.fields, explain=view.explain)) + "\n" for hit in outcome.results)
