"""`sleuth again`: show the last results again, or repeat a search from the history."""

import time
from typing import Annotated, Any

import typer

from sleuth.base.errors import Exit, RequestError
from sleuth.base.i18n import tr
from sleuth.commands.terminal import display
from sleuth.commands.terminal.options import FORMATS, search_parameter
from sleuth.commands.terminal.typer_app import make_app
from sleuth.relevance.hit import Hit
from sleuth.runtime import Runtime
from sleuth.store import last_results
from sleuth.store.cache import rendered
from sleuth.store.database import explain_errors
from sleuth.store.history import entries
from sleuth.store.settings import HISTORY

app = make_app()

SAVED_TYPES = {"texts": list, "text": str, "flag": bool}  # in the file of the last results, by kind of option

EPILOG = """Examples:\n
\b
  sleuth again
  sleuth again --page 2
  sleuth again -f urls | head -3
  sleuth again --refresh
  sleuth again 3 -p brave
"""
PAGE = search_parameter("page", grouped=False).replace(default=None)  # None: the one that was shown last


@app.command(epilog=EPILOG, options=("providers", "count", PAGE, "refresh", *FORMATS))
def again(
    runtime: Runtime,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[N]", min=1, help="Number of a search in `sleuth history`.", show_default=False),
    ] = None,
    **values: Any,
) -> int:
    """Show the results of the last search again; with N, repeat a search from the history.

    Without N, the stored results are shown and no search is made; --page 2 continues after them, and --refresh searches
    again, both with the same providers and filters, such as --site. N counts back from the newest search, as `sleuth
    history` does; only the words of that search are repeated.
    """
    from sleuth.commands.search import make_view, search
    from sleuth.engine.outcome import Outcome, Status
    from sleuth.engine.search_options import OPTIONS, REPEATED, SearchOptions

    options = SearchOptions(**values | {"page": values["page"] or 1})
    if number is None and not (options.refresh or options.providers or options.count or values["page"]):
        found = last_searches(runtime)[0]
        view = make_view(runtime, options)
        size = len(found.results)
        outcome = Outcome(found.query, found.provider, found.results, status=Status("default", size, size))
        outcome = outcome._replace(cached=True, age=time.time() - found.at)
        chosen = display.choose_format(runtime, options.format, options.output, view, json=options.as_json)
        if chosen == "rich" or not found.results:
            title = "results for {query!r}" if found.results else "no results for {query!r}"
            runtime.note(tr(title, query=found.query))
        display.write(runtime, outcome, chosen, view, options.output)
        return Exit.DONE
    if number is not None:
        return search(runtime, options._replace(questions=_questions(runtime, number)))
    last = last_searches(runtime)[0]
    for name, value in last.options.items():
        if name in REPEATED and isinstance(value, SAVED_TYPES[OPTIONS[name].kind]):
            repeated: dict[str, Any] = {name: tuple(map(str, value)) if isinstance(value, list) else value}
            options = options._replace(**repeated)
    if values["page"]:  # of the same size
        options = options._replace(count=options.count or last.page_size or len(last.results) or None)
    if not options.providers and last.next_provider:
        options = options._replace(providers=(last.next_provider,))
    return search(runtime, options._replace(questions=last.questions))


def _questions(runtime: Runtime, number: int) -> tuple[str, ...]:
    with explain_errors(runtime.paths.database):
        found = entries(runtime.usage_database, count=number)
    if len(found) < number:
        _refuse_without_history(runtime)
        raise RequestError("the history has no search {number}", "to list the searches: sleuth history", number=number)
    return found[-1].questions


def last_searches(runtime: Runtime) -> list[last_results.SavedSearch]:
    """Return the last search that was shown, and earlier ones of the same questions; raise if it is not stored."""
    _refuse_without_history(runtime)  # older results may be stored, but not those of the last search
    saved = last_results.load(runtime.paths.state)
    at, printed = rendered.last_printed(runtime.paths)
    if printed and not (saved and saved[0].at > at):
        saved = last_results.load(runtime.paths.state, [printed])
    if not saved:
        raise RequestError("there are no stored results", "search first: sleuth search WORDS…")
    return [one for one in saved if one.questions == saved[0].questions]


def last_hits(runtime: Runtime) -> dict[int, Hit]:
    """Return the last results by number; numbers continue from page to page, so earlier pages are included."""
    hits: dict[int, Hit] = {}
    for found in last_searches(runtime):
        hits = {hit.citation: hit for hit in found.results} | hits
        if not found.results or 1 in hits:
            break
    return hits


def _refuse_without_history(runtime: Runtime) -> None:
    if not runtime.settings[HISTORY]:
        hint = "turn it on: sleuth config set history.enabled true"
        raise RequestError("the history is off, so results are not stored", hint)
