"""The ledger counts requests by provider, outcome and the user's own days, and never divides by nothing."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sleuth.answers.answer import Answer, Round
from sleuth.answers.llm.chat import Usage
from sleuth.answers.summary import Digest
from sleuth.engine.outcome import STATES
from sleuth.store.database import open_database
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.usage import OUTCOMES, Tally, record_answer, report, usage_as_json

DAY = 86400


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_database(str(tmp_path / "sleuth.db"), MIGRATIONS)) as connection:
        yield connection


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: at("Europe/Zurich", 2026, 6, 30, 12))


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move to another place on earth, and home again."""

    def move(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def request(ledger: sqlite3.Connection, provider: str = "brave", state: str = "ok", **values: Any) -> None:
    row = {"at": time.time(), "elapsed_ms": 100, "cached": False, "cost": 0.0} | values
    ledger.execute(
        "INSERT INTO request (provider, state, at, elapsed_ms, cached, cost)"
        " VALUES (:provider, :state, :at, :elapsed_ms, :cached, :cost)",
        row | {"provider": provider, "state": state},
    )


def search(ledger: sqlite3.Connection, providers: str = "brave", outcome: str = "success", **values: Any) -> None:
    row = {"at": time.time(), "elapsed_ms": 100, "cached": False, "providers": providers, "outcome": outcome} | values
    ledger.execute(
        "INSERT INTO search (at, providers, outcome, results, elapsed_ms, cached)"
        " VALUES (:at, :providers, :outcome, 5, :elapsed_ms, :cached)",
        row,
    )


def answer(model: str = "deepseek-flash", rounds: int = 1, cost: float = 0.0) -> Answer:
    spent = Usage(2, 1000, 200, cost=cost)
    past = tuple(Round(number, "words") for number in range(rounds))
    return Answer(
        "the question", "the text", "model" if model else "extractive", (), past, model=model, usage=spent, elapsed_ms=9
    )


def at(zone: str, *moment: int) -> float:
    return datetime(*moment, tzinfo=ZoneInfo(zone)).timestamp()  # type: ignore[arg-type,misc]  # year, month, day …


def test_report_without_data_is_empty(ledger: sqlite3.Connection) -> None:
    found = report(ledger, 7)
    assert found.is_empty
    document = usage_as_json(found)
    assert document["requests"]["successRate"] is document["answers"]["roundsPerAnswer"] is None
    assert [day["requests"] for day in document["days"]] == [0] * 7


def test_rates_count_finished_requests(ledger: sqlite3.Connection) -> None:
    for state in ("ok", "ok", "empty", "timeout", "skipped", "sent"):
        request(ledger, state=state)
    for _ in range(2):
        request(ledger, cached=True)
    tally = report(ledger, 1).providers["brave"]
    assert tally[:4] == (6, 3, 1, 2)
    assert [*tally.rates.values()] == [0.75, 0.25, 0.25]
    assert tally.states == {"empty": 1, "ok": 2, "sent": 1, "skipped": 1, "timeout": 1}


def test_every_state_counts_as_answered_failed_or_unfinished(ledger: sqlite3.Connection) -> None:
    for state in STATES:
        request(ledger, state=state)
    tally = report(ledger, 1).total
    assert (tally.requests, tally.answered) == (len(STATES), 2)
    assert tally.requests - tally.answered - tally.failed == 1
    assert sum(tally.states.values()) == len(STATES)


def test_times_count_answered_requests_only(ledger: sqlite3.Connection) -> None:
    for elapsed in range(1, 11):
        request(ledger, elapsed_ms=elapsed * 10)
    request(ledger, state="timeout", elapsed_ms=9000)
    request(ledger, cached=True, elapsed_ms=1)
    request(ledger, elapsed_ms=None)
    request(ledger, "exa", elapsed_ms=1000)
    found = report(ledger, 1)
    assert (found.providers["brave"].mean_ms, found.providers["brave"].p90_ms) == (55, 90)
    assert (found.total.mean_ms, found.total.p90_ms) == (141, 100)


def test_providers_are_ordered_by_use(ledger: sqlite3.Connection) -> None:
    for provider in ("exa", "you", "brave", "you"):
        request(ledger, provider, cost=0.005)
    request(ledger, "kagi", cached=True)
    found = report(ledger, 1)
    assert list(found.providers) == ["you", "brave", "exa", "kagi"]
    assert found.total.requests == sum(tally.requests for tally in found.providers.values()) == 4
    assert found.total.cost == pytest.approx(0.02)
    assert found.providers["kagi"].mean_ms is None


def test_report_of_one_provider(ledger: sqlite3.Connection) -> None:
    for provider in ("exa", "brave"):
        request(ledger, provider)
        search(ledger, provider)
    search(ledger, "exa,brave")
    search(ledger, "brave-too")
    record_answer(ledger, answer())
    found = report(ledger, 1, "brave")
    assert list(found.providers) == ["brave"]
    assert (found.total.requests, found.searches.total, found.answers.answers) == (1, 2, 0)
    assert (found.days[0].requests, found.days[0].searches, found.days[0].answers) == (1, 2, 0)
    assert usage_as_json(found)["provider"] == "brave"
    assert report(ledger, 1, "nobody").is_empty


def test_searches_are_counted_by_outcome(ledger: sqlite3.Connection) -> None:
    for number, outcome in enumerate(OUTCOMES, 1):
        for _ in range(number):
            search(ledger, outcome=outcome, cached=outcome == "success", elapsed_ms=number * 10)
    searches = report(ledger, 1).searches
    assert searches.outcomes == {"success": 1, "partial": 2, "no_results": 3, "failed": 4}
    assert (searches.total, searches.cached, searches.mean_ms) == (10, 1, 30)


def test_answers_are_counted_by_model_without_their_text(ledger: sqlite3.Connection) -> None:
    for rounds in (1, 2, 3):
        record_answer(ledger, answer(rounds=rounds, cost=0.002))
    record_answer(ledger, answer("", rounds=1)._replace(usage=Usage()))
    found = report(ledger, 1)
    assert found.answers[:5] == (4, 1.75, 3000, 600, pytest.approx(0.006))
    assert {name: spent.answers for name, spent in found.models.items()} == {"": 1, "deepseek-flash": 3}
    assert found.models["deepseek-flash"].rounds == 2.0
    assert (found.cost, found.days[0].cost) == (pytest.approx(0.006), pytest.approx(0.006))
    assert [entry["model"] for entry in usage_as_json(found)["answers"]["models"]] == [None, "deepseek-flash"]
    assert "the question" not in "".join(ledger.iterdump())


def test_summaries_have_tokens_and_no_rounds(ledger: sqlite3.Connection) -> None:
    record_answer(ledger, Digest("", (), (), method="model", model="m", usage=Usage(2, 500, 50, cost=0.001)))
    assert report(ledger, 1).answers == (1, None, 500, 50, 0.001, None)
    record_answer(ledger, answer("m", rounds=3))
    assert report(ledger, 1).models["m"][:3] == (2, 3.0, 1500)


@pytest.mark.parametrize(
    ("place", "day"), [("Asia/Tokyo", "2026-06-02"), ("UTC", "2026-06-01"), ("America/Los_Angeles", "2026-06-01")]
)
def test_days_are_in_the_local_time_zone(
    ledger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, zone: Callable[[str], None], place: str, day: str
) -> None:
    zone(place)
    request(ledger, at=at("UTC", 2026, 6, 1, 20))
    monkeypatch.setattr(time, "time", lambda: at("UTC", 2026, 6, 4, 12))
    assert [entry.date for entry in report(ledger, 5).days if entry.requests] == [day]


def test_day_on_which_the_clock_changes_is_one_day(
    ledger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, zone: Callable[[str], None]
) -> None:
    zone("Europe/Zurich")
    for day in (28, 29, 30):
        for hour in (0, 1, 12, 23):
            request(ledger, at=at("Europe/Zurich", 2026, 3, day, hour, 30))
    monkeypatch.setattr(time, "time", lambda: at("Europe/Zurich", 2026, 3, 30, 23, 59))
    assert [(day.date[-2:], day.requests) for day in report(ledger, 3).days] == [("28", 4), ("29", 4), ("30", 4)]
    assert [(day.date[-2:], day.requests) for day in report(ledger, 1).days] == [("30", 4)]


def test_row_from_the_future_counts_as_today(ledger: sqlite3.Connection, zone: Callable[[str], None]) -> None:
    zone("Europe/Zurich")
    request(ledger, at=time.time() + 9 * DAY)
    search(ledger, at=time.time() + 9 * DAY)
    found = report(ledger, 2)
    assert (found.total.requests, found.searches.total) == (1, 1)
    assert [(day.requests, day.searches) for day in found.days] == [(0, 0), (1, 1)]


def test_last_moment_of_a_day_belongs_to_it(
    ledger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, zone: Callable[[str], None]
) -> None:
    zone("Europe/Zurich")
    late = at("Europe/Zurich", 2026, 6, 1, 23, 59, 59) + 0.9998
    monkeypatch.setattr(time, "time", lambda: late)
    request(ledger)
    assert [(day.date, day.requests) for day in report(ledger, 1).days] == [("2026-06-01", 1)]


def test_older_days_are_left_out(ledger: sqlite3.Connection, zone: Callable[[str], None]) -> None:
    zone("Europe/Zurich")
    for month, day, hour in ((6, 30, 0), (6, 29, 23), (6, 27, 0), (5, 21, 12)):
        request(ledger, at=at("Europe/Zurich", 2026, month, day, hour))
    assert [report(ledger, days).total.requests for days in (1, 2, 4, 100)] == [1, 2, 3, 4]
    assert [len(report(ledger, days).days) for days in (1, 2, 100)] == [1, 2, 100]


def test_hundred_thousand_requests_are_counted(ledger: sqlite3.Connection) -> None:
    now = time.time()
    rows = [(f"p{n % 7}", now - n % 2_500_000, "ok", n % 900, n % 4 == 0, 0.001) for n in range(100_000)]
    ledger.execute("BEGIN")
    ledger.executemany(
        "INSERT INTO request (provider, at, state, elapsed_ms, cached, cost) VALUES (?, ?, ?, ?, ?, ?)", rows
    )
    ledger.execute("COMMIT")
    found = report(ledger, 30)
    assert (found.total.requests, found.total.cache_hits) == (75_000, 25_000)


def test_rate_of_nothing_is_none() -> None:
    assert [*Tally().rates.values()] == [None, None, None]
