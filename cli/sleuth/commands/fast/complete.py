"""Answers the completion scripts of shells: `sleuth --complete SHELL -- WORDS…`, the last word being completed.

Bash passes the line up to the cursor and its word breaks instead of words. The answer has one candidate per line, with
a tab and a description except for bash. A line `@file` or `@folder`, with the text before the path and the path typed
so far, leaves completion to the shell. Everything comes from a generated table; ids of providers come from the user's
database, too.
"""

import os

from sleuth.commands import COMMANDS
from sleuth.commands.fast.help import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TABLE = os.path.join(FOLDER, "en", "completions.tsv")
# What the values column of the table can hold besides words: nothing for a flag, and
ANY, COMMA = "-", ","  # any text; a list, if it is in front of the words
PROVIDERS, KEYS, SETTING, FILE, DIRECTORY = "@providers", "@keys", "@setting", "@file", "@folder"
EVERY_COMMAND = "*"
BUSY_TIMEOUT_S = 0.2


class CompletionRow:
    """One line of the table: an option, argument or subcommand of a command, or a key of the settings."""

    def __init__(self, line: str) -> None:
        self.command, self.kind, names, self.values, self.help = line.rstrip("\n").split("\t")
        self.names = names.split()  # flags, a name, or the position of an argument; * repeats


def complete(arguments: list[str], environ: "Mapping[str, str]") -> str:
    """Return the answer to a shell."""
    shell, words = arguments[0] if arguments else "", arguments[2:]
    breaks = ""
    if shell == "bash":
        line, breaks = (*words, "", "")[:2]
        words = split_line(line)[1:]
    if words[:1] == ["help"] and len(words) > 1:
        words = words[1:]
    elif len(words) > 1 and words[0] not in COMMANDS and not words[0].startswith("-"):
        words = ["search", *words]
    with open(TABLE, encoding="utf-8") as stream:
        rows = [CompletionRow(line) for line in stream]
    below = [row.names[0] for row in rows if row.command == "sleuth watch" and row.kind == "command"]
    if words[:1] == ["watch"] and words[1:2] and (words[1].startswith("-") or (words[2:] and words[1] not in below)):
        words.insert(1, "run")  # which may be left out
    current, lead, values = _find_values(rows, words or [""])
    if isinstance(values, str):
        current, lead, candidates = _expand(rows, values, current, lead, environ)
    else:
        candidates = values
    # Readline replaces only the text after the last word break.
    start = max([(lead + current).rfind(sign) + 1 for sign in "=:" if sign in breaks], default=0)
    lines = []
    for name, help in candidates:
        if name in (FILE, DIRECTORY):
            return f"{name}\t{lead[start:]}\t{current}\n"
        if name.startswith(current):
            text = (lead + name)[start:]
            lines.append(text if shell == "bash" or not help else f"{text}\t{help}")
    return "".join(f"{line}\n" for line in lines)


def split_line(line: str) -> list[str]:
    """Split a command line at spaces outside quotes; the last word may be empty or unfinished."""
    words, quote, escaped = [""], "", False
    for sign in line.lstrip():
        if escaped:
            words[-1] += sign
            escaped = False
        elif sign == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote, text = ("", "") if sign == quote else (quote, sign)
            words[-1] += text
        elif sign in "'\"":
            quote = sign
        elif sign.isspace():
            words += [""] if words[-1] else []
        else:
            words[-1] += sign
    return words


class _Words:
    """The words before the cursor: the rows of their command, its arguments, and the option that waits for a value."""

    def __init__(self, rows: list[CompletionRow], words: list[str]) -> None:
        self.command, self.arguments, self.ended = "sleuth", list[str](), False
        self.option: CompletionRow | None = None
        self.rows = [row for row in rows if row.command in (self.command, EVERY_COMMAND)]
        for word in words:
            if self.option:
                self.option = None
            elif word == "--" and not self.ended:
                self.ended = True
            elif word.startswith("-") and len(word) > 1 and not self.ended:
                self.option = next((row for row in self.of_kind("option") if word in row.names and row.values), None)
            elif not self.arguments and any(word in row.names for row in self.of_kind("command")):
                self.command += f" {word}"
                self.rows = [row for row in rows if row.command in (self.command, EVERY_COMMAND)]
            else:
                self.arguments.append(word)

    def of_kind(self, kind: str) -> list[CompletionRow]:
        return [row for row in self.rows if row.kind == kind]


def _find_values(rows: list[CompletionRow], words: list[str]) -> "tuple[str, str, str | list[tuple[str, str]]]":
    """Return the text to complete, the text before it, and its candidates or the table's notation for them."""
    before, current = _Words(rows, words[:-1]), words[-1]
    if before.option:
        return current, "", before.option.values
    if current.startswith("--") and "=" in current and not before.ended:
        flag, _, value = current.partition("=")
        return value, f"{flag}=", next((row.values for row in before.of_kind("option") if flag in row.names), "")
    if current.startswith("-") and not before.ended:
        return current, "", [(name, row.help) for row in before.of_kind("option") for name in row.names]
    subcommands = [(row.names[0], row.help) for row in before.of_kind("command")]
    if subcommands:
        return current, "", [] if before.arguments else subcommands
    position = (str(len(before.arguments)), "*")
    values = next((row.values for row in before.of_kind("argument") if row.names[0] in position), "")
    if values == SETTING:
        key = before.arguments[0]
        values = next((row.values for row in rows if row.kind == "setting" and row.names[0] == key), "")
    return current, "", values


def _expand(
    rows: list[CompletionRow], values: str, current: str, lead: str, environ: "Mapping[str, str]"
) -> "tuple[str, str, list[tuple[str, str]]]":
    """Return the text to complete, the text before it, and the candidates of an entry in the table."""
    is_list = values.startswith(COMMA)
    chosen: list[str] = []
    if is_list and "," in current:
        before, _, current = current.rpartition(",")
        chosen = before.split(",")
        lead += f"{before},"
    candidates = [pair for word in values.lstrip(COMMA).split() for pair in _candidates(rows, word, environ)]
    return current, lead, [(name, help) for name, help in candidates if name not in chosen]


def _candidates(rows: list[CompletionRow], word: str, environ: "Mapping[str, str]") -> "Iterable[tuple[str, str]]":
    if word == KEYS:
        return [(row.names[0], row.help) for row in rows if row.kind == "setting"]
    if word == PROVIDERS:
        built_in = {row.names[0]: row.help for row in rows if row.kind == "provider"}
        return (built_in | dict(_saved_providers(environ))).items()
    return [(word, "")] if word != ANY else []


def _saved_providers(environ: "Mapping[str, str]") -> "Iterator[tuple[str, str]]":
    """Read the provider table, which also has plug-ins and the user's own; none if it cannot be read at once."""
    import sqlite3
    from contextlib import closing

    from sleuth.base.paths import find_paths

    database = find_paths(environ).database
    if not os.path.isfile(database):  # SQLite would wait for a pipe
        return
    path = database.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_S)) as connection:
            for id, name in connection.execute("SELECT id, name FROM websearch_provider ORDER BY id"):
                if isinstance(id, str) and id.isprintable() and " " not in id:
                    yield id, "".join(sign if sign.isprintable() else " " for sign in str(name))
    except sqlite3.Error:
        return
