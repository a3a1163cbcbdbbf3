"""Count the logged requests, searches and answers of some days, in the local time zone."""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable
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
    groups: dict[str, list[_Requests]] = {}
    for group in requests:
        for name in (group.provider, ""):
            groups.setdefault(name, []).append(group)
    return {name: _tally(members) for name, members in groups.items()}


def _tally(groups: list[_Requests]) -> Tally:
    sent = [group for group in groups if not group.cached]
    states: Counter[str] = Counter()
    for group in sent:
        states[group.state] += group.count
    times = [group.times.split(",") for group in sent if group.state in ANSWERED and group.times]
    elapsed = sorted(int(time) for part in times for time in part)
    answered = sum(states[state] for state in ANSWERED)
    return Tally(
        states.total(),
        answered,
        states.total() - answered - sum(states[state] for state in UNFINISHED),
        sum(group.count for group in groups if group.cached),
        round(sum(elapsed) / len(elapsed)) if elapsed else None,
        elapsed[ceil(len(elapsed) * 0.9) - 1] if elapsed else None,
        sum(group.cost for group in groups),
        dict(sorted((state, count) for state, count in states.items() if count)),
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
