"""Usage on a terminal: totals, a table of providers, the cost of answers, and a chart of the days."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean, width
from sleuth.render.rich import aligned, make_console, print_lines, print_wrapped
from sleuth.store.usage import AnswerTotals, Day, Searches, Tally, UsageReport

CHART_HEIGHT = 4  # lines
BAR_CHARS = " ▁▂▃▄▅▆▇█"  # by eighths
NO_VALUE = "-"


def render(report: UsageReport, out: TextIO, color: str) -> None:
    """Write a usage report."""
    console = make_console(out, color)
    dates = {"first": report.days[0].date, "last": report.days[-1].date}
    title = trn("{count} day, {first} to {last}", "{count} days, {first} to {last}", len(report.days), **dates)
    title = f"{title} · {clean(report.provider, 60)}" if report.provider else title
    print_wrapped(console, Text(title, "bold"), "")
    for line in _summary(report):
        print_wrapped(console, Text(line), "")
    if report.providers:
        console.print()
        _print_table(console, _rows(report))
    if any(day.requests or day.cache_hits for day in report.days):
        console.print()
        _print_chart(console, report)


def _summary(report: UsageReport) -> list[str]:
    answers = report.answers
    lines = [] if report.is_team else [" · ".join(_counts(report.searches))]
    if answers.answers:
        lines.append(" · ".join(_spent(answers)))
    for model, spent in report.models.items() if len(report.models) > 1 else ():
        lines.append(f"{clean(model, 60) or tr('no model')}{tr(': ')}{' · '.join(_spent(spent))}")
    if report.cost:
        lines.append(tr("about {cost}, estimated from list prices", cost=_money(report.cost)))
    return lines


def _counts(searches: Searches) -> list[str]:
    found = searches.outcomes
    return [
        trn("{count:,} search", "{count:,} searches", searches.total),
        tr("{count} with results", count=f"{found['success'] + found['partial']:,}"),
        tr("{count} without results", count=f"{found['no_results']:,}"),
        trn("{count:,} failure", "{count:,} failures", found["failed"]),
        tr("{count} from the cache", count=f"{searches.cached:,}"),
    ]


def _spent(spent: AnswerTotals) -> list[str]:
    parts = [trn("{count:,} answer", "{count:,} answers", spent.answers)]
    if spent.rounds is not None:
        parts.append(tr("{rounds:.1f} rounds per answer", rounds=spent.rounds))
    if spent.prompt_tokens or spent.completion_tokens:
        read, written = f"{spent.prompt_tokens:,}", f"{spent.completion_tokens:,}"
        parts.append(tr("{read} input and {written} output tokens", read=read, written=written))
    return parts + ([_money(spent.cost)] if spent.cost else [])


def _rows(report: UsageReport) -> list[list[str]]:
    heads = [tr("provider"), tr("requests"), tr("answered"), tr("failed")]
    heads += [tr("cache hits"), tr("mean"), tr("p90"), tr("cost")]
    rows = [[clean(id, 40), *_cells(tally)] for id, tally in report.providers.items()]
    total = [[tr("all"), *_cells(report.total)]] if len(rows) > 1 else []
    lacking = (4, 6) if report.is_team else ()  # cache hits and the percentile
    return [[cell for place, cell in enumerate(row) if place not in lacking] for row in (heads, *rows, *total)]


def _cells(tally: Tally) -> list[str]:
    return [
        f"{tally.requests:,}",
        *(NO_VALUE if share is None else f"{share * 100:.0f} %" for share in tally.rates.values()),
        _duration(tally.mean_ms),
        _duration(tally.p90_ms),
        _money(tally.cost) if tally.cost else NO_VALUE,
    ]


def _print_table(console: Console, rows: Sequence[Sequence[str]]) -> None:
    """Print rows as a table, or on a narrow terminal as one paragraph per row."""
    (head, *body), lines = rows, aligned(rows)
    if width(lines[0]) <= console.width:
        print_lines(console, [Text(lines[0], "bold"), *map(Text, lines[1:])])
        return
    for name, *cells in body:
        facts = [f"{title} {cell}" for title, cell in zip(head[1:], cells, strict=True) if cell != NO_VALUE]
        print_wrapped(console, Text(" · ".join(facts)), "  ", Text(f"{name}\n  ", "bold"))


def _print_chart(console: Console, report: UsageReport) -> None:
    """Print a chart with a column per day, or per several days if they do not fit."""
    days, ascii_only = report.days, console.options.ascii_only or console.is_dumb_terminal
    sums, together = _columns(days, console.width)
    most = max(sums)
    margin = len(f"{most:,}")
    broad = 2 if len(sums) * 2 <= console.width - margin - 3 else 1
    each = tr("requests per day") if report.is_team else tr("requests and cache hits per day")
    template = "requests per {days} days" if report.is_team else "requests and cache hits per {days} days"
    print_wrapped(console, Text(each if together == 1 else tr(template, days=together), "bold"), "")
    for line in range(CHART_HEIGHT, 0, -1):
        bars = "".join(_bar(count, most, line, ascii_only) * broad for count in sums)
        label = f"{most:,}" if line == CHART_HEIGHT else ""
        print_lines(console, [Text.assemble(f"{label:>{margin}} | ", (bars.rstrip(), "cyan"))])
    first, last = days[0].date, days[-1].date
    between = len(sums) * broad - len(first) - len(last)
    dates = f"{first}{' ' * between}{last}" if between > 0 else first
    print_lines(console, [Text(f"{'0':>{margin}} | {dates}", "dim")])


def _columns(days: Sequence[Day], room: int) -> tuple[list[int], int]:
    """Return as many columns as fit next to the scale, and the number of days in each."""
    counted = [day.requests + day.cache_hits for day in days]
    for together in range(1, len(days) + 1):
        sums = [sum(counted[start : start + together]) for start in range(0, len(days), together)]
        if len(sums) + len(f"{max(sums):,}") + 3 <= room:
            break
    return sums, together


def _bar(count: int, most: int, line: int, ascii_only: bool) -> str:
    """Return one line of a bar: full, empty, or some eighths."""
    if ascii_only:
        return "#" if count and max(1, round(count / most * CHART_HEIGHT)) >= line else " "
    eighths = max(1, round(count / most * CHART_HEIGHT * 8)) if count else 0
    return BAR_CHARS[max(0, min(8, eighths - 8 * (line - 1)))]


def _duration(milliseconds: int | None) -> str:
    if milliseconds is None:
        return NO_VALUE
    return f"{milliseconds} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.0f} s"


def _money(dollars: float) -> str:
    """Return US dollars, with four decimals for small amounts."""
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"
