"""CSV with a header line; cells that a spreadsheet would run as a formula are quoted."""

import csv
from typing import TextIO

from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import as_cell, hit_fields

COLUMNS = ("rank", "title", "url", "snippet", "published", "providers")
# East Asian editions of spreadsheets accept full-width signs too.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the results as CSV."""
    columns = view.fields or COLUMNS
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for hit in outcome.results:
        fields = hit_fields(hit)
        cells = (as_cell(fields.get(column)) for column in columns)
        writer.writerow(f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell for cell in cells)
