"""Comma-separated values with a header line; cells that a spreadsheet would run as a formula are made harmless."""

import csv
from typing import TextIO

from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import as_cell, hit_fields

COLUMNS = ("rank", "title", "url", "snippet", "published", "providers")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # Asian editions read the wide ones too


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the results as CSV."""
    columns = view.fields or COLUMNS
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for hit in outcome.results:
        fields = hit_fields(hit)
        writer.writerow(_harmless(as_cell(fields.get(column))) for column in columns)


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell
