"""docs/commands.md: every command and option, in Markdown."""

import re
from collections.abc import Iterable, Iterator

from tools.command_tree import Argument, Command, Option, Paragraph, Tree, details

HEAD = """# Commands

<!-- Generated from the commands by `python -m tools.generate`: change those, not this. -->

Every command of sleuth with its arguments, options and examples. `sleuth COMMAND --help` shows the same in the \
terminal, and so do the man pages: `man sleuth`, `man sleuth-search`.
"""


def reference(tree: Tree) -> str:
    """Return the chapter."""
    return (
        "\n".join([HEAD, *(line for command in tree.root.walk() for line in _section(command, tree))]).rstrip() + "\n"
    )


def _section(command: Command, tree: Tree) -> Iterator[str]:
    is_root = command is tree.root
    own = [option for option in command.options if is_root or option not in tree.anywhere]
    yield from (f"## {command.path}", "")
    yield from _prose(command.help)
    yield from _block("", [_usage(command, bool(own))])
    yield from _table("command", [(f"`{c.path}`", c.short) for c in command.commands])
    yield from _table("argument", [_argument(argument) for argument in command.arguments])
    for group in dict.fromkeys(option.group for option in own):
        yield from _table(group or "option", [_option(option) for option in own if option.group == group])
    if is_root:
        yield from ("All of these but `--version` may also follow a command.", "")
    yield from _prose(command.notes)
    yield from _block("console", [f"$ {example}" for example in command.examples])


def _usage(command: Command, has_options: bool) -> str:
    rest = ["COMMAND"] if command.commands else [argument.usage for argument in command.arguments]
    return " ".join([command.path, *(["[OPTIONS]"] if has_options else []), *rest])


def _argument(argument: Argument) -> tuple[str, str]:
    return f"`{argument.usage}`", details(argument)


def _option(option: Option) -> tuple[str, str]:
    flags = [*option.flags, *option.negative]
    flags[-1] += f" {option.metavar}" if option.metavar else ""
    return ", ".join(f"`{flag}`" for flag in flags), details(option)


def _table(title: str, rows: list[tuple[str, str]]) -> Iterable[str]:
    if not rows:
        return []
    body = [f"| {_cell(left)} | {_cell(right)} |" for left, right in rows]
    return [f"| {title} | meaning |", "|---|---|", *body, ""]


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Escape markup outside code spans."""
    pieces = re.split("(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<\[\]])", r"\\\1", p) for p in pieces)


def _prose(paragraphs: Iterable[Paragraph]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from _block("", paragraph.text.splitlines()) if paragraph.literal else (_plain(paragraph.text), "")


def _block(language: str, lines: list[str]) -> list[str]:
    return [f"```{language}", *lines, "```", ""] if lines else []
