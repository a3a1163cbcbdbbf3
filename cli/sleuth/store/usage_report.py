"""Counting the ledger: some days of it become a report. Days are those of the user's clock."""

import sqlite3
import time
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from math import ceil
from typing import Any

from sleuth.store.usage import OUTCOMES, Day, Searches, Spent, Tally, UsageReport
from sleuth_providers.records import Record

ANSWERED = ("ok", "empty")
UNFINISHED = ("sent", "skipped")  # nobody waited for the answer: another provider was faster, or the user stopped it
# One walk through each table; a row from the future is of today. The index of requests is in the order of providers,
# and takes twice as long.
REQUESTS = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), provider, state, cached,
    count(*), total(cost), group_concat(elapsed_ms)
    FROM request NOT INDEXED WHERE at >= :since AND :provider IN ('', provider) GROUP BY 1, 2, 3, 4"""
SEARCHES = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), outcome, count(*), sum(cached), sum(elapsed_ms)
    FROM search WHERE at >= :since AND (:provider = '' OR instr(',' || providers || ',', ',' || :provider || ','))
    GROUP BY 1, 2"""
ANSWERS = """SELECT date(min(at, :now), 'unixepoch', 'localtime'), count(*), total(cost)
    FROM answer WHERE at >= :since AND :provider = '' GROUP BY 1"""
SPENT = """SELECT CASE WHEN :each THEN model ELSE '' END, count(*), avg(rounds), sum(prompt_tokens),
    sum(completion_tokens), total(cost), CAST(round(avg(elapsed_ms)) AS INTEGER)
    FROM answer WHERE at >= :since AND :provider = '' GROUP BY 1 ORDER BY 1"""


class _Requests(Record):
    """Requests of one day to one provider that ended alike."""

    day: str
    provider: str
    state: str
    cached: bool
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    cost: float
    times: str | None  # milliseconds, with commas between


def report(connection: sqlite3.Connection, days: int, provider: str = "") -> UsageReport:
    """Return what happened in the last days, today among them; answers are nobody's in particular."""
    now = int(time.time())  # SQLite takes the last half of a millisecond before midnight for the next day
    first = date.fromtimestamp(now) - timedelta(days=days - 1)
    since = datetime(first.year, first.month, first.day).timestamp()

    def rows(statement: str, **more: object) -> list[Any]:
        return connection.execute(statement, {"since": since, "now": now, "provider": provider} | more).fetchall()

    requests, searches = [_Requests(*row) for row in rows(REQUESTS)], rows(SEARCHES)
    tallies = _tallies(requests)
    spent, models = ({row[0]: Spent(*row[1:]) for row in rows(SPENT, each=each)} for each in (False, True))
    dates = [first + timedelta(days=number) for number in range(days)]
    return UsageReport(
        days=_days(dates, requests, searches, rows(ANSWERS)),
        provider=provider,
        searches=_searches(searches),
        total=tallies.pop("", Tally()),
        providers=dict(sorted(tallies.items(), key=lambda entry: (-entry[1].requests, entry[0]))),
        answers=spent.get("", Spent()),
        models=models,
    )


def _tallies(requests: Iterable[_Requests]) -> dict[str, Tally]:
    """Return the tally of each provider, and that of all under no name."""
    states: dict[str, dict[str, int]] = {}
    hits: dict[str, int] = {}
    costs: dict[str, float] = {}
    times: dict[str, list[int]] = {}
    for some in requests:
        took = [int(text) for text in (some.times or "").split(",") if text]
        for name in (some.provider, ""):
            counts = states.setdefault(name, {})
            costs[name] = costs.get(name, 0.0) + some.cost
            if some.cached:
                hits[name] = hits.get(name, 0) + some.count
                continue
            counts[some.state] = counts.get(some.state, 0) + some.count
            if some.state in ANSWERED:
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
    """Return each of the days, the empty ones too."""
    days = {day.isoformat(): Day(day.isoformat()) for day in dates}
    for some in requests:
        day = days[some.day]
        failed = 0 if some.cached or some.state in ANSWERED + UNFINISHED else some.count
        sent, hits = (0, some.count) if some.cached else (some.count, 0)
        days[some.day] = day._replace(
            requests=day.requests + sent,
            failed=day.failed + failed,
            cache_hits=day.cache_hits + hits,
            cost=day.cost + some.cost,
        )
    for name, _, count, *_ in searches:
        days[name] = days[name]._replace(searches=days[name].searches + count)
    for name, count, cost in answers:
        days[name] = days[name]._replace(answers=count, cost=days[name].cost + cost)
    return tuple(days.values())
