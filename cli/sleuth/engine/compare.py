"""The same queries to several providers: what each finds that others do not, how fast, and at what cost."""

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any

from sleuth.base.json_output import record_as_json
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import ProviderReply
from sleuth.engine.search import SearchRequest, clean_query
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.relevance.urls import canonical
from sleuth.store.cache.disk import Cache
from sleuth_providers.records import Record


class ComparedPage(Record):
    """A page that one provider or more found for a query, and its rank at each."""

    query: str
    url: str
    title: str
    ranks: dict[str, int]


class ProviderTotals(Record):
    """What one provider did in all queries."""

    id: str
    answered: int = 0
    failed: int = 0
    results: int = 0
    unique: int = 0  # that no other provider found
    mean_ms: int | None = None  # None for a recording, which has no times
    cost: float = 0.0
    error: str = ""  # the first one


class Comparison(Record):
    """Providers side by side."""

    queries: tuple[str, ...]
    providers: tuple[ProviderTotals, ...]
    overlap: dict[tuple[str, str], int]  # pages that both of a pair found
    pages: tuple[ComparedPage, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the published JSON form."""
        results = {totals.id: totals.results for totals in self.providers}
        return {
            "queries": list(self.queries),
            "providers": [record_as_json(one) for one in self.providers],
            "overlap": [
                {"providers": list(pair), "shared": shared, "of": min(results[id] for id in pair)}
                for pair, shared in self.overlap.items()
            ],
            "pages": [page._asdict() for page in self.pages],
        }


def compare(
    selector: ProviderSelector, cache: Cache, request: SearchRequest, candidates: Sequence[Candidate]
) -> Comparison:
    """Send every question of a request to every candidate at the same time, and compare the first results of each."""
    queries = [request.query._replace(text=clean_query(text)) for text in request.questions]
    dispatcher = Dispatcher(selector, cache, request)
    replies = dispatcher.run([(candidate, query) for query in queries for candidate in candidates])
    dispatcher.finish()
    questions = [query.text for query in queries for _ in candidates]
    pages: dict[tuple[str, str], ComparedPage] = {}
    for question, reply in zip(questions, replies, strict=True):
        _collect(pages, question, reply, request.query.count)
    ids = [candidate.id for candidate in candidates]
    found = tuple(pages.values())
    timed = not (request.recording and request.recording.replays)
    totals = tuple(_totals(id, [reply for reply in replies if reply.candidate.id == id], found, timed) for id in ids)
    overlap = {
        (one, other): sum(one in page.ranks and other in page.ranks for page in found)
        for one, other in combinations(ids, 2)
    }
    return Comparison(tuple(query.text for query in queries), totals, overlap, found)


def _collect(pages: dict[tuple[str, str], ComparedPage], question: str, reply: ProviderReply, count: int) -> None:
    """Add the first results of a reply; two spellings of a URL are one page."""
    schemes = ("http", "https", "file") if reply.candidate.adapter.files else ("http", "https")
    found = ((clean_url(result.url, schemes), result.title) for result in reply.found.results)
    for rank, (url, title) in enumerate(islice((one for one in found if one[0]), count), 1):
        page = pages.setdefault((question, canonical(url)), ComparedPage(question, url, clean(title, 200), {}))
        page.ranks.setdefault(reply.candidate.id, rank)


def _totals(id: str, replies: list[ProviderReply], pages: tuple[ComparedPage, ...], timed: bool) -> ProviderTotals:
    answered = [reply.attempt for reply in replies if reply.attempt.answered]
    failed = [reply.attempt for reply in replies if not reply.attempt.answered]
    mean = round(sum(attempt.elapsed_ms for attempt in answered) / len(answered)) if answered and timed else None
    mine = [page for page in pages if id in page.ranks]
    return ProviderTotals(
        id,
        answered=len(answered),
        failed=len(failed),
        results=len(mine),
        unique=sum(len(page.ranks) == 1 for page in mine),
        mean_ms=mean,
        cost=sum(reply.attempt.cost for reply in replies),
        error=failed[0].message if failed else "",
    )
