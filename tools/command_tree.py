"""The command tree as plain data, from which man pages, the reference and completions are generated."""

import pkgutil
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import typer

from sleuth import __version__
from sleuth.base.choices import FIELDS
from sleuth.commands.fast.complete import DIRECTORY, FILE, KEYS, PROVIDERS, SETTING
from sleuth.store.provider_fields import CLEARABLE
from sleuth.store.settings import DEFAULT_PROVIDER, FALLBACK, TABLE
from sleuth_providers import adapters
from sleuth_providers.records import Record


class Values(Record):
    """The completions of a value: fixed words, and a source such as PROVIDERS."""

    words: tuple[str, ...] = ()
    source: str = ""
    comma: bool = False  # a list, separated by commas


class Paragraph(Record):
    """A paragraph of help: prose to wrap, or lines to keep as they are."""

    text: str
    literal: bool = False


class Option(Record):
    """One option of a command."""

    flags: tuple[str, ...]  # short ones first
    negative: tuple[str, ...]
    metavar: str  # empty for a flag
    help: str
    default: str
    bounds: str
    repeatable: bool
    required: bool
    completes: Values
    group: str  # heading in the help

    @property
    def name(self) -> str:
        """The longest flag."""
        return self.flags[-1]


class Argument(Record):
    """One argument of a command."""

    metavar: str
    help: str
    default: str
    required: bool
    repeatable: bool
    completes: Values

    @property
    def usage(self) -> str:
        """Its notation in a synopsis."""
        return f"{self.metavar if self.required else f'[{self.metavar}]'}{'...' if self.repeatable else ''}"


class Command(Record):
    """One command, or a group of subcommands."""

    name: str
    path: str  # as typed: "sleuth providers list"
    short: str
    help: tuple[Paragraph, ...]
    notes: tuple[Paragraph, ...]  # the epilog without the examples
    examples: tuple[str, ...]
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    commands: tuple["Command", ...]

    def walk(self) -> Iterator["Command"]:
        """Yield this command and all below it, in order."""
        yield self
        for command in self.commands:
            yield from command.walk()


class Key(Record):
    """One setting."""

    name: str
    meaning: str
    completes: Values


class Tree(Record):
    """The input of every generator."""

    root: Command
    anywhere: tuple[Option, ...]  # options that every command takes
    providers: tuple[str, ...]
    keys: tuple[Key, ...]
    version: str


# Options of the root that are allowed after a command, too.
ANYWHERE = ("--color", "--debug", "--no-color", "--no-pager", "--quiet")


def built_in_providers() -> tuple[str, ...]:
    """Return the ids of built-in providers, without plug-ins."""
    modules = {module.name for module in pkgutil.iter_modules(adapters.__path__) if not module.name.startswith("_")}
    return tuple(sorted({module.replace("_", "-") for module in modules} | {"library"}))


# Completions beyond fixed choices: by option, of one command or of any; by command or group and argument; by metavar.
OPTIONS = {
    "--provider": Values(("auto", "all"), PROVIDERS, comma=True),
    "doctor --provider": Values((), PROVIDERS),
    "--adapter": Values(built_in_providers()),
    "--fields": Values(FIELDS, comma=True),
    "--unset": Values(tuple(CLEARABLE)),
}
ARGUMENTS = {
    ("providers", "id"): Values((), PROVIDERS),
    ("providers", "ids"): Values((), PROVIDERS),
    ("providers use", "id"): Values(("auto",), PROVIDERS),
    ("config", "key"): Values((), KEYS),
    ("config", "section"): Values(tuple(dict.fromkeys(key.rpartition(".")[0] + "." for key in TABLE))),
    ("config", "value"): Values((), SETTING),
}
METAVARS = {"FILE": FILE, "PATH": FILE, "DIR": DIRECTORY}
SETTINGS = {
    DEFAULT_PROVIDER.key: Values(("auto",), PROVIDERS),
    FALLBACK.key: Values((), PROVIDERS, comma=True),
}


def read(root: Any) -> Tree:
    """Return the tree below the root command of a Typer app."""
    command = _command(root, None, "sleuth", "sleuth")
    every = list(command.walk())
    anywhere = tuple(o for o in command.options if o.name in ANYWHERE or all(o in each.options for each in every))
    keys = [Key(s.key, s.meaning, SETTINGS.get(s.key) or Values(s.kind.choices)) for s in TABLE.values()]
    return Tree(command, anywhere, built_in_providers(), tuple(keys), __version__)


def help_texts(root: Any) -> set[str]:
    """Return the texts that help shows in the user's language: paragraphs, helps of parameters, headings."""
    commands = list(_command(root, None, "sleuth", "sleuth").walk())
    texts = {part.text for each in commands for part in (*each.help, *each.notes) if not part.literal}
    for command in commands:
        texts |= {argument.help for argument in command.arguments}
        texts |= {text for option in command.options for text in (option.help, option.group)}
    return texts - {""}


def details(parameter: Option | Argument) -> str:
    """Return the help of an option or argument with its range, default and so on."""
    parts = [parameter.help + "." * parameter.help[-1:].isalnum()]
    if isinstance(parameter, Option):
        bounds = f"From {parameter.bounds}." if " to " in parameter.bounds else f"{parameter.bounds.capitalize()}."
        parts += [bounds] if parameter.bounds else []
        parts += ["Required."] if parameter.required else []
        parts += ["May be given more than once."] if parameter.repeatable else []
    parts += [f"Default: {parameter.default}."] if parameter.default else []
    return " ".join(parts)


def paragraphs(text: str | None) -> tuple[Paragraph, ...]:
    """Split help into paragraphs; one that starts with a backspace character keeps its lines."""
    pieces = re.split(r"\n\s*\n", text or "")
    return tuple(_paragraph(piece) for piece in pieces if piece.strip(" \n\b"))


def _paragraph(piece: str) -> Paragraph:
    if "\b" in piece:
        return Paragraph(dedent(piece.replace("\b", "")).strip("\n"), literal=True)
    return Paragraph(" ".join(piece.split()))


def _command(command: Any, parent: Any, name: str, path: str) -> Command:
    context = typer.Context(command, parent=parent, info_name=name, **command.context_settings)
    parameters = command.get_params(context)
    help = paragraphs(command.help)
    notes, examples = _epilog(paragraphs(command.epilog))
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    below = [(title, command.get_command(context, title)) for title in names]
    return Command(
        name=name,
        path=path,
        short=help[0].text,
        help=help,
        notes=notes,
        examples=examples,
        arguments=tuple(_argument(each, path) for each in parameters if each.param_type_name == "argument"),
        options=tuple(_option(each, path) for each in parameters if each.param_type_name == "option"),
        commands=tuple(_command(c, context, title, f"{path} {title}") for title, c in below),
    )


def _epilog(parts: tuple[Paragraph, ...]) -> tuple[tuple[Paragraph, ...], tuple[str, ...]]:
    """Separate the examples from the rest: the text after `Example:`, or the lines of the next literal paragraph."""
    notes: list[Paragraph] = []
    examples: list[str] = []
    expected = False
    for part in parts:
        found = None if part.literal else re.match(r"Examples?:\s*(.*)", part.text)
        if found and found[1]:
            examples.append(found[1])
        elif part.literal and expected:
            examples += part.text.splitlines()
        elif not found:
            notes.append(part)
        expected = found is not None
    return tuple(notes), tuple(examples)


def _option(parameter: Any, path: str) -> Option:
    flags = tuple(sorted(parameter.opts, key=lambda flag: flag.startswith("--")))
    metavar = "" if parameter.is_flag else parameter.metavar or "|".join(_choices(parameter))
    below = path.partition(" ")[2]
    known = OPTIONS.get(f"{below} {flags[-1]}") or OPTIONS.get(flags[-1])
    return Option(
        flags=flags,
        negative=tuple(parameter.secondary_opts),
        metavar=metavar,
        help=" ".join((parameter.help or "").split()),
        default=_default(parameter),
        bounds=_bounds(parameter.type),
        repeatable=parameter.multiple,
        required=parameter.required,
        completes=Values() if parameter.is_flag else known or _values(parameter, metavar),
        group=parameter.rich_help_panel or "",
    )


def _argument(parameter: Any, path: str) -> Argument:
    metavar = re.sub(r"[\[\]{}.…]", "", parameter.metavar or parameter.name.upper()).strip()
    below = path.partition(" ")[2]
    known = ARGUMENTS.get((below, parameter.name)) or ARGUMENTS.get((below.split(" ")[0], parameter.name))
    return Argument(
        metavar=metavar,
        help=" ".join((parameter.help or "").split()),
        default=_default(parameter),
        required=parameter.required,
        repeatable=parameter.nargs == -1,
        completes=known or _values(parameter, metavar),
    )


def _choices(parameter: Any) -> tuple[str, ...]:
    return tuple(map(str, getattr(parameter.type, "choices", ())))


def _values(parameter: Any, metavar: str) -> Values:
    """Return the choices, the words in the metavar, or files."""
    if choices := _choices(parameter):
        return Values(choices)
    ways = metavar.split("|")
    words = tuple(way for way in ways if len(ways) > 1 and way == way.lower())
    return Values(words, next((METAVARS[way] for way in ways if way in METAVARS), ""))


def _default(parameter: Any) -> str:
    value = parameter.default
    if isinstance(value, bool):
        flags = parameter.opts if value else parameter.secondary_opts
        return flags[0] if parameter.secondary_opts else ""
    return "" if value is None else str(value)


def _bounds(type: Any) -> str:
    low, high = getattr(type, "min", None), getattr(type, "max", None)
    return "" if low is None else f"at least {low}" if high is None else f"{low} to {high}"
