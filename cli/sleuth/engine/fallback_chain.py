"""Runs the groups of a fallback chain until one answers, and says in one line what happened."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sleuth.base.i18n import tr
from sleuth.engine.dispatch import MAX_PACING_S, Dispatcher
from sleuth.engine.job import Job, ProviderReply
from sleuth.engine.merge import Replies
from sleuth.engine.outcome import Attempt
from sleuth.engine.selector import Candidate
from sleuth.store.health import REFUSALS
from sleuth_providers.base import Query
from sleuth_providers.errors import DeadlineError

CHAIN_PACING_S = 1.0  # that a request may wait for its turn; else the next provider is used
GROUP_GRACE_S = 3.0  # for the rest of a group after its first answer


class FallbackChain:
    """Queries groups of providers one after another; if one is slow, the next is started as well."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        queries: list[Query],
        min_empty: int,
        *,
        chosen: bool,
        earlier: Sequence[ProviderReply] = (),
    ) -> None:
        self.dispatcher, self.queries = dispatcher, queries
        self.min_empty = min_empty  # providers that found nothing before the search ends
        self.first_place = 0 if chosen else 1  # 0 is for a group that the user put first
        self.started: list[Job | ProviderReply] = [*earlier]  # in the order of the chain, not that of arrival
        self.arrived: dict[Job, ProviderReply] = {}
        self.places = {reply.candidate.id: -1 for reply in earlier}  # the number of each provider's group

    @property
    def replies(self) -> list[ProviderReply]:
        """Return the replies so far, in the order in which they were requested."""
        found = (self.arrived.get(item) if isinstance(item, Job) else item for item in self.started)
        return [reply for reply in found if reply]

    def query(
        self, group: list[Candidate], skipped: dict[str, Attempt], hedge_delay: float, time_share: float = 1.0
    ) -> bool:
        """Start a group without the skipped providers, and wait up to `hedge_delay`; True if there is an answer."""
        place = self.first_place + len(self.places)
        is_library = place > 0 and any(candidate.adapter.offline for candidate in group)
        if is_library and self._wait():  # the last resort, when all others have failed
            return True
        for candidate in group:
            self.places[candidate.id] = place
            if attempt := skipped.get(candidate.id):
                self.started.append(ProviderReply(candidate, self.queries[0], attempt))
            else:
                self._start(candidate, CHAIN_PACING_S, time_share=time_share, content=is_library)
        return self._wait(hedge_delay if len(skipped) < len(group) else 0.0)

    def _start(
        self,
        candidate: Candidate,
        max_wait: float,
        *,
        retries: bool = False,
        time_share: float = 1.0,
        content: bool = False,
    ) -> None:
        for query in self.queries:
            query = query._replace(content=query.content or content)
            started = self.dispatcher.start(candidate, query, max_wait, retries=retries, time_share=time_share)
            self.started.append(self._checked(started) if isinstance(started, ProviderReply) else started)
            if not isinstance(started, ProviderReply) or started.attempt.code != "PACED":
                max_wait = MAX_PACING_S  # the provider is in use, so its other questions wait for their turn

    def _retry_skipped(self) -> None:
        """Query the providers that were skipped after all, because there is no other."""
        retried = [reply for reply in self.replies if self._may_answer(reply)]
        self.started = [item for item in self.started if item not in retried]
        for candidate in {reply.candidate.id: reply.candidate for reply in retried}.values():
            self._start(candidate, MAX_PACING_S, retries=True)

    def _may_answer(self, reply: ProviderReply) -> bool:
        """Tell whether a provider that was skipped was just used, is the user's own server, or was unreachable.

        The user may have repaired the server, and it may have been this machine that had no network.
        """
        if reply.attempt.state != "cooldown":
            return reply.attempt.code == "PACED"
        selector, cooldown = self.dispatcher.selector, self.dispatcher.selector.cooldown(reply.candidate)
        was_unreachable = not cooldown or cooldown.state in ("unreachable", "timeout")
        return was_unreachable or not selector.is_third_party(reply.candidate)

    def finish(self) -> Replies:
        """Wait for an answer, abandon the groups that lost, and wait a moment for the rest of the winner's replies."""
        if not self._wait():
            self._retry_skipped()
            self._wait()
        while not self._has_results() and self._next():  # those that are slower may find what others did not
            pass
        answers = sorted((reply for reply in self.replies if reply.attempt.answered), key=_is_empty)
        if not answers:
            return Replies(self.replies, spare=frozenset(self.places))
        winner = answers[0].candidate
        place = self.places[winner.id]
        message = tr("{winner} was faster", winner=winner.row.name)
        running = sorted(self.dispatcher.running, key=lambda job: job.is_sent)  # cancels the last reservations first
        slower = [job for job in running if self.places[job.candidate.id] != place]
        self.arrived |= {job: self.dispatcher.abandon(job, message) for job in slower}
        end = time.monotonic() + GROUP_GRACE_S
        while self._next(end - time.monotonic()):
            pass
        answered = {reply.candidate.id for reply in self.replies if reply.attempt.answered}
        running = sorted(self.dispatcher.running, key=lambda job: job.is_sent)
        for job in [one for one in running if one.candidate.id not in answered]:
            message = tr(DeadlineError.message, provider=job.candidate.row.name)
            self.arrived[job] = self.dispatcher.abandon(job, message, DeadlineError.state, DeadlineError.code)
        while self._next():  # other questions to the providers that answered
            pass
        spare = frozenset(id for id, other in self.places.items() if other != place)
        return Replies(self.replies, tuple(self._notice(winner, place)), spare)

    def _wait(self, timeout: float = float("inf")) -> bool:
        """Collect replies until one is an answer, all have failed, or the time is up."""
        end = time.monotonic() + timeout
        while not self._is_answered():
            if not self._next(end - time.monotonic()):
                return False
        return True

    def _next(self, timeout: float = float("inf")) -> bool:
        """Wait for the next reply; False if there is none in time."""
        if arrived := self.dispatcher.next_reply(timeout):
            job, reply = arrived
            self.arrived[job] = self._checked(reply)
            if reply.attempt.state in REFUSALS:
                self._drop_waiting(reply)
        return bool(arrived)

    def _drop_waiting(self, refusal: ProviderReply) -> None:
        """Drop the other questions to a provider that wait for their turn: it would refuse them, too."""
        others = [job for job in self.dispatcher.running if job.candidate.id == refusal.candidate.id]
        for job in [one for one in others if one.pause and not one.is_sent]:
            self.dispatcher.abandon(job, "")
            self.arrived[job] = job.reply(refusal.attempt)

    def _has_results(self) -> bool:
        return any(reply.attempt.state == "ok" for reply in self.replies)

    def _is_answered(self) -> bool:
        empty = {reply.candidate.id for reply in self.replies if _is_empty(reply)}
        return self._has_results() or len(empty) >= self.min_empty

    def _checked(self, reply: ProviderReply) -> ProviderReply:
        """Return a reply; one from the library counts only if it answers the query."""
        if reply.candidate.adapter.offline and self.places[reply.candidate.id] > 0 and reply.attempt.answered:
            from sleuth.library.fallback import answering

            results = answering(reply.query.text, reply.found.results)
            state, count = ("ok", len(results)) if results else ("skipped", 0)
            attempt = reply.attempt._replace(state=state, count=count)
            reply = reply._replace(attempt=attempt, found=reply.found._replace(results=results))
        return reply

    def _notice(self, winner: Candidate, place: int) -> Iterator[str]:
        """Yield one line about the providers before the winner, and about a winner that is no web search.

        If nothing was found, the line is about all that failed: they may have had results.
        """
        found = self._has_results()
        places = [(self.places[reply.candidate.id], reply) for reply in self.replies]
        others = [r for at, r in places if (at < place if found else at != place and not r.attempt.answered)]
        failures = [r for r in others if r.attempt.state != "skipped" or r.attempt.code == "DISABLED"]
        names = list(dict.fromkeys(reply.candidate.row.name for reply in failures))
        name, caveat = winner.row.name, tr(winner.adapter.caveat) if winner.adapter.caveat else ""
        used = tr("{winner} ({caveat})", winner=name, caveat=caveat) if caveat else name
        if len(names) in (1, 2):
            named = ((reply.candidate.row.name, reply.attempt.message) for reply in failures)
            reasons = dict.fromkeys(message or tr("{provider} found nothing", provider=name) for name, message in named)
            if found:
                yield tr("{reason}; used {winner} instead", reason=tr("; ").join(reasons), winner=used)
            else:
                yield tr("; ").join((*reasons, tr("{provider} found nothing", provider=name)))
        elif names:
            shown = tr(", ").join(names[:3]) + (" …" if len(names) > 3 else "")
            if found:
                yield tr("no answer from {names}; used {winner} instead (details: --debug)", names=shown, winner=used)
            else:
                yield tr("no answer from {names}; {winner} found nothing (details: --debug)", names=shown, winner=name)
        elif caveat and place:
            yield tr("used {winner}", winner=used)


def _is_empty(reply: ProviderReply) -> bool:
    return reply.attempt.state == "empty"
