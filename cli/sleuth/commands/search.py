"""`sleuth search`: options become a request, the engine answers, a renderer shows it."""

from typing import TYPE_CHECKING

import typer

from sleuth.commands import make_app, showing, typed
from sleuth.commands import options as o
from sleuth.errors import Exit, RequestError
from sleuth.render import View
from sleuth.runtime import Runtime
from sleuth.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME, SNIPPET_LENGTH, UI_THEME
from sleuth_providers.base import Query

if TYPE_CHECKING:
    from sleuth.outcome import Outcome
    from sleuth.search import SearchRequest

app = make_app()

EPILOG = """Examples:\n
\b
  sleuth search rust async runtimes
  sleuth search -p searxng,wikipedia -n 10 --freshness month 大语言模型 评测
  sleuth search --json how to enable json in searxng | jq -r '.results[].url'
  sleuth search --template '{rank} {url}' --site docs.python.org asyncio
  sleuth search --batch queries.txt -o answers.ndjson --resume
"""


@app.command(epilog=EPILOG)
def search(
    ctx: typer.Context,
    words: o.Words = None,
    question: o.Question = None,
    provider: o.Provider = None,
    count: o.Count = None,
    page: o.Page = 1,
    lang: o.Lang = None,
    region: o.Region = None,
    freshness: o.Freshness = None,
    safe: o.Safe = None,
    category: o.Category = "general",
    engine: o.Engine = None,
    site: o.Site = None,
    exclude: o.Exclude = None,
    format: o.Format = None,
    as_json: o.Json = False,
    template: o.Template = None,
    fields: o.Fields = None,
    output: o.Output = None,
    rerank: o.Rerank = False,
    recent: o.Recent = False,
    rules: o.RulesFile = None,
    explain: o.Explain = False,
    record: o.Record = None,
    replay: o.Replay = None,
    batch: o.Batch = None,
    ordered: o.Ordered = False,
    resume: o.Resume = False,
    jobs: o.Jobs = 8,
    interactive: o.Interactive = False,
    content: o.Content = False,
    compress: o.Compress = None,
    limit: o.Limit = None,
    unit: o.Unit = None,
    max_tokens: o.MaxTokens = None,
    progress: o.ProgressKind = "auto",
    cached: o.Cached = True,
    refresh: o.Refresh = False,
    offline: o.Offline = False,
    timeout: o.Timeout = None,
    fallback: o.Fallback = None,
    with_time: o.WithTime = None,
    open_result: o.OpenResult = None,
    open_first: o.OpenFirst = False,
    exit_status: o.ExitStatus = False,
) -> int:
    """Search; ranked results with numbered citations.

    Words need no quotes. With no provider named, the default is asked, then the fallbacks of the settings;
    with no network the embedded library answers, and says so.
    """
    runtime: Runtime = ctx.obj
    settings = runtime.settings
    view = View(
        fields=typed.fields(fields),
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
        lang=typed.language(lang if lang is not None else settings[LANGUAGE]),
        region=(region if region is not None else settings[REGION]).upper(),
        safe=safe or settings[SAFE_SEARCH],
        category=category,
        include=typed.split(site),
        exclude=typed.split(exclude),
        engines=typed.split(engine),
        content=bool(content or compress or limit or max_tokens),
        dated=settings[SEARCH_WITH_TIME] if with_time is None else with_time,
    )
    from sleuth.search import SearchRequest

    request = SearchRequest(
        questions=() if batch or (interactive and not words) else typed.questions(words, question),
        query=typed.with_freshness(query, freshness),
        providers=typed.split(provider) or ("auto",),
        fallback=fallback,
        cache="off" if not cached else "refresh" if refresh else "use",
        offline=offline,
        timeout=timeout,
        rules=typed.rules(runtime, rules),
        recent=recent,
        rerank=rerank,
    )
    chosen = showing.choose_format(runtime, format, output, view, json=as_json)
    if template:
        from sleuth.render.plain import check_template

        check_template(template)
    if batch:
        from sleuth.commands.batch import run_batch_command

        return run_batch_command(runtime, request, batch, output, jobs, ordered=ordered, resume=resume)
    if interactive:
        from sleuth.commands.interactive import Prompt

        return Prompt(runtime, request, view).run()
    outcome = _search(runtime, request, record, replay)
    if outcome.results and (content or compress or limit or max_tokens):
        from sleuth.commands.reading import with_content

        squeeze = (compress, limit, unit, max_tokens)
        outcome = with_content(runtime, outcome, squeeze, progress, cache=request.cache, offline=offline)
    if outcome.outcome != "failed" or chosen == "json":
        showing.write(runtime, outcome, chosen, view, output)
    if outcome.outcome == "failed":
        from sleuth.search import failure

        raise failure(outcome)
    showing.say_the_rest(runtime, outcome, chosen)
    if open_first or open_result:
        showing.open_result(outcome, open_result or 1)
    return Exit.NO_RESULTS if exit_status and not outcome.results else Exit.DONE


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
