"""`sleuth tool-schema`: definitions of the tools for agents, and schemas of JSON output."""

import json
from typing import Annotated, Literal

import typer

from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.serving.tool_definitions import TOOLS, tool_definition

app = make_app()


@app.command(epilog="Example: sleuth tool-schema --style openai > web_search.json")
def tool_schema(
    runtime: Runtime,
    style: Annotated[
        Literal["mcp", "openai", "anthropic", "json-schema"],
        typer.Option(help="Format of the definition; json-schema prints the schema of the output."),
    ] = "mcp",
    tool: Annotated[
        Literal["web_search", "fetch_page", "summarize", "library_search", "ask"], typer.Option(help="Tool to print.")
    ] = "web_search",
) -> None:
    """Print the definition of web_search or another tool for agents, or the schema of its output.

    With --style json-schema and without --tool, print the schema of sleuth search --json.
    """
    print(json.dumps(tool_definition(TOOLS[tool], style), ensure_ascii=False, indent=2), file=runtime.stdout)
