"""`sleuth library`: put files and pages into the embedded index, search it, look at it, take things out."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sleuth.base.errors import Exit, RequestError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.store.settings import LIBRARY_SIZE

if TYPE_CHECKING:
    from sleuth.library.keep import Ingester
    from sleuth.library.library import LibraryEntry

app = make_app("The embedded offline index: add, search, list, remove, stats.")

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
SHOWN = 3  # examples of what was skipped, for each reason
EPILOG = """Examples:\n
\b
  sleuth library add ~/notes manual.pdf
  sleuth library add https://docs.searxng.org/ https://example.org/paper.pdf
  sleuth library add --fetch bookmarks.html
"""


@app.command(epilog=EPILOG)
def add(
    ctx: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH|URL…", help="Files, folders, bookmark exports, addresses of pages.", show_default=False
        ),
    ],
    fetch: Annotated[bool, typer.Option("--fetch", help="Read the pages that bookmarks lead to.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Read pages anew, cached or bookmarked ones too.")] = False,
    as_json: Json = False,
) -> int:
    """Add files, folders and web pages: Markdown, text, HTML, PDF, browser bookmarks.

    Folders are read with all below them; hidden files, other kinds and files over 20 MB are left out. What has not
    changed since it was added is not read again. Of bookmarks, names and folders are kept; --fetch keeps the pages too.
    """
    from sleuth.commands.terminal.progress import Progress
    from sleuth.library.keep import Ingester

    runtime: Runtime = ctx.obj
    addresses, paths = _parted(targets)
    keeper = Ingester(runtime.library, lambda: runtime.reader)
    try:
        with _progress(runtime) as show:
            keeper.add_files(paths, fetch=fetch, progress=show)
        with Progress(runtime, "auto") as tell:
            keeper.add_pages(addresses, refresh=refresh, tell=tell)
    except KeyboardInterrupt:  # what was read until then is in the library
        _tell_added(runtime, keeper, as_json)
        raise
    _tell_added(runtime, keeper, as_json)
    _keep_small(runtime)
    return Exit.FAILED if keeper.skipped and not any(keeper.counts) else Exit.DONE


def _parted(targets: list[str]) -> tuple[list[str], list[str]]:
    """Return the addresses and the paths among what was named; what is neither is refused before anything is read."""
    from sleuth.library import ingest
    from sleuth.library.keep import is_url

    addresses = [target for target in targets if is_url(target)]
    for address in addresses:
        if not clean_url(address):
            raise RequestError(
                "{url!r} is not a web address", "write it like https://example.org/page", url=address[:200]
            )
    paths = [target for target in targets if not is_url(target)]
    ingest.check(paths)
    return [clean_url(address) for address in addresses], paths


def _tell_added(runtime: Runtime, keeper: "Ingester", as_json: bool) -> None:
    if as_json:
        left_out = [{"path": path, "reason": reason} for path, reason in keeper.skipped]
        _print_json(runtime, keeper.counts._asdict() | {"skipped": left_out})
        return
    parts = tr("{added} added, {updated} updated, {unchanged} unchanged", **keeper.counts._asdict())
    print(parts + tr(", {count} skipped", count=len(keeper.skipped)), file=runtime.stdout)
    _tell_skipped(runtime, keeper.skipped)


@app.command(epilog="Examples: sleuth library search enable json in searxng   ·   sleuth library search -n 20 启用")
def search(
    ctx: typer.Context,
    words: o.Words = None,
    count: o.Count = None,
    page: o.Page = 1,
    site: o.Site = None,
    exclude: o.Exclude = None,
    format: o.Format = None,
    as_json: o.Json = False,
    template: o.Template = None,
    fields: o.Fields = None,
    output: o.Output = None,
    exit_status: o.ExitStatus = False,
) -> int:
    """Search the library alone; the same as `sleuth search -p library`."""
    from sleuth.commands.terminal.search import search as perform
    from sleuth.engine.options import SearchOptions

    return perform(ctx.obj, SearchOptions(**ctx.params, provider=("library",)))


@app.command("list", epilog="Example: sleuth library list --source bookmark --limit 20")
def list_(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="After how many.")] = 0,
    source: Annotated[
        Literal["handbook", "file", "page", "bookmark"] | None, typer.Option(help="Only what came from there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what is in the library, by address, and when it was added or, web pages, read."""
    runtime: Runtime = ctx.obj
    found = runtime.library.list(limit, offset, source=source or "")
    if as_json:
        items = [
            {
                "url": entry.url,
                "title": entry.title,
                "siteName": entry.site or None,
                "source": entry.source,
                "kind": entry.kind,
                "size": entry.size,
                "published": entry.published or None,
                "modified": _moment(entry.modified),
                "addedAt": _moment(entry.added_at),
                "readAt": _moment(entry.modified) if entry.source == "page" else None,
            }
            for entry in found.items
        ]
        _print_json(runtime, {"items": items, "total": found.total, "limit": limit, "offset": offset})
        return
    for entry in found.items:
        print(clean(entry.title, 100, entities=False), file=runtime.stdout)
        print(f"   {_when(entry)} · {clean(entry.url, entities=False)}", file=runtime.stdout)
    if found.total > len(found.items):
        runtime.note(
            tr(
                "{shown} of {total}; more: --offset {next}",
                shown=len(found.items),
                total=found.total,
                next=offset + limit,
            )
        )


@app.command(epilog="Examples: sleuth library remove ~/notes   ·   sleuth library remove 'https://example.org/*'")
def remove(
    ctx: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL|PATH…", help="Addresses, files or folders; * at the end of an address."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything but the handbook.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take pages out: by address, by file, or all below a folder. The handbook always stays."""
    runtime: Runtime = ctx.obj
    if everything == bool(targets) or not all(targets or ()):  # an empty name would mean the folder one stands in
        raise RequestError("say what to remove", "name addresses, files or folders, or give --all")
    if everything:
        if not yes:
            _confirm(runtime)
        removed = runtime.library.remove_all()
    else:
        removed = sum(runtime.library.remove(pattern) for target in targets or () for pattern in _patterns(target))
        if not removed:
            raise RequestError(
                "nothing of that name is in the library", "see what is: sleuth library list; the handbook always stays"
            )
    print(tr("{count} pages removed", count=removed), file=runtime.stdout)


@app.command(epilog="Example: sleuth library stats --json")
def stats(ctx: typer.Context, as_json: Json = False) -> None:
    """Show how much is in the library."""
    runtime: Runtime = ctx.obj
    found, limit = runtime.library.stats(), runtime.settings[LIBRARY_SIZE]
    if as_json:
        document = found._asdict() | {"maxMegabytes": limit, "path": runtime.paths.library}
        _print_json(runtime, document)
        return
    sources = ", ".join(f"{name} {count}" for name, count in sorted(found.sources.items()))
    summary = tr(
        "{pages} pages ({sources}), {size:.1f} of {limit} MB",
        pages=found.pages,
        sources=sources,
        size=found.bytes / 1e6,
        limit=limit,
    )
    print(f"{summary}\n{runtime.paths.library}", file=runtime.stdout)


def _patterns(target: str) -> list[str]:
    """Return the addresses a word of the user means; a path means the file, and all below the folder, there or not."""
    if "://" in target:
        return [target]
    from pathlib import Path

    url = Path(os.path.abspath(os.path.expanduser(target))).as_uri()
    return [url, f"{url}/*"]


def _confirm(runtime: Runtime) -> None:
    question = tr("Remove everything but the handbook from {path}? [y/N] ", path=runtime.paths.library)
    if not runtime.stdin.isatty():
        raise RequestError("nothing was removed: nobody can be asked here", "say it: sleuth library remove --all --yes")
    print(question, end="", file=runtime.stderr, flush=True)
    if runtime.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RequestError("nothing was removed", "answer y to remove everything")


def _tell_skipped(runtime: Runtime, skipped: list[tuple[str, str]]) -> None:
    by_reason: dict[str, list[str]] = {}
    for path, reason in skipped:
        by_reason.setdefault(reason, []).append(path if "://" in path else os.path.basename(path) or path)
    for reason, paths in sorted(by_reason.items()):
        names = ", ".join(clean(path, 80, entities=False) for path in paths[:SHOWN])
        more = ", …" if len(paths) > SHOWN else ""
        runtime.note(tr("skipped {count}: {reason} ({names})", count=len(paths), reason=reason, names=names + more))


def _keep_small(runtime: Runtime) -> None:
    limit = runtime.settings[LIBRARY_SIZE]
    runtime.library.trim(limit)
    if runtime.library.stats().bytes > limit * 1_000_000:
        runtime.warn(
            tr("the library is larger than {limit} MB; remove something, or raise library.max_megabytes", limit=limit)
        )


@contextmanager
def _progress(runtime: Runtime) -> Iterator[Any]:
    """Show on a terminal how many pages have been read."""
    if not runtime.stderr.isatty():
        yield lambda count: None
        return
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    from sleuth.render.rich import make_console

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=make_console(runtime.stderr, runtime.color), transient=True) as progress:
        task = progress.add_task(tr("reading"), total=None)
        yield lambda count: progress.update(task, description=tr("{count} pages", count=count))


def _when(entry: "LibraryEntry") -> str:
    if entry.source == "page":
        return tr("read {date}", date=_day(entry.modified))
    return tr("added {date}", date=_day(entry.added_at))


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def _moment(seconds: float) -> str | None:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else None


def _print_json(runtime: Runtime, document: Any) -> None:
    write_json(document, runtime.stdout)
