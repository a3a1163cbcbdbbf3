"""A digest: what pages say, each and together, in their own sentences or a model's, with the numbers of sources."""

from collections.abc import Sequence
from typing import Any

from sleuth.answers import citations, support
from sleuth.answers.llm.chat import Usage
from sleuth.base.errors import SearchError
from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.pages.page import Page
from sleuth.relevance.summary import SummarySentence, summarise
from sleuth_providers.records import Record

ENDS = tuple(".!?…:;。！？；：\"'”’」』）)]")


class Quote(Record):
    """A sentence of a source, word for word, and where it stands there."""

    text: str
    citation: int
    start: int
    end: int


class DigestSource(Record):
    """A page that was read, or was not, and what it says in short."""

    citation: int  # 0 when it could not be read
    url: str
    title: str = ""
    published: str = ""
    author: str = ""
    summary: tuple[Quote, ...] = ()
    problem: str = ""
    layer: str = ""
    text: str = ""  # the summary as a model wrote it, with [n]
    checks: tuple[support.Support, ...] = ()  # of the citations in it


class Digest(Record):
    """What the pages say: word for word in `summary`, and in `text` as a model wrote it, where one did."""

    query: str
    summary: tuple[Quote, ...]
    sources: tuple[DigestSource, ...]
    warnings: tuple[str, ...] = ()
    method: str = "extractive"  # or model
    text: str = ""  # with [n]
    checks: tuple[support.Support, ...] = ()  # of the citations in it
    out_of_range: tuple[int, ...] = ()
    pages: tuple[citations.CitedSource, ...] = ()  # what the citations were checked against
    model: str = ""
    usage: Usage = Usage()

    @property
    def read(self) -> tuple[DigestSource, ...]:
        """Return the sources that were read."""
        return tuple(source for source in self.sources if source.citation)


def digest(pages: Sequence[Page], query: str, length: str | int) -> Digest:
    """Return the digest of pages; citations count those that could be read."""
    good = [page for page in pages if page.ok]
    numbers = {page.url: place for place, page in enumerate(good, 1)}
    found = summarise([page.text for page in good], query, length)
    parts = dict(zip(numbers, found.per_page, strict=True))
    sources = tuple(_source(page, numbers.get(page.url, 0), parts.get(page.url, ())) for page in pages)
    failed = [source for source in sources if not source.citation]
    warnings = tuple(
        tr("{site} could not be read: {reason}", site=domain(source.url) or source.url, reason=source.problem)
        for source in failed
    )
    return Digest(query, as_quotes(found.overall), sources, warnings)


def nothing_read(found: Digest) -> SearchError:
    """Return the error for a digest of which no page could be read."""
    hint = "check the addresses; pages on your own network need: sleuth config set fetch.allow_private true"
    why = "; ".join(found.warnings)
    return SearchError("none of the pages could be read: {why}", hint, code="FETCH_FAILED", why=why)


def _source(page: Page, citation: int, sentences: Sequence[SummarySentence]) -> DigestSource:
    quotes = tuple(quote._replace(citation=citation) for quote in as_quotes(sentences))
    title = page.title or domain(page.url) or page.url
    return DigestSource(citation, page.url, title, page.published, page.author, quotes, page.problem, page.layer)


def as_quotes(sentences: Sequence[SummarySentence]) -> tuple[Quote, ...]:
    """Return sentences as quotes; headings are left out where there is anything else, as they read on into the text."""
    quotes = [Quote(" ".join(one.text.split()), one.page + 1, one.start, one.end) for one in sentences]
    return tuple(quote for quote in quotes if quote.text.endswith(ENDS)) or tuple(quotes)


def digest_as_json(found: Digest) -> dict[str, Any]:
    """Return the published form of a digest."""
    return {
        "query": found.query or None,
        "method": found.method,
        "text": found.text or None,
        "model": found.model or None,
        "citations": [support.as_json(check, found.pages) for check in found.checks],
        "outOfRange": list(found.out_of_range),
        "summary": [quote._asdict() for quote in found.summary],
        "sources": [
            {
                "citation": source.citation or None,
                "url": source.url,
                "title": source.title,
                "published": source.published or None,
                "author": source.author or None,
                "text": source.text or None,
                "citations": [support.as_json(check, found.pages) for check in source.checks],
                "summary": [quote._asdict() for quote in source.summary],
                "problem": source.problem or None,
                "layer": source.layer or None,
            }
            for source in found.sources
        ],
        "warnings": list(found.warnings),
    }
