"""`sleuth mcp`: the tools for agents over the Model Context Protocol on stdio."""

import gc
from importlib.util import find_spec
from typing import Annotated

import typer

from sleuth.base.errors import Exit, MissingExtraError
from sleuth.base.i18n import tr
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime

app = make_app()

EPILOG = """Examples:\n
\b
  claude mcp add sleuth -- sleuth mcp
  sleuth mcp --provider brave --count 8
  sleuth config set agent.web_search.enabled false
"""


@app.command(epilog=EPILOG)
def mcp(
    ctx: typer.Context,
    provider: o.Provider = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", min=1, max=10, metavar="N", help="Results if the agent does not ask for a number."
        ),
    ] = None,
    timeout: o.Timeout = None,
) -> int:
    """Serve web_search and other tools to an agent, over MCP on stdin and stdout.

    Agents start this command themselves; docs/agents.md has the configuration of each. The tools are web_search,
    fetch_page, summarize, library_search and, if a model is configured, ask. Set agent.web_search.enabled to false to
    offer neither web_search nor ask. The server exits when stdin ends.
    """
    runtime: Runtime = ctx.obj
    if find_spec("mcp") is None:
        raise MissingExtraError("sleuth mcp needs the extra `mcp`", "install it: pip install 'sleuth[mcp]'")
    from sleuth.api import Client
    from sleuth.serving.tools import Toolbox

    runtime.settings  # noqa: B018 - report invalid settings now, not to the agent
    toolbox = Toolbox(Client(runtime.environ), provider or (), count, timeout)
    if provider:
        toolbox.check_providers()
    if runtime.stdin.isatty():
        _explain(runtime)
    gc.disable()  # importing the SDK creates tens of thousands of permanent objects
    from sleuth.serving.mcp import serve_stdio

    gc.freeze()
    gc.enable()
    serve_stdio(toolbox)
    return Exit.DONE


def _explain(runtime: Runtime) -> None:
    """Explain the command to a person who typed it in a terminal."""
    runtime.note(tr("this is an MCP server: an agent starts it and talks to it over stdin"))
    runtime.note(tr("to configure your agent, see docs/agents.md or run: sleuth search -p library set up agents"))
    runtime.note(tr("press Ctrl-D or Ctrl-C to quit"))
