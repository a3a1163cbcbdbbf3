"""Who fails rests longer and longer; allowances hold between processes; usual times are learnt."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sleuth.store.database import open_database
from sleuth.store.health import MAX_COOLDOWN_S, Health
from sleuth.store.migrations import MIGRATIONS

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}


class Clock:
    """A clock the test turns."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "sleuth.db")


@pytest.fixture
def health(path: str) -> Iterator[Health]:
    with closing(open_database(path, MIGRATIONS)) as connection:
        yield Health(connection)


def reserve(health: Health, *arguments: Any) -> float | None:
    """Reserve a request; returns when the next one is allowed, if this one is not."""
    slot = health.reserve(*arguments)
    return None if slot.granted else slot.at


def cached_answer(health: Health) -> None:
    """Log an answer from the cache, as the import of the journal does."""
    row = ("x", time.time(), "ok", 1, True)
    health.connection.execute(
        "INSERT INTO request (provider, at, state, elapsed_ms, cached) VALUES (?, ?, ?, ?, ?)", row
    )


def minutes(health: Health, clock: Clock, name: str = "brave") -> float:
    rest = health.cooldown(name)
    return round((rest.until - clock.now) / 60, 2) if rest else 0.0


# Cooling down


@pytest.mark.parametrize("state", ["blocked", "rate_limited", "quota", "key_invalid"])
def test_refusal_starts_a_cooldown_that_grows(health: Health, clock: Clock, state: str) -> None:
    rests = []
    for _ in range(6):
        health.note_outcome("brave", state)
        rests.append(minutes(health, clock))
        clock.now += 4000
    assert rests == [1, 5, 25, 60, 60, 60]


@pytest.mark.parametrize("state", ["timeout", "bad_response", "unreachable"])
def test_third_failure_starts_a_cooldown(health: Health, clock: Clock, state: str) -> None:
    rests = []
    for _ in range(7):
        health.note_outcome("brave", state)
        rests.append(minutes(health, clock))
        clock.now += 4000
    assert rests == [0, 0, 1, 5, 25, 60, 60]


def test_failures_of_requests_at_the_same_time_are_one_strike(health: Health, clock: Clock) -> None:
    for _ in range(4):  # such as the questions of one search
        health.note_outcome("brave", "rate_limited", retry_after=90)
        health.note_outcome("brave", "rate_limited")
    assert minutes(health, clock) == 1.5
    clock.now += 100
    health.note_outcome("brave", "rate_limited")
    assert minutes(health, clock) == 5


@pytest.mark.parametrize("state", ["ok", "empty"])
def test_answer_ends_the_count_of_failures(health: Health, clock: Clock, state: str) -> None:
    for _ in range(3):
        health.note_outcome("brave", "blocked")
    health.note_outcome("brave", state)
    assert health.cooldown("brave") is None
    health.note_outcome("brave", "blocked")
    assert minutes(health, clock) == 1


@pytest.mark.parametrize("state", ["key_missing", "cooldown", "skipped"])
def test_other_states_start_no_cooldown(health: Health, clock: Clock, state: str) -> None:
    health.note_outcome("brave", state)
    assert health.cooldown("brave") is None
    health.note_outcome("brave", "blocked")
    health.note_outcome("brave", state)
    assert minutes(health, clock) == 1


def test_quick_failures_start_no_cooldown(health: Health) -> None:
    for _ in range(10):
        health.note_outcome("searxng", "unreachable", quick=True)
    assert health.cooldown("searxng") is None


def test_cooldown_ends_and_names_its_reason(health: Health, clock: Clock) -> None:
    health.note_outcome("brave", "blocked")
    rest = health.cooldown("brave")
    assert rest
    assert rest.state == "blocked"
    assert health.cooldown("brave", rest.until - 0.1)
    assert health.cooldown("brave", rest.until) is None


@pytest.mark.parametrize(
    ("retry_after", "rest"),
    [(None, 1), (0, 1), (30.0, 1), (600.0, 10), (1e300, MAX_COOLDOWN_S / 60), (float("inf"), MAX_COOLDOWN_S / 60)],
)
def test_retry_after_extends_the_cooldown_up_to_a_limit(
    health: Health, clock: Clock, retry_after: float | None, rest: float
) -> None:
    health.note_outcome("brave", "rate_limited", retry_after=retry_after)
    assert minutes(health, clock) == rest


def test_cooldown_of_a_wrong_clock_is_ignored(health: Health, clock: Clock) -> None:
    clock.now += 10 * 365 * 86400
    health.note_outcome("brave", "blocked")
    clock.now -= 10 * 365 * 86400
    assert health.cooldown("brave") is None


def test_keys_cool_down_one_by_one_and_are_reset_with_their_provider(health: Health) -> None:
    for name in ("a_b", "a_b#1234", "axb#1234", "a_b2#1234"):
        health.note_outcome(name, "quota")
    health.forget("a_b")
    assert [bool(health.cooldown(name)) for name in ("a_b", "a_b#1234", "axb#1234", "a_b2#1234")] == [
        False,
        False,
        True,
        True,
    ]


# Allowances


def test_provider_without_limits_is_not_counted(health: Health) -> None:
    assert [reserve(health, "brave", 0, 0) for _ in range(5)] == [None] * 5
    assert health.request_count("brave") == 0


def test_limit_per_minute_returns_the_next_free_time(health: Health, clock: Clock) -> None:
    start = clock.now
    for _ in range(3):
        assert reserve(health, "duckduckgo", 3, 0) is None
        clock.now += 10
    assert reserve(health, "duckduckgo", 3, 0) == start + 60
    assert reserve(health, "other", 3, 0) is None
    clock.now = start + 60
    assert reserve(health, "duckduckgo", 3, 0) is None
    assert reserve(health, "duckduckgo", 3, 0) == start + 70


def test_limit_per_day_holds(health: Health, clock: Clock) -> None:
    start = clock.now
    for _ in range(5):
        assert reserve(health, "google", 100, 5) is None
        clock.now += 3600
    assert reserve(health, "google", 100, 5) == start + 86400
    clock.now = start + 86400
    assert reserve(health, "google", 100, 5) is None


def test_both_limits_hold(health: Health, clock: Clock) -> None:
    for _ in range(2):
        assert reserve(health, "x", 2, 3) is None
    assert reserve(health, "x", 2, 3) == clock.now + 60
    clock.now += 61
    assert reserve(health, "x", 2, 3) is None
    assert reserve(health, "x", 2, 3) == clock.now - 61 + 86400


def test_cached_answers_do_not_count(health: Health) -> None:
    for _ in range(5):
        cached_answer(health)
    assert reserve(health, "x", 2, 0) is None


def test_reservation_counts_whatever_the_result(health: Health) -> None:
    for state in ("ok", "timeout"):
        assert reserve(health, "x", 2, 0) is None
        health.record("x", state, 10, 0.1, True)
    assert reserve(health, "x", 2, 0)
    rows = health.connection.execute("SELECT state, elapsed_ms, cost FROM request ORDER BY id").fetchall()
    assert [tuple(row) for row in rows] == [("ok", 10, 0.1), ("timeout", 10, 0.1)]


def test_request_is_logged_without_its_reservation(health: Health) -> None:
    health.record("x", "ok", 10, 0.0, True)
    assert health.request_count("x") == 1


def test_clock_set_back_a_little_frees_no_capacity(health: Health, clock: Clock) -> None:
    assert [reserve(health, "x", 2, 0) for _ in range(2)] == [None, None]
    clock.now -= 30
    assert reserve(health, "x", 2, 0)


def test_requests_of_a_clock_far_ahead_are_ignored(health: Health, clock: Clock) -> None:
    clock.now += 365 * 86400
    for _ in range(2):
        reserve(health, "x", 2, 2)
    clock.now -= 365 * 86400
    assert reserve(health, "x", 2, 2) is None


def test_read_only_database_stops_no_search(path: str, health: Health) -> None:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as connection:
        assert Health(connection).reserve("x", 2, 0).granted


RESERVER = """
import sys
from sleuth.store.database import open_database
from sleuth.store.health import Health
from sleuth.store.migrations import MIGRATIONS
health = Health(open_database(sys.argv[1], MIGRATIONS))
print("ready", flush=True)
sys.stdin.readline()
print(sum(health.reserve("duckduckgo", 20, 0).granted for _ in range(10)))
"""


def test_limit_holds_exactly_with_eight_processes(path: str, health: Health) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RESERVER, path],
            env=ENVIRON,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdout
        process.stdout.readline()
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    assert sum(int(process.communicate(timeout=300)[0]) for process in processes) == 20
    assert health.request_count("duckduckgo") == 20


# Learning


def test_usual_time_needs_five_answers(health: Health) -> None:
    for elapsed in (100, 200, 300, 400):
        health.record("x", "ok", elapsed, 0.0, False)
    assert health.usual_time("x") is None
    health.record("x", "timeout", 9000, 0.0, False)
    cached_answer(health)
    assert health.usual_time("x") is None
    health.record("x", "ok", 500, 0.0, False)
    assert health.usual_time("x") == 0.5


def test_usual_time_uses_the_last_twenty_answers(health: Health, clock: Clock) -> None:
    for elapsed in [9000] * 30 + [100] * 18 + [700, 800]:
        clock.now += 1
        health.record("x", "ok", elapsed, 0.0, False)
    assert health.usual_time("x") == 0.7


def test_usual_time_does_not_sink_when_slow_requests_are_abandoned(health: Health, clock: Clock) -> None:
    def usual(*requests: tuple[str, int]) -> float | None:
        health.connection.execute("DELETE FROM request")
        for state, elapsed in requests:
            clock.now += 1
            health.record("x", state, elapsed, 0.0, False)
        return health.usual_time("x")

    quick = [("ok", 100)] * 17 + [("ok", 200)]
    assert usual(*quick, ("skipped", 900)) == 0.2
    assert usual(*quick, ("skipped", 900), ("skipped", 900)) is None  # that is, more than 0.9 s
    assert usual(*quick, ("skipped", 10), ("skipped", 10)) == 0.1  # another one was faster
    assert usual(*[("skipped", 10)] * 5, *[("ok", 100)] * 4) is None
    assert usual(*[("empty", 300)] * 5) == 0.3


def test_further_requests_of_a_search_have_no_response_time(health: Health) -> None:
    for _ in range(3):
        health.record("x", "ok", None, 0.0, False)
        health.record("x", "ok", 400, 0.0, False)
    assert health.usual_time("x") is None
    for _ in range(10):
        health.record("y", "ok", None, 0.0, False)
    assert health.usual_time("y") is None


def test_old_requests_are_deleted(health: Health, clock: Clock) -> None:
    for _ in range(499):
        health.record("x", "ok", 1, 0.0, False)
    clock.now += 101 * 86400
    health.record("x", "ok", 1, 0.0, False)
    assert health.request_count("x") == 1


def test_request_count_grows_by_one_with_every_search(health: Health) -> None:
    turns = []
    for _ in range(3):
        turns.append(health.request_count("x"))
        health.record("x", "ok", None, 0.0, False)  # a retry, or a session
        health.record("x", "ok", 1, 0.0, False)
    assert turns == [0, 1, 2]


# Pacing


def test_requests_to_one_host_are_an_interval_apart(health: Health, clock: Clock) -> None:
    start = clock.now
    ids = ("local-bing", "bing-news")
    assert health.reserve("local-bing", 0, 0, 2.0, ids, 60.0).at == start
    assert health.reserve("bing-news", 0, 0, 2.0, ids, 60.0).at == start + 2
    assert health.reserve("local-bing", 0, 0, 2.0, ids, 60.0).at == start + 4
    assert health.reserve("arxiv", 0, 0, 3.0, ("arxiv",), 60.0).at == start
    clock.now += 30
    assert health.reserve("local-bing", 0, 0, 2.0, ids, 0.5).at == start + 30


def test_request_that_would_wait_too_long_is_not_counted(health: Health, clock: Clock) -> None:
    health.reserve("arxiv", 0, 0, 3.0, ("arxiv",), 0.5)
    slot = health.reserve("arxiv", 0, 0, 3.0, ("arxiv",), 0.5)
    assert (slot.at, slot.granted, slot.paced) == (clock.now + 3, False, True)
    assert health.request_count("arxiv") == 1


@pytest.mark.parametrize("state", ["blocked", "rate_limited", "quota"])
def test_keyless_service_that_refuses_cools_down_for_a_quarter_of_an_hour_and_then_longer(
    health: Health, clock: Clock, state: str
) -> None:
    pauses = []
    for _ in range(4):
        health.note_outcome("duckduckgo", state, keyless=True)
        pauses.append(minutes(health, clock, "duckduckgo"))
        clock.now += 4000
    assert pauses == [15, 30, 60, 60]
