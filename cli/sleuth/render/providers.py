"""Providers on a terminal: the grouped list, one provider in full, and test results as they arrive."""

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any, TextIO

from rich.table import Table
from rich.text import Text

from sleuth.base.i18n import tr
from sleuth.base.text import clean, width
from sleuth.engine.outcome import TrialResult
from sleuth.render.rich import make_console, print_wrapped

GROUPS = (
    ("ready", "Ready"),
    ("key", "Needs an API key, available at"),
    ("host", "Needs a URL"),
    ("off", "Not available"),
)


def render_list(items: list[dict[str, Any]], out: TextIO, color: str) -> None:
    """Write the providers in groups, each with what it needs."""
    console = make_console(out, color)
    widths = [max((width(item[field]) for item in items), default=0) for field in ("id", "name")]
    for group, title in GROUPS:
        members = [item for item in items if _group(item) == group]
        if not members:
            continue
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, width=widths[0] + 2)
        table.add_column(no_wrap=True, width=widths[1])
        table.add_column(overflow="fold")
        for item in members:
            table.add_row(_name(item), Text(item["name"]), Text(_remark(item), "dim"))
        console.print(Text(tr(title), "bold"))
        console.print(table)
        console.print()


def _group(item: dict[str, Any]) -> str:
    return "ready" if item["usable"] else item["needs"] or "off"


def _name(item: dict[str, Any]) -> Text:
    return Text.assemble(
        ("* " if item["isDefault"] else "  ", "bold green"), (item["id"], "cyan" if item["usable"] else "")
    )


def _remark(item: dict[str, Any]) -> str:
    if item["needs"] == "key":
        return str(item["keyPage"] or item["hint"])
    if item["needs"] == "host":
        return str(item["hint"])
    if not item["usable"]:
        return str(item["why"])
    if item["keySource"]:
        return tr("key from {source}", source=item["keySource"])
    if item["keyPage"]:
        return tr("limited without a key: {page}", page=item["keyPage"])
    return tr("no key needed")


def render_one(facts: dict[str, Any], out: TextIO, color: str) -> None:
    """Write one provider, one fact per line."""
    console = make_console(out, color)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in (None, [], {}, ""):
            table.add_row(Text(name), Text(_cell(value)))
    console.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(clean(f"{name}: {entry}", entities=False) for name, entry in value.items())
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return clean(", ".join(map(str, value)) if isinstance(value, list) else value, entities=False)


def render_tests(results: Iterable[TrialResult], out: TextIO, color: str) -> list[TrialResult]:
    """Write and return test results as they arrive: marked and wrapped on a terminal, tab-separated elsewhere."""
    console = make_console(out, color)
    done: list[TrialResult] = []
    with console.status(tr("testing…")) if console.is_terminal else nullcontext():
        for result in results:
            done.append(result)
            facts = (result.id, f"{result.latency_ms} ms", result.message)
            if not console.is_terminal:
                out.write("\t".join(("ok" if result.success else "failed", *facts)) + "\n")
                continue
            text = Text("  ".join(facts))
            if result.hint:
                text.append(f"\n{result.hint}", "dim")
            print_wrapped(console, text, "  ", Text("✓ ", "green") if result.success else Text("✗ ", "red"))
    return done
