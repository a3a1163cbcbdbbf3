"""Typer options made from the declarations of `SearchOptions`, and options that only some other commands share."""

from inspect import Parameter
from typing import Annotated, Any, Literal

import typer

from sleuth.base.i18n import tr
from sleuth.engine.search_options import OPTIONS, POSITIONAL, SearchOptions

FORMATS = ("format", "as_json", "template", "fields", "output")


def search_parameter(name: str, *, grouped: bool = False, help: str = "") -> Parameter:
    """Return the parameter of a command for one field of `SearchOptions`; `help` replaces its help text."""
    spec = OPTIONS[name]
    type: Any = SearchOptions.__annotations__[name]
    if spec.kind == "texts":
        type = list[str] | None
    elif spec.choices:
        type = Literal[spec.choices] if spec.default else Literal[spec.choices] | None
    default = None if spec.kind == "texts" else spec.default
    annotation = Annotated[type, _typer_option(name, grouped, help)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typer_option(name: str, grouped: bool, help: str) -> Any:
    spec = OPTIONS[name]
    if name == POSITIONAL:
        return typer.Argument(metavar=spec.metavar, help=help or spec.help)
    low, high = spec.range or (None, None)
    return typer.Option(
        *([f"{spec.flags[0]}/{spec.negative[0]}"] if spec.negative else spec.flags),
        metavar=spec.metavar,
        help=help or spec.help,
        min=low,
        max=high,
        callback=seconds if spec.kind == "float" else None,
        rich_help_panel=spec.group if grouped else None,
    )


def seconds(value: float | None) -> float | None:
    """Reject nan, which passes the check of minimum and maximum."""
    if value is not None and value != value:
        raise typer.BadParameter(tr("nan is not a number of seconds"))
    return value


REQUEST_TIMEOUT = search_parameter("timeout", help="Time limit for each request, in seconds.")
PAGE_TIMEOUT = search_parameter("timeout", help="Time limit for each page, in seconds.")
SUMMARY_TIMEOUT = search_parameter("timeout", help="Time limit for each page, in seconds; for the model: llm.timeout.")
ANSWER_TIMEOUT = search_parameter("timeout", help="Time limit for each search, in seconds; for the model: llm.timeout.")
ONLY_SEARCH = ("providers", "language", "region", "timeout")  # options of answers that only matter to searches
ANSWER = ("providers", "language", "region", "cached", "refresh", "offline", ANSWER_TIMEOUT)
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
Deep = Annotated[bool, typer.Option("--deep", help="Let the model judge citations that are not verbatim quotes.")]
TextFormat = Annotated[
    Literal["rich", "plain", "markdown", "json"] | None,
    typer.Option("--format", "-f", help="Output format; by default rich on a terminal, else plain."),
]
