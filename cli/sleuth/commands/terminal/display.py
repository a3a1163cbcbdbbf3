"""Showing an outcome: results to stdout or a file, everything else to stderr."""

from __future__ import annotations

import io

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.engine.options import split
from sleuth.engine.outcome import Outcome
from sleuth.render import FIELDS, View, renderer
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.journal import journal_line
from sleuth.store.settings import CACHE_TTL, HISTORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO


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
    buffer = io.StringIO()
    renderer(format)(outcome, buffer, view)
    deliver(runtime, buffer.getvalue(), output)


def deliver(runtime: Runtime, text: str, output: str | None) -> None:
    """Write a whole text to stdout, or into a file at one instant."""
    if not output:
        runtime.stdout.write(text)
        runtime.stdout.flush()
        return
    from sleuth.base.files import write_out

    write_out(output, text.encode("utf-8", "replace"))


def say_the_rest(runtime: Runtime, outcome: Outcome, format: str) -> None:
    """Say on stderr what is not part of the results."""
    if not outcome.results and not outcome.answers:
        runtime.note(tr("no results for {query!r}", query=outcome.query))
    for notice in outcome.notices:
        runtime.note(notice)
    for warning in outcome.warnings:
        runtime.warn(warning)
    if format == "rich":
        runtime.footer(summary(outcome), [*outcome.corrections, *outcome.suggestions][:4])


def is_lasting(runtime: Runtime, outcome: Outcome) -> bool:
    """Tell whether the same command would say the same again: all of it was in the cache, and nothing went wrong."""
    told = outcome.warnings or outcome.notices or runtime.has_warnings
    good = outcome.cached and outcome.outcome == "success" and all(one.cached for one in outcome.attempts)
    return bool(good and outcome.results and not told and runtime.settings[HISTORY])


def write_and_keep(
    runtime: Runtime, outcome: Outcome, format: str, view: View, rendered_key: rendered.RenderedKey
) -> None:
    """Write the results, and keep what was written for the next time, its age left open."""
    runtime.stdout, runtime.stderr = TeeStream(runtime.stdout), TeeStream(runtime.stderr)
    write(runtime, outcome, format, view)
    say_the_rest(runtime, outcome, format)
    out, err = runtime.stdout.copy, runtime.stderr.copy
    if format == "json":
        out = out.replace(f'"ageSeconds": {round(outcome.age)},', f'"ageSeconds": {rendered.AGE_IN_SECONDS},', 1)
        out = out.replace(f'"elapsedMs": {outcome.elapsed_ms},', '"elapsedMs": 1,', 1)
    err = err.replace(_said_age(rendered.age_in_words(outcome.age)), _said_age(rendered.AGE_IN_WORDS), 1)
    if (format == "json") == (rendered.AGE_IN_SECONDS in out) and (format == "rich") == (rendered.AGE_IN_WORDS in err):
        note = journal_line(outcome._replace(elapsed_ms=1), outcome.attempts, with_query=True)
        rendered.save(rendered_key, out, err, note, outcome.age, runtime.settings[CACHE_TTL] * 60 - outcome.age)


class TeeStream(io.TextIOBase):
    """A stream that keeps a copy of what goes through it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.copy = stream, ""

    def write(self, text: str) -> int:
        """Write, and keep."""
        self.copy += text
        return self.stream.write(text)

    def __getattribute__(self, name: str) -> Any:
        """Be the stream itself in all but this; a base class would answer for it, that it is no terminal, say."""
        own = name.startswith("_") or name in ("stream", "copy", "write", "writelines")
        return object.__getattribute__(self, name) if own else getattr(self.stream, name)


def summary(outcome: Outcome) -> str:
    """Return how many results there are, from whom, and how long it took."""
    parts = [
        tr("{shown} of {found} results", shown=outcome.status.count_after, found=outcome.status.count_before),
        outcome.provider,
        _said_age(rendered.age_in_words(outcome.age)) if outcome.cached else f"{outcome.elapsed_ms} ms",
    ]
    return " · ".join(part for part in parts if part)


def _said_age(age: str) -> str:
    return tr("cached {age} ago", age=age)


def open_result(outcome: Outcome, number: int) -> None:
    """Open a result in the user's browser."""
    if not 1 <= number <= len(outcome.results):
        raise RequestError(
            "there is no result {number}", "there are {count}", number=number, count=len(outcome.results)
        )
    import webbrowser

    webbrowser.open(outcome.results[number - 1].url)


def fields(names: str | None) -> tuple[str, ...]:
    """Return the fields that were named, all of them known."""
    chosen = split([names]) if names else ()
    unknown = [name for name in chosen if name not in FIELDS]
    if unknown:
        raise RequestError("no such field: {name}", "fields: {fields}", name=unknown[0], fields=", ".join(FIELDS))
    return chosen
