"""What the Typer apps of several commands share."""

from typing import Any

import typer
from typer.core import TyperCommand

from sleuth.base.i18n import tr


def make_app(help: str | None = None) -> typer.Typer:
    """Return the Typer app of a command: plain help text, no options that Typer adds."""
    return typer.Typer(help=help, add_completion=False, no_args_is_help=help is not None, rich_markup_mode=None)


class GroupedCommand(TyperCommand):
    """A command whose help lists options under headings; Typer does that only with its rich help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            title = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                title = "Arguments"
            if record := parameter.get_help_record(ctx):
                groups.setdefault(title, []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def seconds(value: float | None) -> float | None:
    """Reject nan, which passes the check of minimum and maximum."""
    if value is not None and value != value:
        raise typer.BadParameter(tr("nan is not a number of seconds"))
    return value
