"""Answering a question for a command: shown as it is written on a terminal, as one document elsewhere."""

import io
from collections.abc import Mapping
from typing import Any, TextIO

from sleuth.answers import presentation
from sleuth.answers.answer import Answer, ProgressEvent, Question, answer_as_json
from sleuth.answers.citations import without_source
from sleuth.answers.support import tally
from sleuth.base.i18n import tr
from sleuth.commands.terminal import display
from sleuth.commands.terminal.progress import Progress
from sleuth.commands.terminal.screen import Screen
from sleuth.engine.options import language, split
from sleuth.runtime import Runtime
from sleuth_providers.records import Record


class AnswerOptions(Record):
    """How an answer is wanted."""

    format: str  # rich | plain | markdown | json
    output: str | None = None
    progress: str = "auto"
    advises: bool = True  # how to get a model, where there is none


def as_question(runtime: Runtime, text: str, typed: Mapping[str, Any]) -> Question:
    """Return the question that a text and the options around it mean."""
    return Question(
        text,
        search=typed["search"],
        providers=split(typed["provider"]) or ("auto",),
        rounds=typed["rounds"] or 0,
        pages=typed["pages"] or 0,
        lang=language(typed["lang"] or ""),
        region=(typed["region"] or "").upper(),
        cache="off" if not typed["cached"] else "refresh" if typed["refresh"] else "use",
        offline=typed["offline"],
        timeout=typed["timeout"],
        rules=runtime.rules(),
        extractive=typed["extractive"],
    )


def answer(runtime: Runtime, question: Question, manner: AnswerOptions) -> Answer:
    """Answer a question, show the answer, and return it."""
    try:
        with Progress(runtime, manner.progress) as progress:
            if manner.format == "rich":
                found = _on_screen(runtime, question, manner, progress)
            else:
                found = presentation.safe(runtime.answerer.answer(question, progress.follow, _ignore))
                progress.clear()
                _write(runtime, found, manner)
    finally:
        runtime.searcher.finish()
    runtime.count_answer(found)
    _say_the_rest(runtime, found, manner._replace(advises=manner.advises and not question.extractive))
    return found


def _say_the_rest(runtime: Runtime, found: Answer, manner: AnswerOptions) -> None:
    """Say on stderr what is not part of the answer."""
    for warning in found.warnings:
        runtime.warn(warning)
    if found.out_of_range:
        runtime.warn(without_source(found.out_of_range))
    if found.method == "extractive" and manner.advises and runtime.models is None:
        runtime.note(
            tr(
                "to have answers written, give the key of a model: sleuth config set llm.api_key -, "
                "or name one on this machine: sleuth config set llm.base_url http://localhost:11434/v1"
            )
        )
    if manner.format == "rich":
        runtime.footer(presentation.summary(found), [])
    elif manner.format != "json" and found.checks:
        runtime.note(tally(found.checks))


def _on_screen(runtime: Runtime, question: Question, manner: AnswerOptions, progress: Progress) -> Answer:
    out: TextIO = io.StringIO() if manner.output else runtime.stdout
    screen = Screen(runtime, out)

    def tell(event: ProgressEvent) -> None:
        screen.learn(event.sources)
        progress.follow(event)

    def write(piece: str) -> None:
        progress.clear()
        screen.stream.write(piece)

    with screen.stream:
        found = presentation.safe(runtime.answerer.answer(question, tell, write if out.isatty() else _ignore))
        progress.clear()
        screen.finish(found)
    if isinstance(out, io.StringIO) and manner.output:
        display.deliver(runtime, out.getvalue(), manner.output)
    return found


def _write(runtime: Runtime, found: Answer, manner: AnswerOptions) -> None:
    if manner.format == "json":
        from sleuth.base.json_output import write_json

        buffer = io.StringIO()
        write_json(answer_as_json(found), buffer)
        display.deliver(runtime, buffer.getvalue(), manner.output)
    else:
        display.deliver(runtime, presentation.as_text(found, manner.format), manner.output)


def _ignore(_: str) -> None:
    """Wait for the whole answer."""
