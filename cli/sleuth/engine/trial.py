"""Trials of providers: one real request to each, as `sleuth providers test` makes them."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.base.i18n import tr, trn
from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import ProviderReply
from sleuth.engine.search import SearchRequest
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.store.cache.disk import Cache
from sleuth_providers.base import Query
from sleuth_providers.records import Record

TEST_QUERY = "open source search engine"


class TrialResult(Record):
    """The result of testing a provider."""

    id: str
    success: bool
    message: str
    latency_ms: int
    code: str = ""
    hint: str = ""


def run_trials(selector: ProviderSelector, candidates: list[Candidate], timeout: float | None) -> Iterator[TrialResult]:
    """Send the same query to all providers and yield the results as they arrive."""
    query = Query(TEST_QUERY, count=3)
    dispatcher = Dispatcher(selector, Cache(), SearchRequest((), query, cache="off", provider_timeout=timeout))
    started = [dispatcher.start(candidate, query) for candidate in candidates]
    yield from (_trial_result(reply) for reply in started if isinstance(reply, ProviderReply))
    while arrived := dispatcher.next_reply():
        yield _trial_result(arrived[1])
    dispatcher.finish()


def _trial_result(reply: ProviderReply) -> TrialResult:
    attempt = reply.attempt
    if attempt.answered:
        message = trn("{count} result", "{count} results", attempt.count)
        if attempt.engines:
            message += tr("; failed engines: {engines}", engines=tr(", ").join(sorted(attempt.engines)))
        return TrialResult(attempt.provider, True, message, attempt.elapsed_ms)
    return TrialResult(attempt.provider, False, attempt.message, attempt.elapsed_ms, attempt.code, attempt.hint)


def trial_as_json(result: TrialResult) -> dict[str, object]:
    """Return the published JSON form of a test result."""
    return {"id": result.id, "success": result.success, "message": result.message, "latencyMs": result.latency_ms}
