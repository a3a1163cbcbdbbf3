"""The files of the fast path: a help text per command and language, and the table of completions."""

from collections.abc import Iterator
from typing import Any

from sleuth.base.i18n import set_language
from sleuth.commands.fast.complete import ANY, COMMA, EVERY_COMMAND
from sleuth.commands.terminal.typer_app import BRIEF_OPTIONS, help_text
from sleuth_providers import registry
from tools.command_tree import Command, Option, Tree, Values

FOLDER = "cli/sleuth/commands/fast/generated/help"
WIDTH = 78  # of help on a terminal of 80 columns


def files(root: Any, tree: Tree) -> dict[str, str]:
    """Return the generated files by path."""
    texts = {f"{FOLDER}/en/completions.tsv": "".join(f"{line}\n" for line in completions(tree))}
    top = root.context_class(root, info_name="sleuth", **root.context_settings | {"terminal_width": WIDTH})
    for language in ("zh-CN", "en"):  # English last: it stays chosen
        set_language(language, {})
        for context in _walk(top):
            name = f"{FOLDER}/{language.replace('-', '_')}/{context.command_path.replace(' ', '-')}"
            texts[f"{name}.txt"] = f"{help_text(context.command, context)}\n"
            if context.command_path in BRIEF_OPTIONS:
                texts[f"{name}.brief.txt"] = f"{help_text(context.command, context, brief=True)}\n"
    return texts


def completions(tree: Tree) -> Iterator[str]:
    """Yield the rows of the completion table: command, kind, names, values, description."""
    for option in tree.anywhere:
        yield from _option(EVERY_COMMAND, option)
    for command in tree.root.walk():
        yield from _command(command, tree)
    yield _row("sleuth", "command", ["help"], "", "Show the help of a command.")
    for key in tree.keys:
        yield _row("", "setting", [key.name], _values(key.completes), key.meaning)
    for id in tree.providers:
        yield _row("", "provider", [id], "", "" if id == "library" else registry.load(id).name)


def _command(command: Command, tree: Tree) -> Iterator[str]:
    for subcommand in command.commands:
        yield _row(command.path, "command", [subcommand.name], "", subcommand.short)
    for option in command.options:
        if option not in tree.anywhere:
            yield from _option(command.path, option)
    for number, argument in enumerate(command.arguments):
        place = "*" if argument.repeatable else str(number)
        yield _row(command.path, "argument", [place], _values(argument.completes), argument.help)


def _option(path: str, option: Option) -> Iterator[str]:
    yield _row(path, "option", option.flags, _values(option.completes) if option.metavar else "", option.help)
    if option.negative:
        yield _row(path, "option", option.negative, "", f"The opposite of {option.name}.")


def _row(*cells: Any) -> str:
    path, kind, names, values, help = cells
    return "\t".join([path, kind, " ".join(names), values, " ".join(help.split())])


def _values(values: Values) -> str:
    words = " ".join([*values.words, *([values.source] if values.source else [])])
    return (COMMA if values.comma else "") + (words or ANY)


def _walk(context: Any) -> Iterator[Any]:
    yield context
    names = context.command.list_commands(context) if hasattr(context.command, "list_commands") else []
    for name in names:
        command = context.command.get_command(context, name)
        yield from _walk(command.context_class(command, info_name=name, parent=context, terminal_width=WIDTH))
