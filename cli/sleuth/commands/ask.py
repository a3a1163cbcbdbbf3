"""`sleuth ask`: answers a question with citations."""

from typing import Annotated

import typer

from sleuth.base.errors import Exit, RequestError
from sleuth.commands.terminal import display
from sleuth.commands.terminal import options as o
from sleuth.commands.terminal.answer import AnswerOptions, answer, as_question
from sleuth.commands.terminal.questions import piped_text
from sleuth.commands.terminal.typer_app import make_app
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


@app.command(epilog=EPILOG)
def ask(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="The question, without quotes; - or nothing reads standard input."),
    ] = None,
    search: o.SearchSwitch = "auto",
    provider: o.Provider = None,
    rounds: o.Rounds = None,
    pages: o.Pages = None,
    language: o.Language = None,
    region: o.Region = None,
    extractive: o.Extractive = False,
    deep: o.Deep = False,
    format: o.TextFormat = None,
    as_json: o.Json = False,
    output: o.Output = None,
    progress: o.ProgressKind = "auto",
    cached: o.Cached = True,
    refresh: o.Refresh = False,
    offline: o.Offline = False,
    timeout: o.Timeout = None,
    exit_status: o.ExitStatus = False,
) -> int:
    """Answer a question: search in rounds, read, reflect, write with citations.

    Each [n] is checked against the text of its source: [3?] is only partly found there, [3??]
    not at all. [3+] was added by sleuth to a sentence that source 3 supports. With --deep the
    model judges each sentence that does not stand in its source word for word. Without a model,
    the answer quotes the pages.
    """
    runtime: Runtime = ctx.obj
    question = as_question(runtime, _text(runtime, words or []), ctx.params)
    chosen = display.choose_format(runtime, format, output, View(), json=as_json)
    found = answer(runtime, question, AnswerOptions(chosen, output, progress))
    return Exit.NO_RESULTS if exit_status and found.searched and not found.sources else Exit.DONE


def _text(runtime: Runtime, words: list[str]) -> str:
    """Return the question from the arguments or standard input."""
    if words and words != ["-"]:
        return " ".join(words)
    text = piped_text(runtime)
    if not text:
        raise RequestError("there is no question", "sleuth ask why is the sky blue")
    return text
