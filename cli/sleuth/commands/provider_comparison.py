"""`sleuth providers compare`: the same queries to several providers, side by side."""

from typing import Annotated

import typer

from sleuth.base.errors import Exit, RequestError
from sleuth.base.json_output import write_json
from sleuth.commands.terminal.typer_app import Json
from sleuth.engine.options import split
from sleuth.runtime import Runtime

COMPARE_EPILOG = """Examples:\n
\b
  sleuth providers compare -p brave,duckduckgo 'rust async' 'linux kernel'
  sleuth search --record r.json -p brave,exa rust
  sleuth providers compare --replay r.json
"""


def compare(
    runtime: Runtime,
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY…", help="Queries; quote those with several words.", show_default=False),
    ] = None,
    count: Annotated[
        int,
        typer.Option("--count", "-n", min=1, max=50, metavar="N", help="Compare the first N results of each provider."),
    ] = 10,
    replay: Annotated[
        str | None, typer.Option(metavar="FILE", help="Compare a recording instead of searching.")
    ] = None,
    as_json: Json = False,
    *,
    providers: list[str] | None,
    timeout: float | None,
) -> int:
    """Send the same queries to several providers and compare what they find, how fast, and at what cost.

    Every query sends one request to each provider; the cache is not used. With --replay no request is sent: queries
    and providers come from the recording.
    """
    from sleuth.engine.compare import compare as run
    from sleuth.engine.recording import Replayer
    from sleuth.engine.search_options import SearchOptions

    recording = Replayer(replay) if replay else None
    words, ids = tuple(queries or ()), split(providers or ())
    if recording:
        words, ids = words or tuple(recording.questions), ids or tuple(recording.providers)
    if not words or len(ids) < 2:
        hint = "for example: sleuth providers compare -p a,b QUERY…"
        raise RequestError("give at least one query and two providers", hint)
    options = SearchOptions(questions=words, count=count, cached=False)
    request = runtime.search_request(options)._replace(recording=recording, provider_timeout=timeout)
    found = run(runtime.selector, runtime.cache, request, runtime.selector.named(ids))
    if as_json:
        write_json(found.as_json(), runtime.stdout)
    else:
        from sleuth.render.comparison import render

        render(found, runtime.stdout, runtime.color)
    return Exit.DONE if any(one.answered for one in found.providers) else Exit.FAILED
