"""`sleuth cache`: show and clear the caches."""

from typing import Any

from sleuth.base.errors import Exit
from sleuth.base.i18n import tr, trn
from sleuth.base.json_output import json_text
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered

app = make_app("Manage the caches: stats, clear.")


@app.command(epilog="Example: sleuth cache stats --json")
def stats(runtime: Runtime, as_json: Json = False) -> None:
    """Show how many results and pages are cached."""
    answers, pages = runtime.result_cache.stats(), runtime.page_cache.stats()
    shared = _shared_stats(runtime)
    if as_json:
        print(json_text(answers | {"pages": pages, "shared": shared}), file=runtime.stdout)
        return
    count, size = answers["entries"], answers["bytes"]
    lines = [trn("{count} cached result, {bytes} bytes", "{count} cached results, {bytes} bytes", count, bytes=size)]
    count, size = pages["entries"], pages["bytes"]
    lines += [trn("{count} cached page, {bytes} bytes", "{count} cached pages, {bytes} bytes", count, bytes=size)]
    print(*lines, sep="\n", file=runtime.stdout)
    if shared and shared["reachable"]:
        kind = " ".join(filter(None, (shared["software"], shared["version"]))) or "Redis"
        template = "shared cache {address} ({kind}, {latencyMs} ms): results {answers}, pages {pages}"
        print(tr(template, kind=kind, **shared), file=runtime.stdout)
        _note_incomplete(runtime, shared["complete"])


@app.command(epilog="Example: sleuth cache clear")
def clear(runtime: Runtime) -> int:
    """Delete all cached results and pages, including those in a shared cache."""
    rendered.clear(runtime.paths)
    answers, pages = runtime.result_cache.clear(), runtime.page_cache.clear()
    done = tr("deleted from the cache: results {answers}, pages {pages}", answers=answers, pages=pages)
    print(done, file=runtime.stdout)
    if runtime.shared is None:
        return Exit.DONE
    from sleuth.store.cache.redis import contents
    from sleuth.store.cache.redis.server import RedisUnavailableError

    try:
        removed = contents.clear(runtime.shared)
    except RedisUnavailableError:  # has been reported
        return Exit.UNREACHABLE
    template = "deleted from the shared cache {address}, for all machines: results {answers}, pages {pages}"
    print(tr(template, address=runtime.shared.address.shown, **removed._asdict()), file=runtime.stdout)
    _note_incomplete(runtime, removed.complete)
    return Exit.DONE


def _note_incomplete(runtime: Runtime, complete: bool) -> None:
    if not complete:
        runtime.note(tr("the shared cache has too many keys to scan in time; there may be more entries"))


def _shared_stats(runtime: Runtime) -> dict[str, Any] | None:
    if runtime.shared is None:
        return None
    from sleuth.store.cache.redis.contents import server_info

    return server_info(runtime.shared)
