"""Reads the pages of search results, compresses their text and puts it into the outcome."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sleuth.base import logs
from sleuth.base.errors import SearchError
from sleuth.base.i18n import tr
from sleuth.base.json_output import record_as_json
from sleuth.engine.merge import DATE_FILTERS, UNDATED
from sleuth.engine.outcome import Outcome
from sleuth.engine.scorers import models_without_server, scorer
from sleuth.engine.search_options import SearchOptions
from sleuth.library.ingester import to_document
from sleuth.library.library import Library
from sleuth.pages.page import Page, PageEvent
from sleuth.pages.reader import Reader
from sleuth.relevance.compress import CompressedPage, compress
from sleuth.relevance.dates import normalise
from sleuth.relevance.duplicates import find_duplicates
from sleuth.relevance.fusion import add_dates
from sleuth.relevance.hit import Hit
from sleuth.store import settings as setting
from sleuth.store.settings import Settings
from sleuth_providers.base import Query
from sleuth_providers.records import Record

PAGE_FIELDS = ("url", "final_url", "title", "layer", "cached", "truncated", "elapsed_ms", "attempts")
MAX_NAMED_PAGES = 3  # in a warning
SNIPPETS_USED = "FETCH_FAILED: pages not read, snippets used instead: {reasons}"
ANY_TIME = Query("")
NO_OPTIONS = SearchOptions()

OnEvent = Callable[[PageEvent], None]


class CompressionOptions(Record):
    """How page text is compressed."""

    method: str = "none"
    limit: int = 0
    unit: str = "char"
    max_tokens: int = 0
    document_count: int = 0


def compression_options(settings: Settings, options: SearchOptions = NO_OPTIONS) -> CompressionOptions:
    """Return the options of a command over those in the settings; a budget implies a method, even instead of none."""
    defaults = settings[setting.COMPRESSION_METHOD]
    method = options.compress or defaults.get("method", "none")
    implied = "cutoff" if options.limit or options.max_tokens else "none"
    implied = "rag" if options.max_tokens and not options.compress else implied
    return CompressionOptions(
        implied if method == "none" else method,
        options.limit or int(defaults.get("cutoff_limit", 0)),
        options.unit or defaults.get("cutoff_unit", "char"),
        options.max_tokens or 0,
        int(defaults.get("document_count", 0)),
    )


class ContentReader:
    """Reads and compresses the pages of an outcome."""

    def __init__(self, settings: Settings, reader: Reader, library: Library) -> None:
        self.settings, self.reader, self.library = settings, reader, library

    def add(
        self,
        outcome: Outcome,
        options: CompressionOptions,
        plan: Mapping[str, Any],
        on_event: OnEvent | None = None,
        span: Query = ANY_TIME,
        recent: bool = False,
    ) -> Outcome:
        """Return the outcome with page text in `content`, or the snippet of a page that cannot be read.

        Dates of pages are used where providers gave none, to drop what is out of the span and with `recent` for the
        order. Pages with the same text become one result.
        """
        missing = [hit.url for hit in outcome.results if not hit.content and not hit.url.startswith("file:")]
        pages = {page.url: page for page in self.reader.read(missing, on_event=on_event, **plan)}
        self.remember(pages.values())
        hits = _without_duplicates(_dated(outcome, pages, span, recent), pages)
        first = outcome.results[0].citation if outcome.results else 1
        outcome = outcome._replace(results=tuple(hit._replace(citation=at) for at, hit in enumerate(hits, first)))
        return self.compress(outcome, options, pages, offline=plan.get("offline", False))

    def compress(
        self, outcome: Outcome, options: CompressionOptions, pages: Mapping[str, Page], *, offline: bool = False
    ) -> Outcome:
        """Return the outcome with the text of pages, or what its results have already, within the budget."""
        is_whole = options.method != "none"  # the budget limits what is delivered
        texts = [_text(hit, pages, is_whole) for hit in outcome.results]
        ranks = options.method == "rag"
        compressed = compress(
            outcome.query,
            texts,
            **options._asdict(),
            dense=scorer(self.settings, "embedding", offline=offline) if ranks else None,
            rerank=scorer(self.settings, "rerank", offline=offline) if ranks else None,
        )
        return outcome._replace(
            results=tuple(map(_with_content, outcome.results, compressed.pages)),
            status=outcome.status._replace(
                phase=compressed.phase if is_whole else "fetch_complete",
                count_after=len(outcome.results),
                left_out=compressed.left_out,
                size=compressed.size_after,
                unit=compressed.unit,
            ),
            pages=tuple(_as_json(page) for page in pages.values()),
            warnings=(*outcome.warnings, *self._warnings(outcome, options, pages.values()), *compressed.warnings),
        )

    def _warnings(self, outcome: Outcome, options: CompressionOptions, pages: Collection[Page]) -> Iterator[str]:
        if _undated(outcome):
            yield tr(UNDATED)
        if failed := [page for page in pages if not page.ok]:
            yield tr(SNIPPETS_USED, reasons=unread(failed))
        yield from (archive_warning(page.url, page.archived) for page in pages if page.archived)
        yield from models_without_server(self.settings) if options.method == "rag" else ()

    def remember(self, pages: Iterable[Page]) -> None:
        """Add pages to the library if library.remember is on; a failure is only logged."""
        if not self.settings[setting.LIBRARY_REMEMBER]:
            return
        fresh = [page for page in pages if page.ok and not page.cached]
        try:
            if fresh:
                self.library.add(to_document(page) for page in fresh)
                self.library.trim(self.settings[setting.LIBRARY_SIZE])
        except Exception as problem:
            logs.log("library: pages not added: %r", problem)


def archive_warning(url: str, date: str) -> str:
    """Return the warning about a page whose text may be out of date."""
    return tr("read {url} from a copy archived on {date}", url=url, date=date)


def _undated(outcome: Outcome) -> set[str]:
    """Return the URLs of results without a date from providers that could not filter by date."""
    unfiltered = {one.provider for one in outcome.attempts if DATE_FILTERS & set(one.not_applied)}
    return {hit.url for hit in outcome.results if not hit.published and unfiltered & set(hit.providers)}


def _dated(outcome: Outcome, pages: Mapping[str, Page], span: Query, recent: bool) -> list[Hit]:
    """Return the results with the dates of their pages; those that no provider could filter are dropped if too old."""
    now, undated = datetime.now(UTC), _undated(outcome)
    known = {url: normalise(page.published, now) for url, page in pages.items()}
    return [
        hit
        for hit in add_dates(outcome.results, known, now, recent)
        if hit.url not in undated
        or not hit.published
        or (span.since <= hit.published and (not span.until or hit.published <= span.until))
    ]


def _without_duplicates(hits: Sequence[Hit], pages: Mapping[str, Page]) -> list[Hit]:
    """Return the results without those whose page repeats the text of an earlier one; its providers count for that."""
    kept = dict(enumerate(hits))
    texts = [page.text if (page := pages.get(hit.url)) else hit.content or "" for hit in hits]
    for place, first in find_duplicates(texts).items():
        copy, hit = kept.pop(place), kept[first]
        providers = tuple(dict.fromkeys((*hit.providers, *copy.providers)))
        kept[first] = hit._replace(providers=providers, adjustments=(*hit.adjustments, f"same text: {copy.url}"))
    return list(kept.values())


def _text(hit: Hit, pages: Mapping[str, Page], is_whole: bool) -> str:
    page = pages.get(hit.url)
    if hit.content or not page or not page.ok:
        return hit.content or hit.snippet
    return page.whole_markdown if is_whole else page.markdown or page.text


def _with_content(hit: Hit, kept: CompressedPage) -> Hit:
    spans = tuple((passage.start, passage.end, round(passage.score, 4)) for passage in kept.passages)
    return hit._replace(content=kept.content, passages=spans)


def unread(pages: Sequence[Page]) -> str:
    """Return the URLs of pages that could not be read, and why."""
    urls: dict[str, list[str]] = {}  # by reason
    for page in pages[:MAX_NAMED_PAGES]:
        urls.setdefault(page.problem or tr("it has no text"), []).append(page.url)
    reasons = tr("; ").join(f"{', '.join(same)}{tr(': ')}{reason}" for reason, same in urls.items())
    more = len(pages) - MAX_NAMED_PAGES
    return reasons + (tr("; ").rstrip() + tr(" and {count} more", count=more) if more > 0 else "")


def nothing_read(pages: Sequence[Page]) -> SearchError:
    """Return the error for pages none of which could be read, with the first hint that one of them has."""
    hint = max(pages, key=lambda page: bool(page.hint)).hint or "check the URL or the file name"
    return SearchError("could not read {reasons}", hint, code="FETCH_FAILED", reasons=unread(pages))


def _as_json(page: Page) -> dict[str, Any]:
    return record_as_json(page, *PAGE_FIELDS, attempts=[record_as_json(attempt) for attempt in page.attempts])
