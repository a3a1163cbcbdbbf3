"""Jobs in threads: order of completion, timeouts, errors, and running out of threads."""

import threading
import time
from collections.abc import Iterator

import pytest

from sleuth_providers.threads import ThreadGroup, call_with_timeout, iterate_in_thread, run_all, run_parallel

NEVER = threading.Event()  # never set: a job that waits for it outlives every deadline


def test_call_returns_the_result_or_raises_the_error() -> None:
    assert call_with_timeout(lambda: 7, 60) == 7
    with pytest.raises(ZeroDivisionError):
        call_with_timeout(lambda: 1 // 0, 60)


def test_call_that_never_ends_times_out() -> None:
    with pytest.raises(TimeoutError):
        call_with_timeout(NEVER.wait, 0)


def test_results_arrive_in_order_of_completion() -> None:
    first_is_done = threading.Event()
    results = run_parallel([first_is_done.wait, lambda: "quick", lambda: 1 // 0], 60)
    arrived = [next(results), next(results)]
    first_is_done.set()
    arrived.append(next(results))
    assert next(results, None) is None
    assert [index for index, _ in arrived][2] == 0
    found = dict(arrived)
    assert (found[0], found[1]) == (True, "quick")
    assert isinstance(found[2], ZeroDivisionError)


def test_late_jobs_end_with_a_timeout_after_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    results = run_parallel([NEVER.wait, lambda: True, NEVER.wait], 30)
    assert next(results) == (1, True)
    now = 31.0
    late = "no answer within 30 seconds"
    assert [(index, str(result)) for index, result in results] == [(0, late), (2, late)]


def test_exit_of_a_job_ends_the_caller() -> None:
    def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        list(run_parallel([leave], 60))


def test_run_all_keeps_the_order_and_raises_errors() -> None:
    second_is_done = threading.Event()

    def first() -> str:
        second_is_done.wait()
        return "a"

    def second() -> str:
        second_is_done.set()
        return "b"

    assert run_all([first, second]) == ["a", "b"]
    assert run_all([]) == []
    returned = OSError("returned, not raised")
    assert run_all([lambda: returned]) == [returned]
    assert call_with_timeout(lambda: returned, 60) is returned
    with pytest.raises(ZeroDivisionError):
        run_all([first, lambda: str(1 // 0)])


def test_iterator_runs_before_it_is_consumed_and_passes_errors_on() -> None:
    finished = threading.Event()

    def numbers() -> Iterator[int]:
        yield 1
        yield 2
        finished.set()
        raise ZeroDivisionError

    items = iterate_in_thread(numbers())
    finished.wait()
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_early_result_is_followed_by_the_return_value() -> None:
    group = ThreadGroup()

    def job() -> str:
        group.post("key", "early")
        return "late"

    thread = group.start("key", job)
    assert thread.daemon
    assert [group.next_result(), group.next_result()] == [("key", "early"), ("key", "late")]
    assert group.next_result(0) is None


def test_job_fails_when_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        call_with_timeout(lambda: 7, 60)
