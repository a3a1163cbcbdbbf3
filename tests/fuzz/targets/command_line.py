"""Command lines of search: what the front desk reads, Typer reads alike. A case has one word a line."""

from typing import Any

from typer.main import get_command

from sleuth.commands.app import app
from sleuth.commands.fast.generated.search import FLAGS
from sleuth.commands.fast.parser import parse
from sleuth.engine.options import SearchOptions

COMMAND: Any = get_command(app).get_command(None, "search")  # type: ignore[attr-defined]  # a group
WORDS = " ¦ ".join(f"\n{flag}" for flag in FLAGS) + (
    " ¦ \n ¦ = ¦ \n--\n ¦ \n-\n ¦ -nx ¦ --coun ¦ \n 5 ¦ \n+5 ¦ \n1e2 ¦ \nnan ¦ \n51 ¦ \n0 ¦ json ¦ rag ¦ token ¦ strict"
)
ROUNDS = 250


def check(data: bytes) -> None:
    """Read a command line twice."""
    words = data.decode("utf-8", "replace").split("\n")[:30]
    at_the_desk = parse(words)
    if at_the_desk is None:
        return
    context = COMMAND.make_context("search", list(words))  # raises where Typer refuses what the desk accepts
    assert SearchOptions(**at_the_desk) == SearchOptions(**context.params)
