"""`sleuth summarize`: summarises pages with citations."""

from typing import Annotated, Any

import typer

from sleuth.answers.summary import digest
from sleuth.base.errors import RequestError
from sleuth.commands.read import Targets, find_targets, read_pages
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.answer import AnswerOptions
from sleuth.commands.terminal.digest import show
from sleuth.commands.terminal.typer_app import make_app
from sleuth.engine.search_options import SearchOptions
from sleuth.render import View
from sleuth.runtime import Runtime

app = make_app()

LENGTHS = ("short", "medium", "long")
EPILOG = """Examples:\n
\b
  sleuth summarize https://docs.searxng.org/
  sleuth summarize --query 'what is a limiter' --length short URL URL FILE
  sleuth search --json rust async | sleuth summarize --query 'smallest runtime'
"""


@app.command(epilog=EPILOG, options=("as_json", "output", "progress", o.SUMMARY_TIMEOUT, "refresh", "offline"))
def summarize(
    runtime: Runtime,
    targets: Targets = None,
    query: Annotated[str, typer.Option("--query", metavar="WORDS", help="Focus on this question or topic.")] = "",
    length: Annotated[
        str, typer.Option("--length", metavar="short|medium|long|N", help="Length, or maximum number of characters.")
    ] = "medium",
    extractive: o.Extractive = False,
    format: o.TextFormat = None,
    **values: Any,
) -> None:
    """Summarise pages or files, each and as a whole, with citations.

    A configured model writes the summaries, and each [n] is checked against its page. Without a
    model, or with --extractive, the summaries quote the pages.
    """
    wanted, searched = find_targets(runtime, targets or [], "for example: sleuth summarize URL…")
    options = SearchOptions(format=format, **values)
    show_summary(runtime, wanted, query or searched, _length(length), options, extractive=extractive)


def show_summary(
    runtime: Runtime,
    wanted: list[str],
    query: str,
    length: str | int,
    options: SearchOptions,
    *,
    extractive: bool = False,
) -> None:
    """Read pages and files and show their summary."""
    chosen = display.choose_format(runtime, options.format, options.output, View(), json=options.as_json)
    found = digest(read_pages(runtime, wanted, options), query, length)
    models = None if extractive else runtime.writers(offline=options.offline)
    show(runtime, found, AnswerOptions(chosen, options.output, options.progress), models, length)


def _length(text: str) -> str | int:
    if text in LENGTHS:
        return text
    if text.isascii() and text.isdigit() and 0 < int(text) <= 1_000_000:
        return int(text)
    raise RequestError("invalid length {text!r}", "use short, medium, long or a number of characters", text=text)
