"""`sleuth serve`: the HTTP API for other programs."""

from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sleuth.base.errors import Exit, MissingExtraError
from sleuth.base.extras import install_command
from sleuth.base.i18n import tr
from sleuth.base.urls import is_loopback
from sleuth.commands.terminal.typer_app import make_app, parameters_of
from sleuth.runtime import Runtime
from sleuth.serving.http.tokens import Tokens, find_tokens

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from sleuth.serving.http.metrics import RequestMetrics
    from sleuth.serving.http.server import OnStop

app = make_app()

PORT = 7373
EPILOG = """Examples:\n
\b
  sleuth serve
  TOKEN=$(sleuth serve --print-token)
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:7373/openapi.json
"""


def listener_options(
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one.")
    ] = PORT,
    token_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="File with the tokens; created if missing.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Also accept this Host header, for example behind a proxy.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Origin whose pages may call the API from a browser.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow an address that other machines can reach.")
    ] = False,
) -> None:
    """Declare what `serve` and `mcp --http` have in common."""


LISTENER = parameters_of(listener_options)


@app.command(epilog=EPILOG, options=LISTENER)
def serve(
    runtime: Runtime,
    print_token: Annotated[bool, typer.Option("--print-token", help="Print the first token and exit.")] = False,
    root_path: Annotated[
        str, typer.Option(metavar="PATH", help="Path under which a proxy publishes the server, such as /sleuth.")
    ] = "",
    *,
    token_file: str | None,
    **listener: Any,
) -> int:
    """Serve search, answers, providers and MCP over HTTP on this machine.

    Every request needs a token: SLEUTH_SERVE_TOKEN, or one that is generated on first use and stored in a private
    file. GET /openapi.json describes the API; /mcp serves the tools for agents. Ctrl-C stops the server.
    """
    tokens = find_tokens(runtime.environ, runtime.paths.state, token_file)
    if print_token:
        if tokens.warning:
            runtime.warn(tokens.warning)
        print(tokens.all[0].text, file=runtime.stdout)
        return Exit.DONE
    if not all(map(find_spec, ("fastapi", "uvicorn", "prometheus_client"))):
        raise MissingExtraError("sleuth serve needs the `serve` extra", "{install}", install=install_command("serve"))
    from sleuth.api import Client
    from sleuth.serving.http.app import ApiState, create_app

    server = Listener(runtime, tokens, **listener)
    state = ApiState(Client(runtime.environ))
    with server.socket, closing(state):
        state.start()
        return server.run(create_app(state, root_path.rstrip("/")), state.stop, state.metrics)


class Listener:
    """A socket, and the rules for requests that arrive on it."""

    def __init__(
        self,
        runtime: Runtime,
        tokens: Tokens,
        host: str,
        port: int,
        allow_host: Sequence[str] | None,
        allow_origin: Sequence[str] | None,
        allow_remote: bool,
    ) -> None:
        from sleuth.serving.http.auth import AccessRules, allowed_hosts, allowed_origins
        from sleuth.serving.http.server import listen

        if tokens.warning:
            runtime.warn(tokens.warning)
        self.runtime, self.tokens = runtime, tokens
        origins = allowed_origins(allow_origin or ())
        allowed_hosts(host, port, allow_host or ())  # an invalid name is an error before the socket is open
        self.socket = listen(host, port, remote=allow_remote)
        hosts = allowed_hosts(host, self.socket.getsockname()[1], allow_host or ())
        self.rules = AccessRules(tokens.all, hosts, origins)

    def run(self, app: "ASGIApp", on_stop: "OnStop", metrics: "RequestMetrics | None" = None, path: str = "") -> int:
        """Serve an application until a signal arrives, and return the exit code."""
        from sleuth.serving.http.auth import AccessMiddleware
        from sleuth.serving.http.server import serve

        host, port = self.socket.getsockname()[:2]
        address = f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"
        if not is_loopback(host):
            warning = tr("anyone who can reach {address} can guess tokens and read the traffic", address=address)
            self.runtime.warn(warning)

        def ready() -> None:
            message = tr("serving {address}; the token is in {source}", address=address, source=self.tokens.source)
            print(message, file=self.runtime.stderr, flush=True)

        interrupted = serve(AccessMiddleware(app, self.rules, metrics), self.socket, ready, on_stop)
        return Exit.INTERRUPTED if interrupted else Exit.DONE
