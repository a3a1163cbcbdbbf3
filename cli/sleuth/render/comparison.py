"""Providers side by side on a terminal: a table, and how far each pair overlaps."""

from typing import TextIO

from rich.console import Console
from rich.text import Text

from sleuth.base.i18n import tr, trn
from sleuth.base.text import width
from sleuth.engine.compare import Comparison
from sleuth.render.rich import aligned, make_console, print_wrapped

BAR_WIDTH = 20
FULL, SHARED = "█", "░"
ASCII_BARS = {FULL: "#", SHARED: "."}

Row = tuple[tuple[str, ...], Text, str]  # cells, a bar, and a problem


def render(found: Comparison, out: TextIO, color: str) -> None:
    """Write the comparison."""
    console = make_console(out, color)
    title = trn("{count} query", "{count} queries", len(found.queries))
    print_wrapped(console, Text(f"{title}{tr(': ')}{', '.join(found.queries)}", "bold"), "")
    console.print()
    rows: list[Row] = [((tr("provider"), tr("results"), tr("unique"), tr("mean"), tr("cost")), Text(), "")]
    most = max((one.results for one in found.providers), default=0)
    for one in found.providers:
        mean = f"{one.mean_ms} ms" if one.mean_ms is not None else "-"
        cells = (one.id, str(one.results), str(one.unique), mean, f"${one.cost:.4f}" if one.cost else "-")
        shared = _bar(console, SHARED, one.results - one.unique, most, "dim")
        rows.append((cells, _bar(console, FULL, one.unique, most, "green") + shared, one.error))
    _print_rows(console, rows)
    console.print()
    legend = tr("{full} found by this provider alone, {shared} by others too", full=FULL, shared=SHARED)
    print_wrapped(console, Text(_printable(console, legend), "dim"), "")
    _print_overlap(console, found)


def _print_overlap(console: Console, found: Comparison) -> None:
    results = {one.id: one.results for one in found.providers}
    rows: list[Row] = []
    for (one, other), shared in sorted(found.overlap.items(), key=lambda entry: -entry[1]):
        if of := min(results[one], results[other]):
            rows.append(((f"{one} + {other}", f"{shared}/{of}"), _bar(console, FULL, shared, of, "cyan"), ""))
    if rows:
        console.print()
        console.print(Text(tr("Found by both"), "bold"))
        _print_rows(console, rows)


def _print_rows(console: Console, rows: list[Row]) -> None:
    """Print cells in columns, with the bars if they fit, and each problem below its row."""
    for line, (_, bar, problem) in zip(aligned([cells for cells, _, _ in rows]), rows, strict=True):
        has_room = bar and width(line) + 2 + BAR_WIDTH <= console.width
        console.print(Text.assemble(line, "  ", bar) if has_room else Text(line), soft_wrap=True)
        if problem:
            print_wrapped(console, Text(problem, "red"), "  ", Text("  "))


def _bar(console: Console, mark: str, count: int, most: int, style: str) -> Text:
    return Text(_printable(console, mark) * round(BAR_WIDTH * count / most) if most else "", style)


def _printable(console: Console, text: str) -> str:
    if not (console.options.ascii_only or console.is_dumb_terminal):
        return text
    return "".join(ASCII_BARS.get(character, character) for character in text)
