"""Blocking work in daemon threads: results in order of completion, and no waiting past a deadline.

The caller waits on a queue, so Ctrl-C interrupts it. Work that is late keeps running and its result is dropped: Python
cannot stop a thread. When no thread can be started, the job fails with RuntimeError and the others go on.
"""

from __future__ import annotations

import queue
import threading
import time

TYPE_CHECKING = False  # typing is not free on the way to a search
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")


class ThreadGroup:
    """Jobs that run in one thread each and whose results arrive in one queue."""

    def __init__(self) -> None:
        self._results: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()

    def start(self, key: Any, job: Callable[[], Any]) -> threading.Thread:
        """Run a job; its return value, or the exception it raised, is posted under `key`."""
        thread = threading.Thread(target=self._run, args=(key, job), daemon=True)
        try:
            thread.start()
        except RuntimeError as problem:
            self.post(key, problem)
        return thread

    def post(self, key: Any, result: Any) -> None:
        """Report a result before the job ends; what the job returns later is posted as well."""
        self._results.put((key, result))

    def next_result(self, timeout: float | None = None) -> tuple[Any, Any] | None:
        """Return the next key and result; None if none arrives within `timeout` seconds."""
        try:
            return self._results.get(timeout=None if timeout is None else max(0.0, timeout))
        except queue.Empty:
            return None

    def _run(self, key: Any, job: Callable[[], Any]) -> None:
        try:
            self.post(key, job())
        except BaseException as problem:  # raised again, or reported, in the thread that waits
            self.post(key, problem)


def call_with_timeout(job: Callable[[], T], timeout: float) -> T:
    """Return what a job returns or raise what it raises; TimeoutError when it takes longer than `timeout` seconds."""
    return run_all([job], timeout)[0]


def run_parallel(jobs: Sequence[Callable[[], T]], timeout: float) -> Iterator[tuple[int, T | Exception]]:
    """Yield the index of each job and its result or error as they finish; late ones end with TimeoutError."""
    deadline = time.monotonic() + timeout
    group = ThreadGroup()
    for index, job in enumerate(jobs):
        group.start(index, job)
    waiting = set(range(len(jobs)))
    while waiting and (arrived := group.next_result(deadline - time.monotonic())):
        index, result = arrived
        waiting.discard(index)
        yield index, result if isinstance(result, Exception) else _unwrap(result)
    yield from ((index, TimeoutError(f"no answer within {timeout:g} seconds")) for index in sorted(waiting))


def run_all(jobs: Iterable[Callable[[], T]], timeout: float | None = None) -> list[T]:
    """Run jobs side by side and return their results in the order given; the first error is raised.

    TimeoutError when no further job ends within `timeout` seconds.
    """
    group = ThreadGroup()
    # In a tuple: an exception that is returned is not one that was raised.
    started = [group.start(index, lambda job=job: (job(),)) for index, job in enumerate(jobs)]  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    arrived = [group.next_result(timeout) for _ in started]
    if None in arrived:
        raise TimeoutError
    results: dict[int, Any] = dict(filter(None, arrived))
    return [_unwrap(results[index])[0] for index in range(len(started))]


def iterate_in_thread(items: Iterator[T]) -> Iterator[T]:
    """Start consuming an iterator in a thread at once, and return an iterator over what it yields."""
    group = ThreadGroup()

    def consume() -> None:
        for item in items:
            group.post(False, item)

    group.start(True, consume)  # its result marks the end

    def drain() -> Iterator[T]:
        for ended, item in iter(group.next_result, None):
            if ended:
                _unwrap(item)
                return
            yield item

    return drain()


def _unwrap(result: Any) -> Any:
    if isinstance(result, BaseException):
        raise result
    return result
