"""`sleuth history`: list and clear past queries."""

from typing import Annotated

import typer

from sleuth.base.errors import SettingsError
from sleuth.base.i18n import tr, trn
from sleuth.base.json_output import write_json
from sleuth.base.text import clean
from sleuth.commands.terminal import display
from sleuth.commands.terminal.questions import confirm
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.store import last_results, opened
from sleuth.store.cache import rendered
from sleuth.store.database import explain_errors
from sleuth.store.history import clear, clear_prompts, entries, history_as_json
from sleuth.store.journal_import import MAX_HISTORY, import_journal
from sleuth.store.settings import HISTORY

app = make_app()

EPILOG = """Examples:\n
\b
  sleuth history
  sleuth history -n 5 rust
  sleuth history | head -1
  sleuth history --clear
"""


@app.command(epilog=EPILOG)
def history(
    runtime: Runtime,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS…", help="Show only queries that contain all these words.")
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, max=MAX_HISTORY, metavar="N", help="Show at most N queries.")
    ] = 20,
    as_json: Json = False,
    clear: Annotated[bool, typer.Option("--clear", help="Delete the history, or only queries with WORDS.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --clear: do not ask for confirmation.")] = False,
) -> None:
    """List past queries, newest first; --clear deletes them.

    To repeat the query with number N: `sleuth again N`.

    In a pipe, the output is one query per line. The history stays on this machine; `sleuth config set history.enabled
    false` turns it off.
    """
    wanted = tuple(words or ())
    if clear:
        _clear(runtime, wanted, yes=yes, as_json=as_json)
        return
    with explain_errors(runtime.paths.database):
        found = entries(runtime.usage_database, wanted, count)
    if as_json:
        write_json({"items": [history_as_json(entry) for entry in found]}, runtime.stdout)
    elif not found:
        runtime.note(_empty_reason(runtime, wanted))
    elif display.is_terminal(runtime):
        from sleuth.render.history import render

        render(found, runtime.stdout, runtime.color)
    else:
        for entry in found:
            print(clean(entry.query, entities=False), file=runtime.stdout)


def _empty_reason(runtime: Runtime, words: tuple[str, ...]) -> str:
    if not runtime.settings[HISTORY]:
        return tr("the history is off: history.enabled is false")
    return tr("no query contains all these words") if words else tr("the history is empty")


def _clear(runtime: Runtime, words: tuple[str, ...], *, yes: bool, as_json: bool) -> None:
    """Delete queries from the database, the journal, the prompt history and the rendered-output cache."""
    paths = runtime.paths
    with explain_errors(paths.database):
        if not import_journal(runtime.database, paths.journal):
            raise SettingsError("{path} is locked by another process", "try again in a moment", path=paths.journal)
        count = len(entries(runtime.database, words))
        if not yes:
            question = trn(
                "Delete {count} query and the prompt history? [y/N] ",
                "Delete {count} queries and the prompt history? [y/N] ",
                count,
            )
            confirm(runtime, question)
        erased = clear(runtime.database, words)
    lines = clear_prompts(paths.state, words)
    last_results.forget(paths.state, words)
    if not words:
        opened.forget(paths.state)
    rendered.clear(paths)
    if not erased:
        runtime.warn(tr("another process still has the old queries open; clear again when it has ended"))
    if as_json:
        write_json({"queries": count, "promptLines": lines}, runtime.stdout)
    else:
        queries = trn("{count} query", "{count} queries", count)
        prompts = trn("{count} prompt line", "{count} prompt lines", lines)
        print(tr("deleted {queries} and {prompts}", queries=queries, prompts=prompts), file=runtime.stdout)
