"""Asking providers side by side: a thread each, the cache in front, an answer or a reason from every one in time."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Sequence

from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.engine.found import found_as_json, found_from_json
from sleuth.engine.limits import limited
from sleuth.engine.outcome import Attempt
from sleuth.engine.selector import Candidate, ProviderSelector, failed
from sleuth.store import keys
from sleuth.store.cache.disk import Cache
from sleuth.store.health import Health
from sleuth.store.provider_table import number_option
from sleuth_providers.base import Account, Found, Query
from sleuth_providers.errors import (
    BlockedError,
    DeadlineError,
    KeyInvalidError,
    ProviderError,
    RateLimitError,
    UnavailableError,
)
from sleuth_providers.net.policy import Policy
from sleuth_providers.records import Record

try:
    from _blake2 import blake2b
except ImportError:  # hashlib has it too, but loads OpenSSL first, which takes longer than an answer from the cache
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.engine.recording import Recorder, Replayer

GRACE = 0.2  # seconds after a provider's own time limit before it is given up
MIN_ASKED = 10  # results are cheap to ask for and needed for filtering and fusion


class DispatchPlan(Record):
    """How a search may use the network and the cache."""

    cache: str = "use"  # use | refresh | off
    offline: bool = False
    timeout: float | None = None
    seconds_kept: float = 900.0


class ProviderReply(Record):
    """What came of asking one provider one question."""

    candidate: Candidate
    query: Query
    attempt: Attempt
    found: Found = Found()


class _Told(Record):
    """Trouble with one key, to be remembered by the main thread."""

    key: str
    error: ProviderError


class Job:
    """One provider working on one question in a thread of its own."""

    def __init__(self, candidate: Candidate, query: Query, until: float) -> None:
        self.candidate, self.query, self.until = candidate, query, until
        self.started = time.monotonic()
        self.told: list[_Told] = []
        self.price = 0.0  # of an answer nobody waited for, by estimate
        self.thread: threading.Thread | None = None
        self.reserved = False
        self.error: ProviderError | None = None

    def elapsed_ms(self) -> int:
        """Return how long it has been working."""
        return round((time.monotonic() - self.started) * 1000)


class Dispatcher:
    """Starts jobs and collects their replies; the database is touched by the calling thread alone."""

    def __init__(
        self,
        selector: ProviderSelector,
        health: Health,
        cache: Cache,
        plan: DispatchPlan,
        recording: Recorder | Replayer | None = None,
        meanwhile: Callable[[], object] | None = None,
    ) -> None:
        self.selector, self.health, self.cache, self.plan, self.recording = selector, health, cache, plan, recording
        self.replays = recording is not None and recording.replays
        self.meanwhile = meanwhile  # what can be done while the first answer is on its way
        self.replies: queue.SimpleQueue[tuple[Job, ProviderReply]] = queue.SimpleQueue()
        self.jobs: list[Job] = []
        self.running: set[Job] = set()

    def start(self, candidate: Candidate, query: Query) -> Job | ProviderReply:
        """Begin to ask; the reply comes at once when nobody needs to be asked."""
        adapter = candidate.adapter
        query = query._replace(
            count=min(max(query.count, MIN_ASKED), adapter.max_results), text=query.text[: adapter.max_query]
        )
        if query.dated and adapter.reads_language:
            query = query._replace(text=f"{query.text} (today is {query.today})")
        policy = self.selector.policy(candidate, self.plan.timeout)
        job = Job(candidate, query, time.monotonic() + policy.timeout + GRACE)
        try:
            accounts = self.selector.accounts(candidate, any_key=self.replays)
        except (ProviderError, SleuthError) as error:
            return ProviderReply(candidate, query, failed(candidate, error))
        key = cache_key(candidate, accounts[0], query)
        if known := self._cached(job, key):
            return known
        if self.plan.offline and not adapter.offline:
            message = tr("{provider} was not asked: offline, and not in the cache", provider=candidate.row.name)
            hint = tr("leave --offline out, or ask the library: sleuth search --offline …")
            return ProviderReply(
                candidate, query, Attempt(candidate.id, "skipped", message=message, hint=hint, code="OFFLINE")
            )
        if not self.replays and (over := self._over_limit(job)):
            return ProviderReply(candidate, query, failed(candidate, over))
        logs.hide(*(secret for account in accounts for secret in account.secrets))
        job.price = adapter.cost if accounts[0].key else 0.0
        job.thread = threading.Thread(target=self._work, args=(job, accounts, policy, key), daemon=True)
        self.jobs.append(job)
        self.running.add(job)
        job.thread.start()
        return job

    def next_reply(self, timeout: float) -> tuple[Job, ProviderReply] | None:
        """Wait for whoever answers next, at most `timeout` seconds; jobs past their limit are given up as timed out."""
        end = time.monotonic() + timeout
        if self.running and self.meanwhile:
            self.meanwhile()
            self.meanwhile = None
        while self.running:
            first_limit = min(job.until for job in self.running)
            pause = min(end, first_limit) - time.monotonic()
            try:
                job, reply = self.replies.get(timeout=max(pause, 0.0))
            except queue.Empty:
                late = next((job for job in self.running if job.until <= time.monotonic()), None)
                if late is None:
                    return None
                job, reply = late, self._gave_up(late)
            if job in self.running:
                self.running.discard(job)
                self._remember(job, reply)
                return job, reply
        return None

    def abandon(self, job: Job, message: str) -> ProviderReply:
        """Stop waiting for a job that is no longer needed; its request was made, and counts."""
        self.running.discard(job)
        self.jobs.remove(job)
        attempt = Attempt(job.candidate.id, "skipped", 0, job.elapsed_ms(), cost=job.price, message=message)
        reply = ProviderReply(job.candidate, job.query, attempt)
        self._remember(job, reply)
        return reply

    def finish(self, patience: float = 5.0) -> None:
        """Let threads that have answered put their answers into the cache; the others were interrupted."""
        end = time.monotonic() + patience
        for job in [*self.running]:
            self.abandon(job, "")
        for job in self.jobs:
            if job.thread and job not in self.running:
                job.thread.join(max(0.0, end - time.monotonic()))

    def _work(self, job: Job, accounts: list[Account], policy: Policy, key: str) -> None:
        if self.plan.cache == "off" or job.candidate.adapter.offline:
            self._ask(job, accounts, policy)
            return
        with self.cache.single(key, policy.timeout):
            if known := self._cached(job, key):  # somebody else asked the same while we waited for our turn
                self.replies.put((job, known))
                return
            reply = self._ask(job, accounts, policy)
            if reply and reply.attempt.answered and not (reply.attempt.state == "empty" and reply.found.engines):
                self.cache.put(key, found_as_json(reply.found), self.plan.seconds_kept)

    def _ask(self, job: Job, accounts: list[Account], policy: Policy) -> ProviderReply | None:
        """Ask with one key after the other while a key is what is wrong; post the reply."""
        candidate, query = job.candidate, job.query
        reply: ProviderReply | None = None
        for account in accounts:
            try:
                found = limited(self._search(job, account, policy), account.secrets)
                if silent := engines_failed(found):
                    raise silent
                found = found._replace(cost=found.cost or (candidate.adapter.cost if account.key else 0.0))
                reply = ProviderReply(candidate, query, answered(job, found), found)
                break
            except ProviderError as error:
                job.error = error
                logs.log("%s: %s %s", candidate.id, error.code, error.detail)
                reply = ProviderReply(candidate, query, failed(candidate, error, job.elapsed_ms()))
                if not isinstance(error, KeyInvalidError | RateLimitError):
                    break
                job.told.append(_Told(account.key, error))
            except (Exception, SystemExit) as problem:  # a fault of ours must cost one provider, not the search
                from sleuth.base import os_errors

                logs.log("%s: %r", candidate.id, problem)
                accident = str(os_errors.explain(problem) or "")
                kind = type(problem).__name__
                fault = ProviderError(accident or f"{kind} while reading the answer; --debug tells more")
                reply = ProviderReply(candidate, query, failed(candidate, fault, job.elapsed_ms()))
                break
        if reply:
            self.replies.put((job, reply))
        return reply

    def _search(self, job: Job, account: Account, policy: Policy) -> Found:
        if self.recording is not None:
            return self.recording.search(job.candidate.adapter, job.query, account, policy)
        from sleuth_providers.net.client import HttpClient

        return job.candidate.adapter.search(job.query, account, HttpClient(policy))

    def _cached(self, job: Job, key: str) -> ProviderReply | None:
        if self.plan.cache != "use":
            return None
        entry = self.cache.get(key)
        if entry is None or (entry.expired and not self.plan.offline):
            return None
        found = found_from_json(entry.value)
        if found is None:
            return None
        attempt = answered(job, found)._replace(cached=True, age=entry.age, cost=0.0)
        return ProviderReply(job.candidate, job.query, attempt, found)

    def _over_limit(self, job: Job) -> ProviderError | None:
        adapter, options = job.candidate.adapter, job.candidate.row.options
        set_minute, set_day = number_option(options, "per_minute"), number_option(options, "per_day")
        per_minute = adapter.per_minute if set_minute is None else int(set_minute)
        per_day = adapter.per_day if set_day is None else int(set_day)
        free_at = self.health.reserve(job.candidate.id, per_minute, per_day)
        job.reserved = bool(per_minute or per_day) and free_at is None
        if free_at is None:
            return None
        return RateLimitError(
            message="{provider} has been asked as often as sleuth allows",
            hint="wait, or ask another provider: sleuth search -p ID …",
            retry_after=max(0.0, free_at - time.time()),
        )

    def _gave_up(self, job: Job) -> ProviderReply:
        self.jobs.remove(job)
        job.error = DeadlineError()
        return ProviderReply(job.candidate, job.query, failed(job.candidate, job.error, job.elapsed_ms()))

    def _remember(self, job: Job, reply: ProviderReply) -> None:
        """Keep the health of a provider and the count of its requests; a database that fails costs nothing else."""
        attempt, id = reply.attempt, job.candidate.id
        if job.candidate.adapter.offline or self.replays:
            return
        try:
            if attempt.cached:  # somebody else asked in the meantime; the journal counts that
                if job.reserved:
                    self.health.give_back(id)
                return
            for told in job.told:
                self.health.note(keys.fingerprint(id, told.key), told.error.state, retry_after=told.error.retry_after)
                if attempt.answered or told.error is not job.error:  # one more request, with a key in vain
                    self.health.record(id, told.error.state, 0, False, 0.0, False)
            retry_after = job.error.retry_after if job.error else None
            quick = attempt.code == "UNREACHABLE" and attempt.elapsed_ms < 1000
            self.health.note(id, attempt.state, retry_after=retry_after, quick=quick)
            self.health.record(id, attempt.state, attempt.elapsed_ms, False, attempt.cost, job.reserved)
        except Exception as problem:
            logs.log("health: not written: %r", problem)


def answered(job: Job, found: Found) -> Attempt:
    """Return the record of an answer."""
    adapter = job.candidate.adapter
    return Attempt(
        job.candidate.id,
        "ok" if found.results or found.answers else "empty",
        len(found.results),
        job.elapsed_ms(),
        cost=found.cost,
        not_applied=adapter.not_applied(job.query) + tuple(clean(name, 60) for name in found.not_applied),
        engines=safe_engines(found),
    )


def engines_failed(found: Found) -> ProviderError | None:
    """Return the error of an answer that is empty because the engines behind the provider failed."""
    if found.results or found.answers or not found.engines:
        return None
    reasons = ", ".join(f"{engine}: {reason}" for engine, reason in sorted(safe_engines(found).items()))
    texts = " ".join(found.engines.values()).lower()
    kind: Callable[..., ProviderError] = UnavailableError
    if "captcha" in texts or "denied" in texts:
        kind = BlockedError
    elif "too many" in texts:
        kind = RateLimitError
    elif "timeout" in texts:
        kind = DeadlineError
    return kind(
        reasons, message="none of the engines of {provider} answered", hint="see what is wrong: sleuth doctor --verbose"
    )


def safe_engines(found: Found) -> dict[str, str]:
    """Return which engines failed and why, fit to be shown."""
    return {clean(engine, 60): clean(reason, 120) for engine, reason in found.engines.items()}


def cache_key(candidate: Candidate, account: Account, query: Query) -> str:
    """Return the name of an answer: the provider, and everything that changes what it says."""
    folded = " ".join(query.text.lower().split())
    parts: Sequence[Any] = (
        candidate.id,
        account.host,
        sorted(account.engines),
        account.browser,
        {name: str(value) for name, value in account.options.items()},
        query._replace(text=folded, today="")._asdict(),
    )
    return blake2b(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode(), digest_size=32).hexdigest()
