"""`sleuth library`: add files and pages to the embedded index, search it, list it, remove from it."""

import os
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sleuth.base.errors import Exit, RequestError
from sleuth.base.i18n import tr, trn
from sleuth.base.json_output import record_as_json, write_json
from sleuth.base.text import clean, strip_controls
from sleuth.base.urls import clean_url, mask_login
from sleuth.commands.terminal import display
from sleuth.commands.terminal.options import FORMATS
from sleuth.commands.terminal.questions import confirm
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.store.settings import LIBRARY_SIZE

if TYPE_CHECKING:
    from sleuth.library.ingester import Ingester
    from sleuth.library.library import Document, LibraryEntry

app = make_app("Manage the offline library: add, search, show, list, remove, stats.")

MAX_EXAMPLES = 3  # skipped files or pages named for each reason
EPILOG = """Examples:\n
\b
  sleuth library add ~/notes manual.pdf
  sleuth library add https://docs.searxng.org/ https://example.org/paper.pdf
  sleuth library add --fetch bookmarks.html
"""


@app.command(epilog=EPILOG)
def add(
    runtime: Runtime,
    targets: Annotated[
        list[str],
        typer.Argument(metavar="PATH|URL…", help="Files, folders, exported bookmarks or URLs.", show_default=False),
    ],
    fetch: Annotated[bool, typer.Option("--fetch", help="Read the bookmarked pages, too.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Read pages again, even if cached.")] = False,
    as_json: Json = False,
) -> int:
    """Add files, folders and web pages: Markdown, text, HTML, PDF, browser bookmarks.

    Folders are read recursively; hidden files, other file types and files over 20 MB are skipped. Unchanged files are
    not read again. Bookmarks are added with title and folder; with --fetch, the pages are read and added, too.
    """
    from sleuth.commands.terminal.progress import Progress
    from sleuth.library.ingester import Ingester

    urls, paths = _split_targets(targets)
    ingester = Ingester(runtime.library, lambda: runtime.reader)
    try:
        with Progress(runtime, "auto") as progress:
            ingester.add_files(paths, fetch=fetch, progress=progress.count_pages)
            ingester.add_pages(urls, refresh=refresh, on_event=progress)
    except KeyboardInterrupt:  # what was read until then is in the library
        _show_added(runtime, ingester, as_json)
        raise
    _show_added(runtime, ingester, as_json)
    _trim(runtime)
    return Exit.FAILED if ingester.skipped and not any(ingester.counts) else Exit.DONE


def _split_targets(targets: list[str]) -> tuple[list[str], list[str]]:
    """Return the URLs and the paths; raise RequestError for an invalid one before anything is read."""
    from sleuth.library import files
    from sleuth.library.ingester import is_url

    urls = [target for target in targets if is_url(target)]
    for url in urls:
        if not clean_url(url):
            shown = mask_login(url)[:200]
            raise RequestError("invalid URL {url!r}", "use a URL such as https://example.org/page", url=shown)
    paths = [target for target in targets if not is_url(target)]
    files.check(paths)
    return [clean_url(url) for url in urls], paths


def _show_added(runtime: Runtime, ingester: "Ingester", as_json: bool) -> None:
    if as_json:
        skipped = [{"path": path, "reason": reason} for path, reason in ingester.skipped]
        write_json(ingester.counts._asdict() | {"skipped": skipped}, runtime.stdout)
        return
    parts = tr("{added} added, {updated} updated, {unchanged} unchanged", **ingester.counts._asdict())
    print(parts + tr(", {count} skipped", count=len(ingester.skipped)), file=runtime.stdout)
    _show_skipped(runtime, ingester.skipped)


@app.command(
    epilog="Example: sleuth library search enable json in searxng",
    options=("words", "count", "page", "sites", "exclude", *FORMATS, "exit_status"),
)
def search(
    runtime: Runtime,
    source: Annotated[
        Literal["own", "handbook", "file", "page", "bookmark"] | None,
        typer.Option(help="Search only this kind of source; own means everything except the handbook."),
    ] = None,
    **options: Any,
) -> int:
    """Search only the library; your own documents that contain all the words come first."""
    from sleuth.commands.search import search as run_search
    from sleuth.engine.search_options import SearchOptions

    runtime.library.source = source or ""
    return run_search(runtime, SearchOptions(**options, providers=("library",)))


@app.command(epilog="Example: sleuth library show ~/notes/backup.md")
def show(
    runtime: Runtime,
    target: Annotated[
        str,
        typer.Argument(metavar="URL|PATH", help="Document to print, as in `sleuth library list`.", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Print the text of one document as it is in the library."""
    found = runtime.library.get(_patterns(target)[0])
    if found is None:
        shown = mask_login(target) if ":" in target else target
        raise RequestError("{target!r} is not in the library", "see what is in it: sleuth library list", target=shown)
    if as_json:
        write_json(_document_as_json(found) | {"content": found.text}, runtime.stdout)
        return
    text = f"{clean(found.title, entities=False)}\n{found.url}\n\n{strip_controls(found.text)}\n"
    display.deliver(runtime, text, None)


@app.command("list", epilog="Example: sleuth library list --source bookmark --limit 20")
def list_(
    runtime: Runtime,
    limit: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Show at most N.")] = 50,
    offset: Annotated[int, typer.Option(min=0, metavar="N", help="Skip the first N.")] = 0,
    source: Annotated[
        Literal["handbook", "file", "page", "bookmark"] | None, typer.Option(help="Show only this kind of source.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the library by URL, handbook last, with the date each entry was added (web pages: last read)."""
    found = runtime.library.list(limit, offset, source=source or "")
    if as_json:
        items = [_entry_as_json(entry) for entry in found.items]
        write_json({"items": items, "total": found.total, "limit": limit, "offset": offset}, runtime.stdout)
        return
    for entry in found.items:
        print(clean(entry.title, 100, entities=False), file=runtime.stdout)
        print(f"   {_when(entry)} · {clean(entry.url, entities=False)}", file=runtime.stdout)
    shown = len(found.items)
    if offset + shown < found.total:
        more = tr("{shown} of {total}; more: --offset {next}", shown=shown, total=found.total, next=offset + limit)
        runtime.note(more)


@app.command(epilog="Example: sleuth library remove ~/notes 'https://example.org/*'")
def remove(
    runtime: Runtime,
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="URL|PATH…", help="URLs, files or folders; a URL may end in *.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove everything except the handbook.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove pages by URL, files, or everything below a folder.

    The handbook is never removed.
    """
    if everything == bool(targets) or not all(targets or ()):  # an empty path would mean the current folder
        raise RequestError("nothing to remove", "give URLs, files or folders, or add --all")
    if everything:
        question = tr("Remove everything except the handbook from {path}? [y/N] ", path=runtime.paths.library)
        if not yes:
            confirm(runtime, question)
        removed = runtime.library.remove_all()
    else:
        removed = sum(runtime.library.remove(pattern) for target in targets or () for pattern in _patterns(target))
        if not removed:
            raise RequestError("not in the library, or part of the handbook", "see what is in it: sleuth library list")
    print(trn("{count} page removed", "{count} pages removed", removed), file=runtime.stdout)


@app.command(epilog="Example: sleuth library stats --json")
def stats(runtime: Runtime, as_json: Json = False) -> None:
    """Show the size of the library and the number of pages by source."""
    found, limit = runtime.library.stats(), runtime.settings[LIBRARY_SIZE]
    if as_json:
        write_json(found._asdict() | {"maxMegabytes": limit, "path": runtime.paths.library}, runtime.stdout)
        return
    sources = tr(", ").join(f"{name} {count}" for name, count in sorted(found.sources.items()))
    values = {"pages": found.pages, "sources": sources, "size": found.bytes / 1e6, "limit": limit}
    summary = tr("{pages} pages ({sources}), {size:.1f} of {limit} MB", **values)
    print(f"{summary}\n{runtime.paths.library}", file=runtime.stdout)


def _patterns(target: str) -> list[str]:
    """Return the URL patterns of a target; a path means the file, and everything below the folder."""
    if "://" in target:
        return [target]
    from pathlib import Path

    url = Path(os.path.abspath(os.path.expanduser(target))).as_uri()
    return [url, f"{url}/*"]


def _show_skipped(runtime: Runtime, skipped: list[tuple[str, str]]) -> None:
    by_reason: dict[str, list[str]] = {}
    for path, reason in skipped:
        by_reason.setdefault(reason, []).append(path if "://" in path else os.path.basename(path) or path)
    for reason, paths in sorted(by_reason.items()):
        names = ", ".join(clean(path, 80, entities=False) for path in paths[:MAX_EXAMPLES])
        more = ", …" if len(paths) > MAX_EXAMPLES else ""
        runtime.note(tr("skipped {count}: {reason} ({names})", count=len(paths), reason=reason, names=names + more))


def _trim(runtime: Runtime) -> None:
    limit = runtime.settings[LIBRARY_SIZE]
    runtime.library.trim(limit)
    if runtime.library.stats().bytes > limit * 1_000_000:
        text = tr("the library is larger than {limit} MB; remove pages or raise library.max_megabytes", limit=limit)
        runtime.warn(text)


def _when(entry: "LibraryEntry") -> str:
    is_page = entry.source == "page"
    date = time.strftime("%Y-%m-%d", time.localtime(entry.modified if is_page else entry.added_at))
    return tr("read {date}", date=date) if is_page else tr("added {date}", date=date)


def _entry_as_json(entry: "LibraryEntry") -> dict[str, Any]:
    read_at = _moment(entry.modified) if entry.source == "page" else None
    return _document_as_json(entry) | {"addedAt": _moment(entry.added_at), "readAt": read_at}


def _document_as_json(entry: "LibraryEntry | Document") -> dict[str, Any]:
    about = {"url": entry.url, "title": entry.title, "siteName": entry.site or None}
    return about | record_as_json(entry, "source", "kind", "size", "published", modified=_moment(entry.modified))


def _moment(seconds: float) -> str | None:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else None
