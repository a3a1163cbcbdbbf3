"""`sleuth library`: put files into the embedded index, search it, look at it, take things out."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import typer

from sleuth.commands import options as o
from sleuth.commands.making import make_app
from sleuth.errors import RequestError
from sleuth.language import say
from sleuth.runtime import Runtime
from sleuth.settings import LIBRARY_SIZE
from sleuth.text import clean

app = make_app("The embedded offline index: add, search, list, remove, stats.")

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
SHOWN = 3  # examples of what was skipped, for each reason


class Skipped:
    """What could not be read, by reason."""

    def __init__(self) -> None:
        self.paths: dict[str, list[str]] = {}
        self.unchanged = 0

    def note(self, path: str, reason: str) -> None:
        """Remember one."""
        self.paths.setdefault(reason, []).append(path)

    @property
    def count(self) -> int:
        """Return how many there are."""
        return sum(map(len, self.paths.values()))


@app.command(epilog="Examples: sleuth library add ~/notes   ·   sleuth library add bookmarks.html manual.md")
def add(
    ctx: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Files, folders, bookmark exports.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Add files and folders: Markdown, text, HTML, browser bookmarks.

    Folders are read with all below them; hidden files, other kinds and files over 20 MB are left out. What has not
    changed since it was added is not read again.
    """
    from sleuth.store import documents

    runtime: Runtime = ctx.obj
    documents.check(paths)
    library, skipped = runtime.library, Skipped()

    def known(url: str, modified: float, size: int) -> bool:
        held = library.holds(url, modified, size)
        skipped.unchanged += held
        return held

    with _progress(runtime) as show:
        counts = library.add(documents.read(paths, known=known, skip=skipped.note), progress=lambda c: show(sum(c)))
    counts = counts._replace(unchanged=counts.unchanged + skipped.unchanged)
    if as_json:
        left_out = [{"path": path, "reason": reason} for reason, group in skipped.paths.items() for path in group]
        _print_json(runtime, counts._asdict() | {"skipped": left_out})
    else:
        parts = say("{added} added, {updated} updated, {unchanged} unchanged", **counts._asdict())
        print(parts + say(", {count} skipped", count=skipped.count), file=runtime.stdout)
        _tell_skipped(runtime, skipped)
    _keep_small(runtime)


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
    from sleuth.commands.searching import Wishes
    from sleuth.commands.searching import search as perform

    return perform(ctx.obj, Wishes(**ctx.params, provider=("library",)))


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
    """List what is in the library, by address."""
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
                "modified": _moment(entry.modified),
                "added": _moment(entry.added_at),
            }
            for entry in found.items
        ]
        _print_json(runtime, {"items": items, "total": found.total, "limit": limit, "offset": offset})
        return
    for entry in found.items:
        print(f"{clean(entry.title, 100, entities=False)}\n   {clean(entry.url, entities=False)}", file=runtime.stdout)
    if found.total > len(found.items):
        runtime.note(
            say(
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
    if everything == bool(targets):
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
    print(say("{count} pages removed", count=removed), file=runtime.stdout)


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
    summary = say(
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
    question = say("Remove everything but the handbook from {path}? [y/N] ", path=runtime.paths.library)
    if not runtime.stdin.isatty():
        raise RequestError("nothing was removed: nobody can be asked here", "say it: sleuth library remove --all --yes")
    print(question, end="", file=runtime.stderr, flush=True)
    if runtime.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RequestError("nothing was removed", "answer y to remove everything")


def _tell_skipped(runtime: Runtime, skipped: Skipped) -> None:
    for reason, paths in sorted(skipped.paths.items()):
        names = ", ".join(clean(os.path.basename(path) or path, 80, entities=False) for path in paths[:SHOWN])
        more = ", …" if len(paths) > SHOWN else ""
        runtime.note(say("skipped {count}: {reason} ({names})", count=len(paths), reason=reason, names=names + more))


def _keep_small(runtime: Runtime) -> None:
    limit = runtime.settings[LIBRARY_SIZE]
    runtime.library.trim(limit)
    if runtime.library.stats().bytes > limit * 1_000_000:
        runtime.warn(
            say("the library is larger than {limit} MB; remove something, or raise library.max_megabytes", limit=limit)
        )


@contextmanager
def _progress(runtime: Runtime) -> Iterator[Any]:
    """Show on a terminal how many pages have been read."""
    if not runtime.stderr.isatty():
        yield lambda count: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from sleuth.render.rich import make_console

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=make_console(runtime.stderr, runtime.color), transient=True) as progress:
        task = progress.add_task(say("reading"), total=None)
        yield lambda count: progress.update(task, description=say("{count} pages", count=count))


def _moment(seconds: float) -> str | None:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else None


def _print_json(runtime: Runtime, document: Any) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2), file=runtime.stdout)
