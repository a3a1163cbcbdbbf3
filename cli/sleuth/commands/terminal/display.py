"""Shows an outcome: results on stdout or in a file, everything else on stderr."""

from __future__ import annotations

import io
import os
import time

from sleuth.base.choices import FIELDS
from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.i18n import tr, trn
from sleuth.engine.options import split
from sleuth.engine.outcome import Outcome
from sleuth.render import View, renderer
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.journal import MAX_QUERY_CHARS, journal_line
from sleuth.store.settings import HISTORY, UI_THEME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from sleuth.engine.search_options import SearchOptions
    from sleuth.relevance.hit import Hit
    from sleuth.store.last_results import SavedSearch


MAX_SUGGESTIONS = 4


def choose_format(runtime: Runtime, format: str | None, output: str | None, view: View, *, json: bool) -> str:
    """Return the format to write: the one given, else rich on a terminal and plain elsewhere."""
    if json:
        return "json"
    if view.template or (view.fields and not format):
        return "plain"
    return format or ("rich" if not output and is_terminal(runtime) else "plain")


def is_terminal(runtime: Runtime) -> bool:
    """Whether stdout is a capable terminal, or colour is forced."""
    if runtime.color == "always" or runtime.environ.get("FORCE_COLOR"):
        return True
    return runtime.stdout.isatty() and runtime.environ.get("TERM") != "dumb"


def write(runtime: Runtime, outcome: Outcome, format: str, view: View, output: str | None = None) -> None:
    """Write the results; a search that failed does not replace a file."""
    if output and outcome.outcome == "failed" and os.path.exists(output):
        return
    buffer = io.StringIO() if output else Buffer(runtime.stdout)
    renderer(format)(outcome, buffer, view)
    deliver(runtime, buffer.getvalue(), output)


def deliver(runtime: Runtime, text: str, output: str | None) -> None:
    """Write a whole text to stdout, or to a file atomically."""
    if not output:
        if runtime.stdout.isatty():
            from sleuth.commands.terminal import pager

            pager.show(runtime, text)
        else:
            runtime.stdout.write(text)
            runtime.stdout.flush()
        return
    from sleuth.base.files import write_out

    write_out(output, text.encode("utf-8", "replace"))


def deliver_markdown(runtime: Runtime, text: str, output: str | None = None) -> None:
    """Write Markdown: rendered on a terminal, and as it is elsewhere."""
    if not output and is_terminal(runtime):
        from sleuth.render.document import MarkdownRenderer
        from sleuth.render.rich import MAX_WIDTH, STYLES, make_console, print_lines

        console = make_console(runtime.stdout, runtime.color)
        styles = STYLES[runtime.settings[UI_THEME]]
        with console.capture() as capture:
            print_lines(console, MarkdownRenderer(console, styles, min(console.width, MAX_WIDTH)).lines(text))
        text = capture.get()
    deliver(runtime, text.rstrip("\n") + "\n", output)


def suggestions(outcome: Outcome) -> list[str]:
    """Return a few corrections and related queries."""
    return [*outcome.corrections, *outcome.suggestions][:MAX_SUGGESTIONS]


def show_messages(
    runtime: Runtime, outcome: Outcome, format: str, age: str | None = None, *, numbered: bool = False, page: int = 1
) -> None:
    """Print what is not part of the results on stderr; `age` is a placeholder for the age of a cached answer."""
    if not outcome.results and not outcome.answers:
        nothing = "no more results for {query!r}" if page > 1 else "no results for {query!r}"
        runtime.note(tr(nothing, query=outcome.query))
    for notice in outcome.notices:
        runtime.note(notice)
    for warning in outcome.warnings:
        runtime.warn(warning)
    if format == "rich":
        related = suggestions(outcome)
        related = [f"+{number} {text}" for number, text in enumerate(related, 1)] if numbered else related
        footer(runtime, summary(outcome, age), related)


def footer(runtime: Runtime, line: str, related: list[str]) -> None:
    """Print the dim lines under results on a terminal."""
    if runtime.quiet:
        return
    from sleuth.render.rich import make_console

    console = make_console(runtime.stderr, runtime.color)
    console.print(line, style="dim")
    if related:
        console.print(tr("see also: {words}", words=" · ".join(related)), style="dim")


def show_attempts(runtime: Runtime, outcome: Outcome) -> None:
    """Print what each provider did, for --verbose."""
    from sleuth.engine.merge import OPTION_NAMES

    for attempt in outcome.attempts:
        ignored = ", ".join(OPTION_NAMES.get(name, name) for name in attempt.not_applied)
        facts = [
            f"{attempt.provider}{tr(': ')}{attempt.state}",
            trn("{count} result", "{count} results", attempt.count) if attempt.answered else attempt.message,
            tr("cached") if attempt.cached else f"{attempt.elapsed_ms} ms",
            tr("not applied: {options}", options=ignored) if ignored else "",
            *(f"{engine}{tr(': ')}{why}" for engine, why in sorted(attempt.engines.items()) if attempt.answered),
        ]
        runtime.note(" · ".join(fact for fact in facts if fact))


def can_be_rendered(runtime: Runtime, outcome: Outcome) -> bool:
    """Whether the same command would print the same again: all of it came from the cache, with nothing to report."""
    messages = outcome.warnings or outcome.notices or runtime.warnings
    cached = outcome.outcome == "success" and outcome.fresh_s > 0 and bool(outcome.results)
    return cached and not messages and runtime.settings[HISTORY]


def show_and_save(
    runtime: Runtime, outcome: Outcome, options: SearchOptions, format: str, view: View, key: rendered.RenderedKey
) -> None:
    """Show an outcome and save the output, with a placeholder for its age, for the next time."""
    from sleuth.base.json_output import json_text
    from sleuth.store.last_results import as_entry

    outcome = outcome._replace(elapsed_ms=1)  # what it takes from the saved output
    out, err = runtime.stdout, runtime.stderr
    runtime.stdout, runtime.stderr = saved_out, saved_err = Buffer(out), Buffer(err)
    try:
        write(runtime, outcome, format, view._replace(age=rendered.AGE))
        show_messages(runtime, outcome, format, rendered.AGE)
    finally:
        runtime.stdout, runtime.stderr = out, err
    text, messages = saved_out.getvalue(), saved_err.getvalue()
    shown_text, shown_messages = rendered.fill_age(format, text, messages, outcome.age)
    deliver(runtime, shown_text, None)
    err.write(shown_messages)
    line = journal_line(outcome, outcome.attempts, with_query=True)
    texts = text, messages, line, json_text(as_entry(_as_saved(outcome, options)))
    rendered.save(key, format, texts, outcome.age, outcome.fresh_s)


def save_results(runtime: Runtime, outcome: Outcome, options: SearchOptions) -> None:
    """Keep the results for `sleuth open` and `sleuth again`, with the options that shaped them."""
    if runtime.settings[HISTORY]:
        from sleuth.store import last_results

        if not last_results.save(runtime.paths.state, _as_saved(outcome, options)):
            message = "cannot save results in {folder}; `sleuth open` and `sleuth again` use those of an earlier search"
            runtime.warn(tr(message, folder=runtime.paths.state))


def _as_saved(outcome: Outcome, options: SearchOptions) -> SavedSearch:
    from sleuth.engine.search_options import OPTIONS, REPEATED
    from sleuth.store.last_results import SavedSearch

    facts = outcome.query[:MAX_QUERY_CHARS], outcome.provider, time.time(), outcome.results
    repeated = {name: value for name in REPEATED if (value := getattr(options, name)) != OPTIONS[name].default}
    if path := repeated.get("rules"):
        repeated["rules"] = os.path.abspath(path)
    return SavedSearch(*facts, outcome.questions, outcome.page_size, outcome.next_provider, repeated, outcome.rounds)


class Buffer(io.StringIO):
    """Text for a stream, rendered as that stream would show it."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(newline="")
        self.stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only, as in TextIOWrapper
        """The encoding of the stream, which decides what JSON escapes."""
        return self.stream.encoding

    def isatty(self) -> bool:
        """Whether the stream is a terminal, which decides about colours and links."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """The handle of the stream, which knows the terminal's width."""
        return self.stream.fileno()


def summary(outcome: Outcome, age: str | None = None) -> str:
    """Return how many results there are, where they come from, and how long it took."""
    units = (tr("s"), tr("min"))
    words = age.join(("", f"__{units[0]}", units[1], "")) if age else rendered.age_in_words(outcome.age, *units)
    cached = tr("cached {age} ago", age=words)
    numbers = [hit.citation for hit in outcome.results] or [0]
    shown = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    shown = trn("{shown} of {count} result", "{shown} of {count} results", outcome.status.count_before, shown=shown)
    parts = [
        shown if outcome.results else "",
        "" if outcome.status.more or not outcome.results else tr("no more"),
        outcome.provider,
        cached if outcome.cached else f"{outcome.elapsed_ms} ms",
    ]
    return " · ".join(part for part in parts if part)


def open_url(url: str) -> None:
    """Open a URL in the user's browser."""
    import webbrowser

    if not webbrowser.open(url):
        raise SleuthError("no browser was found to open {url}", "set BROWSER to the command of a browser", url=url)


def result_url(hits: Iterable[Hit], number: int) -> str:
    """Return the URL of a result by its number."""
    urls = {hit.citation: hit.url for hit in hits}
    if number not in urls:
        hint = "results are numbered from {first} to {last}" if urls else "the last search found nothing"
        first, last = min(urls, default=0), max(urls, default=0)
        raise RequestError("there is no result {number}", hint, number=number, first=first, last=last)
    return urls[number]


def fields(names: str | None) -> tuple[str, ...]:
    """Return the fields of a comma-separated list; raises for an unknown one."""
    chosen = split([names]) if names else ()
    unknown = [name for name in chosen if name not in FIELDS]
    if unknown:
        raise RequestError("no such field: {name}", "fields: {fields}", name=unknown[0], fields=", ".join(FIELDS))
    return chosen
