"""`sleuth usage`: how much was asked of whom, how well it went, and what it cost by estimate."""

from typing import Annotated

import typer

from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.store.database import in_words
from sleuth.store.health import KEEP
from sleuth.store.usage import usage_as_json
from sleuth.store.usage_report import report

app = make_app()

KEPT = KEEP // 86400  # days
EPILOG = """Examples:\n
\b
  sleuth usage
  sleuth usage --days 7 --provider brave
  sleuth usage --json | jq '.providers[] | [.provider, .total, .cost]'
"""


@app.command(epilog=EPILOG)
def usage(
    ctx: typer.Context,
    days: Annotated[int, typer.Option("--days", min=1, max=KEPT, metavar="N", help="How many days, with today.")] = 30,
    provider: Annotated[str, typer.Option("--provider", "-p", metavar="ID", help="One provider alone.")] = "",
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show requests, success, cache hits, times and estimated cost, with a chart.

    Everything is counted on this machine and stays here. Costs are estimates, from the list prices of the providers.
    """
    runtime: Runtime = ctx.obj
    with in_words(runtime.paths.database):
        found = report(runtime.usage_database, days, provider)
    if provider and found.is_empty:
        runtime.table.get(provider)  # or say that there is none of that name
    if json:
        write_json(usage_as_json(found), runtime.stdout)
    elif not found.is_empty:
        from sleuth.render.usage import render

        render(found, runtime.stdout, runtime.color, runtime.environ)
    elif provider:
        runtime.note(tr("{provider} was not asked in these days", provider=provider))
    else:
        runtime.note(tr("nothing was searched for in these days yet; try: sleuth search rust async runtimes"))
