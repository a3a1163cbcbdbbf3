"""`sleuth again`: show the last results again, or repeat a search from the history."""

import time
from typing import Annotated, Any

import typer

from sleuth.base.errors import Exit, RequestError
from sleuth.base.i18n import tr
from sleuth.commands.search import make_view, search
from sleuth.commands.terminal import display
from sleuth.commands.terminal.options import FORMATS, search_parameter
from sleuth.commands.terminal.typer_app import make_app
from sleuth.engine.outcome import Outcome, Status
from sleuth.engine.search import page_start
from sleuth.engine.search_options import OPTIONS, REPEATED, SearchOptions
from sleuth.relevance.hit import Hit
from sleuth.runtime import Runtime
from sleuth.store import last_results
from sleuth.store.cache import rendered
from sleuth.store.database import explain_errors
from sleuth.store.history import entries
from sleuth.store.settings import HISTORY

app = make_app()

# In the file of the last results, by kind of option.
SAVED_TYPES = {"texts": list, "text": str, "flag": bool, "int": int, "float": float}

EPILOG = """Examples:\n
\b
  sleuth again
  sleuth again --page 2
  sleuth again -f urls | head -3
  sleuth again --refresh
  sleuth again 3 -p brave
"""
PAGE = search_parameter("page", grouped=False).replace(default=None)  # None: the one that was shown last


@app.command(epilog=EPILOG, options=("providers", "count", PAGE, "cached", "refresh", "offline", *FORMATS))
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
    again, both with the same options, except those for output. N counts back from the newest search, as `sleuth
    history` does; only the words of that search are repeated.
    """
    page = values.pop("page")
    options = SearchOptions(**values, page=page or 1)
    if number is not None:
        return search(runtime, options._replace(questions=_questions(runtime, number)))
    if page or options.refresh or not options.cached or options.providers or options.count:
        last = last_searches(runtime)[0]
        if not last.questions:
            raise RequestError("these are the results of several saved searches", "run them again: sleuth watch run")
        if options.page > 1 and not last.page_size:
            hint = "to search for the question: sleuth again --refresh"
            raise RequestError("the sources of an answer have no further pages", hint)
        repeated = _repeated(last, options)
        if options.page == 1 or options.providers:
            return search(runtime, repeated)
        last_shown = max((hit.citation for hit in last.results), default=0)
        start = page_start(last_shown, options.page, repeated.count or last.page_size)
        return search(runtime, repeated, shown=last.rounds, start=start)
    _show(runtime, last_searches(runtime)[0], options)
    return Exit.DONE


def _show(runtime: Runtime, found: last_results.SavedSearch, options: SearchOptions) -> None:
    """Show stored results."""
    view, size = make_view(runtime, options), len(found.results)
    outcome = Outcome(found.query, found.provider, found.results, status=Status("default", size, size))
    outcome = outcome._replace(cached=True, age=time.time() - found.at)
    chosen = display.choose_format(runtime, options.format, options.output, view, json=options.as_json)
    if chosen == "rich" or not found.results:
        title = "results for {query!r}" if found.results else "no results for {query!r}"
        runtime.note(tr(title, query=found.query))
    display.write(runtime, outcome, chosen, view, options.output)


def _repeated(last: last_results.SavedSearch, options: SearchOptions) -> SearchOptions:
    """Return the options with those of the search that is repeated."""
    repeated: dict[str, Any] = {
        name: tuple(map(str, value)) if isinstance(value, list) else value
        for name, value in last.options.items()
        if name in REPEATED and type(value) is SAVED_TYPES[OPTIONS[name].kind]
    }
    if options.refresh or not options.cached:
        repeated = {name: value for name, value in repeated.items() if name not in ("cached", "offline")}
    providers = options.providers or ((last.next_provider,) if last.next_provider else ())
    count = options.count or last.page_size or None
    return options._replace(**repeated, questions=last.questions, count=count, providers=providers)


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
    return [one for one in saved if one.questions == saved[0].questions] if saved[0].questions else saved[:1]


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
