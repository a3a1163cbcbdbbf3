"""One round: search, and read the first pages that were not read yet."""

from collections.abc import Sequence

from sleuth.answers.answer import Round
from sleuth.answers.research import FoundSource, Research
from sleuth.base import logs
from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.engine.content import SNIPPETS_USED, ContentReader, archive_warning, unread
from sleuth.engine.options import country, language, unset
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import Searcher, SearchRequest, clean_query, search_error
from sleuth.pages.page import Page, PageEvent
from sleuth.relevance.hit import Hit
from sleuth.relevance.urls import canonical
from sleuth.store.settings import LANGUAGE, MAX_RESULTS, REGION, SAFE_SEARCH, SEARCH_WITH_TIME, SEARXNG_TIMEOUT, TIMEOUT
from sleuth_providers.base import Query

SEARCH_TIMEOUT_S = 3.0  # unless the user has set one
RESULTS_PER_PAGE = 2  # results to request for each page to read: some cannot be read


def run_round(research: Research, searcher: Searcher, contents: ContentReader, query: str) -> list[FoundSource]:
    """Search, read, and return the pages that were read; raises SearchError if every provider failed."""
    query = _usable(query, research.question.text)
    this = Round(len(research.rounds) + 1, query, outcome="failed")
    research.rounds.append(this)
    message = tr("Round {number}: searching for {query}", number=this.iteration, query=query)
    research.report("web_search_iteration", message, rounds=research.max_rounds)
    outcome = searcher.search(_request(research, query))
    this = this._replace(results=len(outcome.results), outcome=outcome.outcome, provider=outcome.provider)
    research.rounds[-1] = this
    if outcome.outcome == "failed":
        raise search_error(outcome)  # it has what the notices and warnings say
    for line in (*outcome.notices, *outcome.warnings):
        research.warn(line)
    pages = _read(research, contents, outcome)
    research.rounds[-1] = this = this._replace(pages=len(pages))
    logs.log("answer: round %s: %s results, %s pages read", this.iteration, this.results, this.pages)
    return research.add(outcome, pages)


def _read(research: Research, contents: ContentReader, outcome: Outcome) -> dict[str, Page]:
    """Return the first pages by URL; the next result replaces a page that cannot be read."""
    waiting = [hit for hit in outcome.results if canonical(hit.url) not in research.opened]
    found: dict[str, Page] = {}
    failed: list[Page] = []
    while waiting and len(found) < research.max_pages:
        batch = waiting[: research.max_pages - len(found)]
        del waiting[: len(batch)]
        research.opened |= {canonical(hit.url) for hit in batch}
        found |= {hit.url: Page(hit.url, text=hit.content) for hit in batch if hit.content}
        pages = _open(research, contents, [hit for hit in batch if not hit.content], len(found))
        found |= {page.url: page for page in pages if page.text.strip()}
        failed += [page for page in pages if not page.text.strip()]
    for page in found.values():
        if page.archived:
            research.warn(archive_warning(page.url, page.archived))
    if failed:
        template = "could not read {reasons}" if found else SNIPPETS_USED
        research.warn_of("FETCH_FAILED", tr(template, reasons=unread(failed)))
    return found


def _open(research: Research, contents: ContentReader, hits: Sequence[Hit], before: int) -> list[Page]:
    this, question = research.rounds[-1], research.question

    def report(event: PageEvent) -> None:
        done, total = before + event.done, before + event.total
        message = tr("Reading pages: {done} of {total}, {site}", done=done, total=total, site=domain(event.url))
        research.report("web_search_fetching", message, results=this.results, done=done, total=total)

    urls = [hit.url for hit in hits if not hit.url.startswith("file:")]
    pages = contents.reader.read(urls, cache=question.cache, offline=question.offline, on_event=report)
    contents.remember(pages)
    return pages


def _usable(query: str, question: str) -> str:
    """Return a model's query in the form the engine takes, or else the question."""
    try:
        return clean_query(query)
    except RequestError:
        return clean_query(question)


def _request(research: Research, query: str) -> SearchRequest:
    question, settings = research.question, research.settings
    has_timeout = any(settings.look_up(limit).origin != "default" for limit in (TIMEOUT, SEARXNG_TIMEOUT))
    return SearchRequest(
        questions=(query,),
        query=Query(
            "",
            count=max(settings[MAX_RESULTS], RESULTS_PER_PAGE * research.max_pages),
            lang=language(question.lang or settings[LANGUAGE]),
            region=country(question.region or settings[REGION]),
            safe=settings[SAFE_SEARCH],
            content=True,
            dated=settings[SEARCH_WITH_TIME],
        ),
        providers=question.providers,
        cache=question.cache,
        offline=question.offline,
        timeout=question.timeout,
        provider_timeout=None if has_timeout else SEARCH_TIMEOUT_S,
        rules=question.rules,
        from_settings=unset(lang=question.lang, region=question.region, safe=None),
    )
