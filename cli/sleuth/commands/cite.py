"""`sleuth cite`: links the citations of any text and lists their sources."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from sleuth.answers import citation_check
from sleuth.answers.answer import source_as_json
from sleuth.answers.citations import CitedSource, LinkedText, find, link, reference_section, without_source
from sleuth.answers.sources import read_sources
from sleuth.base.errors import Exit, RequestError
from sleuth.base.files import unreadable
from sleuth.base.json_output import json_text
from sleuth.base.text import strip_controls
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.screen import Screen
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime

app = make_app()

MAX_FILE_CHARS = 10_000_000
EPILOG = """Examples:\n
\b
  sleuth search --json rust async > results.json
  sleuth cite --sources results.json answer.md
  some-model < prompt.txt | sleuth cite --sources results.json --check
"""


@app.command(epilog=EPILOG, options=("output",))
def cite(
    runtime: Runtime,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The text; - reads standard input.")] = "-",
    sources: Annotated[
        str,
        typer.Option(
            "--sources",
            metavar="FILE",
            help="JSON from search or summarize, or a list of objects with url and title; - reads stdin.",
        ),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Mark unsupported citations: [3?] weak, [3??] not found.")
    ] = False,
    deep: o.Deep = False,
    style: Annotated[
        Literal["markdown", "terminal", "plain", "json", "bibtex", "csl-json"] | None,
        typer.Option(
            "--format", "-f", "--style", help="Output format; by default terminal on a terminal, else markdown."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    listed: Annotated[bool, typer.Option("--references/--no-references", help="Append the list of sources.")] = True,
    exit_status: Annotated[
        bool, typer.Option("--exit-status", help="With --check: exit with status 1 if a citation is not supported.")
    ] = False,
    *,
    output: str | None,
) -> int:
    """Turn [n] in any text into links and append the reference list.

    Numbers without a source are left unchanged and reported on stderr. --check compares the words of each sentence
    with the text of its source, without a model: it shows what is found there, not what is true. [3?] is only partly
    found, [3??] not at all. With --deep, a model judges each sentence that is not a verbatim quote from its source.

    bibtex and csl-json write the cited sources for a bibliography, without the text.
    """
    known = _sources(runtime, sources, file)
    text = strip_controls(_read(runtime, file, "give a file, or pipe the text: sleuth cite --sources FILE < TEXT"))
    checks = citation_check.check(text, known) if check or deep else []
    if deep:
        checks = _judged(runtime, checks, text, known)
    by_default = "terminal" if not output and display.is_terminal(runtime) else "markdown"
    chosen = "json" if as_json else style or by_default
    linked = link(text, known, "plain" if chosen == "plain" else "markdown", citation_check.signs(checks))
    if chosen in ("bibtex", "csl-json"):
        written = _references(known, linked, chosen)
    elif chosen == "json":
        written = json_text(_document(text, linked, known, checks), indent=2) + "\n"
    elif chosen == "terminal":
        written = _rendered(runtime, linked, known, listed=listed)
    else:
        written = linked.text + (reference_section(linked.text, known, linked.cited, chosen) if listed else "")
    display.deliver(runtime, written, output)
    if linked.out_of_range:
        runtime.warn(without_source(linked.out_of_range))
    if checks:
        runtime.note(citation_check.tally(checks))
    unsupported = any(one.support in ("weak", "not_found") for one in checks) or bool(linked.out_of_range)
    return Exit.FAILED if exit_status and unsupported else Exit.DONE


def _judged(
    runtime: Runtime, checks: list[citation_check.Support], text: str, known: Sequence[CitedSource]
) -> list[citation_check.Support]:
    """Return the checks with the verdicts of the configured model; a failure becomes a warning."""
    from sleuth.answers.second_opinion import second_opinion

    if runtime.models is None:
        raise RequestError("--deep needs a language model", "set its API key: sleuth config set llm.api_key -")
    judged, _, warning = second_opinion(checks, text, known, runtime.models.reasoner)
    if warning:
        runtime.warn(warning)
    return judged


def _sources(runtime: Runtime, path: str, file: str) -> list[CitedSource]:
    if not path:
        raise RequestError("--sources is missing", "for example: sleuth cite --sources results.json")
    if path == file == "-":
        raise RequestError("FILE and --sources cannot both be standard input", "use a file for one of them")
    return read_sources(_read(runtime, path, "give the output of sleuth search --json"))


def _read(runtime: Runtime, path: str, hint: str) -> str:
    if path == "-" and runtime.stdin.isatty():
        raise RequestError("standard input is empty", hint)
    try:
        if path == "-":
            text = runtime.stdin.read(MAX_FILE_CHARS + 1)
        else:
            with open(path, encoding="utf-8-sig", errors="replace") as stream:
                text = stream.read(MAX_FILE_CHARS + 1)
    except (OSError, ValueError) as problem:
        raise unreadable(path, problem, hint) from problem
    if len(text) > MAX_FILE_CHARS:
        raise RequestError("{path} is too long", "use at most {most} characters", path=path, most=MAX_FILE_CHARS)
    return text


def _references(known: Sequence[CitedSource], linked: LinkedText, format: str) -> str:
    """Return the cited sources, without the text, for a bibliography."""
    import io

    from sleuth.render.bibliography import hit_of, write_references

    out = io.StringIO()
    write_references([hit_of(source.fields) for source in known if source.citation in linked.cited], format, out)
    return out.getvalue()


def _rendered(runtime: Runtime, linked: LinkedText, known: Sequence[CitedSource], *, listed: bool) -> str:
    """Return the text as `sleuth ask` shows an answer."""
    out = display.Buffer(runtime.stdout)
    screen = Screen(runtime, out=out)
    screen.set_sources(tuple(known))
    screen.replace("", linked.text)
    if listed:
        screen.list(known, linked.cited)
    return out.getvalue()


def _document(
    text: str, linked: LinkedText, known: Sequence[CitedSource], checks: Sequence[citation_check.Support]
) -> dict[str, Any]:
    plain = [{"citation": number, "mark": mark.start} for mark in find(text) for number in mark.numbers]
    cited = [source for source in known if source.citation in linked.cited]
    return {
        "text": linked.text,
        "citations": [citation_check.as_json(one, known) for one in checks]
        or [one for one in plain if one["citation"] in linked.cited],
        "outOfRange": list(linked.out_of_range),
        "references": [source_as_json(source) for source in sorted(cited, key=lambda source: source.citation)],
    }
