"""`sleuth open`: open results of the last search."""

from typing import Annotated

import typer

from sleuth.base.errors import RequestError
from sleuth.base.json_output import write_json
from sleuth.commands.again import last_searches
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime

app = make_app()

MAX_OPENED = 20
EPILOG = """Examples:\n
\b
  sleuth search rust async runtimes
  sleuth open 2
  sleuth open 1 3 4
  sleuth read "$(sleuth open --print 2)"
"""


@app.command("open", epilog=EPILOG)
def open_(
    ctx: typer.Context,
    numbers: Annotated[
        list[int] | None,
        typer.Argument(min=1, metavar="[N]…", help="Numbers of results; the first by default.", show_default=False),
    ] = None,
    print_only: Annotated[bool, typer.Option("--print", help="Print the URLs instead of opening them.")] = False,
    as_json: Json = False,
) -> None:
    """Open results of the last search in the browser, by their numbers.

    The results come from this machine; nothing is searched again. `sleuth again` lists them.
    """
    import webbrowser

    runtime: Runtime = ctx.obj
    searches = last_searches(runtime)
    # Numbers go on from page to page, so that an earlier page of the same query may have the result.
    known = {hit.citation: hit for found in reversed(searches) for hit in found.results}
    wanted = list(dict.fromkeys(numbers or [1]))
    if missing := [number for number in wanted if number not in known]:
        numbers_known = f"{min(known)}–{max(known)}" if known else "–"
        hint = "results of the last search: {known}; to list them: sleuth again"
        raise RequestError("there is no result {number}", hint, number=missing[0], known=numbers_known)
    if len(wanted) > MAX_OPENED:
        raise RequestError("too many results: {count}", "use at most {most}", count=len(wanted), most=MAX_OPENED)
    hits = [known[number] for number in wanted]
    if as_json:
        write_json([{"citation": hit.citation, "title": hit.title, "url": hit.url} for hit in hits], runtime.stdout)
        return
    for hit in hits:
        if print_only:
            print(hit.url, file=runtime.stdout)
        elif not webbrowser.open(hit.url):
            hint = "set BROWSER to a browser, or print the URL: sleuth open --print {number}"
            raise RequestError("no browser could open {url}", hint, url=hit.url, number=hit.citation)
