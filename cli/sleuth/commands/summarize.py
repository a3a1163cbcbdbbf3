"""`sleuth summarize`: read pages and tell what they say, with citations."""

import io
import json
from typing import Annotated, Literal

import typer

from sleuth.answers.digest import Digest, as_json, digest
from sleuth.commands import options as o
from sleuth.commands import showing
from sleuth.commands.making import make_app
from sleuth.commands.reading import Progress
from sleuth.errors import Exit, RequestError, SearchError
from sleuth.runtime import Runtime
from sleuth.settings import UI_THEME
from sleuth.text import clean_url

app = make_app()

LENGTHS = ("short", "medium", "long")
MAX_PAGES = 50
EPILOG = """Examples:\n
\b
  sleuth summarize https://docs.searxng.org/
  sleuth summarize --query 'what is a limiter' --length short URL URL URL
  sleuth search --json rust async | sleuth summarize --query 'which runtime is smallest'
"""


@app.command(epilog=EPILOG)
def summarize(
    ctx: typer.Context,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Pages to read; none or - takes them from standard input.")
    ] = None,
    query: Annotated[str, typer.Option("--query", metavar="WORDS", help="What you want to know from them.")] = "",
    length: Annotated[
        str, typer.Option("--length", metavar="short|medium|long|N", help="How much, or how many characters.")
    ] = "medium",
    format: Annotated[
        Literal["rich", "plain", "markdown", "json"] | None, typer.Option("--format", "-f", help="Output.")
    ] = None,
    as_json: o.Json = False,
    output: o.Output = None,
    progress: o.ProgressKind = "auto",
    timeout: o.Timeout = None,
    refresh: o.Refresh = False,
    offline: o.Offline = False,
) -> int:
    """Read pages and summarise each and all of them, with citations.

    Every sentence is taken from a page word for word, so each number can be checked.
    """
    runtime: Runtime = ctx.obj
    given, asked = _given(runtime, urls or [], query)
    cache = "refresh" if refresh else "use"
    with Progress(runtime, progress) as tell:
        pages = runtime.reader.read(given, timeout=timeout, cache=cache, offline=offline, on_event=tell)
    runtime.contents.remember(pages)
    found = digest(pages, asked, _length(length))
    if not found.read:
        raise _nothing_read(found)
    _write(runtime, found, "json" if as_json else format, output)
    for warning in found.warnings:
        runtime.warn(warning)
    return Exit.DONE


def show_summary(runtime: Runtime, urls: list[str], query: str) -> None:
    """Read pages and show what they say, as the interactive prompt wants it."""
    with Progress(runtime, "auto") as tell:
        found = digest(runtime.reader.read(urls, on_event=tell), query, "short")
    if not found.read:
        raise _nothing_read(found)
    _write(runtime, found, None, None)


def _nothing_read(found: Digest) -> SearchError:
    reasons = "; ".join(found.warnings)
    hint = "check the addresses; pages on your own network need: sleuth config set fetch.allow_private true"
    return SearchError("none of the pages could be read: {why}", hint, code="FETCH_FAILED", why=reasons)


def _given(runtime: Runtime, urls: list[str], query: str) -> tuple[list[str], str]:
    """Return the addresses to read and the question: as typed, or from stdin, as words or as an answer of search."""
    if urls and urls != ["-"]:
        return _checked(urls), query
    if runtime.stdin.isatty():
        raise RequestError("there is nothing to read", "name pages: sleuth summarize URL…")
    text = runtime.stdin.read(10_000_000)
    if not text.lstrip().startswith("{"):
        return _checked(text.split()), query
    try:
        answer = json.loads(text)
        found = [str(hit["url"]) for hit in answer["results"]]
        return _checked(found), query or str(answer.get("query") or "")
    except (ValueError, KeyError, TypeError) as problem:
        raise RequestError(
            "what came on standard input is no answer of sleuth", "pipe it: sleuth search --json … | sleuth summarize"
        ) from problem


def _checked(urls: list[str]) -> list[str]:
    for url in urls:
        if not clean_url(url):
            raise RequestError("{url!r} is not a web address", "write it like https://example.org/page", url=url[:200])
    if not urls:
        raise RequestError("there is nothing to read", "name pages: sleuth summarize URL…")
    if len(urls) > MAX_PAGES:
        raise RequestError("{count} pages are too many", "{most} at the most", count=len(urls), most=MAX_PAGES)
    return list(dict.fromkeys(clean_url(url) for url in urls))


def _length(text: str) -> str | int:
    if text in LENGTHS:
        return text
    if text.isascii() and text.isdigit() and 0 < int(text) <= 1_000_000:
        return int(text)
    raise RequestError("{text!r} is no length", "short, medium, long, or a number of characters", text=text)


def _write(runtime: Runtime, found: Digest, format: str | None, output: str | None) -> None:
    from sleuth.render.digest import render_markdown, render_plain, render_rich

    chosen = format or ("rich" if not output and showing.is_terminal(runtime) else "plain")
    out = io.StringIO() if output else runtime.stdout
    if chosen == "json":
        out.write(json.dumps(as_json(found), ensure_ascii=False, indent=2) + "\n")
    elif chosen == "rich":
        render_rich(found, out, runtime.color, runtime.settings[UI_THEME])
    else:
        (render_markdown if chosen == "markdown" else render_plain)(found, out)
    if output and isinstance(out, io.StringIO):
        from sleuth.files import write_atomic

        write_atomic(output, out.getvalue().encode("utf-8", "replace"))
