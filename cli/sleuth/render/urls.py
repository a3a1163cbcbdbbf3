"""URLs, one per line."""

from typing import TextIO

from sleuth.engine.outcome import Outcome
from sleuth.render import View


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the URL of each result."""
    out.writelines(f"{hit.url}\n" for hit in outcome.results)
