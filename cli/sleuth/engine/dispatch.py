"""Run providers in parallel: one thread each, the cache in front, a reply or an error from every one in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.engine.found import found_as_json, found_from_json, limited
from sleuth.engine.job import Job, ProviderReply, cache_key, engines_failed
from sleuth.engine.outcome import Attempt
from sleuth.engine.selector import Candidate, ProviderSelector, failed
from sleuth.store import keys
from sleuth.store.cache.disk import Cache
from sleuth.store.provider_table import number_option
from sleuth.store.settings import CACHE_TTL
from sleuth_providers.base import Account, Found, Query
from sleuth_providers.errors import DeadlineError, KeyInvalidError, ProviderError, RateLimitError
from sleuth_providers.net.policy import Policy
from sleuth_providers.threads import ThreadGroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.engine.search import SearchRequest

GRACE_S = 0.2  # after the timeout of a provider, for its own error to arrive
MIN_REQUESTED_RESULTS = 10  # filters and fusion need some, and they cost nothing
FINISH_TIMEOUT_S = 5.0  # for cache writes at the end


class Dispatcher:
    """Starts jobs and collects their replies; only the calling thread uses the database."""

    def __init__(
        self,
        selector: ProviderSelector,
        cache: Cache,
        request: SearchRequest,
        while_waiting: Callable[[], object] | None = None,
    ) -> None:
        self.selector, self.health, self.cache, self.request = selector, selector.health, cache, request
        self.recording = request.recording
        self.cache_use = "off" if self.recording else request.cache
        self.replays = self.recording is not None and self.recording.replays
        self.while_waiting = while_waiting  # runs once, while the first reply is on its way
        self.threads = ThreadGroup()
        self.jobs: list[Job] = []
        self.running: set[Job] = set()

    def start(self, candidate: Candidate, query: Query) -> Job | ProviderReply:
        """Start a job, or return a reply at once if no request is needed or possible."""
        adapter = candidate.adapter
        query = query._replace(
            count=min(max(query.count, MIN_REQUESTED_RESULTS), adapter.max_results),
            text=query.text[: adapter.max_query],
        )
        if query.dated and adapter.reads_language:
            query = query._replace(text=f"{query.text} (today is {query.today})")
        policy = self.selector.policy(candidate, self.request.timeout)
        job = Job(candidate, query, time.monotonic() + policy.timeout + GRACE_S)
        try:
            accounts = self.selector.accounts(candidate, any_key=self.replays)
        except (ProviderError, SleuthError) as error:
            return job.reply(failed(candidate, error))
        key = cache_key(candidate, accounts[0], query)
        if reply := self._cached(job, key):
            return reply
        if self.request.offline and not adapter.offline:
            message = tr("{provider} was skipped: offline, and not in the cache", provider=candidate.row.name)
            hint = tr("omit --offline, or search the library: sleuth search -p library …")
            return job.reply(Attempt(candidate.id, "skipped", message=message, hint=hint, code="OFFLINE"))
        if not self.replays and (limit := self._reserve(job)):
            return job.reply(failed(candidate, limit))
        logs.hide(*(secret for account in accounts for secret in account.secrets))
        job.price = adapter.cost if accounts[0].key else 0.0
        self.jobs.append(job)
        self.running.add(job)
        job.thread = self.threads.start(job, partial(self._work, job, accounts, policy, key))
        return job

    def run(self, requests: Sequence[tuple[Candidate, Query]]) -> list[ProviderReply]:
        """Run all requests in parallel and return their replies in the order given."""
        started = [self.start(candidate, query) for candidate, query in requests]
        replies: dict[Job, ProviderReply] = {}
        while arrived := self.next_reply():
            replies[arrived[0]] = arrived[1]
        return [replies[item] if isinstance(item, Job) else item for item in started]

    def next_reply(self, timeout: float = float("inf")) -> tuple[Job, ProviderReply] | None:
        """Return the next reply; a job past its deadline counts as timed out. None when none is left, or in time."""
        end = time.monotonic() + timeout
        if self.running and self.while_waiting:
            self.while_waiting()
            self.while_waiting = None
        while self.running:
            first = min(self.running, key=lambda job: job.deadline)
            arrived = self.threads.next_result(min(end, first.deadline) - time.monotonic())
            if arrived is None:
                if time.monotonic() < first.deadline:
                    return None
                self.jobs.remove(first)
                arrived = first, first.failure(DeadlineError())
            job, reply = arrived
            if job in self.running:  # else it was abandoned, or has replied already
                self.running.discard(job)
                reply = self._crashed(job, reply) if isinstance(reply, BaseException) else reply
                self._record(job, reply)
                return job, reply
        return None

    def abandon(self, job: Job, message: str) -> ProviderReply:
        """Stop waiting for a job that is no longer needed; its request was sent and is counted."""
        self.running.discard(job)
        self.jobs.remove(job)
        reply = job.reply(Attempt(job.candidate.id, "skipped", 0, job.elapsed_ms(), cost=job.price, message=message))
        self._record(job, reply)
        return reply

    def finish(self) -> None:
        """Abandon what is still running, and wait for the others to write their answers to the cache."""
        deadline = time.monotonic() + FINISH_TIMEOUT_S
        for job in [*self.running]:
            self.abandon(job, "")
        for job in self.jobs:
            if job.thread and job.thread.is_alive():
                job.thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self, job: Job, accounts: list[Account], policy: Policy, key: str) -> ProviderReply:
        """Run in the thread of a job. The reply is posted before it is cached: the user should not wait for that."""
        if self.cache_use == "off" or job.candidate.adapter.offline:
            return self._query(job, accounts, policy)
        # A process that was stopped keeps the lock: a third of the time is enough to wait for it.
        with self.cache.single_flight(key, policy.timeout / 3):
            if reply := self._cached(job, key):  # another process made the same request while we waited for the lock
                return reply
            reply = self._query(job, accounts, policy)
            self.threads.post(job, reply)
            if reply.attempt.answered and not (reply.attempt.state == "empty" and reply.found.engines):
                self.cache.put(key, found_as_json(reply.found), self.selector.settings[CACHE_TTL] * 60)
            return reply

    def _query(self, job: Job, accounts: list[Account], policy: Policy) -> ProviderReply:
        """Query the provider, with its next key if one is invalid or rate limited."""
        adapter = job.candidate.adapter
        for account in accounts:
            try:
                found = limited(self._search(job, account, policy), account.secrets)
                if error := engines_failed(found):
                    raise error
                found = found._replace(cost=found.cost or (adapter.cost if account.key else 0.0))
                return job.answer(found)
            except ProviderError as error:
                logs.log("%s: %s %s", job.candidate.id, error.code, error.detail)
                reply = job.failure(error)
                if not isinstance(error, KeyInvalidError | RateLimitError):
                    break
                job.key_errors.append((account.key, error))
        return reply

    def _search(self, job: Job, account: Account, policy: Policy) -> Found:
        if self.recording is not None:
            return self.recording.search(job.candidate.adapter, job.query, account, policy)
        from sleuth_providers.net.client import HttpClient

        return job.candidate.adapter.search(job.query, account, HttpClient(policy))

    def _crashed(self, job: Job, problem: BaseException) -> ProviderReply:
        """Return the reply for a bug, or a failure of the system, which costs one provider and not the search."""
        from sleuth.base import os_errors

        logs.log("%s: %r", job.candidate.id, problem)
        if cause := os_errors.explain(problem):
            return job.failure(ProviderError(cause.message, **cause.values))
        error = ProviderError("{kind} while reading the answer; see --debug", kind=type(problem).__name__)
        return job.failure(error)

    def _cached(self, job: Job, key: str) -> ProviderReply | None:
        if self.cache_use != "use":
            return None
        entry = self.cache.get(key)
        if entry is None or (entry.expired and not self.request.offline):
            return None
        found = found_from_json(entry.value)
        if found is None:
            return None
        reply = job.answer(found)
        return reply._replace(attempt=reply.attempt._replace(cached=True, age=entry.age, cost=0.0))

    def _reserve(self, job: Job) -> ProviderError | None:
        """Count the request against the rate limits; returns an error when one is reached."""
        adapter, options = job.candidate.adapter, job.candidate.row.options
        minute, day = number_option(options, "per_minute"), number_option(options, "per_day")
        per_minute = adapter.per_minute if minute is None else int(minute)
        per_day = adapter.per_day if day is None else int(day)
        free_at = self.health.reserve(job.candidate.id, per_minute, per_day)
        job.reserved = bool(per_minute or per_day) and free_at is None
        if free_at is None:
            return None
        return RateLimitError(
            message="sleuth's own rate limit for {provider} is reached",
            hint="wait, or use another provider: sleuth search -p ID …",
            retry_after=max(0.0, free_at - time.time()),
        )

    def _record(self, job: Job, reply: ProviderReply) -> None:
        """Update cooldowns and the request log; an error of the database is only logged."""
        attempt, id = reply.attempt, job.candidate.id
        if job.candidate.adapter.offline or self.replays:
            return
        try:
            if attempt.cached:  # another process made the request; the journal counts the cache hit
                if job.reserved:
                    self.health.cancel(id)
                return
            for key, error in job.key_errors:
                self.health.note_outcome(keys.fingerprint(id, key), error.state, retry_after=error.retry_after)
                if attempt.answered or error is not job.error:  # one more request, with a key that failed
                    self.health.record(id, error.state, 0, 0.0, False)
            retry_after = job.error.retry_after if job.error else None
            quick = attempt.code == "UNREACHABLE" and attempt.elapsed_ms < 1000
            self.health.note_outcome(id, attempt.state, retry_after=retry_after, quick=quick)
            self.health.record(id, attempt.state, attempt.elapsed_ms, attempt.cost, job.reserved)
        except Exception as problem:
            logs.log("health: not written: %r", problem)
