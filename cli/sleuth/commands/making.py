"""How the Typer app of a command is made; apart, so that what the front desk answers needs no Typer."""

import typer


def make_app(help: str | None = None) -> typer.Typer:
    """Return the Typer app of a command: plain help text, no options of Typer's own."""
    return typer.Typer(help=help, add_completion=False, no_args_is_help=help is not None, rich_markup_mode=None)
