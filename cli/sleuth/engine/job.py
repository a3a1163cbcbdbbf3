"""One query to one provider: the job, its reply, and the key under which the answer is cached."""

from __future__ import annotations

import json
import sys
import time
from threading import Event

from sleuth.base.i18n import tr
from sleuth.base.text import clean, redact
from sleuth.base.urls import mask_login
from sleuth.engine.outcome import Attempt
from sleuth.engine.selector import Candidate, failed
from sleuth.store.cache.rendered import digest
from sleuth_providers import errors
from sleuth_providers.base import Account, Found, Provider, Query
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Thread
    from typing import Any


NOTHING = Found()
# The error of a failed engine by a word in its reason.
ENGINE_ERRORS: dict[str, type[errors.ProviderError]] = {
    **dict.fromkeys(("captcha", "denied"), errors.BlockedError),
    "too many": errors.RateLimitError,
    "timeout": errors.DeadlineError,
}


class ProviderReply(Record):
    """The result of one query to one provider."""

    candidate: Candidate
    query: Query
    attempt: Attempt
    found: Found = NOTHING
    round: int = 1  # of the requests of a search; those of further pages, or of longer lists, come later


class Job:
    """One provider working on one query in a thread."""

    def __init__(self, candidate: Candidate, query: Query, deadline: float, notes: tuple[str, ...] = ()) -> None:
        self.candidate, self.query, self.deadline, self.notes = candidate, query, deadline, notes
        self.started = time.monotonic()
        self.key_errors: list[tuple[str, errors.ProviderError]] = []  # recorded by the main thread
        self.host = ""  # that answered, of several
        self.price = 0.0  # estimated, if the answer is abandoned
        self.thread: Thread | None = None
        self.reserved, self.left = False, sys.maxsize  # requests that the limits of the provider allow
        self.third_party = False  # used without a key, on a host that is not the user's
        self.pause = 0.0  # seconds until it is this request's turn
        self.is_sent, self.abandoned = False, Event()
        self.sent = 0  # HTTP requests
        self.error: errors.ProviderError | None = None

    def elapsed_ms(self) -> int:
        """Return the time since the job was started."""
        return round((time.monotonic() - self.started) * 1000)

    def reply(self, attempt: Attempt, found: Found = NOTHING) -> ProviderReply:
        """Return the reply of this job."""
        return ProviderReply(self.candidate, self.query, attempt, found)

    def answer(self, found: Found, host: str = "", earlier: ProviderReply | None = None) -> ProviderReply:
        """Return the reply for an answer; of several hosts with the one that sent it, after an earlier one failed."""
        self.host = host
        place = mask_login(host)
        note = tr("{message}; {host} answered", message=earlier.attempt.message, host=place) if host and earlier else ""
        adapter, reported = self.candidate.adapter, tuple(clean(name, 60) for name in found.not_applied)
        attempt = Attempt(
            self.candidate.id,
            "ok" if found.results or found.answers else "empty",
            len(found.results),
            self.elapsed_ms(),
            cost=found.cost,
            not_applied=adapter.not_applied(self.query) + reported + self.notes,
            engines=_safe_engines(found),
            message=note,
        )
        return self.reply(attempt, found)

    def failure(self, error: errors.ProviderError, secrets: tuple[str, ...] = ()) -> ProviderReply:
        """Return the reply for an error, which may quote what the server repeated of a key."""
        self.error = error
        attempt = failed(self.candidate, error, self.elapsed_ms())._replace(engines=_safe_engines(error))
        return self.reply(attempt._replace(message=redact(attempt.message, secrets)))


def engines_failed(found: Found) -> errors.ProviderError | None:
    """Return the error for an answer that is empty because the engines behind the provider failed."""
    if found.results or found.answers or not found.engines:
        return None
    reasons = ", ".join(f"{engine}: {reason}" for engine, reason in sorted(_safe_engines(found).items()))
    texts = " ".join(found.engines.values()).lower()
    error_type = next((kind for word, kind in ENGINE_ERRORS.items() if word in texts), errors.UnavailableError)
    error = error_type(reasons, message="all engines of {provider} failed", hint="diagnose it: sleuth doctor --verbose")
    error.engines = found.engines
    return error


def without_key(error: errors.ProviderError, adapter: Provider) -> errors.ProviderError:
    """Return the error for a request that was sent without a key, so that no key can have been rejected."""
    if not isinstance(error, errors.KeyInvalidError) or error.message != errors.KeyInvalidError.message:
        return error  # its own message, for example that a server requires a password
    if adapter.env:
        return errors.KeyRequiredError(error.detail, status=error.status)
    return errors.BlockedError(error.detail, message="{provider} refused the request", status=error.status)


def _safe_engines(found: Found | errors.ProviderError) -> dict[str, str]:
    """Return the failed engines and their reasons, safe to display."""
    return {clean(engine, 60): clean(reason, 120) for engine, reason in found.engines.items()}


def cache_key(candidate: Candidate, account: Account, query: Query) -> str:
    """Return a hash of everything that determines the answer of a provider."""
    options = {name: str(value) for name, value in account.options.items()}
    return hashed([candidate.id, account.host, account.engines, account.browser, options], query)


def hashed(parts: list[Any], *queries: Query) -> str:
    """Return a key of the cache for queries and what else determines the entry."""
    asked = [query._replace(text=" ".join(query.text.lower().split()), today="")._asdict() for query in queries]
    return digest(json.dumps([*parts, *asked], sort_keys=True, ensure_ascii=False).encode()).decode()
