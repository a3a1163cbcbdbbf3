"""Providers on a terminal: the grouped list, one provider in full, and test results as they arrive."""

import re
import time
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from sleuth.base.i18n import tr
from sleuth.base.text import clean, width
from sleuth.engine.outcome import TrialResult
from sleuth.render.rich import make_console, print_wrapped
from sleuth.render.wrap import wrap

GROUPS = (
    ("ready", "Ready"),
    ("unset", "Not set up"),
    ("key", "Needs an API key, available at"),
    ("host", "Needs a URL"),
    ("off", "Not available"),
)
INDENT = " " * 5
MIN_WIDTH_FOR_NAMES, MIN_WIDTH_FOR_TYPES = 100, 40  # columns


def render_list(items: list[dict[str, Any]], out: TextIO, color: str) -> None:
    """Write the providers: in groups on a terminal, elsewhere one per line with tabs between the fields."""
    console = make_console(out, color)
    if not console.is_terminal:
        for item in items:
            chain = str(item["chain"] or "-")
            print(item["id"], item["name"], item["type"], _group(item), chain, _remark(item), sep="\t", file=out)
        return
    columns = [name for name, minimum in _COLUMNS.items() if console.width >= minimum]
    widths = {name: max((width(item[name]) for item in items), default=0) for name in columns}
    for group, title in GROUPS:
        members = [item for item in items if _group(item) == group]
        if members:
            console.print(Text(tr(title), "bold"))
            for item in members:
                _print_row(console, item, widths)
            console.print()
    if any(item["chain"] for item in items):
        legend = tr("1, 2, …: the order in which a search without -p uses them; to change it: websearch.fallback")
        print_wrapped(console, Text(legend, "dim"), "")


_COLUMNS = {"id": 0, "type": MIN_WIDTH_FOR_TYPES, "name": MIN_WIDTH_FOR_NAMES}  # column → least width of the terminal


def _print_row(console: Console, item: dict[str, Any], widths: dict[str, int]) -> None:
    """Write one provider; what it needs goes below if it does not fit beside, and a URL is never broken."""
    mark = "*" if item["isDefault"] else str(item["chain"] or "")
    line = Text.assemble((f"{mark:>2} ", "bold green"))
    for name, columns in widths.items():
        style = "cyan" if name == "id" and item["usable"] else "dim" if name == "type" else ""
        line.append(item[name] + " " * (columns - width(item[name]) + 2), style)
    remark = "" if item["usable"] and not (item["keySource"] or item["keyPage"]) and item["setUp"] else _remark(item)
    fits = width(line.plain) + width(remark) <= console.width
    if fits:
        line.append(remark, "dim")
    line.rstrip()
    console.print(line, soft_wrap=True)
    if not fits:
        columns = max([console.width - len(INDENT), *map(width, remark.split())])  # a URL is never broken
        for part in wrap(Text(remark, "dim"), columns):
            console.print(Text(INDENT) + part, soft_wrap=True)


def _group(item: dict[str, Any]) -> str:
    if item["usable"]:
        return "ready" if item["setUp"] else "unset"
    return item["needs"] or "off"


def _remark(item: dict[str, Any]) -> str:
    if item["needs"] == "key":
        return str(item["keyPage"] or item["hint"])
    if item["needs"] == "host":
        return str(item["hint"])
    if not item["usable"]:
        return str(item["why"])
    if not item["setUp"]:
        return f"sleuth providers set {item['id']} --api-host URL"
    if item["keySource"]:
        return tr("key from {source}", source=item["keySource"])
    if item["keyPage"]:
        return tr("more with a key: {page}", page=item["keyPage"])
    return tr("no key needed")


def render_one(facts: dict[str, Any], out: TextIO, color: str) -> None:
    """Write one provider, one fact per line."""
    console = make_console(out, color)
    known = {name: value for name, value in facts.items() if value not in (None, [], {}, "")}
    width = max(map(len, known)) + 2
    for name, value in known.items():
        print_wrapped(console, Text(_cell(name, value)), " " * width, Text(name.ljust(width), "bold"))


def _cell(name: str, value: Any) -> str:
    if name in ("createdAt", "updatedAt"):
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(value))
    if name == "price" and re.search(r"[$€£¥]\d", value):
        return tr("{price}, for 1,000 requests", price=value)
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
