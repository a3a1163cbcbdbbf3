"""The usage report as data, and its JSON form; see `usage_report` for how it is counted."""

import sqlite3
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.answers.answer import Answer
    from sleuth.answers.summary import Digest

OUTCOMES = ("success", "partial", "no_results", "failed")  # of a search
CURRENCY = "USD"


class Tally(Record):
    """Requests to one provider, or to all."""

    requests: int = 0
    answered: int = 0
    failed: int = 0
    cache_hits: int = 0  # answers that needed no request
    mean_ms: int | None = None  # of the answered requests
    p90_ms: int | None = None
    cost: float = 0.0
    states: Mapping[str, int] = {}

    @property
    def success_rate(self) -> float | None:
        """Return the share of finished requests that were answered."""
        return _ratio(self.answered, self.answered + self.failed)

    @property
    def error_rate(self) -> float | None:
        """Return the share of finished requests that failed."""
        return _ratio(self.failed, self.answered + self.failed)

    @property
    def cache_hit_rate(self) -> float | None:
        """Return the share of answers that came from the cache."""
        return _ratio(self.cache_hits, self.cache_hits + self.requests)


class Searches(Record):
    """Searches by outcome."""

    total: int = 0
    cached: int = 0
    mean_ms: int | None = None
    outcomes: Mapping[str, int] = {}


class AnswerTotals(Record):
    """Answers of one model, or of all: tokens, cost, time."""

    answers: int = 0
    rounds: float | None = None  # mean number of search rounds; summaries have none
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    mean_ms: int | None = None


class Day(Record):
    """The totals of one day."""

    date: str
    searches: int = 0
    requests: int = 0
    failed: int = 0
    cache_hits: int = 0
    answers: int = 0
    cost: float = 0.0


class UsageReport(Record):
    """The usage of some days, of all providers or of one."""

    days: tuple[Day, ...]
    provider: str  # empty for all
    searches: Searches
    total: Tally
    providers: Mapping[str, Tally]
    answers: AnswerTotals
    models: Mapping[str, AnswerTotals]  # the empty name stands for answers without a model

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to report."""
        return not (self.searches.total or self.total.requests or self.total.cache_hits or self.answers.answers)

    @property
    def cost(self) -> float:
        """Return the cost of providers and models together."""
        return self.total.cost + self.answers.cost


def record_answer(connection: sqlite3.Connection, answer: "Answer | Digest") -> None:
    """Log an answer, or a summary written by a model, without its text."""
    tokens = (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.cost)
    rounds, elapsed = getattr(answer, "rounds", None), getattr(answer, "elapsed_ms", None)  # a summary has neither
    connection.execute(
        "INSERT INTO answer (at, rounds, method, model, prompt_tokens, completion_tokens, cost, elapsed_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (time.time(), None if rounds is None else len(rounds), answer.method, answer.model, *tokens, elapsed),
    )


def usage_as_json(report: UsageReport) -> dict[str, Any]:
    """Return the published JSON form of a report."""
    models = [{"model": name or None} | _answers_as_json(totals) for name, totals in report.models.items()]
    return {
        "from": report.days[0].date,
        "to": report.days[-1].date,
        "provider": report.provider or None,
        "currency": CURRENCY,
        "cost": round(report.cost, 6),
        "searches": _camel_case(report.searches._asdict()),
        "requests": _tally_as_json(report.total),
        "providers": [{"provider": id} | _tally_as_json(tally) for id, tally in report.providers.items()],
        "answers": _answers_as_json(report.answers) | {"models": models},
        "days": [_camel_case(day._asdict()) for day in report.days],
    }


def _tally_as_json(tally: Tally) -> dict[str, Any]:
    rates = {name: getattr(tally, name) for name in ("success_rate", "error_rate", "cache_hit_rate")}
    fields = tally._asdict()
    return _camel_case({"total": fields.pop("requests")} | fields | rates)


def _answers_as_json(totals: AnswerTotals) -> dict[str, Any]:
    fields = totals._asdict()
    return _camel_case({"total": fields.pop("answers"), "rounds_per_answer": fields.pop("rounds")} | fields)


def _camel_case(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields under their published names: costs rounded to micro-dollars, other fractions to four digits."""
    return {_camel(name): _rounded(value, 6 if name == "cost" else 4) for name, value in fields.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _rounded(value: Any, digits: int) -> Any:
    return round(value, digits) if isinstance(value, float) else dict(value) if isinstance(value, Mapping) else value


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
