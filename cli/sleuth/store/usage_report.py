"""Count the logged requests, searches and answers of some days, in the local time zone."""

import sqlite3
import time
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from math import ceil
from typing import Any

from sleuth.store.usage import OUTCOMES, AnswerTotals, Day, Searches, Tally, UsageReport
from sleuth_providers.records import Record

ANSWERED = ("ok", "empty")
UNFINISHED = ("sent", "skipped")  # abandoned: another provider was faster, or the user interrupted
# One scan per table; rows from the future count as today. NOT INDEXED: the index, ordered by provider, takes twice as
# long.
REQUESTS = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), provider, state, cached,
    count(*), total(cost), group_concat(elapsed_ms)
    FROM request NOT INDEXED WHERE at >= :since AND :provider IN ('', provider) GROUP BY 1, 2, 3, 4"""
SEARCHES = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), outcome, count(*), sum(cached), sum(elapsed_ms)
    FROM search WHERE at >= :since AND (:provider = '' OR instr(',' || providers || ',', ',' || :provider || ','))
    GROUP BY 1, 2"""
ANSWERS = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), count(*), total(cost)
    FROM answer WHERE at >= :since AND :provider = '' GROUP BY 1"""
ANSWER_TOTALS = """SELECT CASE WHEN :each THEN model ELSE '' END, count(*), avg(rounds), sum(prompt_tokens),
    sum(completion_tokens), total(cost), CAST(round(avg(elapsed_ms)) AS INTEGER)
    FROM answer WHERE at >= :since AND :provider = '' GROUP BY 1 ORDER BY 1"""


class _Requests(Record):
    """Requests of one day to one provider with the same result."""

    day: str
    provider: str
    state: str
    cached: bool
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used here
    cost: float
    times: str | None  # milliseconds, comma-separated


def report(connection: sqlite3.Connection, days: int, provider: str = "") -> UsageReport:
    """Return the usage of the last days, today included; answers do not belong to a provider."""
    now = int(time.time())  # SQLite rounds the last half millisecond before midnight up to the next day
    first = date.fromtimestamp(now) - timedelta(days=days - 1)
    since = datetime(first.year, first.month, first.day).timestamp()

    def rows(statement: str, **more: object) -> list[Any]:
        return connection.execute(statement, {"since": since, "now": now, "provider": provider} | more).fetchall()

    requests, searches = [_Requests(*row) for row in rows(REQUESTS)], rows(SEARCHES)
    tallies = _tallies(requests)
    overall, models = (
        {row[0]: AnswerTotals(*row[1:]) for row in rows(ANSWER_TOTALS, each=each)} for each in (False, True)
    )
    dates = [first + timedelta(days=number) for number in range(days)]
    return UsageReport(
        days=_days(dates, requests, searches, rows(ANSWERS)),
        provider=provider,
        searches=_searches(searches),
        total=tallies.pop("", Tally()),
        providers=dict(sorted(tallies.items(), key=lambda entry: (-entry[1].requests, entry[0]))),
        answers=overall.get("", AnswerTotals()),
        models=models,
    )


def _tallies(requests: Iterable[_Requests]) -> dict[str, Tally]:
    """Return the tally of each provider, and that of all under the empty name."""
    states: dict[str, dict[str, int]] = {}
    hits: dict[str, int] = {}
    costs: dict[str, float] = {}
    times: dict[str, list[int]] = {}
    for group in requests:
        took = [int(text) for text in (group.times or "").split(",") if text]
        for name in (group.provider, ""):
            counts = states.setdefault(name, {})
            costs[name] = costs.get(name, 0.0) + group.cost
            if group.cached:
                hits[name] = hits.get(name, 0) + group.count
                continue
            counts[group.state] = counts.get(group.state, 0) + group.count
            if group.state in ANSWERED:
                times.setdefault(name, []).extend(took)
    return {name: _tally(states[name], hits.get(name, 0), times.get(name, []), costs[name]) for name in states}


def _tally(states: Mapping[str, int], hits: int, times: list[int], cost: float) -> Tally:
    answered = sum(states.get(state, 0) for state in ANSWERED)
    unfinished = sum(states.get(state, 0) for state in UNFINISHED)
    requests = sum(states.values())
    times.sort()
    return Tally(
        requests,
        answered,
        requests - answered - unfinished,
        hits,
        round(sum(times) / len(times)) if times else None,
        times[ceil(len(times) * 0.9) - 1] if times else None,
        cost,
        dict(sorted(states.items())),
    )


def _searches(rows: Iterable[Any]) -> Searches:
    outcomes = dict.fromkeys(OUTCOMES, 0)
    cached = elapsed = 0
    for _, outcome, count, from_cache, took in rows:
        outcomes[outcome] = outcomes.get(outcome, 0) + count
        cached, elapsed = cached + from_cache, elapsed + took
    total = sum(outcomes.values())
    return Searches(total, cached, round(elapsed / total) if total else None, outcomes)


def _days(
    dates: Iterable[date], requests: Iterable[_Requests], searches: Iterable[Any], answers: Iterable[Any]
) -> tuple[Day, ...]:
    """Return every day, empty ones included."""
    days = {day.isoformat(): Day(day.isoformat()) for day in dates}
    for group in requests:
        day = days[group.day]
        failed = 0 if group.cached or group.state in ANSWERED + UNFINISHED else group.count
        sent, hits = (0, group.count) if group.cached else (group.count, 0)
        days[group.day] = day._replace(
            requests=day.requests + sent,
            failed=day.failed + failed,
            cache_hits=day.cache_hits + hits,
            cost=day.cost + group.cost,
        )
    for name, _, count, *_ in searches:
        days[name] = days[name]._replace(searches=days[name].searches + count)
    for name, count, cost in answers:
        days[name] = days[name]._replace(answers=count, cost=days[name].cost + cost)
    return tuple(days.values())
