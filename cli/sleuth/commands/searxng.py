"""`sleuth searxng`: write a working SearXNG deployment."""

import secrets
import shlex
from typing import Annotated

import typer

from sleuth.base.i18n import tr
from sleuth.commands.terminal.typer_app import make_app
from sleuth.doctor.files.new_deployment import make_deployment, write_deployment
from sleuth.runtime import Runtime

DEFAULT_PORT = 8080  # where sleuth looks by default

app = make_app("Set up your own SearXNG server: init.")


@app.callback()
def searxng() -> None:
    """Set up your own SearXNG server: init."""


@app.command(epilog="Example: sleuth searxng init ./searxng --port 8888")
def init(
    runtime: Runtime,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder to write to; created if needed.")],
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="N", help="Port on this machine.")] = DEFAULT_PORT,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    limiter: Annotated[
        bool, typer.Option("--limiter", help="Add the limiter and valkey, and exempt local addresses.")
    ] = False,
) -> None:
    """Write a compose file and settings for a private SearXNG: JSON enabled, a fresh secret, a port on loopback only.

    Also prints the commands that start, verify and restart it.
    """
    for path in write_deployment(folder, make_deployment(port, secrets.token_hex(32), limiter=limiter), force=force):
        print(tr("wrote {path}", path=path), file=runtime.stderr)
    print(_commands(folder, port), file=runtime.stdout)
    runtime.note(
        tr("after the first start, core-config belongs to the container's user (uid 977): edit its files with sudo")
    )


def _commands(folder: str, port: int) -> str:
    address = f"http://127.0.0.1:{port}"
    lines = [
        tr("# start"),
        f"cd {shlex.quote(folder)}",
        "docker compose up -d",
        "",
        tr("# verify; expected: {answer}", answer='{"error": "No query"}'),
        f"curl -s '{address}/search?format=json'",
    ]
    if port != DEFAULT_PORT:
        lines.append(f"sleuth providers set searxng --api-host {address}")
    lines += [
        f"sleuth doctor {address}",
        "",
        tr("# after a change to core-config/settings.yml"),
        "docker compose restart core",
        tr("# after a change to .env or docker-compose.yml"),
        "docker compose up -d",
    ]
    return "\n".join(lines)
