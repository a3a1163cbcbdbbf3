"""The Typer apps of the commands: plain help with options under headings, in the user's language."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.base.i18n import tr as translate  # of help texts, which tools.messages collects from the command tree

WIDE = r"[\u2e80-\u9fff\uff01-\uff60]"  # characters that take two cells of a terminal
STAYS_WITH_NEXT = re.compile(rf"[（《]|{WIDE}(?=[，。、；：？！）》,.;:)\]])")

TyperFormatter: Any = typer.Context.formatter_class
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class HelpFormatter(TyperFormatter):  # type: ignore[misc]  # Typer does not export its class
    """Translates help and wraps lines between Chinese characters; Typer's own breaks them only at spaces."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage line."""
        args = args.replace("[OPTIONS]", tr("[OPTIONS]")).replace("COMMAND [ARGS]...", tr("COMMAND [ARGS]..."))
        super().write_usage(prog, _spread(args), tr("Usage: "))

    def write_heading(self, heading: str) -> None:
        """Write a heading that is translated already."""
        self.write(tr("{heading}:", heading=heading) + "\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs; those that start with a backspace character keep their lines and their language."""
        paragraphs = re.split(r"\n\s*\n", text)
        super().write_text(_spread("\n\n".join(p if "\b" in p else _paragraph(p) for p in paragraphs)))

    def write_dl(self, rows: Any, *args: Any, **options: Any) -> None:
        """Write a list of options, arguments or commands."""
        super().write_dl([(name, _spread(_description(text))) for name, text in rows], *args, **options)

    def getvalue(self) -> str:
        """Return the help without the characters that `_spread` added."""
        return re.sub(f"({WIDE}) ", r"\1", super().getvalue()).replace("\0", "")


class HelpContext(typer.Context):
    """The context of a command, with help in the language of the settings."""

    formatter_class = HelpFormatter

    def get_help(self) -> str:
        """Return the help of the command."""
        with suppress(SleuthError):  # the settings cannot be read: the locale decides
            _ = self.obj and self.obj.settings
        return super().get_help()


class HelpCommand(TyperCommand):
    """A command whose help lists options under headings; Typer does that only with its rich help."""

    context_class = HelpContext

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each group."""
        _write_parameters(self, ctx, formatter)


class HelpGroup(TyperGroup):
    """A group of commands."""

    context_class = HelpContext

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the group and the first paragraph of each command's help."""
        _write_parameters(self, ctx, formatter)
        commands: list[Any] = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        with formatter.section(tr("Commands")):
            formatter.write_dl([(command.name, command.help.partition("\n\n")[0]) for command in commands])


class HelpApp(typer.Typer):
    """A Typer app whose commands have such help."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Return a decorator that adds a command."""
        return super().command(name, cls=HelpCommand, **settings)


def make_app(help: str | None = None, **settings: Any) -> HelpApp:
    """Return the Typer app of a command, or with `help` of a group of commands."""
    group: dict[str, Any] = {"cls": HelpGroup, "help": help, "no_args_is_help": True} if help else {}
    return HelpApp(add_completion=False, rich_markup_mode=None, **group, **settings)


def seconds(value: float | None) -> float | None:
    """Reject nan, which passes the check of minimum and maximum."""
    if value is not None and value != value:
        raise typer.BadParameter(tr("nan is not a number of seconds"))
    return value


def _write_parameters(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    groups: dict[str, list[tuple[str, str]]] = {tr("Arguments"): []}
    for parameter in command.get_params(ctx):
        panel = getattr(parameter, "rich_help_panel", None)
        title = translate(panel) if panel else tr("Options")
        if parameter.param_type_name == "argument":
            title = tr("Arguments")
        if record := parameter.get_help_record(ctx):
            groups.setdefault(title, []).append(record)
    for title, records in groups.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _paragraph(text: str) -> str:
    if text.startswith("Example: "):
        return tr("Example: {command}", command=text.removeprefix("Example: "))
    if text == "Examples:":
        return tr("Examples:")
    return translate(" ".join(text.split()))


def _description(text: str) -> str:
    """Translate the help of a parameter; Typer has added two spaces and a list such as [default: 1; required]."""
    help, gap, facts = text.partition("  [")
    facts = facts.replace("default: ", tr("default: ")).replace("required", tr("required"))
    return translate(" ".join(help.split())) + gap + re.sub(WIDE, "\\g<0>\0", facts)


def _spread(text: str) -> str:
    """Add a character after each wide one, for its second cell: a space where a line may end, else a null."""
    return re.sub(rf"({WIDE})(?!\0)", r"\1 ", STAYS_WITH_NEXT.sub("\\g<0>\0", text))
