"""`sleuth watch`: a saved search that shows only what is new since its last run."""

import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import reduce
from typing import Annotated, Any, Literal

import typer

from sleuth.base import choices
from sleuth.base.errors import Exit, RequestError, SearchError, SleuthError, describe
from sleuth.base.i18n import tr, trn
from sleuth.base.json_output import json_text, record_as_json, write_json
from sleuth.base.text import clean, pad, width
from sleuth.commands.search import make_view
from sleuth.commands.terminal import display
from sleuth.commands.terminal.options import FORMATS
from sleuth.commands.terminal.typer_app import HelpGroup, Json, make_app
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import search_error
from sleuth.engine.search_options import OPTIONS, SearchOptions
from sleuth.relevance.urls import canonical
from sleuth.runtime import Runtime
from sleuth.store.journal import QUESTION_SEPARATOR
from sleuth.store.watches import Watch, WatchItem, WatchStore, watch_name

COMMANDS = ("run", "list", "remove")
COUNT = 20  # results to look at; more than a search shows, because a new one may be far down
SEARCH_OPTIONS = (
    *("providers", "count", "language", "region", "freshness", "safe", "sites", "exclude", "engines"),
    *("fallback", "timeout"),
)
JOINED = ("attempts", "answers", "suggestions", "corrections", "notices", "warnings", "attribution")
EPILOG = """Examples:\n
\b
  sleuth watch rust async runtimes
  sleuth watch --category news --feed ~/public/energy.xml energy prices
  sleuth watch --exec 'python3 notify.py' -p brave sleuth release
  sleuth watch run
"""


class WatchGroup(HelpGroup):
    """Treats words that are not a subcommand as the query of `run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `run` where it was left out."""
        if args and args[0] not in (*COMMANDS, "--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = make_app("Save searches and show only new results: WORDS…, run, list, remove.", epilog=EPILOG)
app.info.cls = WatchGroup


@app.command(epilog=EPILOG, options=("words", *SEARCH_OPTIONS, *FORMATS))
def run(
    runtime: Runtime,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name; by default, the words.")] = "",
    feed: Annotated[str, typer.Option("--feed", metavar="FILE", help="Atom feed of the last 100 new results.")] = "",
    command: Annotated[
        str, typer.Option("--exec", metavar="CMD", help="Run this program with the new results as JSON on its stdin.")
    ] = "",
    category: Annotated[Literal[choices.CATEGORIES] | None, typer.Option(help=OPTIONS["category"].help)] = None,  # type: ignore[valid-type]  # the words are declared once
    **options: Any,
) -> int:
    """Search, and show only results that earlier runs have not shown; without WORDS, run all saved searches.

    `run` can be omitted. The first run shows everything and saves the search with its options; later runs need only
    the words or --name. The exit code is 0 for new results and 7 for none; a failed search exits with the code of its
    error, and the next run repeats it. A run without new results prints nothing, so cron sends no mail.
    """
    store = _store(runtime)
    words, shown = options["words"], SearchOptions(**{key: options[key] for key in FORMATS})
    given = {key: options[key] for key in SEARCH_OPTIONS} | {"category": category}
    changes = {key: value for key, value in given.items() if value not in (None, [], ())}
    if not words and not name:
        if changes or feed or command:
            raise RequestError("these options need a saved search", "name it: sleuth watch --name NAME …")
        return _run_all(runtime, store, shown)
    name = name or watch_name(words or ())
    with store.locked(name):
        known = store.load(name)
        if known is None and not words:
            raise RequestError("no saved search {name!r}", "save it: sleuth watch --name {name} WORDS…", name=name)
        if known and words and _key(words) not in (_key(known.words), _key((name,))):
            hint = "use another name: sleuth watch --name NAME WORDS…; or first: sleuth watch remove {name}"
            raise RequestError("{name} is the saved search {query!r}", hint, name=name, query=" ".join(known.words))
        watch = known or Watch(name, tuple(words), {})
        watch = watch._replace(
            options=watch.options | changes,
            feed=os.path.abspath(os.path.expanduser(feed)) if feed else watch.feed,
            command=command or watch.command,
        )
        watch, outcome = _search(runtime, store, watch, shown)
        if outcome.results:
            _show(runtime, outcome, shown._replace(**watch.options))
        _deliver(runtime, store, watch, outcome)
        return Exit.DONE if outcome.results else Exit.NO_RESULTS


def _key(words: tuple[str, ...]) -> list[str]:
    """Return the words for comparison: quotes and capitals do not make another search."""
    return " ".join(words).casefold().split()


def _store(runtime: Runtime) -> WatchStore:
    return WatchStore(os.path.join(runtime.paths.data, "watches"))


def _run_all(runtime: Runtime, store: WatchStore, shown: SearchOptions) -> int:
    """Run every saved search and show what is new as one list; one that fails does not stop the others."""
    names = store.names()
    if not names:
        raise RequestError("no search is saved", "save one: sleuth watch WORDS…")
    found: list[tuple[Watch, Outcome]] = []
    failures: dict[str, SleuthError] = {}  # by message
    count = 0
    with ExitStack() as locks:
        for name in names:
            with _warned(runtime, name, failures):
                locks.enter_context(store.locked(name))
                if watch := store.load(name):
                    found.append(_search(runtime, store, watch, shown))
        if new := [(watch, outcome) for watch, outcome in found if outcome.results]:
            options = shown._replace(**new[0][0].options) if len(new) == 1 else shown
            joined = reduce(_joined, (outcome for _, outcome in new))
            if failures:
                joined = joined._replace(outcome="partial", warnings=(*joined.warnings, *failures))
            _show(runtime, joined, options)
        for watch, outcome in found:
            with _warned(runtime, watch.name, failures):
                _deliver(runtime, store, watch, outcome)
                count += len(outcome.results)
    return Exit.DONE if count else next(iter(failures.values())).exit if failures else Exit.NO_RESULTS


@contextmanager
def _warned(runtime: Runtime, name: str, failures: dict[str, SleuthError]) -> Iterator[None]:
    try:
        yield
    except SleuthError as problem:
        message = f"{name}{tr(': ')}{describe(problem)[0]}"
        failures[message] = problem
        runtime.warn(message)


def _search(runtime: Runtime, store: WatchStore, watch: Watch, shown: SearchOptions) -> tuple[Watch, Outcome]:
    """Return what is new and the watch that knows it, which `_deliver` saves: else the next run repeats it."""
    options = shown._replace(words=watch.words, refresh=True, **{"count": COUNT} | watch.options)
    outcome = runtime.searcher.search(runtime.search_request(options))
    if outcome.outcome == "failed":
        raise search_error(outcome)
    seen = set(watch.seen)
    unseen = (hit for hit in outcome.results if canonical(hit.url) not in seen)
    new = tuple(hit._replace(citation=number) for number, hit in enumerate(unseen, 1))
    watch = watch._replace(last_run=time.time())
    store.save(watch)
    items = tuple(WatchItem(hit.url, hit.title, hit.snippet, hit.published, watch.last_run) for hit in new)
    known = (*watch.seen, *(canonical(hit.url) for hit in new))
    status = outcome.status._replace(count_after=len(new), more=False)
    return watch._replace(seen=known, items=(*items, *watch.items)), outcome._replace(results=new, status=status)


def _joined(one: Outcome, other: Outcome) -> Outcome:
    """Return the results of two searches as one list, so that a file or a JSON document holds them all."""
    results = (hit._replace(citation=number) for number, hit in enumerate(one.results + other.results, 1))
    joined = {name: getattr(one, name) + getattr(other, name) for name in JOINED} | {"results": tuple(results)}
    for name, separator in (("query", QUESTION_SEPARATOR), ("provider", ",")):
        values = dict.fromkeys(f"{getattr(one, name)}{separator}{getattr(other, name)}".split(separator))
        joined[name] = separator.join(values)
    before = one.status.count_before + other.status.count_before
    joined["status"] = one.status._replace(count_before=before, count_after=len(joined["results"]))
    joined["outcome"] = "partial" if "partial" in (one.outcome, other.outcome) else one.outcome
    joined["elapsed_ms"] = one.elapsed_ms + other.elapsed_ms  # `cached` is False: watches always refresh
    return one._replace(**joined, questions=(), rounds=(), next_provider="")  # no search that could be continued


def _show(runtime: Runtime, outcome: Outcome, options: SearchOptions) -> None:
    view = make_view(runtime, options)
    format = display.choose_format(runtime, options.format, options.output, view, json=options.as_json)
    display.write(runtime, outcome, format, view, options.output)
    if runtime.stdout.isatty():  # a run of cron must not change what `sleuth open 1` means
        display.save_results(runtime, outcome, options)
    for message in (*outcome.notices, *outcome.warnings):
        runtime.warn(message)


def _deliver(runtime: Runtime, store: WatchStore, watch: Watch, outcome: Outcome) -> None:
    """Run the program of a watch, write its feed, and only then save what is known."""
    if outcome.results and watch.command:
        _execute(watch, outcome)
    elif not outcome.results and runtime.stderr.isatty():
        runtime.note(tr("{name}: nothing new", name=watch.name))
    if watch.feed:
        from sleuth.base.files import write_out
        from sleuth.render.atom import render

        write_out(watch.feed, render(" ".join(watch.words), watch.items, watch.last_run))
    store.save(watch)


def _execute(watch: Watch, outcome: Outcome) -> None:
    """Run the program of a watch without a shell: text from the web reaches it on stdin only."""
    try:
        words = shlex.split(watch.command)
        data = json_text(outcome.as_json() | {"watch": watch.name}) + "\n"
        done = subprocess.run(words, input=data.encode("utf-8", "replace"), check=False)  # noqa: S603 - the user's own program
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        message = "cannot run {command!r} ({reason})"
        raise RequestError(message, "check the --exec program", command=watch.command, reason=reason) from problem
    if done.returncode:
        message = "{command!r} failed with exit status {status}"
        hint = "the same results are reported again by the next run"
        raise SearchError(message, hint, code="FAILED", command=watch.command, status=done.returncode)


@app.command("list", epilog="Example: sleuth watch list --json | jq -r '.items[].name'")
def list_(runtime: Runtime, as_json: Json = False) -> None:
    """List the saved searches."""
    store = _store(runtime)
    found = [watch for name in store.names() if (watch := store.load(name))]
    if as_json:
        items = [
            {"name": watch.name, "query": " ".join(watch.words)}
            | record_as_json(watch, "options", "feed", exec=watch.command or None)
            | {"lastRun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(watch.last_run)), "known": len(watch.seen)}
            for watch in found
        ]
        write_json({"items": items}, runtime.stdout)
        return
    if not found:
        runtime.note(tr("no search is saved; to save one: sleuth watch WORDS…"))
    names = max((width(clean(watch.name)) for watch in found), default=0)
    for watch in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(watch.last_run))
        results = trn("{count} result", "{count} results", len(watch.seen))
        query = clean(" ".join(watch.words), entities=False)
        print(f"{pad(clean(watch.name), names)}  {when}  {results}  {query}", file=runtime.stdout)


@app.command(epilog="Example: sleuth watch remove rust-async-runtimes")
def remove(
    runtime: Runtime,
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="Names of saved searches.", show_default=False)],
) -> None:
    """Delete saved searches; their feed files are kept."""
    for name in names:
        _store(runtime).remove(name)
        print(tr("{name} was removed", name=name), file=runtime.stderr)
