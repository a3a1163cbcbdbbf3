"""Typer options made from the declarations of `SearchOptions`, for `search` and for other commands that share them."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal

import typer
from typer.main import get_command

from sleuth.base import choices
from sleuth.commands.terminal.typer_app import make_app, seconds
from sleuth.engine.search_options import OPTIONS, POSITIONAL, OptionSpec, SearchOptions
from sleuth.runtime import Runtime


def make_command(run: Callable[[Runtime, dict[str, Any]], int], help: str, epilog: str) -> Any:
    """Return a Typer command with every option of `SearchOptions`."""

    def command(ctx: typer.Context, **_: Any) -> int:
        return run(ctx.obj, ctx.params)

    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    command.__signature__ = Signature(  # type: ignore[attr-defined]  # how inspect lets a function state its signature
        [context, *(_parameter(spec) for spec in OPTIONS.values())]
    )
    app = make_app()
    app.command("search", help=help, epilog=epilog)(command)
    return get_command(app)


def option(name: str, group: str | None = None) -> Any:
    """Return the Typer option or argument for one field of `SearchOptions`; other commands show no groups."""
    spec = OPTIONS[name]
    if name == POSITIONAL:
        return typer.Argument(metavar=spec.metavar, help=spec.help)
    low, high = spec.range or (None, None)
    return typer.Option(
        *([f"{spec.flags[0]}/{spec.negative[0]}"] if spec.negative else spec.flags),
        metavar=spec.metavar,
        help=spec.help,
        min=low,
        max=high,
        callback=seconds if spec.kind == "float" else None,
        rich_help_panel=group,
    )


def _parameter(spec: OptionSpec) -> Parameter:
    type: Any = SearchOptions.__annotations__[spec.name]
    if spec.kind == "texts":
        type = list[str] | None
    elif spec.choices:
        type = Literal[spec.choices] if spec.default else Literal[spec.choices] | None
    annotation = Annotated[type, option(spec.name, spec.group)]
    default = None if spec.kind == "texts" else spec.default
    return Parameter(spec.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


Words = Annotated[list[str] | None, option("words")]
Provider = Annotated[list[str] | None, option("providers")]
Count = Annotated[int | None, option("count")]
Page = Annotated[int, option("page")]
Language = Annotated[str | None, option("language")]
Region = Annotated[str | None, option("region")]
Site = Annotated[list[str] | None, option("sites")]
Exclude = Annotated[list[str] | None, option("exclude")]
Format = Annotated[Literal[choices.FORMATS] | None, option("format")]  # type: ignore[valid-type]  # the words are declared once
Json = Annotated[bool, option("as_json")]
Template = Annotated[str | None, option("template")]
Fields = Annotated[str | None, option("fields")]
Output = Annotated[str | None, option("output")]
ExitStatus = Annotated[bool, option("exit_status")]
ProgressKind = Annotated[Literal["auto", "json", "none"], option("progress")]
Cached = Annotated[bool, option("cached")]
Refresh = Annotated[bool, option("refresh")]
Offline = Annotated[bool, option("offline")]
Timeout = Annotated[float | None, option("timeout")]

SearchSwitch = Annotated[
    Literal["auto", "on", "off"], typer.Option("--search", help="Search the web: on, off, or auto (the model decides).")
]
Rounds = Annotated[int | None, typer.Option("--rounds", min=1, max=20, metavar="N", help="Search in at most N rounds.")]
Pages = Annotated[
    int | None, typer.Option("--pages", min=1, max=20, metavar="N", help="Read up to N pages in each round.")
]
Extractive = Annotated[
    bool, typer.Option("--extractive", help="Quote sentences from the pages instead of using a model.")
]
Deep = Annotated[
    bool, typer.Option("--deep", help="Have the model check citations where words cannot decide.")
]
TextFormat = Annotated[
    Literal["rich", "plain", "markdown", "json"] | None,
    typer.Option("--format", "-f", help="Output format; the default is rich on a terminal, else plain."),
]
