"""`sleuth mcp`: the tools for agents over the Model Context Protocol, on stdio or HTTP."""

import gc
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sleuth.base.errors import Exit, MissingExtraError
from sleuth.base.extras import install_command
from sleuth.base.i18n import tr
from sleuth.commands.serve import LISTENER, Listener
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.serving.http.tokens import find_tokens

if TYPE_CHECKING:
    from sleuth.serving.tools import Toolbox

app = make_app()

EPILOG = """Examples:\n
\b
  claude mcp add sleuth -- sleuth mcp
  sleuth mcp --provider brave --count 8
  sleuth mcp --http --port 7373
  sleuth config set agent.web_search.enabled false
"""


@app.command(epilog=EPILOG, options=("providers", "timeout", *LISTENER))
def mcp(
    runtime: Runtime,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", min=1, max=10, metavar="N", help="Number of results when the agent does not set one."
        ),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP at /mcp instead of stdin and stdout.")] = False,
    *,
    providers: list[str] | None,
    timeout: float | None,
    **listener: Any,
) -> int:
    """Serve web_search and other tools to an agent, over MCP on stdin and stdout, or over HTTP.

    Agents start this command themselves; `sleuth agents install` adds it to their settings. The tools are web_search,
    fetch_page, summarize, library_search and, if a model is configured, ask. Set agent.web_search.enabled to false to
    offer neither web_search nor ask. The server exits when stdin ends. With --http it serves many agents, which need
    the token of sleuth serve.
    """
    if find_spec("mcp") is None:
        raise MissingExtraError("sleuth mcp needs the `mcp` extra", "{install}", install=install_command("mcp"))
    from sleuth.api import Client
    from sleuth.serving.tools import Toolbox

    runtime.settings  # noqa: B018 - report invalid settings now, not to the agent
    toolbox = Toolbox(Client(runtime.environ), providers or (), count, timeout)
    if providers:
        toolbox.check_providers()
    if http:
        tokens = find_tokens(runtime.environ, runtime.paths.state, listener.pop("token_file"))
        return _serve_http(toolbox, Listener(runtime, tokens, **listener))
    if runtime.stdin.isatty():
        _explain(runtime)
    gc.disable()  # importing the SDK creates tens of thousands of permanent objects
    from sleuth.serving.mcp import serve_stdio

    gc.freeze()
    gc.enable()
    serve_stdio(toolbox)
    return Exit.DONE


def _serve_http(toolbox: "Toolbox", listener: Listener) -> int:
    from sleuth.serving.http.mcp import McpEndpoint, mcp_app

    endpoint = McpEndpoint(toolbox)
    with listener.socket:
        return listener.run(mcp_app(endpoint), endpoint.close, path="/mcp")


def _explain(runtime: Runtime) -> None:
    """Explain the command to a person who typed it in a terminal."""
    runtime.note(tr("this is an MCP server: an agent starts it and talks to it over stdin"))
    runtime.note(tr("to add it to an agent: sleuth agents install AGENT; to list the agents: sleuth agents list"))
    runtime.note(tr("press Ctrl-D or Ctrl-C to quit"))
