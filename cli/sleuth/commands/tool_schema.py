"""`sleuth tool-schema`: the tools for agents as they want them, and the schemas of JSON answers."""

import json
from typing import Annotated, Literal

import typer

from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.serving.tool_definitions import TOOLS, definition

app = make_app()


@app.command(
    epilog="Examples: sleuth tool-schema --style openai > web_search.json   ·   sleuth tool-schema --tool fetch_page"
)
def tool_schema(
    ctx: typer.Context,
    style: Annotated[
        Literal["mcp", "openai", "anthropic", "json-schema"],
        typer.Option(help="Whose form of the tool; json-schema is the schema of its answer."),
    ] = "mcp",
    tool: Annotated[
        Literal["web_search", "fetch_page", "summarize", "library_search", "ask"], typer.Option(help="Which tool.")
    ] = "web_search",
) -> None:
    """Print the definition of web_search or another tool for agents, or the schema of JSON answers.

    With --style json-schema and without --tool it is the schema of search --json.
    """
    runtime: Runtime = ctx.obj
    print(json.dumps(definition(TOOLS[tool], style), ensure_ascii=False, indent=2), file=runtime.stdout)
