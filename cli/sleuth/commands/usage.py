"""`sleuth usage`: requests, success rates, response times and estimated cost."""

from contextlib import closing, suppress
from typing import Annotated

import typer

from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.store.database import explain_errors
from sleuth.store.health import RETENTION_S
from sleuth.store.settings import CACHE_URL
from sleuth.store.usage import UsageReport, report, team_report, usage_as_json

app = make_app()

MAX_DAYS = RETENTION_S // 86400
EPILOG = """Examples:\n
\b
  sleuth usage
  sleuth usage --days 7 --provider brave
  sleuth usage --team
  sleuth usage --json | jq '.providers[] | [.provider, .total, .cost]'
"""


@app.command(epilog=EPILOG)
def usage(
    runtime: Runtime,
    days: Annotated[
        int, typer.Option("--days", min=1, max=MAX_DAYS, metavar="N", help="Report the last N days, including today.")
    ] = 30,
    provider: Annotated[str, typer.Option("--provider", "-p", metavar="ID", help="Report one provider only.")] = "",
    team: Annotated[
        bool, typer.Option("--team", help="Report the requests of all machines that share a cache.url.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show requests, success, cache hits, response times and estimated cost, with a chart.

    All data stays on this machine, and with cache.url on the server that machines share. Costs are estimates from the
    list prices of the providers.
    """
    with suppress(UnknownProviderError):  # it was removed, or another machine has it
        provider = runtime.table.get(provider).id if provider else ""
    if team:
        found = _team_report(runtime, days, provider)
    else:
        with explain_errors(runtime.paths.database):
            found = report(runtime.usage_database, days, provider)
    if provider and found.is_empty:
        runtime.table.get(provider)  # raises for an unknown id
    if as_json:
        write_json(usage_as_json(found), runtime.stdout)
    elif not found.is_empty:
        from sleuth.render.usage import render

        render(found, runtime.stdout, runtime.color)
    elif provider:
        runtime.note(tr("{provider} was not used in this period", provider=provider))
    else:
        runtime.note(tr("no searches in this period; try: sleuth search rust async runtimes"))


def _team_report(runtime: Runtime, days: int, provider: str) -> UsageReport:
    from sleuth.store.cache.redis.address import find_address
    from sleuth.store.cache.redis.server import RedisServer, RedisUnavailableError

    if not runtime.settings[CACHE_URL]:
        hint = "set the URL of a server: sleuth config set cache.url redis://HOST:6379/0"
        raise RequestError("--team needs a shared cache", hint)
    address = find_address(runtime.settings[CACHE_URL], runtime.environ)
    try:
        with closing(RedisServer(address, warn=lambda _: None)) as server:
            return team_report(server, days, provider)
    except RedisUnavailableError as problem:
        message = "the shared cache at {host} is unavailable ({why})"
        hint = "find the cause: sleuth doctor --only cache"
        raise SleuthError(message, hint, code="UNREACHABLE", host=address.place, why=str(problem)) from problem
