"""`sleuth history`: past queries, and forgetting them."""

from typing import Annotated

import typer

from sleuth.base.errors import RequestError, SettingsError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import clean
from sleuth.commands.terminal import display
from sleuth.commands.terminal.typer_app import make_app
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.database import in_words
from sleuth.store.history import clear, clear_prompts, entries
from sleuth.store.journal_import import MOST_QUERIES, import_journal
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
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="Only queries with all these words in them.")
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, max=MOST_QUERIES, metavar="N", help="How many at the most.")
    ] = 20,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Forget them: all, or those with the words.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --clear: do not ask.")] = False,
) -> None:
    """List past queries, the newest first; --clear forgets them.

    In a pipe there is one query a line. Only this machine knows them; `sleuth config set history.enabled false` keeps
    none from then on.
    """
    runtime: Runtime = ctx.obj
    wanted = tuple(words or ())
    if clear:
        _clear(runtime, wanted, yes=yes, json=json)
        return
    with in_words(runtime.paths.database):
        found = entries(runtime.usage_database, wanted, count)
    if json:
        write_json({"items": [entry.as_json() for entry in found]}, runtime.stdout)
    elif not found:
        runtime.note(_why_none(runtime, wanted))
    elif display.is_terminal(runtime):
        from sleuth.render.history import render

        render(found, runtime.stdout, runtime.color)
    else:
        for entry in found:
            print(clean(entry.query, entities=False), file=runtime.stdout)


def _why_none(runtime: Runtime, words: tuple[str, ...]) -> str:
    if not runtime.settings[HISTORY]:
        return tr("no queries are kept: history.enabled is false")
    return tr("no query has these words in it") if words else tr("nothing was searched for yet")


def _clear(runtime: Runtime, words: tuple[str, ...], *, yes: bool, json: bool) -> None:
    """Forget queries wherever they stand: database, journal, prompt, answers written out."""
    paths = runtime.paths
    with in_words(paths.database):
        if not import_journal(runtime.database, paths.journal):
            raise SettingsError("another process keeps {path} locked", "try again in a moment", path=paths.journal)
        count = len(entries(runtime.database, words))
        if not yes:
            _confirm(runtime, count)
        clean_files = clear(runtime.database, words)
    lines = clear_prompts(paths.state, words)
    rendered.clear(paths)
    if not clean_files:
        runtime.warn(tr("another process still reads the old queries; clear again when it has ended"))
    if json:
        write_json({"queries": count, "promptLines": lines}, runtime.stdout)
    else:
        print(
            tr("{count} queries and {lines} lines of the prompt forgotten", count=count, lines=lines),
            file=runtime.stdout,
        )


def _confirm(runtime: Runtime, count: int) -> None:
    if not runtime.stdin.isatty():
        raise RequestError("nothing was forgotten: nobody can be asked here", "say it: sleuth history --clear --yes")
    question = tr("Forget {count} queries, and what was typed at the prompt? [y/N] ", count=count)
    print(question, end="", file=runtime.stderr, flush=True)
    if runtime.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RequestError("nothing was forgotten", "answer y to forget")
