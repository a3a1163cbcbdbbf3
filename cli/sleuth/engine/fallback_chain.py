"""Runs the groups of a fallback chain until one answers, and says in one line what happened."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import Job, ProviderReply
from sleuth.engine.merge import Replies
from sleuth.engine.outcome import Attempt
from sleuth.engine.selector import Candidate
from sleuth_providers.base import Query

CHAIN_PACING_S = 1.0  # that a request may wait for its turn; else the next provider is used
GROUP_GRACE_S = 3.0  # for the rest of a group after its first answer


class FallbackChain:
    """Queries groups of providers one after the other; a slow one gets competition from the next."""

    def __init__(self, dispatcher: Dispatcher, queries: list[Query]) -> None:
        self.dispatcher, self.queries = dispatcher, queries
        self.replies: list[ProviderReply] = []
        self.places: dict[str, int] = {}  # the number of each provider's group

    def skip(self, candidate: Candidate, attempt: Attempt) -> None:
        """Note a provider that cannot be used now."""
        self.places[candidate.id] = len(self.places)
        self.replies.append(ProviderReply(candidate, self.queries[0], attempt))

    def query(self, group: list[Candidate], hedge_delay: float) -> bool:
        """Start a group and wait up to `hedge_delay`; True when there is an answer by then."""
        is_library = any(candidate.adapter.offline for candidate in group) and bool(self.places)
        if is_library and self._wait():  # the last resort, when all others have failed
            return True
        place = len(self.places)
        for candidate in group:
            self.places[candidate.id] = place
            for query in self.queries:
                started = self.dispatcher.start(
                    candidate, query._replace(content=query.content or is_library), CHAIN_PACING_S
                )
                if isinstance(started, ProviderReply):
                    self._add(started)
        return self._wait(hedge_delay)

    def _retry_paced(self) -> None:
        """Query the providers that were skipped because they were used a moment ago: there is no other."""
        paced = [reply for reply in self.replies if reply.attempt.code == "PACED"]
        self.replies = [reply for reply in self.replies if reply not in paced]
        for reply in paced:
            started = self.dispatcher.start(reply.candidate, reply.query)
            if isinstance(started, ProviderReply):
                self._add(started)

    def finish(self) -> Replies:
        """Wait for an answer, abandon the groups that lost, and wait a moment for the rest of the winner's replies."""
        if not self._wait():
            self._retry_paced()
            self._wait()
        winner = next((reply.candidate for reply in self.replies if reply.attempt.answered), None)
        if winner is None:
            return Replies(self.replies, chained=True)
        place = self.places[winner.id]
        self._abandon([job for job in self.dispatcher.running if self.places[job.candidate.id] != place], winner)
        end = time.monotonic() + GROUP_GRACE_S
        while arrived := self.dispatcher.next_reply(end - time.monotonic()):
            self._add(arrived[1])
        self._abandon([*self.dispatcher.running], winner)
        return Replies(self.replies, tuple(self._notice(winner, place)), chained=True)

    def _abandon(self, jobs: list[Job], winner: Candidate) -> None:
        message = tr("{winner} was faster", winner=winner.row.name)
        self.replies += [self.dispatcher.abandon(job, message) for job in jobs]

    def _wait(self, timeout: float = float("inf")) -> bool:
        """Collect replies until one is an answer, all have failed, or the time is up."""
        end = time.monotonic() + timeout
        while not any(reply.attempt.answered for reply in self.replies):
            arrived = self.dispatcher.next_reply(end - time.monotonic())
            if arrived is None:
                return False
            self._add(arrived[1])
        return True

    def _add(self, reply: ProviderReply) -> None:
        """Add a reply; one of the library counts only if it really answers the query."""
        if reply.candidate.adapter.offline and self.places[reply.candidate.id] > 0 and reply.attempt.answered:
            from sleuth.library.fallback import answering

            results = answering(reply.query.text, reply.found.results)
            state, count = ("ok", len(results)) if results else ("skipped", 0)
            attempt = reply.attempt._replace(state=state, count=count)
            reply = reply._replace(attempt=attempt, found=reply.found._replace(results=results))
        self.replies.append(reply)

    def _notice(self, winner: Candidate, place: int) -> Iterator[str]:
        """Yield one line about the providers before the winner, and about a winner that is no web search."""
        before = [reply for reply in self.replies if self.places[reply.candidate.id] < place]
        failures = [r for r in before if r.attempt.state != "skipped" or r.attempt.code == "DISABLED"]
        names = list(dict.fromkeys(reply.candidate.row.name for reply in failures))
        name, caveat = winner.row.name, tr(winner.adapter.caveat) if winner.adapter.caveat else ""
        used = tr("{winner} ({caveat})", winner=name, caveat=caveat) if caveat else name
        if len(names) == 1:
            yield tr("{reason}; used {winner} instead", reason=failures[0].attempt.message, winner=used)
        elif names:
            shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
            yield tr("no answer from {names}; used {winner} instead (why: --debug)", names=shown, winner=used)
        elif caveat and place:
            yield tr("used {winner}", winner=used)
