"""`sleuth summarize`: read pages and tell what they say, with citations."""

import json
from typing import Annotated

import typer

from sleuth.answers.digest import digest, nothing_read
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
        list[str] | None, typer.Argument(metavar="URL", help="Pages to read; none or - takes them from standard input.")
    ] = None,
    query: Annotated[str, typer.Option("--query", metavar="WORDS", help="What you want to know from them.")] = "",
    length: Annotated[
        str, typer.Option("--length", metavar="short|medium|long|N", help="How much, or how many characters.")
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

    Where a model is set up, it writes the summaries, and each [n] is checked against its page.
    Without one, or with --extractive, every sentence is taken from a page word for word.
    """
    runtime: Runtime = ctx.obj
    given, asked = _given(runtime, urls or [], query)
    size = _length(length)
    cache = "refresh" if refresh else "use"
    chosen = display.choose_format(runtime, format, output, View(), json=as_json)
    with Progress(runtime, progress) as tell:
        pages = runtime.reader.read(given, timeout=timeout, cache=cache, offline=offline, on_event=tell)
    runtime.content_reader.remember(pages)
    found = digest(pages, asked, size)
    if not found.read:
        raise nothing_read(found)
    models = None if extractive else runtime.writers(offline=offline)
    show(runtime, found, pages, AnswerOptions(chosen, output, progress), models, size)
    return Exit.DONE


def show_summary(runtime: Runtime, urls: list[str], query: str) -> None:
    """Read pages and show what they say, as the interactive prompt wants it."""
    with Progress(runtime, "auto") as tell:
        pages = runtime.reader.read(urls, on_event=tell)
    found = digest(pages, query, "short")
    if not found.read:
        raise nothing_read(found)
    manner = AnswerOptions(display.choose_format(runtime, None, None, View(), json=False))
    show(runtime, found, pages, manner, runtime.writers(), "short")


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
