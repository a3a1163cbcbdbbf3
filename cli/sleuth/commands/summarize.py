"""`sleuth summarize`: summarises pages with citations."""

import json
from typing import Annotated

import typer

from sleuth.answers.summary import digest, nothing_read
from sleuth.base.errors import Exit, RequestError
from sleuth.base.urls import clean_url
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.answer import AnswerOptions
from sleuth.commands.terminal.digest import show
from sleuth.commands.terminal.progress import Progress
from sleuth.commands.terminal.typer_app import make_app
from sleuth.render import View
from sleuth.runtime import Runtime

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
        list[str] | None,
        typer.Argument(metavar="URL", help="Pages to read; - or nothing reads standard input."),
    ] = None,
    query: Annotated[str, typer.Option("--query", metavar="WORDS", help="What you want to know about.")] = "",
    length: Annotated[
        str,
        typer.Option("--length", metavar="short|medium|long|N", help="Length, or maximum number of characters."),
    ] = "medium",
    extractive: o.Extractive = False,
    format: o.TextFormat = None,
    as_json: o.Json = False,
    output: o.Output = None,
    progress: o.ProgressKind = "auto",
    timeout: o.Timeout = None,
    refresh: o.Refresh = False,
    offline: o.Offline = False,
) -> int:
    """Read pages and summarise each and all of them, with citations.

    A configured model writes the summaries, and each [n] is checked against its page. Without a
    model, or with --extractive, the summaries quote the pages.
    """
    runtime: Runtime = ctx.obj
    pages_to_read, query = _given(runtime, urls or [], query)
    size = _length(length)
    cache = "refresh" if refresh else "use"
    chosen = display.choose_format(runtime, format, output, View(), json=as_json)
    with Progress(runtime, progress) as report:
        pages = runtime.reader.read(pages_to_read, timeout=timeout, cache=cache, offline=offline, on_event=report)
    runtime.content_reader.remember(pages)
    found = digest(pages, query, size)
    if not found.read:
        raise nothing_read(found)
    models = None if extractive else runtime.writers(offline=offline)
    show(runtime, found, AnswerOptions(chosen, output, progress), models, size)
    return Exit.DONE


def show_summary(runtime: Runtime, urls: list[str], query: str) -> None:
    """Show a short summary of pages, for the interactive prompt."""
    with Progress(runtime, "auto") as report:
        pages = runtime.reader.read(urls, on_event=report)
    found = digest(pages, query, "short")
    if not found.read:
        raise nothing_read(found)
    options = AnswerOptions(display.choose_format(runtime, None, None, View(), json=False))
    show(runtime, found, options, runtime.writers(), "short")


def _given(runtime: Runtime, urls: list[str], query: str) -> tuple[list[str], str]:
    """Return URLs and query from the arguments, or from standard input: URLs, or the JSON of a search."""
    if urls and urls != ["-"]:
        return _checked(urls), query
    if runtime.stdin.isatty():
        raise RequestError("there are no pages to read", "sleuth summarize URL…")
    text = runtime.stdin.read(10_000_000)
    if not text.lstrip().startswith("{"):
        return _checked(text.split()), query
    try:
        answer = json.loads(text)
        found = [str(hit["url"]) for hit in answer["results"]]
        return _checked(found), query or str(answer.get("query") or "")
    except (ValueError, KeyError, TypeError) as problem:
        raise RequestError(
            "standard input is not the output of sleuth search --json", "sleuth search --json … | sleuth summarize"
        ) from problem


def _checked(urls: list[str]) -> list[str]:
    for url in urls:
        if not clean_url(url):
            raise RequestError("{url!r} is not a web URL", "use a URL like https://example.org/page", url=url[:200])
    if not urls:
        raise RequestError("there are no pages to read", "sleuth summarize URL…")
    if len(urls) > MAX_PAGES:
        raise RequestError("too many pages: {count}", "use at most {most}", count=len(urls), most=MAX_PAGES)
    return list(dict.fromkeys(clean_url(url) for url in urls))


def _length(text: str) -> str | int:
    if text in LENGTHS:
        return text
    if text.isascii() and text.isdigit() and 0 < int(text) <= 1_000_000:
        return int(text)
    raise RequestError("{text!r} is no length", "short, medium, long, or a number of characters", text=text)
