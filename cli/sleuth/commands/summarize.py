"""`sleuth summarize`: summarises pages with citations."""

from typing import Annotated

import typer

from sleuth.answers.summary import digest, nothing_read
from sleuth.base.errors import Exit, RequestError
from sleuth.commands.read import Targets, find_targets, read_pages
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
EPILOG = """Examples:\n
\b
  sleuth summarize https://docs.searxng.org/
  sleuth summarize --query 'what is a limiter' --length short URL URL FILE
  sleuth search --json rust async | sleuth summarize --query 'which runtime is smallest'
"""


@app.command(epilog=EPILOG)
def summarize(
    ctx: typer.Context,
    targets: Targets = None,
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
    """Read pages or files and summarise each and all of them, with citations.

    A configured model writes the summaries, and each [n] is checked against its page. Without a
    model, or with --extractive, the summaries quote the pages.
    """
    runtime: Runtime = ctx.obj
    wanted, searched = find_targets(runtime, targets or [], "sleuth summarize URL…")
    size, query = _length(length), query or searched
    plan = {"timeout": timeout, "cache": "refresh" if refresh else "use", "offline": offline}
    chosen = display.choose_format(runtime, format, output, View(), json=as_json)
    with Progress(runtime, progress) as report:
        pages = read_pages(runtime, wanted, on_event=report, **plan)
    found = digest(pages, query, size)
    if not found.read:
        raise nothing_read(found, runtime.settings)
    models = None if extractive else runtime.writers(offline=offline)
    show(runtime, found, AnswerOptions(chosen, output, progress), models, size)
    return Exit.DONE


def show_summary(runtime: Runtime, urls: list[str], query: str) -> None:
    """Show a short summary of pages, for the interactive prompt."""
    with Progress(runtime, "auto") as report:
        pages = runtime.reader.read(urls, on_event=report)
    found = digest(pages, query, "short")
    if not found.read:
        raise nothing_read(found, runtime.settings)
    options = AnswerOptions(display.choose_format(runtime, None, None, View(), json=False))
    show(runtime, found, options, runtime.writers(), "short")


def _length(text: str) -> str | int:
    if text in LENGTHS:
        return text
    if text.isascii() and text.isdigit() and 0 < int(text) <= 1_000_000:
        return int(text)
    raise RequestError("{text!r} is no length", "short, medium, long, or a number of characters", text=text)
