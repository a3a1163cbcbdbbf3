"""`sleuth tool-schema`: the `web_search` tool for agents, and the schema of JSON answers."""

import json
from typing import Annotated, Literal

import typer

from sleuth.commands.making import make_app
from sleuth.runtime import Runtime
from sleuth.schemas import tool

app = make_app()


@app.command(epilog="Example: sleuth tool-schema --style openai > web_search.json")
def tool_schema(
    ctx: typer.Context,
    style: Annotated[
        Literal["mcp", "openai", "anthropic", "json-schema"],
        typer.Option(help="Whose form of the tool; json-schema is the schema of search --json."),
    ] = "mcp",
) -> None:
    """Print the web_search tool definition, or the schema of JSON answers."""
    runtime: Runtime = ctx.obj
    print(json.dumps(tool(style), ensure_ascii=False, indent=2), file=runtime.stdout)
