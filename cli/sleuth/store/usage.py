"""The usage report: count the logged requests, searches and answers of some days, in the local time zone."""

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING, Any

from sleuth.base.json_output import camel_case
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.answers.answer import Answer
    from sleuth.answers.summary import Digest
    from sleuth.store.cache.redis.server import RedisServer

OUTCOMES = ("success", "partial", "no_results", "failed")  # of a search
ANSWERED = ("ok", "empty")
TEAM_LACKS = ("searches", "answers", "cacheHits", "cacheHitRate", "p90Ms")  # of the published fields
UNFINISHED = ("sent", "skipped")  # abandoned: another provider was faster, or the user interrupted
# One scan per table; rows from the future count as today. NOT INDEXED: the index, ordered by provider, takes twice as
# long.
REQUESTS = """SELECT date(min(at, :now), 'unixepoch', 'localtime') AS day, provider, state, cached,
    count(*) AS count, total(cost) AS cost, group_concat(elapsed_ms) AS times
    FROM request NOT INDEXED WHERE at >= :since AND :provider IN ('', provider) GROUP BY 1, 2, 3, 4"""
SEARCHES = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), outcome, count(*), sum(cached), sum(elapsed_ms)
    FROM search WHERE at >= :since AND (:provider = '' OR instr(',' || providers || ',', ',' || :provider || ','))
    GROUP BY 1, 2"""
ANSWERS = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), count(*), total(cost)
    FROM answer WHERE at >= :since AND :provider = '' GROUP BY 1"""
ANSWER_TOTALS = """SELECT CASE WHEN :each THEN model ELSE '' END, count(*), avg(rounds), sum(prompt_tokens),
    sum(completion_tokens), total(cost), CAST(round(avg(elapsed_ms)) AS INTEGER)
    FROM answer WHERE at >= :since AND :provider = '' GROUP BY 1 ORDER BY 1"""


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
    def rates(self) -> dict[str, float | None]:
        """Return the shares of finished requests that were answered and that failed, and of answers from the cache."""
        finished = self.answered + self.failed
        return {
            "success_rate": _ratio(self.answered, finished),
            "error_rate": _ratio(self.failed, finished),
            "cache_hit_rate": _ratio(self.cache_hits, self.cache_hits + self.requests),
        }


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
    total: Tally
    providers: Mapping[str, Tally]
    searches: Searches = Searches()
    answers: AnswerTotals = AnswerTotals()
    models: Mapping[str, AnswerTotals] = {}  # the empty name means answers without a model
    is_team: bool = False  # of all machines that share a server, which counts requests only

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to report."""
        return not (self.searches.total or self.total.requests or self.total.cache_hits or self.answers.answers)

    @property
    def cost(self) -> float:
        """Return the cost of providers and models together."""
        return self.total.cost + self.answers.cost


def report(connection: sqlite3.Connection, days: int, provider: str = "") -> UsageReport:
    """Return the usage of the last days, today included; answers do not belong to a provider."""
    now = int(time.time())  # SQLite rounds the last half millisecond before midnight up to the next day
    first = date.fromtimestamp(now) - timedelta(days=days - 1)
    since = datetime(first.year, first.month, first.day).timestamp()

    def rows(statement: str, **more: object) -> list[Any]:
        return connection.execute(statement, {"since": since, "now": now, "provider": provider} | more).fetchall()

    requests, searches = rows(REQUESTS), rows(SEARCHES)
    providers = {row["provider"] for row in requests}
    tallies = {name: _tally([row for row in requests if row["provider"] == name]) for name in providers}
    totals = (rows(ANSWER_TOTALS, each=each) for each in (False, True))
    overall, models = ({row[0]: AnswerTotals(*row[1:]) for row in found} for found in totals)
    dates = [first + timedelta(days=number) for number in range(days)]
    return UsageReport(
        days=_days(dates, requests, searches, rows(ANSWERS)),
        provider=provider,
        searches=_searches(searches),
        total=_tally(requests),
        providers=_sorted(tallies),
        answers=overall.get("", AnswerTotals()),
        models=models,
    )


def team_report(server: "RedisServer", days: int, provider: str = "") -> UsageReport:
    """Return the requests of all machines on the last days in UTC; raises RedisUnavailableError."""
    from sleuth.store.cache.redis.usage import MICRO, read_counts

    today = datetime.now(UTC).date()
    dates = [today - timedelta(days=number) for number in reversed(range(days))]
    counts = list(read_counts(server, [day.isoformat() for day in dates], provider))
    group = {"state": "ok", "cached": 0, "cost": 0.0, "times": ""}
    requests = [group | row | {"state": row["what"]} for row in counts if row["what"] not in ("ms", "timed", "cost")]
    requests += [group | row | {"count": 0, "cost": row["count"] / MICRO} for row in counts if row["what"] == "cost"]

    def tally(name: str = "") -> Tally:
        own = [row for row in counts if name in ("", row["provider"])]
        times, number = (sum(row["count"] for row in own if row["what"] == what) for what in ("ms", "timed"))
        found = _tally([row for row in requests if name in ("", row["provider"])])
        return found._replace(mean_ms=round(times / number) if number else None)

    names: set[str] = {row["provider"] for row in counts}
    providers = _sorted({name: tally(name) for name in names})
    return UsageReport(_days(dates, requests, [], []), provider, tally(), providers, is_team=True)


def _sorted(tallies: dict[str, Tally]) -> dict[str, Tally]:
    return dict(sorted(tallies.items(), key=lambda entry: (-entry[1].requests, entry[0])))


def _tally(groups: list[Any]) -> Tally:
    sent = [group for group in groups if not group["cached"]]
    states = sum((Counter({group["state"]: group["count"]}) for group in sent), Counter[str]())
    times = ",".join(group["times"] for group in sent if group["state"] in ANSWERED and group["times"])
    elapsed = sorted(map(int, times.split(","))) if times else []
    answered = sum(states[state] for state in ANSWERED)
    return Tally(
        states.total(),
        answered,
        states.total() - answered - sum(states[state] for state in UNFINISHED),
        sum(group["count"] for group in groups if group["cached"]),
        round(sum(elapsed) / len(elapsed)) if elapsed else None,
        elapsed[ceil(len(elapsed) * 0.9) - 1] if elapsed else None,
        sum(group["cost"] for group in groups),
        dict(sorted(states.items())),
    )


def _searches(rows: list[Any]) -> Searches:
    outcomes = dict.fromkeys(OUTCOMES, 0)
    for _, outcome, count, *_ in rows:
        outcomes[outcome] = outcomes.get(outcome, 0) + count
    total, elapsed = sum(outcomes.values()), sum(row[4] for row in rows)
    return Searches(total, sum(row[3] for row in rows), round(elapsed / total) if total else None, outcomes)


def _days(dates: list[date], requests: list[Any], searches: list[Any], answers: list[Any]) -> tuple[Day, ...]:
    """Return every day, empty ones included."""
    days: dict[str, Counter[str]] = {day.isoformat(): Counter() for day in dates}
    for group in requests:
        totals = days[group["day"]]
        totals["cost"] += group["cost"]
        totals["cache_hits" if group["cached"] else "requests"] += group["count"]
        if not group["cached"] and group["state"] not in ANSWERED + UNFINISHED:
            totals["failed"] += group["count"]
    for day, _, count, *_ in searches:
        days[day]["searches"] += count
    for day, count, cost in answers:
        days[day].update(answers=count, cost=cost)
    return tuple(Day(day, **totals) for day, totals in days.items())


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
    document = {
        "from": report.days[0].date,
        "to": report.days[-1].date,
        "provider": report.provider or None,
        "currency": "USD",
        "cost": round(report.cost, 6),
        "searches": _rounded(report.searches._asdict()),
        "requests": _tally_as_json(report.total),
        "providers": [{"provider": id} | _tally_as_json(tally) for id, tally in report.providers.items()],
        "answers": _answers_as_json(report.answers) | {"models": models},
        "days": [_rounded(day._asdict()) for day in report.days],
    }
    return _without(TEAM_LACKS, document) if report.is_team else document


def _without(names: tuple[str, ...], value: Any) -> Any:
    """Return a JSON value without the members of some names, however deep."""
    if isinstance(value, list):
        return [_without(names, item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _without(names, member) for name, member in value.items() if name not in names}


def _tally_as_json(tally: Tally) -> dict[str, Any]:
    fields = tally._asdict()
    return _rounded({"total": fields.pop("requests")} | fields | tally.rates)


def _answers_as_json(totals: AnswerTotals) -> dict[str, Any]:
    fields = totals._asdict()
    return _rounded({"total": fields.pop("answers"), "rounds_per_answer": fields.pop("rounds")} | fields)


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields under their published names: costs rounded to micro-dollars, other fractions to four digits."""
    return camel_case(
        {
            name: round(value, 6 if name == "cost" else 4) if isinstance(value, float) else value
            for name, value in fields.items()
        }
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
