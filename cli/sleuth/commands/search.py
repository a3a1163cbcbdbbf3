"""`sleuth search`: options become a request, the engine answers, a renderer shows it."""

import io
from typing import Annotated, Literal

import typer

from sleuth.commands import make_app
from sleuth.errors import Exit, RequestError
from sleuth.language import say
from sleuth.outcome import Outcome
from sleuth.render import FIELDS, View, renderer
from sleuth.runtime import Runtime
from sleuth.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SNIPPET_LENGTH, UI_THEME
from sleuth_providers.base import Query

app = make_app()

Format = Literal["rich", "plain", "json", "ndjson", "markdown", "csv", "urls"]
EPILOG = """Examples:\n
\b
  sleuth search rust async runtimes
  sleuth search -p searxng,wikipedia -n 10 --freshness month 大语言模型 评测
  sleuth search --json how to enable json in searxng | jq -r '.results[].url'
  sleuth search --template '{rank} {url}' --site docs.python.org asyncio
"""


@app.command(epilog=EPILOG)
def search(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="What to search for; no quotes needed.")
    ] = None,
    question: Annotated[
        list[str] | None,
        typer.Option("--question", "-q", metavar="QUESTION", help="A question; several are asked at once and merged."),
    ] = None,
    provider: Annotated[
        list[str] | None,
        typer.Option("--provider", "-p", metavar="ID", help="Whom to ask: ids, comma-separated; auto; all."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, max=50, metavar="N", help="Results to show.")
    ] = None,
    page: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Page of results.")] = 1,
    lang: Annotated[str | None, typer.Option(metavar="CODE", help="Language of results, such as de or zh-CN.")] = None,
    region: Annotated[str | None, typer.Option(metavar="CC", help="Country of results, such as CH.")] = None,
    freshness: Annotated[
        str | None, typer.Option(metavar="day|week|month|year|FROM..TO", help="How new results must be.")
    ] = None,
    safe: Annotated[Literal["off", "moderate", "strict"] | None, typer.Option(help="Adult content filter.")] = None,
    category: Annotated[
        Literal["general", "news", "images", "videos", "science", "it"], typer.Option(help="Kind of results.")
    ] = "general",
    engine: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Engines to use (SearXNG, SerpAPI).")] = None,
    site: Annotated[list[str] | None, typer.Option(metavar="DOMAIN", help="Only from this domain.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(metavar="DOMAIN", help="Nothing from this domain.")] = None,
    format: Annotated[
        Format | None, typer.Option("--format", "-f", help="Output; rich on a terminal, else plain.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    template: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A line a result, such as '{rank} {url}'.")
    ] = None,
    fields: Annotated[str | None, typer.Option(metavar="a,b", help="Only these fields: " + ", ".join(FIELDS))] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, atomically.")
    ] = None,
    cached: Annotated[bool, typer.Option("--cache/--no-cache", help="Use and keep cached answers.")] = True,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask anew and keep the answer.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="No network: the cache and the library only.")] = False,
    timeout: Annotated[float | None, typer.Option(min=0.1, max=600, metavar="S", help="Seconds to wait.")] = None,
    fallback: Annotated[
        bool | None, typer.Option("--fallback/--no-fallback", help="Ask others when the one named fails.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what put each result in its place.")] = False,
    open_result: Annotated[int | None, typer.Option("--open", min=1, metavar="N", help="Open result N.")] = None,
    open_first: Annotated[bool, typer.Option("-j", help="Open the first result.")] = False,
    exit_status: Annotated[bool, typer.Option("--exit-status", help="Exit with 7 when there are no results.")] = False,
) -> int:
    """Search; ranked results with numbered citations.

    Words need no quotes. With no provider named, the default is asked, then the fallbacks of the settings;
    with no network the embedded library answers, and says so.
    """
    runtime: Runtime = ctx.obj
    settings = runtime.settings
    if template:
        from sleuth.render.plain import check_template

        check_template(template)
    view = View(
        fields=_fields(fields),
        template=template or "",
        explain=explain,
        snippet_length=settings[SNIPPET_LENGTH],
        color=runtime.color,
        theme=settings[UI_THEME],
    )
    query = Query(
        "",
        count=count or settings[MAX_RESULTS],
        page=page,
        lang=_language(lang if lang is not None else settings[LANGUAGE]),
        region=(region if region is not None else settings[REGION]).upper(),
        safe=safe or settings[SAFE_SEARCH],
        category=category,
        include=_split(site),
        exclude=_split(exclude),
        engines=_split(engine),
    )
    from sleuth.search import SearchRequest, failure

    request = SearchRequest(
        questions=_questions(words, question),
        query=_with_freshness(query, freshness),
        providers=_split(provider) or ("auto",),
        fallback=fallback,
        cache="off" if not cached else "refresh" if refresh else "use",
        offline=offline,
        timeout=timeout,
    )
    outcome = runtime.searcher.search(request)
    chosen = (
        "json" if as_json else "plain" if template else format or ("rich" if _is_terminal(runtime, output) else "plain")
    )
    if outcome.outcome != "failed" or chosen == "json":
        _write(runtime, outcome, chosen, view, output)
    if outcome.outcome == "failed":
        raise failure(outcome)
    _say_the_rest(runtime, outcome, chosen)
    if open_first or open_result:
        _open(runtime, outcome, open_result or 1)
    return Exit.NO_RESULTS if exit_status and not outcome.results else Exit.DONE


def _questions(words: list[str] | None, questions: list[str] | None) -> tuple[str, ...]:
    asked = ([" ".join(words)] if words else []) + (questions or [])
    if not asked:
        raise RequestError("there is nothing to search for", "say what: sleuth search rust async runtimes")
    return tuple(asked)


def _split(values: list[str] | None) -> tuple[str, ...]:
    return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())


def _fields(names: str | None) -> tuple[str, ...]:
    chosen = _split([names]) if names else ()
    unknown = [name for name in chosen if name not in FIELDS]
    if unknown:
        raise RequestError("no such field: {name}", "fields: " + ", ".join(FIELDS), name=unknown[0])
    return chosen


def _language(code: str) -> str:
    if code in ("", "auto"):
        return ""
    head, _, tail = code.replace("_", "-").partition("-")
    if not (head.isalpha() and head.isascii() and 2 <= len(head) <= 3):
        raise RequestError("{language!r} is not a language", "write it like de or zh-CN", language=code)
    return f"{head.lower()}-{tail.upper() if len(tail) == 2 else tail}" if tail else head.lower()


def _with_freshness(query: Query, freshness: str | None) -> Query:
    if not freshness:
        return query
    from datetime import UTC, datetime

    from sleuth.relevance.dates import freshness_window

    try:
        name, since, until = freshness_window(freshness, datetime.now(UTC).date())
    except ValueError as problem:
        raise RequestError(
            "{value!r} says not how new results must be ({reason})",
            "write day, week, month, year or 2026-01-01..2026-06-30",
            value=freshness,
            reason=problem,
        ) from problem
    return query._replace(freshness=name, since=since, until=until)


def _is_terminal(runtime: Runtime, output: str | None) -> bool:
    if output:
        return False
    if runtime.color == "always" or runtime.environ.get("FORCE_COLOR"):
        return True
    return runtime.stdout.isatty() and runtime.environ.get("TERM") != "dumb"


def _write(runtime: Runtime, outcome: Outcome, format: str, view: View, output: str | None) -> None:
    if not output:
        renderer(format)(outcome, runtime.stdout, view)
        runtime.stdout.flush()
        return
    from sleuth.files import write_atomic

    buffer = io.StringIO()
    renderer(format)(outcome, buffer, view)
    write_atomic(output, buffer.getvalue().encode())


def _say_the_rest(runtime: Runtime, outcome: Outcome, format: str) -> None:
    """Say on stderr what is not part of the results."""
    if not outcome.results and not outcome.answers:
        runtime.note(say("no results for {query!r}", query=outcome.query))
    for notice in outcome.notices:
        runtime.note(notice)
    for warning in outcome.warnings:
        runtime.warn(warning)
    if format == "rich":
        runtime.footer(_summary(outcome), [*outcome.corrections, *outcome.suggestions][:4])


def _summary(outcome: Outcome) -> str:
    parts = [
        say("{shown} of {found} results", shown=outcome.status.count_after, found=outcome.status.count_before),
        outcome.provider,
        say("cached {age} ago", age=_age(outcome.age)) if outcome.cached else f"{outcome.elapsed_ms} ms",
    ]
    return " · ".join(parts)


def _age(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _open(runtime: Runtime, outcome: Outcome, number: int) -> None:
    if number > len(outcome.results):
        raise RequestError(
            "there is no result {number}", "there are {count}", number=number, count=len(outcome.results)
        )
    import webbrowser

    webbrowser.open(outcome.results[number - 1].url)
