"""The front desk: plain command lines are read from a generated table, everything else goes to Typer.

Typer costs more to import than a cached search takes. The table in `generated/` is made from Typer's own command tree
by `python -m sleuth.generate`, and a property test holds that both read any command line alike. What the desk is not
sure about, errors above all, it hands on.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


def answer(runtime: "Runtime", arguments: list[str]) -> int | None:
    """Run a plain `search`; None hands the command line to Typer."""
    if not arguments or arguments[0] != "search":
        return None
    values = read(arguments[1:])
    if values is None:
        return None
    from sleuth.commands.searching import Wishes, search

    return search(runtime, Wishes(**values))


def read(words: list[str]) -> "dict[str, Any] | None":
    """Return the options and arguments of `search` by name; None where Typer would have more to say."""
    from sleuth.generated.search import FLAGS, POSITIONAL

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
