"""The front desk: plain command lines are read from a generated table, everything else goes to Typer.

What lies ready is handed over at once: help texts, and answers that were written out before (`prepared.py`).
Typer costs more to import than a cached search takes. The table in `generated/` is made from Typer's own command tree
by `python -m tools.generate`, and a property test holds that both read any command line alike. What the desk is not
sure about, errors above all, it hands on.
"""

import os
import sys

from sleuth.store.cache import rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from sleuth.runtime import Runtime

COLUMNS = 80  # what help texts are written for; a narrower terminal gets them from Typer
HELP = ("-h", "--help")


def help_text(arguments: list[str]) -> str | None:
    """Return the help of a command as it was generated; None when something else is meant."""
    if arguments and (arguments[-1] not in HELP or any(word.startswith("-") for word in arguments[:-1])):
        return None
    if _columns() < COLUMNS:
        return None
    name = "-".join(["sleuth", *arguments[:-1]])
    path = os.path.join(os.path.dirname(__file__), "generated", "help", f"{name}.txt")
    if "/" in name or not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def print_rendered(arguments: list[str], environ: "Mapping[str, str]", out: "TextIO", err: "TextIO") -> bool:
    """Write an answer that was written out before; tells whether there was one."""
    values = parse(arguments[1:]) if arguments[:1] == ["search"] else None
    rendered_key = rendered.rendered_key(values, environ, out, err) if values else None
    if rendered_key is None or (found := rendered.load(rendered_key)) is None:
        return False
    from sleuth.store.journal import append_search

    written, said, note = found
    out.write(written)
    out.flush()
    err.write(said)
    append_search(rendered_key.paths.journal, note)
    return True


def run_search(runtime: "Runtime", arguments: list[str]) -> int | None:
    """Run a plain `search`; None hands the command line to Typer."""
    values = parse(arguments[1:]) if arguments[:1] == ["search"] else None
    if values is None:
        return None
    from sleuth.commands.terminal.search import search
    from sleuth.engine.options import SearchOptions

    plain = not runtime.debug and runtime.color == "auto"
    rendered_key = rendered.rendered_key(values, runtime.environ, runtime.stdout, runtime.stderr) if plain else None
    return search(runtime, SearchOptions(**values), rendered_key)


def parse(words: list[str]) -> "dict[str, Any] | None":
    """Return the options and arguments of `search` by name; None where Typer would have more to say."""
    from sleuth.commands.fast.generated.search import FLAGS, POSITIONAL

    values: dict[str, Any] = {}
    rest: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--":
            rest += words[index:]
            break
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        entry = FLAGS.get(flag)
        if entry is None:
            return None
        name, kind, detail = entry
        if kind == "flag":
            if equals:
                return None
            values[name] = detail
            continue
        if not equals:
            if index == len(words):
                return None
            value = words[index]
            index += 1
            if value.startswith("-") and value != "-" and value in FLAGS:
                return None
        meant = _meant(kind, detail, value)
        if meant is None:
            return None
        if kind == "texts":
            values[name] = (*values.get(name, ()), meant)
        else:
            values[name] = meant
    if rest:
        values[POSITIONAL] = tuple(rest)
    return values


def _meant(kind: str, detail: "Any", value: str) -> "Any":
    """Return a value as its option takes it; None when it does not fit."""
    if kind in ("text", "texts"):
        return value
    if kind == "choice":
        return value if value in detail else None
    try:
        number = int(value) if kind == "whole" else float(value)
    except ValueError:
        return None
    low, high = detail
    fits = number == number and (low is None or number >= low) and (high is None or number <= high)
    return number if fits and value.isascii() and "_" not in value else None


def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else COLUMNS
    except (OSError, ValueError):
        return COLUMNS
