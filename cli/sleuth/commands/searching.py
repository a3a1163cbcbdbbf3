"""What `sleuth search` does with what was typed; knows nothing of how it was read, and so needs no Typer."""

from __future__ import annotations

import functools

from sleuth import prepared
from sleuth.commands import showing
from sleuth.errors import Exit, RequestError
from sleuth.render import View, renderer
from sleuth.runtime import Runtime
from sleuth.settings import SNIPPET_LENGTH, UI_THEME
from sleuth.wishes import Wishes, as_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sleuth.outcome import Outcome
    from sleuth.prepared import Ticket
    from sleuth.search import SearchRequest


def search(runtime: Runtime, wishes: Wishes, ticket: Ticket | None = None) -> int:
    """Search and show what was found; a batch and the prompt go ways of their own."""
    view = _view(runtime, wishes)
    request = as_request(runtime, wishes)
    chosen = showing.choose_format(runtime, wishes.format, wishes.output, view, json=wishes.as_json)
    if wishes.batch:
        from sleuth.commands.batch import run_batch_command

        quiet = wishes._replace(progress="none")
        finish = functools.partial(_with_content, wishes=quiet, cache=request.cache)
        how = {"ordered": wishes.ordered, "resume": wishes.resume}
        return run_batch_command(runtime, request, wishes.batch, wishes.output, wishes.jobs, finish, **how)
    if wishes.interactive:
        from sleuth.commands.interactive import Prompt

        return Prompt(runtime, request, view).run()
    outcome = _ask(runtime, request, wishes, functools.partial(renderer, chosen))
    if ticket and showing.is_lasting(runtime, outcome):
        showing.write_and_keep(runtime, outcome, chosen, view, ticket)
        return Exit.DONE
    if request.cache == "refresh":
        prepared.forget(runtime.paths)  # what is fetched again must not be answered as it was
    if outcome.outcome != "failed" or chosen == "json":
        showing.write(runtime, outcome, chosen, view, wishes.output)
    if outcome.outcome == "failed":
        from sleuth.search import failure

        raise failure(outcome)
    showing.say_the_rest(runtime, outcome, chosen)
    if wishes.open_first or wishes.open_result:
        showing.open_result(outcome, wishes.open_result or 1)
    return Exit.NO_RESULTS if wishes.exit_status and not outcome.results else Exit.DONE


def _view(runtime: Runtime, wishes: Wishes) -> View:
    if wishes.template:
        from sleuth.render.plain import check_template

        check_template(wishes.template)
    return View(
        fields=showing.fields(wishes.fields),
        template=wishes.template or "",
        explain=wishes.explain,
        snippet_length=runtime.settings[SNIPPET_LENGTH],
        color=runtime.color,
        theme=runtime.settings[UI_THEME],
    )


def _ask(runtime: Runtime, request: SearchRequest, wishes: Wishes, meanwhile: Callable[[], object]) -> Outcome:
    outcome = _search(runtime, request, wishes.record, wishes.replay, meanwhile)
    return _with_content(runtime, outcome, wishes, request.cache)


def _with_content(runtime: Runtime, outcome: Outcome, wishes: Wishes, cache: str) -> Outcome:
    if not outcome.results or not wishes.wants_content:
        return outcome
    from sleuth.commands.reading import with_content

    squeeze = (wishes.compress, wishes.limit, wishes.unit, wishes.max_tokens)
    offline = wishes.offline or bool(wishes.replay)  # a replay asks nobody
    return with_content(runtime, outcome, squeeze, wishes.progress, cache=cache, offline=offline)


def _search(
    runtime: Runtime,
    request: SearchRequest,
    record: str | None,
    replay: str | None,
    meanwhile: Callable[[], object],
) -> Outcome:
    if not record and not replay:
        return runtime.searcher.search(request, meanwhile)
    from sleuth.tape import Recorder, Replayer

    if record and replay:
        raise RequestError("--record and --replay exclude each other", "use one of them")
    if replay:
        return runtime.searcher.search(request._replace(tape=Replayer(replay)))
    recorder = Recorder()
    outcome = runtime.searcher.search(request._replace(tape=recorder))
    recorder.save(record or "")
    return outcome
