"""Shows an answer: streamed on a terminal, as one document elsewhere."""

from typing import TYPE_CHECKING

from sleuth.answers import presentation
from sleuth.answers.answer import Answer, Question, answer_as_json
from sleuth.answers.citation_check import tally
from sleuth.answers.citations import without_source
from sleuth.base.i18n import tr
from sleuth.base.json_output import json_text
from sleuth.commands.terminal import display
from sleuth.commands.terminal.keyless_notice import show_once
from sleuth.commands.terminal.progress import Progress
from sleuth.commands.terminal.screen import Screen
from sleuth.engine.options import cache_use, country, language, provider_ids
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import UNNAMED
from sleuth.engine.search_options import SearchOptions
from sleuth.relevance.hit import Hit
from sleuth.runtime import Runtime
from sleuth_providers.base import Query
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.answers.summary import Digest


class AnswerOptions(Record):
    """How to show an answer."""

    format: str  # rich | plain | markdown | json
    output: str | None = None
    progress: str = "auto"


def with_options(runtime: Runtime, question: Question, options: SearchOptions) -> Question:
    """Return a question with the options of a command."""
    return question._replace(
        providers=provider_ids(options.providers),
        lang=language(options.language or ""),
        region=country(options.region or ""),
        cache=cache_use(options),
        offline=options.offline,
        timeout=options.timeout,
        rules=runtime.rules(),
    )


def answer(runtime: Runtime, question: Question, options: AnswerOptions) -> Answer:
    """Answer a question, show the answer, and return it."""
    if question.search != "off":
        query = Query(question.text, lang=question.lang, region=question.region)
        show_once(runtime, question.providers, query, offline=question.offline)
    try:
        with Progress(runtime, options.progress) as progress:
            if question.search != "off" and not question.extractive and runtime.models:
                progress.show(tr("Analysing the question"))
            if options.format == "rich":
                with Screen(runtime, progress, options.output) as screen:
                    found = presentation.safe(runtime.answerer.answer(question, screen.follow, screen.write))
                    screen.finish(found)
            else:
                found = presentation.safe(runtime.answerer.answer(question, progress.follow, lambda _: None))
                progress.clear()
                text = json_text(answer_as_json(found), indent=2) + "\n" if options.format == "json" else ""
                display.deliver(runtime, text or presentation.as_text(found, options.format), options.output)
    finally:
        runtime.searcher.finish()
    runtime.count_answer(found)
    if found.searched:
        hits = tuple(Hit(source.citation, source.title, source.url, source.text) for source in found.sources)
        answered = dict.fromkeys(name for one in found.rounds if one.results for name in one.provider.split(","))
        chosen = ",".join(question.providers) if question.providers not in UNNAMED else ""
        about = Outcome(found.question, ",".join(answered), hits, questions=(found.question,), next_provider=chosen)
        shaped = SearchOptions(language=question.lang or None, region=question.region or None, offline=question.offline)
        display.save_results(runtime, about, shaped)
    _print_notes(runtime, found, options)
    return found


def print_warnings(runtime: Runtime, found: "Answer | Digest") -> None:
    """Print the warnings of an answer or digest on stderr."""
    for warning in found.warnings:
        runtime.warn(warning)
    for hint in () if runtime.quiet else found.hints:
        runtime.hint(hint)
    if found.out_of_range:
        runtime.warn(without_source(found.out_of_range))


def _print_notes(runtime: Runtime, found: Answer, options: AnswerOptions) -> None:
    """Print warnings, advice and statistics on stderr."""
    print_warnings(runtime, found)
    if options.format == "rich":
        display.footer(runtime, presentation.summary(found), [])
    elif options.format != "json" and found.checks:
        runtime.note(tally(found.checks))
