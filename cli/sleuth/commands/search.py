"""`sleuth search`: run a search and show the results. Imports no Typer, so that the fast path can use it."""

from __future__ import annotations

import functools

from sleuth.base.errors import Exit, RequestError
from sleuth.commands.terminal import display
from sleuth.engine.search_options import SearchOptions
from sleuth.render import View, renderer
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.journal import MAX_QUERY_CHARS
from sleuth.store.settings import HISTORY, SNIPPET_LENGTH, UI_THEME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sleuth.engine.outcome import Outcome
    from sleuth.engine.search import SearchRequest

HELP = """Search; ranked results with numbered citations.

Words need no quotes. Without --provider, sleuth searches the default provider and then the fallback chain, which needs
no key. The embedded library answers only if all of them fail and it really has the answer.
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
    from sleuth.commands.terminal.options import make_command

    return make_command(lambda runtime, values: search(runtime, SearchOptions(**values)), HELP, EPILOG)


def search(runtime: Runtime, options: SearchOptions, rendered_key: rendered.RenderedKey | None = None) -> int:
    """Search and show the results; `rendered_key` is where output that stays valid may be saved."""
    view = make_view(runtime, options)
    request = runtime.search_request(options)._replace(library=True)
    format = display.choose_format(runtime, options.format, options.output, view, json=options.as_json)
    if runtime.stderr.isatty():
        from sleuth.commands.terminal.keyless_notice import show_once

        show_once(runtime, request.providers, offline=options.offline or bool(options.replay))
    if options.batch:
        from sleuth.commands.terminal.batch import run_batch_command

        return run_batch_command(runtime, request, options)
    if options.interactive:
        from sleuth.commands.terminal.prompt import SearchPrompt

        return SearchPrompt(runtime, request, view).run()
    outcome = _search(runtime, request, options, meanwhile=functools.partial(renderer, format))
    if options.wants_content:
        from sleuth.commands.terminal.progress import Progress

        with Progress(runtime, options.progress) as progress:
            outcome = runtime.add_content(outcome, options, progress)
    if rendered_key and display.can_be_rendered(runtime, outcome):
        display.show_and_save(runtime, outcome, format, view, rendered_key)
        _save_results(runtime, outcome)
        return Exit.DONE
    if request.cache == "refresh":
        rendered.clear(runtime.paths)  # they show what was just replaced
    if outcome.outcome != "failed" or format == "json":
        display.write(runtime, outcome, format, view, options.output)
    if outcome.outcome == "failed":
        from sleuth.engine.search import search_error

        raise search_error(outcome)
    _save_results(runtime, outcome)
    display.show_messages(runtime, outcome, format)
    if options.open_first or options.open_result:
        first = outcome.results[0].citation if outcome.results else 1
        display.open_url(display.result_url(outcome, options.open_result or first))
    return Exit.NO_RESULTS if options.exit_status and not outcome.results else Exit.DONE


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


def _save_results(runtime: Runtime, outcome: Outcome) -> None:
    """Keep the results for `sleuth open` and `sleuth again`."""
    if runtime.settings[HISTORY] and outcome.results:
        from sleuth.store import last_results

        query = outcome.query[:MAX_QUERY_CHARS]
        last_results.save(runtime.paths.state, query, outcome.provider, outcome.results)


def _search(
    runtime: Runtime, request: SearchRequest, options: SearchOptions, meanwhile: Callable[[], object]
) -> Outcome:
    """Search, with a recording if there is one. `meanwhile` runs while the providers work: it imports the renderer."""
    if not options.record and not options.replay:
        return runtime.searcher.search(request, meanwhile)
    from sleuth.engine.recording import Recorder, Replayer

    if options.record and options.replay:
        raise RequestError("--record and --replay exclude each other", "use one of them")
    recording = Replayer(options.replay) if options.replay else Recorder()
    outcome = runtime.searcher.search(request._replace(recording=recording))
    if isinstance(recording, Recorder):
        recording.save(options.record or "")
    return outcome
