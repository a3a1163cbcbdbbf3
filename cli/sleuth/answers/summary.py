"""Summaries of pages, each and all together: quoted sentences, or text written by a model, with citations."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sleuth.answers import citation_check
from sleuth.answers.answer import Question
from sleuth.answers.citations import CitedSource, out_of_range
from sleuth.answers.llm.chat import Model, Models, Prompt, Usage
from sleuth.answers.llm.errors import ModelError
from sleuth.answers.markdown import safe_markdown
from sleuth.answers.prompt import fill, left_for, show
from sleuth.answers.research import FoundSource, Note, Research
from sleuth.answers.sanitize import without_citations
from sleuth.answers.writing import Write, WritingError, stream
from sleuth.base.i18n import tr, trn
from sleuth.base.json_output import record_as_json
from sleuth.base.text import strip_controls
from sleuth.base.urls import domain
from sleuth.engine.content import archive_warning, nothing_read, unread
from sleuth.pages.page import Page
from sleuth.relevance.summary import SummarySentence, summarise
from sleuth.relevance.urls import canonical
from sleuth.store.settings import Settings
from sleuth_providers.records import Record
from sleuth_providers.threads import run_parallel

SENTENCE_ENDS = tuple(".!?…:;。！？；：\"'”’」』）)]")
TEMPERATURE = 0.3  # low: a summary should say what the pages say
MAX_PARALLEL = 4  # requests for single pages
MAX_PAGE_CHARS = 12_000  # of a page that is summarised alone
LENGTHS = {
    "short": "two or three sentences",
    "medium": "one paragraph of four to six sentences",
    "long": "two to four paragraphs",
}


class Quote(Record):
    """A sentence of a source, word for word, and its offsets in the source."""

    text: str
    citation: int
    start: int
    end: int


class DigestSource(Record):
    """A page and its summary."""

    citation: int  # 0 if it could not be read
    url: str
    title: str = ""
    published: str = ""
    author: str = ""
    summary: tuple[Quote, ...] = ()
    problem: str = ""
    layer: str = ""
    text: str = ""  # the summary written by a model, with [n]
    checks: tuple[citation_check.Support, ...] = ()  # of the citations in it
    archived: str = ""  # ISO date of a copy from an archive


class Digest(Record):
    """What pages say: quoted in `summary` and, if a model wrote one, as `text`."""

    query: str
    summary: tuple[Quote, ...]
    sources: tuple[DigestSource, ...]
    warnings: tuple[str, ...] = ()
    method: str = "extractive"  # or model
    text: str = ""  # with [n]
    checks: tuple[citation_check.Support, ...] = ()  # of the citations in it
    out_of_range: tuple[int, ...] = ()
    pages: tuple[CitedSource, ...] = ()  # those that were read, with the text that citations are checked against
    model: str = ""
    usage: Usage = Usage()
    hints: tuple[str, ...] = ()  # what to do about the warnings

    @property
    def read(self) -> tuple[DigestSource, ...]:
        """Return the sources that were read."""
        return tuple(source for source in self.sources if source.citation)

    def renumbered(self, numbers: Mapping[int, int]) -> "Digest":
        """Return a quoted digest with other numbers for its sources."""

        def changed(quotes: tuple[Quote, ...]) -> tuple[Quote, ...]:
            return tuple(quote._replace(citation=numbers[quote.citation]) for quote in quotes)

        sources = (one._replace(citation=numbers.get(one.citation, 0)) for one in self.sources)
        renumbered = tuple(one._replace(summary=changed(one.summary)) for one in sources)
        pages = tuple(page._replace(citation=numbers[page.citation]) for page in self.pages)
        return self._replace(summary=changed(self.summary), sources=renumbered, pages=pages)

    def heading(self, model: str = "") -> str:
        """Return the heading of the summary written by a model, or of the quoted one."""
        count, query = len(self.read), self.query
        subject = trn("What {count} page says", "What {count} pages say", count)
        if query:
            subject = trn(
                "What {count} page says about {query!r}", "What {count} pages say about {query!r}", count, query=query
            )
        if model:
            return tr("{subject}, written by {model}", subject=subject, model=model)
        return tr("{subject}, quoted", subject=subject)


def digest(pages: Sequence[Page], query: str, length: str | int) -> Digest:
    """Return the quoted digest of pages; citations number those that could be read. Raise SearchError if none could."""
    unique: dict[str, Page] = {}
    for page in pages:
        unique.setdefault(canonical(page.url) or page.url, page)
    pages = tuple(unique.values())
    good = [page for page in pages if page.ok]
    if not good:
        raise nothing_read(pages)
    numbers = {page.url: place for place, page in enumerate(good, 1)}
    texts = [page.whole_text for page in good]
    found = summarise(texts, query, length)
    parts = dict(zip(numbers, found.per_page, strict=True))
    sources = tuple(_source(page, numbers.get(page.url, 0), parts.get(page.url, ())) for page in pages)
    failed = [page for page in pages if not page.ok]
    warnings = (
        *([tr("could not read {reasons}", reasons=unread(failed))] if failed else []),
        *(archive_warning(page.url, page.archived) for page in good if page.archived),
    )
    read = [source for source in sources if source.citation]
    known = (CitedSource(one.citation, one.url, one.title, text) for one, text in zip(read, texts, strict=True))
    return Digest(query, as_quotes(found.overall), sources, warnings, pages=tuple(known))


def _source(page: Page, citation: int, sentences: Sequence[SummarySentence]) -> DigestSource:
    quotes = tuple(quote._replace(citation=citation) for quote in as_quotes(sentences))
    title = page.title or domain(page.url) or page.url
    about = page.published, page.author, quotes, page.problem, page.layer
    return DigestSource(citation, page.url, title, *about, archived=page.archived)


def as_quotes(sentences: Sequence[SummarySentence]) -> tuple[Quote, ...]:
    """Return sentences as quotes, without headings unless there is nothing else."""
    quotes = [Quote(" ".join(one.text.split()), one.page + 1, one.start, one.end) for one in sentences]
    return tuple(quote for quote in quotes if quote.text.endswith(SENTENCE_ENDS)) or tuple(quotes)


def digest_as_json(found: Digest) -> dict[str, Any]:
    """Return the published form of a digest."""
    return {
        **record_as_json(found, "query", "method", "text", "model"),
        "citations": [citation_check.as_json(check, found.pages) for check in found.checks],
        "outOfRange": list(found.out_of_range),
        "summary": [quote._asdict() for quote in found.summary],
        "sources": [_source_as_json(source, found.pages) for source in found.sources],
        "warnings": list(found.warnings),
    }


def _source_as_json(source: DigestSource, pages: Sequence[CitedSource]) -> dict[str, Any]:
    summary = [quote._asdict() for quote in source.summary]
    document = record_as_json(source, citation=source.citation or None, summary=summary)
    del document["checks"]
    return document | {"citations": [citation_check.as_json(check, pages) for check in source.checks]}


def write_digest(found: Digest, models: Models, settings: Settings, write: Write, length: str | int) -> Digest:
    """Return `found` with summaries written by the model.

    `found` is the result of `digest`. `write` gets the summary of all pages piece by piece, in
    the calling thread; `text` may differ from it by [n+], added to sentences that a page supports. A single page has
    only `text`. If the model fails, `found` is returned with a warning, still quoted.
    """
    research = Research(Question(found.query), settings, lambda _: None)
    research.providers["the pages given"] = None
    sources = [_found_source(source, page.text) for source, page in zip(found.read, found.pages, strict=True)]
    known = tuple(CitedSource(one.citation, one.url, one.title, one.text) for one in sources)
    size = LENGTHS.get(str(length)) or f"at most {length} characters"
    try:
        each = _summaries(research, models.writer, sources, size) if len(sources) > 1 else {}
        noted = [one._replace(note=Note(summary=without_citations(each.get(one.citation, "")))) for one in sources]
        text = stream(research, models.writer, _prompt(research, noted, size, research.max_chars), write)
    except (ModelError, WritingError) as error:
        warning = tr("quoting the pages instead of writing a summary: {reason}", reason=research.explain(error))
        # The warnings about single pages would say the same.
        return found._replace(warnings=(*found.warnings, warning), hints=(research.hint(error),), usage=research.usage)
    attached = citation_check.attach(text, known)
    return found._replace(
        sources=tuple(_with_text(source, each.get(source.citation, ""), known) for source in found.sources),
        warnings=(*found.warnings, *research.warnings),
        method="model",
        text=attached,
        checks=tuple(citation_check.check(attached, known)),
        out_of_range=out_of_range(text, known),
        pages=known,
        model=models.writer.name,
        usage=research.usage,
    )


def _found_source(source: DigestSource, text: str) -> FoundSource:
    title, published, text = map(without_citations, (source.title, source.published, text))
    about = title, source.url, domain(source.url), published
    return FoundSource(source.citation, *about, text=text, archived=source.archived)


def _summaries(research: Research, model: Model, sources: Sequence[FoundSource], size: str) -> dict[int, str]:
    """Return the summaries of single pages by number; a page that fails gets a warning."""
    texts: dict[int, str] = {}
    for first in range(0, len(sources), MAX_PARALLEL):
        batch = sources[first : first + MAX_PARALLEL]
        room = min(research.max_chars, MAX_PAGE_CHARS)
        jobs = [partial(model.complete, _prompt(research, [one], size, room)) for one in batch]
        for place, result in run_parallel(jobs, research.timeout("write")):
            if isinstance(result, Exception):
                if isinstance(result, ModelError) and not texts:
                    raise result  # the others would fail as well
                site, reason = batch[place].site or batch[place].url, research.explain(result)
                warning = tr("quoting {site}; the model could not summarise it: {reason}", site=site, reason=reason)
                research.warn(warning)
            else:
                research.add_usage(result.usage)
                texts[batch[place].citation] = safe_markdown(strip_controls(result.text).strip(), {})
    return texts


def _prompt(research: Research, sources: Sequence[FoundSource], size: str, room: int) -> Prompt:
    places = {"length": size, "question": research.question_text, "code": research.fence_code}
    shown = show(research, sources, left_for("pages", "summary", room, **places), research.question.text)
    return Prompt(fill("summary", pages=shown, **places), TEMPERATURE, timeout=research.timeout("write"))


def _with_text(source: DigestSource, text: str, known: Sequence[CitedSource]) -> DigestSource:
    return source._replace(text=text, checks=tuple(citation_check.check(text, known)))
