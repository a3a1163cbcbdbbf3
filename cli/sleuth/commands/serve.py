"""`sleuth serve`: the HTTP API for other programs."""

from importlib.util import find_spec
from socket import socket
from typing import Annotated

import typer

from sleuth.base.errors import Exit, MissingExtraError
from sleuth.base.extras import install_command
from sleuth.base.i18n import tr
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.serving.http.tokens import Token, find_token

app = make_app()

PORT = 7373
EPILOG = """Examples:\n
\b
  sleuth serve
  curl -H "Authorization: Bearer $(sleuth serve --print-token)" http://127.0.0.1:7373/openapi.json
"""


@app.command(epilog=EPILOG)
def serve(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 takes a free one.")
    ] = PORT,
    token_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="File with the token; created if missing.")
    ] = None,
    print_token: Annotated[bool, typer.Option("--print-token", help="Print the token and exit.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Additional Host header to accept, as behind a proxy.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Site whose pages may call the API from a browser.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Listen on an address that other machines can reach.")
    ] = False,
) -> int:
    """Serve search, providers and answers as JSON over HTTP, on this machine.

    Every request needs a token: SLEUTH_SERVE_TOKEN, or one that is generated on first use and stored in a private
    file. GET /openapi.json describes the API. Ctrl-C stops the server.
    """
    runtime: Runtime = ctx.obj
    token = find_token(runtime.environ, runtime.paths.state, token_file)
    if token.warning:
        runtime.warn(token.warning)
    if print_token:
        print(token.text, file=runtime.stdout)
        return Exit.DONE
    if not (find_spec("fastapi") and find_spec("uvicorn")):
        raise MissingExtraError("sleuth serve needs the optional part `serve`", install_command("serve"))
    from sleuth.serving.http.auth import allowed_hosts, allowed_origins
    from sleuth.serving.http.server import listen

    origins = allowed_origins(allow_origin or ())
    with listen(host, port, remote=allow_remote) as listener:
        hosts = allowed_hosts(host, listener.getsockname()[1], allow_host or ())
        return _serve(runtime, token, listener, hosts, origins)


def _serve(runtime: Runtime, token: Token, listener: socket, hosts: frozenset[str], origins: frozenset[str]) -> int:
    from sleuth.api import Client
    from sleuth.serving.http.auth import AccessRules
    from sleuth.serving.http.server import is_loopback, serve

    host, port = listener.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    if not is_loopback(host):
        runtime.warn(tr("anyone who can reach {address} can guess tokens and read the traffic", address=address))

    def ready() -> None:
        message = tr("serving {address}; the token is in {source}", address=address, source=token.source)
        print(message, file=runtime.stderr)
        runtime.stderr.flush()

    interrupted = serve(Client(runtime.environ), AccessRules(token.text, hosts, origins), listener, ready)
    return Exit.INTERRUPTED if interrupted else Exit.DONE
