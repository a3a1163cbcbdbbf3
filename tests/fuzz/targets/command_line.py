"""Command lines of search: the fast parser and Typer parse them alike. A case has one word per line."""

from typing import Any

from typer.main import get_command

from sleuth.commands.app import app
from sleuth.commands.fast.parser import FLAGS, parse_search
from sleuth.engine.search_options import SearchOptions

COMMAND: Any = get_command(app).get_command(None, "search")  # type: ignore[attr-defined]  # a group
WORDS = " ¦ ".join(f"\n{flag}" for flag in FLAGS) + (
    " ¦ \n ¦ = ¦ \n--\n ¦ \n-\n ¦ -nx ¦ --coun ¦ \n 5 ¦ \n+5 ¦ \n1e2 ¦ \nnan ¦ \n51 ¦ \n0 ¦ json ¦ rag ¦ token ¦ strict"
)
ROUNDS = 250


def check(data: bytes) -> None:
    """Parse a command line twice."""
    words = data.decode("utf-8", "replace").split("\n")[:30]
    values = parse_search(words)
    if values is None:
        return
    context = COMMAND.make_context("search", list(words))  # raises if Typer rejects what the fast parser accepts
    assert SearchOptions(**values) == SearchOptions(**context.params)
