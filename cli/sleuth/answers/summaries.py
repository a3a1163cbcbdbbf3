"""Summaries of pages written by a model: each page by itself, then all of them together."""

from collections.abc import Sequence
from functools import partial

from sleuth.answers import citations, support
from sleuth.answers.answer import ProgressEvent, Question
from sleuth.answers.context import show
from sleuth.answers.digest import Digest, DigestSource
from sleuth.answers.errors import UnwrittenError
from sleuth.answers.fence import defused
from sleuth.answers.findings import Note, SourceFinding
from sleuth.answers.llm.chat import Model, Models, Prompt
from sleuth.answers.llm.errors import ModelError
from sleuth.answers.prompt import fill, left_for
from sleuth.answers.work import Work
from sleuth.answers.writing import Write, stream
from sleuth.base import logs
from sleuth.base.i18n import tr
from sleuth.base.text import strip_controls
from sleuth.base.urls import domain
from sleuth.pages.page import Page
from sleuth.store.settings import Settings
from sleuth_providers.threads import run_parallel

TEMPERATURE = 0.3  # low: a summary is to say what the pages say
SECONDS = 30.0  # for the summary of one page; between two pieces of the one of all
AT_ONCE = 4  # pages
PAGE_ROOM = 12_000  # characters of a page that is summarised by itself
LENGTHS = {
    "short": "two or three sentences",
    "medium": "one paragraph of four to six sentences",
    "long": "two to four paragraphs",
}
PROVIDER = "the pages given"


def write_digest(
    found: Digest, pages: Sequence[Page], models: Models, settings: Settings, write: Write, length: str | int = "medium"
) -> Digest:
    """Return a digest with summaries that the model has written, in `text` and the `text` of its sources.

    `found` is what `digest(pages, query, length)` returned for the same pages. `write` gets the summary of all pages
    piece by piece, in the calling thread. Each [n] is checked (`checks`), sentences without one get [n+] where a page
    bears them out, so that `text` may differ from what was written piece by piece in these marks. With one page there
    is just `text`. Where the model fails, `found` comes back with one more warning and its method still extractive.
    """
    work = Work(Question(found.query), settings, _ignore)
    findings = _findings(found, pages)
    known = tuple(citations.CitedSource(one.citation, one.url, one.title, one.text) for one in findings)
    size = LENGTHS.get(str(length)) or f"at most {length} characters"
    try:
        each = _each(work, models.writer, findings, size) if len(findings) > 1 else {}
        noted = [one._replace(note=Note(summary=defused(each.get(one.citation, "")))) for one in findings]
        text = stream(work, models.writer, _prompt(work, noted, size, work.room), write)
    except (ModelError, UnwrittenError) as problem:
        why = tr("these are the pages' own sentences, not a model's: {reason}", reason=work.explain(problem))
        return found._replace(warnings=(*found.warnings, *work.warnings, why), usage=work.usage)
    attached = support.attach(text, known)
    return found._replace(
        sources=tuple(_with_text(source, each.get(source.citation, ""), known) for source in found.sources),
        warnings=(*found.warnings, *work.warnings),
        method="model",
        text=attached.text,
        checks=tuple(support.check(attached.text, known)),
        out_of_range=_out_of_range(text, known),
        pages=known,
        model=models.writer.name,
        usage=work.usage,
    )


def _findings(found: Digest, pages: Sequence[Page]) -> list[SourceFinding]:
    texts = {page.url: page.text for page in pages}
    return [
        SourceFinding(
            source.citation,
            defused(source.title),
            source.url,
            domain(source.url),
            defused(source.published),
            text=defused(texts[source.url]),
        )
        for source in found.read
    ]


def _each(work: Work, model: Model, findings: Sequence[SourceFinding], size: str) -> dict[int, str]:
    """Return the summary of every page by its number; one that fails is missing, and said."""
    texts: dict[int, str] = {}
    for first in range(0, len(findings), AT_ONCE):
        batch = findings[first : first + AT_ONCE]
        jobs = [partial(model.complete, _prompt(work, [one], size, min(work.room, PAGE_ROOM))) for one in batch]
        for place, result in run_parallel(jobs, SECONDS):
            if isinstance(result, Exception):
                if isinstance(result, ModelError) and not texts:
                    raise result  # the others would fare no better
                why = work.explain(result)
                site = batch[place].site or batch[place].url
                work.warn(tr("{site} is quoted, not summed up by the model: {reason}", site=site, reason=why))
            else:
                work.spend(result.usage)
                texts[batch[place].citation] = strip_controls(result.text).strip()
    return texts


def _prompt(work: Work, findings: Sequence[SourceFinding], size: str, room: int) -> Prompt:
    places = {"length": size, "question": work.asked, "code": work.code}
    left = left_for("pages", "summary", room, **places)
    shown = show(work, findings, PROVIDER, left, work.question.text)
    return Prompt(fill("summary", pages=shown, **places), TEMPERATURE, timeout=SECONDS)


def _with_text(source: DigestSource, text: str, known: Sequence[citations.CitedSource]) -> DigestSource:
    return source._replace(text=text, checks=tuple(support.check(text, known)))


def _out_of_range(text: str, known: Sequence[citations.CitedSource]) -> tuple[int, ...]:
    numbers = dict.fromkeys(number for mark in citations.find(text) for number in mark.numbers)
    missing = tuple(number for number in numbers if number not in citations.by_number(known))
    if missing:
        logs.log("summary: %s", citations.without_source(missing))
    return missing


def _ignore(_: ProgressEvent) -> None:
    """Nobody is told of the progress here."""
