"""Test providers with one real request each, in parallel."""

from collections.abc import Iterator

from sleuth.base.i18n import tr, trn
from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import ProviderReply
from sleuth.engine.outcome import TrialResult
from sleuth.engine.search import SearchRequest
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.store.cache.disk import NoCache
from sleuth_providers.base import Query

TEST_QUERY = "open source search engine"


def test_providers(
    selector: ProviderSelector, candidates: list[Candidate], timeout: float | None
) -> Iterator[TrialResult]:
    """Send the same query to all providers and yield the results as they arrive."""
    query = Query(TEST_QUERY, count=3)
    dispatcher = Dispatcher(selector, NoCache(), SearchRequest((), query, cache="off", timeout=timeout))
    started = [dispatcher.start(candidate, query) for candidate in candidates]
    yield from (_result(reply) for reply in started if isinstance(reply, ProviderReply))
    while arrived := dispatcher.next_reply():
        yield _result(arrived[1])


def _result(reply: ProviderReply) -> TrialResult:
    attempt = reply.attempt
    if attempt.answered:
        message = trn("{count} result", "{count} results", attempt.count)
        if attempt.engines:
            message += tr("; failed engines: {engines}", engines=", ".join(sorted(attempt.engines)))
        return TrialResult(attempt.provider, True, message, attempt.elapsed_ms)
    return TrialResult(attempt.provider, False, attempt.message, attempt.elapsed_ms, attempt.code, attempt.hint)
