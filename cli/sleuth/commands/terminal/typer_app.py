"""What Typer apps and options of several commands have in common; apart, so that the front desk needs no Typer."""

import typer


def make_app(help: str | None = None) -> typer.Typer:
    """Return the Typer app of a command: plain help text, no options of Typer's own."""
    return typer.Typer(help=help, add_completion=False, no_args_is_help=help is not None, rich_markup_mode=None)


def seconds(value: float | None) -> float | None:
    """Refuse what only looks like a number of seconds: bounds let nan through."""
    if value is not None and value != value:
        raise typer.BadParameter("nan is not a number of seconds")
    return value
