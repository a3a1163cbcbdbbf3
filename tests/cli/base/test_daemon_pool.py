"""A pool whose places are free again as soon as work is abandoned, without threads beyond a limit."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from sleuth.base.daemon_pool import MAX_ABANDONED, BusyError, DaemonThreadPool


class Client:
    """Counts the threads that have ended."""

    def __init__(self) -> None:
        self.closed = threading.Semaphore(0)

    def close(self) -> None:
        self.closed.release()


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_abandoned_work_frees_its_place_and_ends_its_thread(released: threading.Event) -> None:
    pool = DaemonThreadPool(Client(), 1, queue_size=0)
    started = threading.Event()
    stuck = pool.submit(lambda _: (started.set(), released.wait(300)))
    assert started.wait(300)
    with pytest.raises(BusyError):
        pool.submit(lambda _: None)
    for _ in range(2):
        pool.abandon(stuck)
    assert pool.submit(lambda _: "done").result(300) == "done"
    assert pool._abandoned == {stuck}
    released.set()
    assert pool.client.closed.acquire(timeout=300)


def test_queued_work_starts_when_running_work_is_abandoned(released: threading.Event) -> None:
    pool = DaemonThreadPool(Client(), 1)
    started = threading.Event()
    stuck = pool.submit(lambda _: (started.set(), released.wait(300)))
    assert started.wait(300)
    dropped, queued = pool.submit(lambda _: "dropped"), pool.submit(lambda _: "queued")
    pool.abandon(dropped)
    assert dropped.cancelled()
    pool.abandon(stuck)
    assert queued.result(300) == "queued"


def test_number_of_abandoned_threads_is_limited(released: threading.Event) -> None:
    pool = DaemonThreadPool(Client(), 1)
    futures: list[Future[bool]] = []
    for _ in range(MAX_ABANDONED + 1):
        started = threading.Event()
        futures.append(pool.submit(lambda _, started=started: started.set() or released.wait(300)))
        assert started.wait(300)
        pool.abandon(futures[-1])
    waiting = pool.submit(lambda _: "done")
    assert not waiting.running()
    assert len(pool._threads) == MAX_ABANDONED + 1
    released.set()
    assert waiting.result(300) == "done"


def test_abandoning_finished_work_changes_nothing() -> None:
    pool = DaemonThreadPool(Client(), 1, queue_size=0)
    future = pool.submit(lambda _: "done")
    assert future.result(300) == "done"
    pool.abandon(future)
    assert pool._abandoned == set()
