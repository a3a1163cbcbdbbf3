"""Trying providers out: one real request each, all at once."""

from collections.abc import Iterator

from sleuth.asking import Asker, Plan, Reply
from sleuth.cache import NoCache
from sleuth.choice import Candidate, Chooser
from sleuth.language import say
from sleuth.outcome import Verdict
from sleuth_providers.base import Query

WORDS = "open source search engine"


def try_out(chooser: Chooser, candidates: list[Candidate], timeout: float | None) -> Iterator[Verdict]:
    """Ask everybody the same harmless question and yield verdicts as they come in."""
    asker = Asker(chooser, chooser.health, NoCache(), Plan(cache="off", timeout=timeout))
    started = [asker.start(candidate, Query(WORDS, count=3)) for candidate in candidates]
    yield from (_verdict(reply) for reply in started if isinstance(reply, Reply))
    while arrived := asker.next_reply(3600.0):
        yield _verdict(arrived[1])


def _verdict(reply: Reply) -> Verdict:
    attempt = reply.attempt
    if attempt.answered:
        message = say("{count} results", count=attempt.count)
        if attempt.engines:
            message += say("; engines that failed: {engines}", engines=", ".join(sorted(attempt.engines)))
        return Verdict(attempt.provider, True, message, attempt.elapsed_ms)
    return Verdict(attempt.provider, False, attempt.message, attempt.elapsed_ms, attempt.code, attempt.hint)
