"""Providers side by side on a terminal: a table, and how far each pair overlaps."""

from typing import TextIO

from rich.console import Console
from rich.text import Text

from sleuth.base.i18n import tr, trn
from sleuth.base.text import pad, width
from sleuth.engine.compare import Comparison
from sleuth.render.rich import make_console, print_wrapped

BAR_WIDTH = 20
FULL, SHARED = "█", "░"
ASCII_BARS = {FULL: "#", SHARED: "."}


def render(found: Comparison, out: TextIO, color: str) -> None:
    """Write the comparison."""
    console = make_console(out, color)
    title = trn("{count} query", "{count} queries", len(found.queries))
    print_wrapped(console, Text(f"{title}{tr(': ')}{', '.join(found.queries)}", "bold"), "")
    console.print()
    heads = (tr("provider"), tr("results"), tr("unique"), tr("mean"), tr("cost"))
    rows = [
        (
            one.id,
            str(one.results),
            str(one.unique),
            f"{one.mean_ms} ms" if one.mean_ms is not None else "-",
            f"${one.cost:.4f}" if one.cost else "-",
        )
        for one in found.providers
    ]
    widths = [max(width(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    most = max((one.results for one in found.providers), default=0)
    _print_row(console, heads, widths, Text())
    for row, one in zip(rows, found.providers, strict=True):
        _print_row(console, row, widths, _bar(console, one.unique, one.results, most), one.error)
    console.print()
    legend = tr("{full} found by this provider alone, {shared} by others too", full=FULL, shared=SHARED)
    print_wrapped(console, Text(_printable(console, legend), "dim"), "")
    _print_overlap(console, found)


def _print_row(console: Console, cells: tuple[str, ...], widths: list[int], bar: Text, problem: str = "") -> None:
    first = cells[0] + " " * (widths[0] - width(cells[0]))
    rest = [" " * (columns - width(cell)) + cell for cell, columns in zip(cells[1:], widths[1:], strict=True)]
    line = Text("  ".join([first, *rest]))
    if bar and width(line.plain) + 2 + len(bar) <= console.width:
        line.append("  ").append_text(bar)
    line.rstrip()
    console.print(line, soft_wrap=True)
    if problem:
        print_wrapped(console, Text(problem, "red"), "  ", Text("  "))


def _bar(console: Console, unique: int, results: int, most: int) -> Text:
    if not most:
        return Text()
    alone = round(BAR_WIDTH * unique / most)
    both = round(BAR_WIDTH * results / most) - alone
    return Text.assemble((_printable(console, FULL) * alone, "green"), (_printable(console, SHARED) * both, "dim"))


def _print_overlap(console: Console, found: Comparison) -> None:
    results = {one.id: one.results for one in found.providers}
    pairs = sorted(found.overlap.items(), key=lambda entry: -entry[1])
    lines = [(f"{one} + {other}", shared, min(results[one], results[other])) for (one, other), shared in pairs]
    lines = [line for line in lines if line[2]]
    if not lines:
        return
    console.print()
    console.print(Text(tr("Found by both"), "bold"))
    names = max(width(name) for name, _, _ in lines)
    for name, shared, of in lines:
        line = Text(f"{pad(name, names)}  {shared}/{of}".ljust(names + 8))
        if width(line.plain) + BAR_WIDTH <= console.width:
            line.append(_printable(console, FULL) * round(BAR_WIDTH * shared / of), "cyan")
        line.rstrip()
        console.print(line, soft_wrap=True)


def _printable(console: Console, text: str) -> str:
    if not (console.options.ascii_only or console.is_dumb_terminal):
        return text
    return "".join(ASCII_BARS.get(character, character) for character in text)
