"""Past queries on the terminal: when, what, and quietly how that went."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from rich.text import Text

from sleuth.language import say
from sleuth.render.rich import make_console, print_wrapped
from sleuth.text import clean

if TYPE_CHECKING:
    from sleuth.store.history import Entry

INDENT = " " * 18  # as long as a time
NARROW = 60  # columns; there the query gets a line of its own
OUTCOMES = {"partial": "something was missing", "no_results": "no results", "failed": "failed"}


def render(entries: "Iterable[Entry]", out: TextIO, color: str) -> None:
    """Write past queries for a person."""
    console = make_console(out, color)
    indent = INDENT if console.width >= NARROW else "  "
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
        lead = Text(f"{when}  " if indent == INDENT else f"{when}\n  ", "dim")
        line = Text(clean(entry.query, entities=False), "bold")
        line.append(f"  {_how(entry)}", "not bold dim")
        print_wrapped(console, line, indent, lead)


def _how(entry: "Entry") -> str:
    parts = [clean(entry.providers.replace(",", ", "), 60)]
    if entry.results:
        parts.append(say("{count} results", count=entry.results))
    if entry.outcome in OUTCOMES:
        parts.append(say(OUTCOMES[entry.outcome]))
    if entry.cached:
        parts.append(say("cached"))
    return " · ".join(part for part in parts if part)
