"""Run providers in parallel: one thread each, the cache in front, a reply or an error from every one in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from math import inf

from sleuth.base import logs, tracing
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.engine.found import found_as_json, found_from_json, limit_found
from sleuth.engine.job import Job, ProviderReply, cache_key, engines_failed, without_key
from sleuth.engine.outcome import ABANDONED, Attempt
from sleuth.engine.pacing import request_limits
from sleuth.engine.query_fit import fit_query
from sleuth.engine.selector import Candidate, ProviderSelector, failed
from sleuth.store import keys
from sleuth.store.cache.disk import Cache
from sleuth.store.settings import CACHE_TTL
from sleuth_providers.base import Account, Found, Query
from sleuth_providers.errors import BadRequestError, DeadlineError, KeyInvalidError, ProviderError, RateLimitError
from sleuth_providers.net.policy import Policy
from sleuth_providers.threads import ThreadGroup
from sleuth_providers.translatable import Translatable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.engine.search import SearchRequest

GRACE_S = 0.2  # after the timeout of a provider, for its own error to arrive
MAX_PACING_S = 60.0  # for a request to a service that was just used
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
        self.at_end: Callable[[], object] = lambda: None  # runs when the results are out
        self.threads = ThreadGroup()
        self.jobs: list[Job] = []
        self.running: set[Job] = set()
        self.end = time.monotonic() + (request.timeout or inf)

    def start(
        self,
        candidate: Candidate,
        query: Query,
        max_wait: float = MAX_PACING_S,
        *,
        retries: bool = True,
        time_share: float = 1.0,
    ) -> Job | ProviderReply:
        """Start a job, or return a reply at once if no request is needed or possible.

        A request is not sent if pacing would delay it by more than `max_wait`, or if the time of the search is up.
        Without `retries`, a third-party service gets one attempt, because the next provider is a better choice.
        `time_share` is the part of the remaining time that the job may take.
        """
        adapter = candidate.adapter
        query, notes = fit_query(query, adapter, date_wanted=self.request.date_wanted)
        left = self.time_left()
        limit = left * time_share if self.request.timeout else self.request.provider_timeout
        policy = self.selector.policy(candidate, limit)
        job = Job(candidate, query, time.monotonic() + policy.timeout + GRACE_S, notes)
        try:
            unlogged = sum(one.candidate.id == candidate.id and not one.reserved for one in self.running)
            accounts = self.selector.accounts(candidate, any_key=self.replays, unlogged=unlogged)
        except (ProviderError, SleuthError) as error:
            return job.reply(failed(candidate, error))
        key = cache_key(candidate, accounts[0]._replace(host=self.selector.host(candidate)), query)
        if reply := self._cached(job, key):
            return reply
        if self.request.offline and not adapter.offline:
            message = tr("{provider} was skipped: offline, and not in the cache", provider=candidate.row.name)
            hint = tr("omit --offline, or search the library: sleuth search -p library …")
            return job.reply(Attempt(candidate.id, "skipped", message=message, hint=hint, code="OFFLINE"))
        if not left and not adapter.offline and not self.replays:
            message = tr("no time was left for a request to {provider}", provider=candidate.row.name)
            hint = tr(DeadlineError.hint)
            return job.reply(Attempt(candidate.id, "skipped", message=message, hint=hint, code=DeadlineError.code))
        job.third_party = not accounts[0].key and self.selector.is_third_party(candidate)
        if job.third_party and not retries:
            policy = policy._replace(attempts=1)
        if not self.replays and (reply := self._reserve(job, min(max_wait, left))):
            return reply
        job.price = adapter.cost if accounts[0].key else 0.0
        self.jobs.append(job)
        self.running.add(job)
        job.thread = self.threads.start(job, tracing.in_span(partial(self._work, job, accounts, policy, key)))
        return job

    def time_left(self) -> float:
        """Return the seconds until the time of the search is up, at least 0."""
        return max(0.0, self.end - time.monotonic())

    def run(self, requests: Sequence[tuple[Candidate, Query]], time_share: float = 1.0) -> list[ProviderReply]:
        """Run all requests in parallel and return their replies in the order given."""
        started = [self.start(candidate, query, time_share=time_share) for candidate, query in requests]
        replies: dict[Job, ProviderReply] = {}
        while arrived := self.next_reply():
            replies[arrived[0]] = arrived[1]
        return [replies[item] if isinstance(item, Job) else item for item in started]

    def next_reply(self, timeout: float = inf) -> tuple[Job, ProviderReply] | None:
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

    def abandon(self, job: Job, message: str, state: str = "skipped", code: str = ABANDONED) -> ProviderReply:
        """Stop waiting for a job that is no longer needed; its request is counted if it was sent."""
        self.running.discard(job)
        self.jobs.remove(job)
        job.abandoned.set()
        if job.pause and not job.is_sent:
            if job.reserved:
                self.health.cancel(job.candidate.id)
            return self._paced(job)
        attempt = Attempt(job.candidate.id, state, 0, job.elapsed_ms(), cost=job.price, message=message, code=code)
        reply = job.reply(attempt)
        self._record(job, reply)
        return reply

    def cached(self, candidates: Sequence[Candidate], queries: Sequence[Query]) -> list[ProviderReply]:
        """Return the replies of providers that are in the cache; expired ones only if the request is offline."""
        offline = Dispatcher(self.selector, self.cache, self.request._replace(offline=True))  # never starts a job
        started = [offline.start(one, query) for one in candidates if not one.adapter.offline for query in queries]
        found = [item for item in started if isinstance(item, ProviderReply) and item.attempt.cached]
        return [reply for reply in found if reply.attempt.fresh_s > 0 or self.request.offline]

    def finish(self) -> None:
        """Abandon what is still running, wait for the others to write their answers to the cache, and share counts."""
        deadline = time.monotonic() + FINISH_TIMEOUT_S
        for job in [*self.running]:
            self.abandon(job, "")
        for job in self.jobs:
            if job.thread and job.thread.is_alive():
                job.thread.join(max(0.0, deadline - time.monotonic()))
        self.health.share()
        self.at_end()

    def _work(self, job: Job, accounts: list[Account], policy: Policy, key: str) -> ProviderReply:
        """Run in the thread of a job. The reply is posted before it is cached: the user should not wait for that."""
        if self.cache_use == "off" or job.candidate.adapter.offline:
            return self._query(job, accounts, policy)
        wait = self.cache.single_flight(key, policy.timeout + job.pause) if self.cache_use == "use" else nullcontext()
        with wait:
            if reply := self._cached(job, key):  # another process made the same request while we waited for it
                return reply
            reply = self._query(job, accounts, policy)
            self.threads.post(job, reply)
            # The next page must come from the provider whose first page was shown.
            if reply.attempt.answered and not job.abandoned.is_set():
                self.cache.put(key, found_as_json(reply.found), self.selector.settings[CACHE_TTL] * 60)
            return reply

    def _query(self, job: Job, accounts: list[Account], policy: Policy) -> ProviderReply:
        """Query the provider, with its next key if one is invalid or rate limited, or at its next address."""
        adapter = job.candidate.adapter
        if job.abandoned.wait(job.pause):
            return job.failure(DeadlineError())
        job.is_sent, job.started = True, time.monotonic()
        until = min(time.monotonic() + policy.timeout, self.end)
        several_hosts = accounts[0].host != accounts[-1].host
        reply: ProviderReply | None = None
        for number, account in enumerate(accounts):
            left = max(0.0, until - time.monotonic()) / (len(accounts) - number if several_hosts else 1)
            policy = policy._replace(attempts=min(policy.attempts, job.left - job.sent), timeout=left)
            try:
                found = limit_found(self._search(job, account, policy), account.secrets)
                if error := engines_failed(found):
                    raise error
                found = found._replace(cost=(found.cost or adapter.cost) if account.key else 0.0)
                return job.answer(found, account.host if several_hosts else "", reply)
            except ProviderError as problem:
                error = problem if account.key else without_key(problem, adapter)
                source = keys.origin(job.candidate.row, adapter, self.selector.environ) or "table"
                if error.hint == KeyInvalidError.hint and source != "table":
                    source = keys.source_name(source)
                    error.hint = Translatable("check the key, which comes from {source}", source=source)
                logs.log("%s: %s %s", job.candidate.id, error.code, error.detail)
                reply = job.failure(error, account.secrets)
                if (
                    isinstance(error, BadRequestError)
                    or job.sent >= job.left
                    or (not several_hosts and not isinstance(error, KeyInvalidError | RateLimitError))
                ):
                    break
                job.key_errors.append((account.key or account.host, error))
        assert reply  # there is at least one account
        return reply

    def _search(self, job: Job, account: Account, policy: Policy) -> Found:
        if self.recording is not None:
            return self.recording.search(job.candidate.adapter, job.query, account, policy)
        from sleuth_providers.net.client import HttpClient

        client = HttpClient(policy)
        with tracing.span("provider request", {"sleuth.provider": job.candidate.id}, client=True) as span:
            try:
                found = job.candidate.adapter.search(job.query, account, client)
            finally:
                job.sent += client.sent
            span.set_attributes({"sleuth.results": len(found.results)})
        if skipped := getattr(found.results, "skipped", 0):
            logs.log_facts("%s: skipped %d results without a web address", job.candidate.id, skipped)
        return found

    def _crashed(self, job: Job, problem: BaseException) -> ProviderReply:
        """Return the reply for a bug, or a failure of the system, which costs one provider and not the search."""
        from sleuth.base import os_errors

        logs.log("%s: %r", job.candidate.id, problem)
        if cause := os_errors.explain(problem):
            return job.failure(ProviderError(cause.message, **cause.values))
        return job.failure(ProviderError("{kind} while parsing the response; see --debug", kind=type(problem).__name__))

    def _cached(self, job: Job, key: str) -> ProviderReply | None:
        if self.cache_use != "use":
            return None
        entry = self.cache.get(key)
        fresh_s = entry.fresh_for(self.selector.settings[CACHE_TTL] * 60) if entry else 0.0
        if entry is None or (fresh_s <= 0 and not self.request.offline):
            return None
        found = found_from_json(entry.value)
        if found is None:
            return None
        reply = job.answer(found)
        return reply._replace(attempt=reply.attempt._replace(cached=True, age=entry.age, fresh_s=fresh_s, cost=0.0))

    def _reserve(self, job: Job, max_wait: float) -> ProviderReply | None:
        """Count the request against the rate limits; returns a reply when one is reached."""
        limits = request_limits(job.candidate, third_party=job.third_party)
        slot = self.health.reserve(job.candidate.id, *limits, max_wait)
        wait = max(0.0, slot.at - time.time())
        job.reserved, job.left = slot.granted and any(limits[:3]), slot.left
        if slot.granted:
            job.pause = min(wait, max_wait)  # less than the wait if the clock was set back meanwhile
            if job.pause:
                job.deadline = min(job.deadline + job.pause, self.end + GRACE_S)
            return None
        if slot.paced:
            return self._paced(job)
        error = RateLimitError(
            message="the rate limit set in sleuth for {provider} is reached",
            hint="wait, or change it (0 means no limit): sleuth providers set {id} --option {option}=N",
            retry_after=wait,
            option="per_day" if wait > 60 or not limits.per_minute else "per_minute",
        )
        return job.reply(failed(job.candidate, error))

    def _paced(self, job: Job) -> ProviderReply:
        message = tr("{provider} was skipped: too soon after the last request", provider=job.candidate.row.name)
        return job.reply(Attempt(job.candidate.id, "skipped", message=message, code="PACED"))

    def _is_cut_short(self, job: Job) -> bool:
        """Tell whether a request was sent so late that --timeout left it less than half of its usual time."""
        usual = self.selector.policy(job.candidate, self.request.provider_timeout).timeout
        return self.end - job.started < min(usual, self.request.timeout or inf) / 2

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
            if job.host:
                self.health.note_outcome(keys.fingerprint(id, job.host), "ok")
            for key, error in job.key_errors:
                self.health.note_outcome(keys.fingerprint(id, key), error.state, retry_after=error.retry_after)
            earlier = [error for _, error in job.key_errors if attempt.answered or error is not job.error]
            for error in earlier:  # one more request each, with a key that failed
                self.health.record(id, error.state, 0, 0.0, False)
            retry_after = job.error.retry_after if job.error else None
            quick = attempt.code == "UNREACHABLE" and attempt.elapsed_ms < 1000
            name = self.selector.cooldown_name(job.candidate)
            if attempt.state != DeadlineError.state or not self._is_cut_short(job):
                keyless = job.third_party
                self.health.note_outcome(name, attempt.state, retry_after=retry_after, quick=quick, keyless=keyless)
            if reply.found.backoff > 0:
                self.health.note_backoff(id, reply.found.backoff)
            for _ in range(job.sent - 1 - len(earlier)):  # retries, and further requests of one search
                self.health.record(id, attempt.state, None, 0.0, False)
            self.health.record(id, attempt.state, attempt.elapsed_ms, attempt.cost, job.reserved)
        except Exception as problem:
            logs.log("health: not written: %r", problem)
