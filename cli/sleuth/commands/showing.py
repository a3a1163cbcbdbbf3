"""Showing an outcome: results to stdout or a file, everything else to stderr."""

import io

from sleuth.errors import RequestError
from sleuth.language import say
from sleuth.outcome import Outcome
from sleuth.render import View, renderer
from sleuth.runtime import Runtime


def choose_format(runtime: Runtime, format: str | None, output: str | None, view: View, *, json: bool) -> str:
    """Return the format to write: what was asked for, else rich on a terminal and plain elsewhere."""
    if json:
        return "json"
    if view.template or (view.fields and not format):
        return "plain"
    return format or ("rich" if not output and is_terminal(runtime) else "plain")


def is_terminal(runtime: Runtime) -> bool:
    """Tell whether a person looks at stdout, or wants it as if."""
    if runtime.color == "always" or runtime.environ.get("FORCE_COLOR"):
        return True
    return runtime.stdout.isatty() and runtime.environ.get("TERM") != "dumb"


def write(runtime: Runtime, outcome: Outcome, format: str, view: View, output: str | None = None) -> None:
    """Write the results."""
    if not output:
        renderer(format)(outcome, runtime.stdout, view)
        runtime.stdout.flush()
        return
    from sleuth.files import write_atomic

    buffer = io.StringIO()
    renderer(format)(outcome, buffer, view)
    write_atomic(output, buffer.getvalue().encode("utf-8", "replace"))


def say_the_rest(runtime: Runtime, outcome: Outcome, format: str) -> None:
    """Say on stderr what is not part of the results."""
    if not outcome.results and not outcome.answers:
        runtime.note(say("no results for {query!r}", query=outcome.query))
    for notice in outcome.notices:
        runtime.note(notice)
    for warning in outcome.warnings:
        runtime.warn(warning)
    if format == "rich":
        runtime.footer(summary(outcome), [*outcome.corrections, *outcome.suggestions][:4])


def summary(outcome: Outcome) -> str:
    """Return how many results there are, from whom, and how long it took."""
    age = f"{outcome.age:.0f} s" if outcome.age < 90 else f"{outcome.age / 60:.0f} min"
    parts = [
        say("{shown} of {found} results", shown=outcome.status.count_after, found=outcome.status.count_before),
        outcome.provider,
        say("cached {age} ago", age=age) if outcome.cached else f"{outcome.elapsed_ms} ms",
    ]
    return " · ".join(part for part in parts if part)


def open_result(outcome: Outcome, number: int) -> None:
    """Open a result in the user's browser."""
    if not 1 <= number <= len(outcome.results):
        raise RequestError(
            "there is no result {number}", "there are {count}", number=number, count=len(outcome.results)
        )
    import webbrowser

    webbrowser.open(outcome.results[number - 1].url)
