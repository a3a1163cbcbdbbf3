"""The Typer apps of the commands: plain help with options under headings, in the user's language."""

import re
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from sleuth.base.i18n import tr
from sleuth.base.i18n import tr as translate  # of help texts, which tools.messages collects from the command tree
from sleuth.base.process import terminal_columns
from sleuth.base.wrap import wrap_text
from sleuth.commands import is_option
from sleuth.commands.terminal.options import search_parameter
from sleuth.engine.search_options import OPTIONS

# The options that -h shows; --help shows all.
BRIEF_OPTIONS = {
    "sleuth search": (
        *("providers", "count", "page", "freshness", "sites", "language"),
        *("content", "interactive", "as_json", "open_first", "help"),
    )
}
MAX_COLUMNS = 78  # of help
MAX_NAME_COLUMNS = 30  # of options; a longer one gets its own line
UNLIMITED = 10_000_000  # a limit that only guards against overflow, and is not worth a line of help
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Run = TypeVar("Run", bound=Callable[..., Any])  # the function of a command


class HelpContext(typer.Context):
    """The context of a command, with our help."""

    def get_help(self) -> str:
        """Return the help of the command; after -h the common options only."""
        return help_text(self.command, self, brief=bool(self.obj and self.obj.brief_help))


class HelpCommand(TyperCommand):
    """A command whose help begins with examples and lists options under headings."""

    context_class = HelpContext

    def make_parser(self, ctx: Any) -> Any:
        """Return Typer's parser, for which `->` and `-1` are words, as they are for the fast parser."""
        parser: Any = super().make_parser(ctx)
        parse_option = parser._process_opts
        parser._process_opts = lambda word, state: (
            parse_option(word, state) if is_option(word) else state.largs.append(word)
        )
        return parser


class HelpGroup(TyperGroup):
    """A group of commands."""

    context_class = HelpContext


def help_text(command: Any, ctx: Any, *, brief: bool = False) -> str:
    """Return the help of a command; `brief` leaves out options that are not common, if the command has common ones."""
    width = ctx.terminal_width or min(terminal_columns() - 2, MAX_COLUMNS)
    common = BRIEF_OPTIONS.get(ctx.command_path) if brief else None
    usage = " ".join(command.collect_usage_pieces(ctx)).replace("{", "").replace("}", "")
    usage = usage.replace("[OPTIONS]", tr("[OPTIONS]")).replace("COMMAND [ARGS]...", tr("COMMAND [ARGS]..."))
    lines = wrap_text(f"{tr('Usage: ')}{ctx.command_path} {usage}", width, "  ")
    paragraphs = re.split(r"\n\s*\n", f"{command.help}\n\n{command.epilog or ''}".strip())
    for paragraph in paragraphs[:1] + paragraphs[-2:] if common else paragraphs:
        lines += _paragraph(paragraph, width - 2)
    for title, records in _parameters(command, ctx, common).items():
        lines += ["", tr("{heading}:", heading=title), *_columns(records, width)] if records else []
    if common:
        lines += ["", tr("All options: {command}", command=f"{ctx.command_path} --help")]
    if hasattr(command, "list_commands"):
        below = [command.get_command(ctx, name) for name in command.list_commands(ctx)]
        names = [(each.name, translate(" ".join(each.help.partition("\n\n")[0].split()))) for each in below]
        lines += ["", tr("{heading}:", heading=tr("Commands")), *_columns(names, width)]
    return "\n".join(lines)


class HelpApp(typer.Typer):
    """A Typer app whose commands have such help."""

    def command(
        self, name: str | None = None, options: Sequence[str | Parameter] = (), **settings: Any
    ) -> Callable[[Run], Run]:
        """Return a decorator that adds a command.

        Its function is called with the runtime, its own parameters, and `options`: fields of `SearchOptions`, or
        parameters that several commands share. Help shows groups if all fields are there.
        """
        register = super().command(name, cls=HelpCommand, **settings)
        is_search = len(options) == len(OPTIONS)
        shared = [search_parameter(one, grouped=is_search) if isinstance(one, str) else one for one in options]
        known = {one.name for one in shared}

        def add(run: Run) -> Run:
            def command(ctx: typer.Context, **values: Any) -> Any:
                return run(ctx.obj, **values | {name: ctx.params[name] for name in known})  # () where Typer passes None

            _, *taken = (one for one in signature(run).parameters.values() if one.kind is not Parameter.VAR_KEYWORD)
            every = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in taken if one.name not in known] + shared
            context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
            command.__signature__ = Signature([context, *every])  # type: ignore[attr-defined]  # how inspect lets a function state its signature
            command.__name__, command.__doc__ = run.__name__, run.__doc__
            register(command)
            return run

        return add


def parameters_of(function: Callable[..., None]) -> list[Parameter]:
    """Return the parameters that a function declares for several commands."""
    return [one.replace(kind=Parameter.KEYWORD_ONLY) for one in signature(function).parameters.values()]


def make_app(help: str | None = None, **settings: Any) -> HelpApp:
    """Return the Typer app of a command, or with `help` of a group of commands."""
    group: dict[str, Any] = {"cls": HelpGroup, "help": help, "no_args_is_help": True} if help else {}
    return HelpApp(add_completion=False, rich_markup_mode=None, **group, **settings)


def _parameters(command: Any, ctx: Any, common: tuple[str, ...] | None) -> dict[str, list[tuple[str, str]]]:
    """Return the names and descriptions of parameters by heading."""
    groups: dict[str, list[tuple[str, str]]] = {tr("Arguments"): []}
    for parameter in command.get_params(ctx):
        is_argument = parameter.param_type_name == "argument"
        if common is not None and not is_argument and parameter.name not in common:
            continue
        panel = getattr(parameter, "rich_help_panel", None) if common is None else None
        title = tr("Arguments") if is_argument else translate(panel) if panel else tr("Options")
        if record := parameter.get_help_record(ctx):
            name, text = record
            groups.setdefault(title, []).append((re.sub(r"[<>]", "", name), _description(text)))
    return groups


def _columns(rows: list[tuple[str, str]], width: int) -> list[str]:
    """Return lines with a name on the left and its description on the right."""
    most = min(MAX_NAME_COLUMNS, width // 2 - 4)  # the description gets at least half of a narrow terminal
    left = max((len(name) for name, _ in rows if len(name) <= most), default=0) + 4
    lines: list[str] = []
    for name, text in rows:
        described = [" " * left + line for line in wrap_text(text, width - left)]
        if len(name) <= left - 4:  # both on one line
            described[0] = f"  {name}".ljust(left) + described[0][left:]
        else:
            spaced = name if len(name) + 2 <= width else name.replace("|", "| ")  # a long list of words may be broken
            described[:0] = [f"  {line.replace('| ', '|')}" for line in wrap_text(spaced, width - 2, "    ")]
        lines += described
    return lines


def _paragraph(text: str, width: int) -> list[str]:
    """Return a paragraph below an empty line; examples, which start with a backspace character, are not wrapped."""
    if "\b" in text:
        return [line for line in text.replace("\b", "").splitlines() if line]
    if text.startswith("Example"):
        example = text.partition(": ")[2]
        return ["", tr("Examples:"), *([f"  {example}"] if example else [])]
    return ["", *(f"  {line}" for line in wrap_text(translate(" ".join(text.split())), width))]


def _description(text: str) -> str:
    """Translate the help of a parameter; Typer has added two spaces and a list such as [default: 1; required]."""
    help, gap, facts = text.partition("  [")
    shown = (fact for fact in facts.removesuffix("]").split("; ") if fact and str(UNLIMITED) not in fact)
    kept = [fact for fact in shown if not fact.startswith("x>=")]
    facts = tr("; ").join(re.sub(r"([\d.]{1,20})<=x<=([\d.]{1,20})", r"\1–\2", fact) for fact in kept)
    facts = facts.replace("default: ", tr("default: ")).replace("required", tr("required"))
    return translate(" ".join(help.split())) + (f"{gap}{facts}]" if kept else "")
