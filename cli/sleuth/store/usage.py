"""The ledger as data: what was asked of whom, how that went, what it cost by estimate; and its JSON form."""

import sqlite3
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sleuth_providers.records import Record

OUTCOMES = ("success", "partial", "no_results", "failed")  # how a search can end

if TYPE_CHECKING:
    from sleuth.answers.answer import Answer
    from sleuth.answers.summary import Digest

CURRENCY = "USD"


class Tally(Record):
    """Requests to one provider, or to all."""

    requests: int = 0
    answered: int = 0
    failed: int = 0
    cache_hits: int = 0  # answers for which no request was needed
    mean_ms: int | None = None  # of those answered
    p90_ms: int | None = None
    cost: float = 0.0
    states: Mapping[str, int] = {}

    @property
    def success_rate(self) -> float | None:
        """Return the share of finished requests that were answered."""
        return _share(self.answered, self.answered + self.failed)

    @property
    def error_rate(self) -> float | None:
        """Return the share of finished requests that failed."""
        return _share(self.failed, self.answered + self.failed)

    @property
    def cache_hit_rate(self) -> float | None:
        """Return the share of all that was wanted from the provider which the cache had."""
        return _share(self.cache_hits, self.cache_hits + self.requests)


class Searches(Record):
    """What users and programs asked for."""

    total: int = 0
    cached: int = 0
    mean_ms: int | None = None
    outcomes: Mapping[str, int] = {}


class Spent(Record):
    """What answers took, of one model or of all."""

    answers: int = 0
    rounds: float | None = None  # of searching, for an answer; summaries have none
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    mean_ms: int | None = None


class Day(Record):
    """One day."""

    date: str
    searches: int = 0
    requests: int = 0
    failed: int = 0
    cache_hits: int = 0
    answers: int = 0
    cost: float = 0.0


class UsageReport(Record):
    """Some days of the ledger, of all providers or of one."""

    days: tuple[Day, ...]
    provider: str  # nothing for all of them
    searches: Searches
    total: Tally
    providers: Mapping[str, Tally]
    answers: Spent
    models: Mapping[str, Spent]  # nothing for answers without a model

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to report."""
        return not (self.searches.total or self.total.requests or self.total.cache_hits or self.answers.answers)

    @property
    def cost(self) -> float:
        """Return what providers and models cost together."""
        return self.total.cost + self.answers.cost


def record_answer(connection: sqlite3.Connection, answer: "Answer | Digest") -> None:
    """Add an answer, or a summary that a model wrote, to the ledger; nothing of what it says."""
    used = (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.cost)
    rounds, elapsed = getattr(answer, "rounds", None), getattr(answer, "elapsed_ms", None)  # a summary has neither
    connection.execute(
        "INSERT INTO answer (at, rounds, method, model, prompt_tokens, completion_tokens, cost, elapsed_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (time.time(), None if rounds is None else len(rounds), answer.method, answer.model, *used, elapsed),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def usage_as_json(report: UsageReport) -> dict[str, Any]:
    """Return the published JSON form of a report."""
    searches, answers = report.searches, report.answers
    return {
        "from": report.days[0].date,
        "to": report.days[-1].date,
        "provider": report.provider or None,
        "currency": CURRENCY,
        "cost": round(report.cost, 6),
        "searches": {
            "total": searches.total,
            "cached": searches.cached,
            "meanMs": searches.mean_ms,
            "outcomes": dict(searches.outcomes),
        },
        "requests": _tally_as_json(report.total),
        "providers": [{"provider": id} | _tally_as_json(tally) for id, tally in report.providers.items()],
        "answers": _spent_as_json(answers)
        | {"models": [{"model": name or None} | _spent_as_json(spent) for name, spent in report.models.items()]},
        "days": [_day_as_json(day) for day in report.days],
    }


def _tally_as_json(tally: Tally) -> dict[str, Any]:
    return {
        "total": tally.requests,
        "answered": tally.answered,
        "failed": tally.failed,
        "cacheHits": tally.cache_hits,
        "successRate": _rounded(tally.success_rate),
        "errorRate": _rounded(tally.error_rate),
        "cacheHitRate": _rounded(tally.cache_hit_rate),
        "meanMs": tally.mean_ms,
        "p90Ms": tally.p90_ms,
        "cost": round(tally.cost, 6),
        "states": dict(tally.states),
    }


def _spent_as_json(spent: Spent) -> dict[str, Any]:
    return {
        "total": spent.answers,
        "roundsPerAnswer": _rounded(spent.rounds),
        "promptTokens": spent.prompt_tokens,
        "completionTokens": spent.completion_tokens,
        "cost": round(spent.cost, 6),
        "meanMs": spent.mean_ms,
    }


def _day_as_json(day: Day) -> dict[str, Any]:
    return {
        "date": day.date,
        "searches": day.searches,
        "requests": day.requests,
        "failed": day.failed,
        "cacheHits": day.cache_hits,
        "answers": day.answers,
        "cost": round(day.cost, 6),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
