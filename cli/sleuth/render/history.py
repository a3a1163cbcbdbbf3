"""Past queries on a terminal."""

import time
from collections.abc import Iterable
from typing import TextIO

from rich.text import Text

from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean, width
from sleuth.render.rich import make_console, print_wrapped
from sleuth.store.history import HistoryEntry

INDENT = " " * 20  # the width of a time and its margins
MIN_WIDTH = 60  # columns; below it the query gets its own line
OUTCOMES = {"partial": "incomplete", "no_results": "no results", "failed": "failed"}


def render(entries: Iterable[HistoryEntry], out: TextIO, color: str) -> None:
    """Write past queries."""
    console = make_console(out, color)
    found = list(entries)
    digits = max((len(str(entry.number)) for entry in found), default=1)
    indent = " " * digits + INDENT if console.width >= MIN_WIDTH else "  "
    queries = [clean(entry.query, entities=False) for entry in found]
    column = max([size for size in map(width, queries) if size <= console.width // 3], default=0)
    for entry, query in zip(found, queries, strict=True):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
        lead = Text.assemble((f"{entry.number:>{digits}}  ", "cyan"), (when, "dim"))
        lead.append("  " if console.width >= MIN_WIDTH else "\n  ")
        gap = " " * (max(column - width(query), 0) + 2 if console.width >= MIN_WIDTH else 2)
        print_wrapped(console, Text.assemble((query, "bold"), (gap + _how(entry), "dim")), indent, lead)


def _how(entry: HistoryEntry) -> str:
    parts = [clean(entry.providers.replace(",", ", "), 60)]
    if entry.results:
        parts.append(trn("{count} result", "{count} results", entry.results))
    if entry.outcome in OUTCOMES:
        parts.append(tr(OUTCOMES[entry.outcome]))
    if entry.cached:
        parts.append(tr("cached"))
    return " · ".join(part for part in parts if part)
