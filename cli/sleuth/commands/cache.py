"""`sleuth cache`: what is kept, and throwing it away."""

from typing import Annotated, Any

import typer

from sleuth.base.errors import Exit
from sleuth.base.i18n import tr
from sleuth.base.json_output import json_text
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered

app = make_app("Kept answers: stats, clear.")


@app.command(epilog="Example: sleuth cache stats --json")
def stats(ctx: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show how many answers and pages are kept."""
    runtime: Runtime = ctx.obj
    answers, pages = runtime.result_cache.stats(), runtime.page_cache.stats()
    shared = _survey(runtime)
    if as_json:
        print(json_text(answers | {"pages": pages, "shared": shared}), file=runtime.stdout)
        return
    print(tr("{entries} answers, {bytes} bytes", **answers), file=runtime.stdout)
    print(tr("{entries} pages, {bytes} bytes", **pages), file=runtime.stdout)
    if shared and shared["reachable"]:
        kind = " ".join(filter(None, (shared["software"], shared["version"]))) or "Redis"
        template = "{answers} answers and {pages} pages in the shared cache {address} ({kind}, {latencyMs} ms)"
        print(tr(template, kind=kind, **shared), file=runtime.stdout)
        _tell_rest(runtime, shared["complete"])


@app.command(epilog="Example: sleuth cache clear")
def clear(ctx: typer.Context) -> int:
    """Throw every kept answer and page away, those in a shared cache too."""
    runtime: Runtime = ctx.obj
    rendered.clear(runtime.paths)
    answers, pages = runtime.result_cache.clear(), runtime.page_cache.clear()
    print(tr("{answers} answers and {pages} pages thrown away", answers=answers, pages=pages), file=runtime.stdout)
    if runtime.shared is None:
        return Exit.DONE
    from sleuth.store.cache.redis import contents
    from sleuth.store.cache.redis.server import RedisUnavailableError

    try:
        removed = contents.clear(runtime.shared)
    except RedisUnavailableError:  # said already
        return Exit.UNREACHABLE
    template = "{answers} answers and {pages} pages thrown away in the shared cache {address}, for all machines"
    print(tr(template, address=runtime.shared.address.shown, **removed._asdict()), file=runtime.stdout)
    _tell_rest(runtime, removed.complete)
    return Exit.DONE


def _tell_rest(runtime: Runtime, complete: bool) -> None:
    if not complete:
        runtime.note(tr("the shared server holds so much that there was no time to look at all of it"))


def _survey(runtime: Runtime) -> dict[str, Any] | None:
    if runtime.shared is None:
        return None
    from sleuth.store.cache.redis.contents import server_info

    return server_info(runtime.shared)
