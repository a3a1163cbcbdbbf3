"""`sleuth searxng`: write a working SearXNG deployment."""

import secrets
import shlex
from typing import Annotated

import typer

from sleuth.base.i18n import tr
from sleuth.commands.terminal.typer_app import make_app
from sleuth.doctor.files.new_deployment import make_deployment, write_deployment
from sleuth.runtime import Runtime

USUAL_PORT = 8080  # where sleuth looks without being told

app = make_app("Write a working SearXNG deployment: init.")


@app.callback()
def searxng() -> None:
    """Write a working SearXNG deployment: init."""


@app.command(epilog="Example: sleuth searxng init ./searxng --port 8888")
def init(
    ctx: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where to write it; made when missing.")],
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="N", help="The port on this machine.")] = USUAL_PORT,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    limiter: Annotated[
        bool, typer.Option("--limiter", help="With the limiter, valkey, and a list of addresses that pass.")
    ] = False,
) -> None:
    """Write a compose file and settings for a private SearXNG: JSON enabled, a fresh secret, a port on loopback only.

    Prints the commands that start, verify and restart it.
    """
    runtime: Runtime = ctx.obj
    files = make_deployment(port, secrets.token_hex(32), limiter=limiter)
    for path in write_deployment(folder, files, force=force):
        print(tr("wrote {path}", path=path), file=runtime.stderr)
    print(_commands(folder, port), file=runtime.stdout)
    runtime.note(
        tr("on its first start the container takes the folder core-config as its own (uid 977): edit with sudo then")
    )


def _commands(folder: str, port: int) -> str:
    address = f"http://127.0.0.1:{port}"
    lines = [
        tr("# start"),
        f"cd {shlex.quote(folder)}",
        "docker compose up -d",
        "",
        tr("# verify: the good answer is {answer}", answer='{"error": "No query"}'),
        f"curl -s '{address}/search?format=json'",
    ]
    if port != USUAL_PORT:
        lines.append(f"sleuth providers set searxng --api-host {address}")
    lines += [
        "sleuth doctor",
        "",
        tr("# restart, after a change of core-config/settings.yml"),
        "docker compose restart core",
        tr("# after a change of .env or docker-compose.yml"),
        "docker compose up -d",
    ]
    return "\n".join(lines)
