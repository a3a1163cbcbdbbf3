"""One round: search, and read the first pages that nobody has read yet."""

from collections.abc import Sequence

from sleuth.answers.answer import Round
from sleuth.answers.findings import Findings, SourceFinding
from sleuth.answers.work import Work
from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.engine.content import ContentReader
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import Searcher, SearchRequest, clean_query, search_error
from sleuth.pages.page import Page, PageEvent
from sleuth.relevance.hit import Hit
from sleuth.relevance.urls import canonical
from sleuth.store.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME, SEARXNG_TIMEOUT, TIMEOUT
from sleuth_providers.base import Query

SECONDS = 3.0  # for a search, where nobody has set a time limit
SPARE = 2  # results for every page that is to be read: some cannot be


class Gatherer:
    """Searches and reads for a question."""

    def __init__(self, searcher: Searcher, contents: ContentReader) -> None:
        self.searcher, self.content_reader = searcher, contents

    def gather(self, work: Work, found: Findings, query: str) -> list[SourceFinding]:
        """Run a round and return the pages read in it; raises SearchError when nobody could be searched."""
        query = _words(query, work.question.text)
        number = len(found.rounds) + 1
        message = tr("Round {number}: searching for {query}", number=number, query=query)
        work.tell("web_search_iteration", message, number, query, rounds=work.rounds)
        outcome = self.searcher.search(_request(work, query))
        for line in (*outcome.notices, *outcome.warnings):
            work.warn(line)
        told = Round(number, query, len(outcome.results), 0, outcome.outcome, outcome.provider)
        found.rounds.append(told)
        if outcome.outcome == "failed":
            raise search_error(outcome)
        texts = self._read(work, found, outcome)
        found.rounds[-1] = told._replace(pages=len(texts))
        pages = found.add(outcome, texts)
        work.sources = found.sources
        return pages

    def _read(self, work: Work, found: Findings, outcome: Outcome) -> dict[str, str]:
        """Return the text of the first pages; where one cannot be read, the next result takes its place."""
        waiting = found.not_opened(outcome.results)
        texts: dict[str, str] = {}
        failed: list[Page] = []
        while waiting and len(texts) < work.pages:
            batch = waiting[: work.pages - len(texts)]
            del waiting[: len(batch)]
            found.opened |= {canonical(hit.url) for hit in batch}
            texts |= {hit.url: hit.content for hit in batch if hit.content}
            pages = self._open(work, found, [hit for hit in batch if not hit.content], len(texts))
            texts |= {page.url: page.text for page in pages if page.text.strip()}
            failed += [page for page in pages if not page.text.strip()]
        _warn_of(work, failed, has_text=bool(texts))
        return texts

    def _open(self, work: Work, found: Findings, hits: Sequence[Hit], before: int) -> list[Page]:
        now, question = found.rounds[-1], work.question

        def tell(event: PageEvent) -> None:
            done, total = before + event.done, before + event.total
            message = tr("Reading pages: {done} of {total}, {site}", done=done, total=total, site=domain(event.url))
            counts = {"results": now.results, "done": done, "total": total}
            work.tell("web_search_fetching", message, now.number, now.query, **counts)

        urls = [hit.url for hit in hits if not hit.url.startswith("file:")]
        pages = self.content_reader.reader.read(urls, cache=question.cache, offline=question.offline, on_event=tell)
        self.content_reader.remember(pages)
        return pages


def _words(query: str, question: str) -> str:
    """Return a model's query as one can search for it, or else the question."""
    try:
        return clean_query(query)
    except RequestError:
        return clean_query(question)


def _request(work: Work, query: str) -> SearchRequest:
    question, settings = work.question, work.settings
    language = "" if settings[LANGUAGE] == "auto" else settings[LANGUAGE]
    configured = any(settings.look_up(limit).origin != "default" for limit in (TIMEOUT, SEARXNG_TIMEOUT))
    return SearchRequest(
        questions=(query,),
        query=Query(
            "",
            count=max(settings[MAX_RESULTS], SPARE * work.pages),
            lang=question.lang or language,
            region=question.region or settings[REGION].upper(),
            safe=settings[SAFE_SEARCH],
            content=True,
            dated=settings[SEARCH_WITH_TIME],
        ),
        providers=question.providers,
        cache=question.cache,
        offline=question.offline,
        timeout=question.timeout or (None if configured else SECONDS),
        rules=question.rules,
    )


def _warn_of(work: Work, failed: Sequence[Page], *, has_text: bool) -> None:
    for page in failed:
        why = page.problem or tr("there is no text on it")
        work.warn(tr("{site} could not be read: {reason}", site=domain(page.url) or page.url, reason=why))
    if failed and not has_text:
        work.warn(tr("FETCH_FAILED: no page could be read; the snippets of the search stand in"))
