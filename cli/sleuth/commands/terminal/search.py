"""What `sleuth search` does with what was typed; knows nothing of how it was read, and so needs no Typer."""

from __future__ import annotations

import functools

from sleuth.base.errors import Exit, RequestError
from sleuth.commands.terminal import display
from sleuth.engine.options import SearchOptions
from sleuth.render import View, renderer
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.settings import SNIPPET_LENGTH, UI_THEME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sleuth.engine.outcome import Outcome
    from sleuth.engine.search import SearchRequest
    from sleuth.store.cache.rendered import RenderedKey


def search(runtime: Runtime, options: SearchOptions, rendered_key: RenderedKey | None = None) -> int:
    """Search and show what was found; a batch and the prompt go ways of their own."""
    view = _view(runtime, options)
    request = runtime.search_request(options)
    chosen = display.choose_format(runtime, options.format, options.output, view, json=options.as_json)
    if options.batch:
        from sleuth.commands.terminal.batch import run_batch_command

        quiet = options._replace(progress="none")
        finish = functools.partial(_with_content, options=quiet, cache=request.cache)
        how = {"ordered": options.ordered, "resume": options.resume}
        return run_batch_command(runtime, request, options.batch, options.output, options.jobs, finish, **how)
    if options.interactive:
        from sleuth.commands.terminal.prompt import Prompt

        return Prompt(runtime, request, view).run()
    outcome = _ask(runtime, request, options, functools.partial(renderer, chosen))
    if rendered_key and display.is_lasting(runtime, outcome):
        display.write_and_keep(runtime, outcome, chosen, view, rendered_key)
        return Exit.DONE
    if request.cache == "refresh":
        rendered.clear(runtime.paths)  # what is fetched again must not be answered as it was
    if outcome.outcome != "failed" or chosen == "json":
        display.write(runtime, outcome, chosen, view, options.output)
    if outcome.outcome == "failed":
        from sleuth.engine.search import search_error

        raise search_error(outcome)
    display.say_the_rest(runtime, outcome, chosen)
    if options.open_first or options.open_result:
        display.open_result(outcome, options.open_result or 1)
    return Exit.NO_RESULTS if options.exit_status and not outcome.results else Exit.DONE


def _view(runtime: Runtime, options: SearchOptions) -> View:
    if options.template:
        from sleuth.render.plain import check_template

        check_template(options.template)
    return View(
        fields=display.fields(options.fields),
        template=options.template or "",
        explain=options.explain,
        snippet_length=runtime.settings[SNIPPET_LENGTH],
        color=runtime.color,
        theme=runtime.settings[UI_THEME],
    )


def _ask(runtime: Runtime, request: SearchRequest, options: SearchOptions, meanwhile: Callable[[], object]) -> Outcome:
    outcome = _search(runtime, request, options.record, options.replay, meanwhile)
    return _with_content(runtime, outcome, options, request.cache)


def _with_content(runtime: Runtime, outcome: Outcome, options: SearchOptions, cache: str) -> Outcome:
    if not outcome.results or not options.wants_content:
        return outcome
    from sleuth.commands.terminal.progress import with_content

    squeeze = (options.compress, options.limit, options.unit, options.max_tokens)
    offline = options.offline or bool(options.replay)  # a replay asks nobody
    return with_content(runtime, outcome, squeeze, options.progress, cache=cache, offline=offline)


def _search(
    runtime: Runtime,
    request: SearchRequest,
    record: str | None,
    replay: str | None,
    meanwhile: Callable[[], object],
) -> Outcome:
    if not record and not replay:
        return runtime.searcher.search(request, meanwhile)
    from sleuth.engine.recording import Recorder, Replayer

    if record and replay:
        raise RequestError("--record and --replay exclude each other", "use one of them")
    if replay:
        return runtime.searcher.search(request._replace(recording=Replayer(replay)))
    recorder = Recorder()
    outcome = runtime.searcher.search(request._replace(recording=recorder))
    recorder.save(record or "")
    return outcome
