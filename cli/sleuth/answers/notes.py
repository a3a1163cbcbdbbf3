"""Notes that the model takes on pages, all pages at the same time."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sleuth.answers.analysis import Analysis
from sleuth.answers.llm.chat import Model, Prompt
from sleuth.answers.llm.json_reply import ask_json, share_field, text_field, texts_field
from sleuth.answers.prompt import as_list, fill, left_for, show_page
from sleuth.answers.research import UNKNOWN_RELEVANCE, FoundSource, Note, Research
from sleuth.answers.sanitize import without_citations
from sleuth.base.i18n import tr, trn
from sleuth_providers.threads import run_parallel

TEMPERATURE = 0.5
TIMEOUT_S = 10.0  # for all pages together
MAX_PAGE_CHARS = 8_000  # the passages that match the query best
MAX_SUMMARY_CHARS, MAX_POINTS, MAX_POINT_CHARS = 600, 6, 250


def take_notes(research: Research, model: Model, pages: Sequence[FoundSource], analysis: Analysis) -> None:
    """Have the model take notes on pages; a page whose notes fail is used as it is."""

    def report(done: int) -> None:
        message = tr("Taking notes: {done} of {total} pages", done=done, total=len(pages))
        research.report("web_search_extracting", message, done=done, total=len(pages))

    report(0)
    jobs = [partial(ask_json, model, notes_prompt(research, page, analysis)) for page in pages]
    errors: list[str] = []
    for done, (place, result) in enumerate(run_parallel(jobs, TIMEOUT_S), 1):
        if isinstance(result, Exception):
            errors.append(research.explain(result))
        else:
            reply, usage = result
            research.add_usage(usage)
            research.set_note(pages[place].citation, _note(reply))
        report(done)
    if errors:
        warning = trn(
            "using {count} page as it is; the model could not take notes: {reason}",
            "using {count} pages as they are; the model could not take notes: {reason}",
            len(errors),
            reason=errors[0],
        )
        research.warn(warning)


def notes_prompt(research: Research, page: FoundSource, analysis: Analysis) -> Prompt:
    """Return the prompt for notes on one page."""
    places = {"question": research.question_text, "facts": as_list(analysis.facts), "code": research.fence_code}
    left = left_for("page", "notes", research.max_chars, **places)
    shown = show_page(research, page, min(left, MAX_PAGE_CHARS))
    return Prompt(fill("notes", page=shown, **places), TEMPERATURE, json=True, timeout=TIMEOUT_S)


def _note(reply: Mapping[str, Any]) -> Note:
    return Note(
        without_citations(text_field(reply, "title", MAX_POINT_CHARS)),
        without_citations(text_field(reply, "summary", MAX_SUMMARY_CHARS)),
        tuple(map(without_citations, texts_field(reply, "keyPoints", MAX_POINTS, MAX_POINT_CHARS))),
        share_field(reply, "relevanceScore", UNKNOWN_RELEVANCE),
        share_field(reply, "confidence", UNKNOWN_RELEVANCE),
    )
