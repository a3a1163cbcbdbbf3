"""`sleuth search`: the command line. What it does stands in `searching.py`."""

import typer

from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.search import search as perform
from sleuth.commands.terminal.typer_app import make_app
from sleuth.engine.options import SearchOptions

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
    return perform(ctx.obj, SearchOptions(**ctx.params))
