"""What `sleuth search` does with what was typed; knows nothing of how it was read, and so needs no Typer."""

import functools
from typing import TYPE_CHECKING, NamedTuple

from sleuth.commands import showing, typed
from sleuth.errors import Exit, RequestError
from sleuth.render import View
from sleuth.runtime import Runtime
from sleuth.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME, SNIPPET_LENGTH, UI_THEME
from sleuth_providers.base import Query

if TYPE_CHECKING:
    from sleuth.outcome import Outcome
    from sleuth.search import SearchRequest


class Wishes(NamedTuple):
    """The options of `sleuth search` as they were typed; what they mean stands in `options.py`."""

    words: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    count: int | None = None  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    page: int = 1
    lang: str | None = None
    region: str | None = None
    freshness: str | None = None
    safe: str | None = None
    category: str = "general"
    engine: tuple[str, ...] = ()
    site: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    format: str | None = None
    as_json: bool = False
    template: str | None = None
    fields: str | None = None
    output: str | None = None
    rerank: bool = False
    recent: bool = False
    rules: str | None = None
    explain: bool = False
    record: str | None = None
    replay: str | None = None
    batch: str | None = None
    ordered: bool = False
    resume: bool = False
    jobs: int = 8
    interactive: bool = False
    content: bool = False
    compress: str | None = None
    limit: int | None = None
    unit: str | None = None
    max_tokens: int | None = None
    progress: str = "auto"
    cached: bool = True
    refresh: bool = False
    offline: bool = False
    timeout: float | None = None
    fallback: bool | None = None
    with_time: bool | None = None
    open_result: int | None = None
    open_first: bool = False
    exit_status: bool = False

    @property
    def wants_content(self) -> bool:
        """Tell whether pages are to be read; squeezing them implies it."""
        return bool(self.content or self.compress or self.limit or self.max_tokens)


def search(runtime: Runtime, wishes: Wishes) -> int:
    """Search and show what was found; a batch and the prompt go ways of their own."""
    view = _view(runtime, wishes)
    request = _request(runtime, wishes)
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
    outcome = _ask(runtime, request, wishes)
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
        fields=typed.fields(wishes.fields),
        template=wishes.template or "",
        explain=wishes.explain,
        snippet_length=runtime.settings[SNIPPET_LENGTH],
        color=runtime.color,
        theme=runtime.settings[UI_THEME],
    )


def _request(runtime: Runtime, wishes: Wishes) -> "SearchRequest":
    from sleuth.search import SearchRequest

    settings = runtime.settings
    query = Query(
        "",
        count=wishes.count or settings[MAX_RESULTS],
        page=wishes.page,
        lang=typed.language(wishes.lang if wishes.lang is not None else settings[LANGUAGE]),
        region=(wishes.region if wishes.region is not None else settings[REGION]).upper(),
        safe=wishes.safe or settings[SAFE_SEARCH],
        category=wishes.category,
        include=typed.split(wishes.site),
        exclude=typed.split(wishes.exclude),
        engines=typed.split(wishes.engine),
        content=wishes.wants_content,
        dated=settings[SEARCH_WITH_TIME] if wishes.with_time is None else wishes.with_time,
    )
    without_words = wishes.batch or (wishes.interactive and not wishes.words)
    return SearchRequest(
        questions=() if without_words else typed.questions(wishes.words, wishes.question),
        query=typed.with_freshness(query, wishes.freshness),
        providers=typed.split(wishes.provider) or ("auto",),
        fallback=wishes.fallback,
        cache="off" if not wishes.cached else "refresh" if wishes.refresh else "use",
        offline=wishes.offline,
        timeout=wishes.timeout,
        rules=typed.rules(runtime, wishes.rules),
        recent=wishes.recent,
        rerank=wishes.rerank,
    )


def _ask(runtime: Runtime, request: "SearchRequest", wishes: Wishes) -> "Outcome":
    return _with_content(runtime, _search(runtime, request, wishes.record, wishes.replay), wishes, request.cache)


def _with_content(runtime: Runtime, outcome: "Outcome", wishes: Wishes, cache: str) -> "Outcome":
    if not outcome.results or not wishes.wants_content:
        return outcome
    from sleuth.commands.reading import with_content

    squeeze = (wishes.compress, wishes.limit, wishes.unit, wishes.max_tokens)
    offline = wishes.offline or bool(wishes.replay)  # a replay asks nobody
    return with_content(runtime, outcome, squeeze, wishes.progress, cache=cache, offline=offline)


def _search(runtime: Runtime, request: "SearchRequest", record: str | None, replay: str | None) -> "Outcome":
    if not record and not replay:
        return runtime.searcher.search(request)
    from sleuth.tape import Recorder, Replayer

    if record and replay:
        raise RequestError("--record and --replay exclude each other", "use one of them")
    if replay:
        return runtime.searcher.search(request._replace(tape=Replayer(replay)))
    recorder = Recorder()
    outcome = runtime.searcher.search(request._replace(tape=recorder))
    recorder.save(record or "")
    return outcome
