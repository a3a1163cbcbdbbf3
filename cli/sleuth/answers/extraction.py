"""Notes taken from pages by the model, all pages at the same time."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sleuth.answers import replies
from sleuth.answers.analysis import Analysis
from sleuth.answers.context import show_page
from sleuth.answers.fence import defused
from sleuth.answers.findings import UNJUDGED, Findings, Note, SourceFinding
from sleuth.answers.llm.chat import Model, Prompt
from sleuth.answers.llm.json_reply import ask_json
from sleuth.answers.prompt import as_list, fill, left_for
from sleuth.answers.work import Work
from sleuth.base.i18n import tr
from sleuth_providers.threads import run_parallel

TEMPERATURE = 0.5
SECONDS = 10.0
PAGE_ROOM = 8_000  # characters of one page; what matters of a page is a part of it
MAX_SUMMARY, MAX_POINTS, MAX_POINT = 600, 6, 250


def extract(
    work: Work, model: Model, found: Findings, pages: Sequence[SourceFinding], aim: Analysis, query: str
) -> None:
    """Annotate the findings with what the model takes from their pages; one that fails keeps its own passages."""
    number = len(found.rounds)

    def tell(done: int) -> None:
        message = tr("Taking notes: {done} of {total} pages", done=done, total=len(pages))
        work.tell("web_search_extracting", message, number, query, done=done, total=len(pages))

    tell(0)
    jobs = [partial(ask_json, model, extract_prompt(work, page, found.provider, aim, query)) for page in pages]
    problems: list[str] = []
    for done, (place, result) in enumerate(run_parallel(jobs, SECONDS), 1):
        if isinstance(result, Exception):
            problems.append(work.explain(result))
        else:
            reply, usage = result
            work.spend(usage)
            found.annotate(pages[place].citation, _note(reply))
        tell(done)
    if problems:
        why = problems[0]
        work.warn(
            tr(
                "{count} pages speak for themselves, without notes of the model: {reason}",
                count=len(problems),
                reason=why,
            )
        )


def extract_prompt(work: Work, page: SourceFinding, provider: str, aim: Analysis, query: str) -> Prompt:
    """Return the prompt for notes from one page."""
    places = {"question": work.asked, "facts": as_list(aim.facts), "code": work.code}
    left = left_for("page", "extract", work.room, **places)
    shown = show_page(work, page, provider, query, min(left, PAGE_ROOM))
    return Prompt(fill("extract", page=shown, **places), TEMPERATURE, json=True, timeout=SECONDS)


def _note(reply: Mapping[str, Any]) -> Note:
    return Note(
        defused(replies.text_of(reply, "title", MAX_POINT)),
        defused(replies.text_of(reply, "summary", MAX_SUMMARY)),
        tuple(map(defused, replies.texts_of(reply, "keyPoints", MAX_POINTS, MAX_POINT))),
        replies.share_of(reply, "relevanceScore", UNJUDGED),
        replies.share_of(reply, "confidence", UNJUDGED),
    )
