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
from sleuth.render.rich import make_console, print_wrapped
from sleuth.render.wrap import wrap
from sleuth.store.keys import source_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.engine.trial import TrialResult

GROUPS = (
    ("chain", "Used by searches without -p, in this order"),
    ("ready", "Ready; select with -p ID"),
    ("unset", "Not set up"),
    ("key", "Needs an API key, available at"),
    ("host", "Needs a URL"),
    ("off", "Not available"),
)
COLUMNS = (("id", "name", "type"), ("id", "name"), ("id",))  # the first that fit the terminal


def render_list(items: list[dict[str, Any]], out: TextIO, color: str) -> None:
    """Write the providers: in groups on a terminal, elsewhere one per line with tabs between the fields."""
    console = make_console(out, color)
    if not console.is_terminal:
        for item in items:
            chain = str(item["chain"] or "-")
            print(item["id"], item["name"], item["type"], _group(item), chain, _remark(item), sep="\t", file=out)
        return
    ordered = sorted(items, key=lambda item: item["chain"] or 0)
    for group, title in GROUPS:
        members = [item for item in ordered if group == ("chain" if item["chain"] else _group(item))]
        if members:
            print_wrapped(console, Text(tr(title), "bold"), "")
            _print_group(console, members)
            console.print()
    hints = tr("details: sleuth providers show ID"), tr("to reorder: sleuth config set websearch.fallback ID,ID")
    for hint in hints:
        print_wrapped(console, Text(hint, "dim"), "")


def _print_group(console: Console, items: list[dict[str, Any]]) -> None:
    """Write providers, one per line; what they need goes on the next line if it does not fit after the id."""
    remarks = [_short_remark(item) for item in items]
    widest = max(map(width, remarks))
    widths = {name: max(width(item[name]) for item in items) + 2 for name in COLUMNS[0]}
    fitting = [names for names in COLUMNS if 3 + sum(widths[name] for name in names) + widest <= console.width]
    for item, remark in zip(items, remarks, strict=True):
        line = Text.assemble((f"{'*' if item['isDefault'] else item['chain'] or '':>2} ", "bold green"))
        for name in fitting[0] if fitting else ("id",):
            style = "cyan" if name == "id" and item["usable"] else "dim" if name == "type" else ""
            line.append(item[name] + " " * (widths[name] - width(item[name])), style)
        below = [] if fitting else wrap(Text(remark, "dim"), max([console.width - 5, *map(width, remark.split())]))
        line.append("" if below else remark, "dim")
        line.rstrip()
        for part in (line, *(Text(" " * 5) + part for part in below if part)):
            console.print(part, soft_wrap=True)  # a URL is never broken


def _short_remark(item: dict[str, Any]) -> str:
    """Return what a row says after the names: only what the provider needs, with no unnecessary URL."""
    if not item["usable"] or not item["setUp"] or item["keySource"]:
        return _remark(item)
    return tr("higher limits with a key") if item["keyPage"] else ""


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
        return tr("key from {source}", source=source_name(item["keySource"]))
    return tr("higher limits with a key: {page}", page=item["keyPage"]) if item["keyPage"] else tr("no key needed")


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


def render_tests(results: "Iterable[TrialResult]", out: TextIO, color: str) -> "list[TrialResult]":
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
