"""`sleuth ask`: answers a question with citations."""

from typing import Annotated, Any

import typer

from sleuth.answers.answer import Question
from sleuth.base.errors import Exit, RequestError
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.answer import AnswerOptions, answer, with_options
from sleuth.commands.terminal.questions import piped_text
from sleuth.commands.terminal.typer_app import make_app
from sleuth.engine.search_options import OPTIONS, SearchOptions
from sleuth.render import View
from sleuth.runtime import Runtime

app = make_app()

EPILOG = """Examples:\n
\b
  sleuth ask which rust async runtime is smallest
  sleuth ask -p wikipedia --rounds 1 --json who was alan turing | jq -r .answer
  sleuth ask -f markdown -o answer.md 量子计算 的 最新 进展
  git diff | sleuth ask --search off -
"""


@app.command(epilog=EPILOG, options=(*o.ANSWER, "as_json", "output", "progress", "exit_status"))
def ask(
    runtime: Runtime,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORDS…", help="The question; no quotes needed. With - or none, standard input is read."
        ),
    ] = None,
    search: o.SearchSwitch = "auto",
    rounds: o.Rounds = None,
    pages: o.Pages = None,
    extractive: o.Extractive = False,
    deep: o.Deep = False,
    format: o.TextFormat = None,
    **values: Any,
) -> int:
    """Answer a question: search the web, read pages, write with citations.

    Each [n] is checked against the text of its source: [3?] is only partly found there, [3??] not at all. [3+] was
    added by sleuth to a sentence that source 3 supports. With --deep, the model also judges each sentence that is not
    a verbatim quote from its source. Without a model, the answer quotes the pages.
    """
    shared = SearchOptions(**values)
    lone = next((name for name in o.ONLY_SEARCH if getattr(shared, name)), "")
    if search == "off" and lone:
        raise RequestError("{option} needs a search", "omit --search off", option=OPTIONS[lone].flags[0])
    text = _text(runtime, words or [])
    asked = Question(text, search, rounds=rounds or 0, pages=pages or 0, extractive=extractive, deep=deep)
    chosen = display.choose_format(runtime, format, shared.output, View(), json=shared.as_json)
    options = AnswerOptions(chosen, shared.output, shared.progress)
    found = answer(runtime, with_options(runtime, asked, shared), options)
    if found.sources or not (shared.exit_status and found.searched):
        return Exit.DONE
    return Exit.UNREACHABLE if any(one.outcome == "failed" for one in found.rounds) else Exit.NO_RESULTS


def _text(runtime: Runtime, words: list[str]) -> str:
    """Return the question from the arguments or standard input."""
    if words and words != ["-"]:
        return " ".join(words)
    text = piped_text(runtime)
    if not text:
        raise RequestError("no question given", "for example: sleuth ask why is the sky blue")
    return text
