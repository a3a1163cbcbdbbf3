"""Trying providers out: one real request each, all at once."""

from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.engine.dispatch import Dispatcher, DispatchPlan, ProviderReply
from sleuth.engine.outcome import TrialResult
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.store.cache.disk import NoCache
from sleuth_providers.base import Query

WORDS = "open source search engine"


def test_providers(
    selector: ProviderSelector, candidates: list[Candidate], timeout: float | None
) -> Iterator[TrialResult]:
    """Ask everybody the same harmless question and yield verdicts as they come in."""
    asker = Dispatcher(selector, selector.health, NoCache(), DispatchPlan(cache="off", timeout=timeout))
    started = [asker.start(candidate, Query(WORDS, count=3)) for candidate in candidates]
    yield from (_verdict(reply) for reply in started if isinstance(reply, ProviderReply))
    while arrived := asker.next_reply(3600.0):
        yield _verdict(arrived[1])


def _verdict(reply: ProviderReply) -> TrialResult:
    attempt = reply.attempt
    if attempt.answered:
        message = tr("{count} results", count=attempt.count)
        if attempt.engines:
            message += tr("; engines that failed: {engines}", engines=", ".join(sorted(attempt.engines)))
        return TrialResult(attempt.provider, True, message, attempt.elapsed_ms)
    return TrialResult(attempt.provider, False, attempt.message, attempt.elapsed_ms, attempt.code, attempt.hint)
