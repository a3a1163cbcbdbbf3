"""`sleuth cite`: [n] in any text becomes a link, and the references follow."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from sleuth.answers import support
from sleuth.answers.answer import source_as_json
from sleuth.answers.citations import CitedSource, LinkedText, below, find, link, without_source
from sleuth.answers.sources import read_sources
from sleuth.base.errors import Exit, RequestError
from sleuth.base.json_output import json_text
from sleuth.base.text import strip_controls
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime

app = make_app()

MAX_SIZE = 10_000_000  # characters of a file
EPILOG = """Examples:\n
\b
  sleuth search --json rust async > results.json
  sleuth cite --sources results.json answer.md
  some-model < prompt.txt | sleuth cite --sources results.json --check
"""


@app.command(epilog=EPILOG)
def cite(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The text; - is standard input.")] = "-",
    sources: Annotated[
        str,
        typer.Option(
            "--sources", metavar="FILE", help="JSON of search or summarize, or a list of url and title; - is stdin."
        ),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Mark what the sources do not bear out: [3?] weak, [3??] not found.")
    ] = False,
    style: Annotated[
        Literal["markdown", "terminal", "plain", "json"] | None,
        typer.Option("--style", help="Kind of links; terminal on a terminal, else markdown."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --style json.")] = False,
    listed: Annotated[bool, typer.Option("--references/--no-references", help="List the sources below.")] = True,
    output: o.Output = None,
) -> int:
    """Turn [n] in any text into links and append the reference list.

    Numbers without a source stay as they are and are named on stderr. --check compares each
    sentence with the text of its source by their words, without a model: it tells what is
    found there, not what is true. [3?] is found in part, [3??] is not found.
    """
    runtime: Runtime = ctx.obj
    known = _sources(runtime, sources, file)
    text = strip_controls(_read(runtime, file, "name a file, or pipe the text in"))
    checks = support.check(text, known) if check else []
    chosen = "json" if as_json else style or _usual_style(runtime, output)
    linked = link(text, known, "markdown" if chosen == "json" else chosen, support.signs(checks))
    if chosen == "json":
        written = json_text(_document(text, linked, known, checks), indent=2) + "\n"
    else:
        written = linked.text + (below(linked.text, known, linked.cited, chosen) if listed else "")
    display.deliver(runtime, written, output)
    _say_the_rest(runtime, linked, checks)
    return Exit.DONE


def _sources(runtime: Runtime, path: str, file: str) -> list[CitedSource]:
    if not path:
        raise RequestError("there are no sources", "name them: sleuth cite --sources results.json")
    if path == file == "-":
        raise RequestError("text and sources cannot both come from standard input", "name a file for one of them")
    return read_sources(_read(runtime, path, "name what sleuth search --json wrote"))


def _read(runtime: Runtime, path: str, hint: str) -> str:
    if path == "-" and runtime.stdin.isatty():
        raise RequestError("there is nothing to read", hint)
    try:
        if path == "-":
            text = runtime.stdin.read(MAX_SIZE + 1)
        else:
            with open(path, encoding="utf-8-sig", errors="replace") as stream:
                text = stream.read(MAX_SIZE + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise RequestError("cannot read {path} ({reason})", hint, path=path, reason=reason) from problem
    if len(text) > MAX_SIZE:
        raise RequestError("{path} is too long", "{most} characters at the most", path=path, most=MAX_SIZE)
    return text


def _usual_style(runtime: Runtime, output: str | None) -> str:
    return "terminal" if not output and display.is_terminal(runtime) else "markdown"


def _document(
    text: str, linked: LinkedText, known: Sequence[CitedSource], checks: Sequence[support.Support]
) -> dict[str, Any]:
    plain = [{"citation": number, "mark": mark.start} for mark in find(text) for number in mark.numbers]
    return {
        "text": linked.text,
        "citations": [support.as_json(one, known) for one in checks]
        or [one for one in plain if one["citation"] in linked.cited],
        "outOfRange": list(linked.out_of_range),
        "references": [
            source_as_json(source)
            for source in sorted(known, key=lambda source: source.citation)
            if source.citation in linked.cited
        ],
    }


def _say_the_rest(runtime: Runtime, linked: LinkedText, checks: Sequence[support.Support]) -> None:
    if linked.out_of_range:
        runtime.warn(without_source(linked.out_of_range))
    if checks:
        runtime.note(support.tally(checks))
