"""`sleuth mcp`: the tools for agents, over the Model Context Protocol on standard input and output."""

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
        int, typer.Option("--count", "-n", min=1, max=10, metavar="N", help="Results, where the agent names no number.")
    ] = 5,
    timeout: o.Timeout = None,
) -> int:
    """Serve web_search and its sisters to an agent, over MCP on standard input and output.

    An agent starts this itself; the handbook has the set-up of each. The tools are web_search, fetch_page, summarize,
    library_search and, where a model is set up, ask. agent.web_search.enabled decides whether web_search and ask are
    offered at all. It ends when standard input ends.
    """
    runtime: Runtime = ctx.obj
    if find_spec("mcp") is None:
        raise MissingExtraError("serving agents needs an optional part", "install it: pip install 'sleuth[mcp]'")
    from sleuth.api import Client
    from sleuth.serving.tools import Toolbox

    runtime.settings  # noqa: B018 - what is wrong with them is said now, not to the agent
    box = Toolbox(Client(runtime.environ), provider or (), count, timeout)
    if provider:
        box.check_providers()
    if runtime.stdin.isatty():
        _explain(runtime)
    gc.disable()  # the SDK makes tens of thousands of objects that all stay
    from sleuth.serving.mcp.server import serve

    gc.freeze()
    gc.enable()
    serve(box)
    return Exit.DONE


def _explain(runtime: Runtime) -> None:
    """Tell a person who typed this what it is."""
    runtime.note(tr("this is an MCP server: an agent starts it, and talks to it where you type now"))
    runtime.note(tr("to set it up in yours: docs/agents.md, or sleuth search -p library set up agents"))
    runtime.note(tr("Ctrl-D or Ctrl-C ends it"))
