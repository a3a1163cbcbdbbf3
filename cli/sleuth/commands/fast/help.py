"""Help texts, generated in advance from Typer's own so that `--help` does not import it."""

import os
import sys

FOLDER = os.path.join(os.path.dirname(__file__), "generated", "help")
LANGUAGE = "en"
COLUMNS = 80  # width of the generated texts; narrower terminals get theirs from Typer


def help_text(arguments: list[str]) -> str | None:
    """Return the generated help that a command line asks for; None if it asks for anything else."""
    *words, last = arguments or ["--help"]
    if last not in ("-h", "--help") or any(word.startswith("-") or os.sep in word for word in words):
        return None
    if _columns() < COLUMNS:
        return None
    path = os.path.join(FOLDER, LANGUAGE, "-".join(["sleuth", *words]) + ".txt")
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (FileNotFoundError, ValueError):  # ValueError: a word with a null character
        return None


def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else COLUMNS
    except (OSError, ValueError):
        return COLUMNS
