"""`sleuth search`: run a search and show the results. Imports no Typer, so that the fast path can use it."""

from __future__ import annotations

from contextlib import ExitStack

from sleuth.base.errors import Exit, RequestError
from sleuth.commands.terminal import display
from sleuth.commands.terminal.questions import piped_text
from sleuth.engine.search_options import OPTIONS, SearchOptions
from sleuth.render import View, renderer
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.settings import SNIPPET_LENGTH, UI_THEME, UI_THUMBNAILS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.engine.outcome import Outcome
    from sleuth.engine.search import SearchRequest
    from sleuth.store.last_results import Rounds

WITH_FIELDS = (None, "plain", "csv", "json", "ndjson")  # formats that --fields applies to
WITH_SCORES = (None, "rich", "plain", "json", "ndjson")  # formats that --explain applies to
ONLY_BATCH = ("ordered", "resume", "jobs")
NOT_IN_BATCH = (
    *("questions", "template", "fields", "explain", "record", "replay"),
    *("exit_status", "interactive", "open_result", "open_first", "verbose"),
)
HELP = """Search the web and print ranked results with numbered citations.

Words need no quotes. Without --provider, sleuth searches the default provider and then the fallback chain, which needs
no key. The embedded library is used only if all of them fail and it has a page that answers the query.
"""
EPILOG = """Examples:\n
\b
  sleuth search rust async runtimes
  sleuth search -p searxng,wikipedia -n 10 --freshness month 大语言模型 评测
  sleuth search --json how to enable json in searxng | jq -r '.results[].url'
  sleuth search --template '{rank} {url}' --site docs.python.org asyncio
  sleuth search --batch queries.txt -o answers.ndjson --resume
"""


def typer_command() -> Any:
    """Return the Typer command, built from the declarations of `SearchOptions`."""
    from typer.main import get_command

    from sleuth.commands.terminal.typer_app import make_app

    app = make_app()
    add = app.command("search", list(OPTIONS), help=HELP, epilog=EPILOG)
    add(lambda runtime, **values: search(runtime, SearchOptions(**values)))
    return get_command(app)


def search(
    runtime: Runtime,
    options: SearchOptions,
    rendered_key: rendered.RenderedKey | None = None,
    *,
    shown: Rounds = (),
    start: int | None = None,
) -> int:
    """Search and show the results; `rendered_key` is where output that stays valid may be saved.

    To continue a list, `shown` has its rounds of requests, and `start` the number of results on earlier pages.
    """
    _check_combinations(options)
    if options.words == ("-",):
        options = options._replace(words=(piped_text(runtime),))
    view = make_view(runtime, options)
    request = runtime.search_request(options)._replace(library=True, shown=shown, start=start)
    format = display.choose_format(runtime, options.format, options.output, view, json=options.as_json)
    if runtime.stderr.isatty():
        from sleuth.commands.terminal.keyless_notice import show_once

        query = request.query._replace(text=" ".join(request.questions))
        show_once(runtime, request.providers, query, offline=options.offline or bool(options.replay))
    if options.batch:
        from sleuth.commands.terminal.batch import run_batch_command

        return run_batch_command(runtime, request, options)
    if options.interactive:
        from sleuth.commands.terminal.prompt import SearchPrompt

        return SearchPrompt(runtime, request, view, options).run()
    outcome = _search(runtime, request, options, format)
    if options.wants_content:
        from sleuth.commands.terminal.progress import Progress

        with Progress(runtime, options.progress) as progress:
            outcome = runtime.add_content(outcome, options, progress)
    has_network = not options.offline and not options.replay
    if format == "rich" and not options.output and has_network and runtime.settings[UI_THUMBNAILS]:
        from sleuth.commands.terminal import thumbnails

        view = view._replace(thumbnails=thumbnails.load(runtime, outcome))
        runtime.pager = runtime.pager and not view.thumbnails  # a pager would show the bytes of pictures
    if rendered_key and not view.thumbnails and display.can_be_rendered(runtime, outcome):
        display.show_and_save(runtime, outcome, options, format, view, rendered_key)
        display.save_results(runtime, outcome, options)
        return Exit.DONE
    if request.cache == "refresh":
        rendered.clear(runtime.paths)  # they show what was just replaced
    return _show(runtime, outcome, options, format, view)


def _show(runtime: Runtime, outcome: Outcome, options: SearchOptions, format: str, view: View) -> int:
    """Show an outcome, save its results, open those that the options name, and return the exit status."""
    if outcome.outcome != "failed" or format == "json":
        display.write(runtime, outcome, format, view, options.output)
    if outcome.outcome == "failed":
        from sleuth.engine.search import search_error

        raise search_error(outcome)
    display.save_results(runtime, outcome, options)
    display.show_messages(runtime, outcome, format, page=options.page)
    if options.verbose:
        display.show_attempts(runtime, outcome)
    if options.open_first or options.open_result:
        first = outcome.results[0].citation if outcome.results else 1
        display.open_url(display.result_url(outcome.results, options.open_result or first))
    return Exit.NO_RESULTS if options.exit_status and not outcome.results else Exit.DONE


def _check_combinations(options: SearchOptions) -> None:
    """Raise RequestError for options that are empty or contradict each other, instead of ignoring one."""
    format = options.format or ("json" if options.as_json else None)
    conflicts: dict[tuple[str, str], object] = {
        ("--record", "--replay"): options.record and options.replay,
        ("--offline", "--refresh"): options.offline and options.refresh,
        ("--json", f"--format {options.format}"): options.as_json and options.format not in (None, "json"),
        ("--template", f"--format {format}"): options.template and format,
        ("--template", "--fields"): options.template and options.fields,
        ("--fields", f"--format {format}"): options.fields and format not in WITH_FIELDS,
        ("--explain", f"--format {format}"): options.explain and format not in WITH_SCORES,
        ("--interactive", f"--format {format}"): options.interactive and format not in (None, "rich", "plain"),
    }
    if options.batch:
        conflicts[("--batch", "WORDS")] = options.words
        conflicts[("--batch", f"--format {format}")] = format not in (None, "json", "ndjson")
        for name in NOT_IN_BATCH:
            conflicts[("--batch", OPTIONS[name].flags[0])] = getattr(options, name)
    elif lone := next((name for name in ONLY_BATCH if getattr(options, name) != OPTIONS[name].default), None):
        raise RequestError("{option} needs --batch", "add --batch FILE, or omit it", option=OPTIONS[lone].flags[0])
    for (one, other), is_given in conflicts.items():
        if is_given:
            raise RequestError("{one} and {other} cannot be combined", "use only one of them", one=one, other=other)


def make_view(runtime: Runtime, options: SearchOptions) -> View:
    """Return how results are shown, from the options and the settings."""
    if options.template:
        from sleuth.render.plain import check_template

        check_template(options.template)
    return View(
        fields=display.fields(options.fields),
        template=options.template or "",
        explain=options.explain,
        snippet_length=runtime.settings[SNIPPET_LENGTH],
        color=runtime.color,
        full_urls=options.full_urls,
        theme=runtime.settings[UI_THEME],
    )


def _search(runtime: Runtime, request: SearchRequest, options: SearchOptions, format: str) -> Outcome:
    """Search, with a recording if there is one."""
    if not options.record and not options.replay:
        with ExitStack() as stack:

            def wait() -> None:  # runs while the providers work, and not for an answer from the cache
                if runtime.stderr.isatty():
                    from sleuth.commands.terminal.progress import WaitingLine

                    stack.enter_context(WaitingLine(runtime, options.progress))
                renderer(format)

            return runtime.searcher.search(request, wait)
    from sleuth.engine.recording import Recorder, Replayer

    recording = Replayer(options.replay) if options.replay else Recorder(options.record or "")
    outcome = runtime.searcher.search(request._replace(recording=recording))
    if isinstance(recording, Recorder):
        recording.save()
    return outcome
