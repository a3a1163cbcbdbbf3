"""`sleuth open`: open results of the last search."""

from typing import Annotated

import typer

from sleuth.base.errors import RequestError
from sleuth.base.json_output import write_json
from sleuth.commands.again import last_hits
from sleuth.commands.terminal import display
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.store import opened
from sleuth.store.settings import LEARN_WEIGHTS

app = make_app()

MAX_OPENED = 20
EPILOG = """Examples:\n
\b
  sleuth search rust async runtimes
  sleuth open 2
  sleuth open 1 3 4
  sleuth open --print 2 | xargs curl -sI
"""


@app.command("open", epilog=EPILOG)
def open_(
    runtime: Runtime,
    numbers: Annotated[
        list[int] | None,
        typer.Argument(min=1, metavar="[N]…", help="Numbers of results; by default, the first.", show_default=False),
    ] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Print the URLs instead of opening them.")] = False,
    as_json: Json = False,
) -> None:
    """Open results of the last search in the browser, by their numbers.

    They are stored on this machine; `sleuth again` lists them. After `sleuth ask`, the numbers are those of its
    sources. No new search is made.
    """
    wanted = list(dict.fromkeys(numbers or [1]))
    if len(wanted) > MAX_OPENED:
        raise RequestError("too many results: {count}", "use at most {most}", count=len(wanted), most=MAX_OPENED)
    hits = last_hits(runtime)
    urls = [display.result_url(hits.values(), number) for number in wanted]
    if as_json:
        found = [{"citation": number, "title": hits[number].title, "url": hits[number].url} for number in wanted]
        write_json(found, runtime.stdout)
        return
    if print_only:
        print(*urls, sep="\n", file=runtime.stdout)
    for url in () if print_only else urls:
        display.open_url(url)
    if runtime.settings[LEARN_WEIGHTS]:
        opened.record(runtime.paths.state, [hits[number] for number in wanted], list(hits.values()))
