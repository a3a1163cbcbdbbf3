"""The steps in which the model prepares an answer: analyse the question, take notes on pages, judge the findings."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sleuth.answers.llm.chat import Model, Prompt
from sleuth.answers.llm.errors import (
    ModelAddressError,
    ModelBalanceError,
    ModelBrokenOffError,
    ModelError,
    ModelKeyError,
    ModelNotFoundError,
    ModelUnreachableError,
)
from sleuth.answers.llm.json_reply import ask_json, bool_field, share_field, text_field, texts_field
from sleuth.answers.prompt import as_list, earlier_turns, fill, left_for, show, show_page
from sleuth.answers.research import UNKNOWN_RELEVANCE, FoundSource, Note, Research
from sleuth.answers.sanitize import without_citations
from sleuth.base import logs
from sleuth.base.i18n import tr, trn
from sleuth_providers.records import Record
from sleuth_providers.threads import run_parallel

ANALYSIS_TEMPERATURE = 0.3
MAX_HISTORY_SHARE = 4  # earlier messages take at most a quarter of the prompt
MAX_QUERY_CHARS, MAX_FACTS, MAX_FACT_CHARS = 200, 5, 120
# Errors that every further call to the model would meet as well.
PERMANENT = (ModelKeyError, ModelBalanceError, ModelNotFoundError, ModelAddressError, ModelUnreachableError)

NOTES_TEMPERATURE = 0.5
MAX_PARALLEL_NOTES = 3  # requests at a time, which is what the timeout of the step is for
MAX_PAGE_CHARS = 8_000  # the passages that match the query best
MAX_SUMMARY_CHARS, MAX_POINTS, MAX_POINT_CHARS = 600, 6, 250

REFLECTION_TEMPERATURE = 0.3
MAX_MISSING_CHARS = 300
MAX_QUERIES = 5  # earlier queries in the prompt
NO_RESULTS = "[search results — none]"


class Analysis(Record):
    """What a question needs."""

    search: bool
    query: str
    facts: tuple[str, ...] = ()


def analyse(research: Research, model: Model) -> Analysis:
    """Return what the question needs; raises errors that make the model unusable."""
    question = research.question
    if question.search == "off":
        return Analysis(search=False, query="")
    research.report("web_search_analysing", tr("Analysing the question"), question.text)
    try:
        reply, usage = ask_json(model, _analysis_prompt(research))
    except ModelError as error:
        if isinstance(error, PERMANENT) and not isinstance(error, ModelBrokenOffError):
            raise
        reason = research.explain(error)
        message = tr("searching for the question itself; the model could not analyse it: {reason}", reason=reason)
        research.warn_of("ANALYSIS_FAILED", message, research.hint(error, "analyse"))
        return Analysis(search=True, query=question.text)
    research.add_usage(usage)
    return Analysis(
        bool_field(reply, "search", default=True) or question.search == "on",
        text_field(reply, "query", MAX_QUERY_CHARS).rstrip("…") or question.text,
        texts_field(reply, "facts", MAX_FACTS, MAX_FACT_CHARS),
    )


def _analysis_prompt(research: Research) -> Prompt:
    turns = earlier_turns(research.question.history, research.max_chars // MAX_HISTORY_SHARE)
    history = "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
    messages = fill("analyse", today=research.today, history=history, question=research.question_text)
    return Prompt(messages, ANALYSIS_TEMPERATURE, timeout=research.timeout("analyse"))


def take_notes(research: Research, model: Model, pages: Sequence[FoundSource], analysis: Analysis) -> None:
    """Have the model take notes on pages; a page whose notes fail is used as it is."""

    def report(done: int) -> None:
        message = tr("Taking notes on pages: {done} of {total}", done=done, total=len(pages))
        research.report("web_search_extracting", message, done=done, total=len(pages))

    report(0)
    errors: list[Exception] = []
    for done, (page, result) in enumerate(_notes(research, model, pages, analysis), 1):
        if isinstance(result, Exception):
            errors.append(result)
        else:
            reply, usage = result
            research.add_usage(usage)
            research.set_note(page.citation, _note(reply))
        report(done)
    if errors:
        reasons = [research.explain(error) for error in errors]
        warning = trn(
            "using {count} page as it is; the model could not take notes: {reason}",
            "using {count} pages as they are; the model could not take notes: {reason}",
            len(errors),
            reason=reasons[0],
        )
        research.warn_of("EXTRACTION_FAILED", warning, research.hint(errors[0], "extract"))


def _notes(
    research: Research, model: Model, pages: Sequence[FoundSource], analysis: Analysis
) -> Iterator[tuple[FoundSource, Any]]:
    """Yield each page with the model's reply or the error, a few pages at a time."""
    for first in range(0, len(pages), MAX_PARALLEL_NOTES):
        batch = pages[first : first + MAX_PARALLEL_NOTES]
        jobs = [partial(ask_json, model, notes_prompt(research, page, analysis)) for page in batch]
        for place, result in run_parallel(jobs, research.timeout("extract")):
            yield batch[place], result


def notes_prompt(research: Research, page: FoundSource, analysis: Analysis) -> Prompt:
    """Return the prompt for notes on one page."""
    places = {"question": research.question_text, "facts": as_list(analysis.facts), "code": research.fence_code}
    shown = show_page(research, page, min(left_for("page", "notes", research.max_chars, **places), MAX_PAGE_CHARS))
    return Prompt(fill("notes", page=shown, **places), NOTES_TEMPERATURE, timeout=research.timeout("extract"))


def _note(reply: Mapping[str, Any]) -> Note:
    return Note(
        without_citations(text_field(reply, "title", MAX_POINT_CHARS)),
        without_citations(text_field(reply, "summary", MAX_SUMMARY_CHARS)),
        tuple(map(without_citations, texts_field(reply, "keyPoints", MAX_POINTS, MAX_POINT_CHARS))),
        share_field(reply, "relevanceScore", UNKNOWN_RELEVANCE),
        share_field(reply, "confidence", UNKNOWN_RELEVANCE),
    )


class Reflection(Record):
    """The verdict on what was found so far."""

    sufficient: bool = True
    missing: str = ""
    query: str = ""
    reasoning: str = ""
    confidence: float | None = None


def reflect(research: Research, model: Model, analysis: Analysis) -> Reflection:
    """Have the model judge the findings; if it fails, they count as sufficient."""
    count = len(research.sources)
    message = trn("Judging whether {count} source is enough", "Judging whether {count} sources are enough", count)
    research.report("web_search_reflecting", message, sources=count)
    job = partial(ask_json, model, reflection_prompt(research, analysis))
    ((_, result),) = run_parallel([job], research.timeout("reflect"))
    if isinstance(result, Exception):
        reason = research.explain(result)
        message = tr("stopping after this round; the model could not judge the findings: {reason}", reason=reason)
        research.warn_of("REFLECTION_FAILED", message, research.hint(result, "reflect"))
        return Reflection()
    reply, usage = result
    research.add_usage(usage)
    verdict = Reflection(
        bool_field(reply, "sufficient", default=True),
        without_citations("; ".join(texts_field(reply, "missing", MAX_FACTS, MAX_MISSING_CHARS))),
        text_field(reply, "query", MAX_QUERY_CHARS).rstrip("…"),
        without_citations(text_field(reply, "reasoning", MAX_MISSING_CHARS)),
        share_field(reply, "confidence", UNKNOWN_RELEVANCE) if "confidence" in reply else None,
    )
    missing = "" if verdict.sufficient else verdict.missing
    logs.log("answer: round %s: %s", len(research.rounds), "sufficient" if verdict.sufficient else "not sufficient")
    judged = research.rounds[-1]._replace(sufficient=verdict.sufficient, missing=missing)
    research.rounds[-1] = judged._replace(reasoning=verdict.reasoning, confidence=verdict.confidence)
    return verdict


def reflection_prompt(research: Research, analysis: Analysis) -> Prompt:
    """Return the prompt that asks whether the findings are sufficient."""
    places = {
        "today": research.today,
        "question": research.question_text,
        "facts": as_list(analysis.facts),
        "queries": as_list(one.query for one in research.rounds[-MAX_QUERIES:]),
        "code": research.fence_code,
    }
    room = research.max_chars * 9 // 10  # a second request quotes the first reply
    shown = show(research, research.ranked(), left_for("found", "reflect", room, **places)) or NO_RESULTS
    messages = fill("reflect", found=shown, **places)
    return Prompt(messages, REFLECTION_TEMPERATURE, thinking=True, timeout=research.timeout("reflect"))
