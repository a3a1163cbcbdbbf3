"""`sleuth cache`: what is kept, and throwing it away."""

import json
from typing import Annotated

import typer

from sleuth.cache import DiskCache
from sleuth.commands.making import make_app
from sleuth.language import say
from sleuth.runtime import Runtime

app = make_app("Kept answers: stats, clear.")


@app.command(epilog="Example: sleuth cache stats --json")
def stats(ctx: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show how much is kept."""
    runtime: Runtime = ctx.obj
    found = runtime.cache.stats() if isinstance(runtime.cache, DiskCache) else {"entries": 0, "bytes": 0}
    if as_json:
        print(json.dumps(found, ensure_ascii=False), file=runtime.stdout)
        return
    print(say("{entries} answers, {bytes} bytes", **found), file=runtime.stdout)


@app.command(epilog="Example: sleuth cache clear")
def clear(ctx: typer.Context) -> None:
    """Throw every kept answer away."""
    runtime: Runtime = ctx.obj
    removed = runtime.cache.clear() if isinstance(runtime.cache, DiskCache) else 0
    print(say("{count} answers thrown away", count=removed), file=runtime.stdout)
