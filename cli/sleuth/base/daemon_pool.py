"""A bounded pool of daemon threads for blocking work."""

import asyncio
import math
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from sleuth.base.errors import SleuthError
from sleuth.base.tracing import in_span

CLOSE_TIMEOUT_S = 0.2  # for work that still runs when the pool is closed
MAX_ABANDONED = 4  # threads with abandoned work, for each thread of the pool
IDLE_TIMEOUT_S = 60.0  # after which a thread without work ends


class BusyError(SleuthError):
    """All threads work and the queue is full."""

    code = "BUSY"
    retry_after = 1  # seconds


class Closable(Protocol):
    """What the work of a pool uses."""

    def close(self) -> None:
        """Close what the current thread opened."""


C = TypeVar("C", bound=Closable)
T = TypeVar("T")


class DaemonThreadPool(Generic[C]):
    """A pool of daemon threads: unlike ThreadPoolExecutor, work that hangs never keeps the process from exiting."""

    def __init__(self, client: C, threads: int, queue_size: float = math.inf) -> None:
        self.client = client
        self._max_threads, self._max_pending = threads, threads + queue_size
        self._lock = threading.Lock()
        self._pending = 0  # queued or running
        self._abandoned: set[Future[Any]] = set()  # running, but nothing waits for them
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[C], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, work: Callable[[C], T]) -> "Future[T]":
        """Run work in a thread as soon as one is free; raises BusyError if the queue is full."""
        future: Future[T] = Future()
        with self._lock:
            if self._pending >= self._max_pending:
                raise BusyError("too many requests at the moment", "try again in a moment")
            self._pending += 1
            self._jobs.put((future, in_span(work)))
            self._add_thread()
        return future

    async def run(self, work: Callable[[C], T]) -> T:
        """Run work in a thread and wait for it; work that is cancelled in the queue never starts."""
        future = self.submit(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self.abandon(future)
            raise

    def abandon(self, future: "Future[Any]") -> None:
        """Drop work if it is queued; if it runs, a new thread takes the place of its thread, which ends with it."""
        if future.cancel():
            return
        with self._lock:
            has_room = len(self._abandoned) < MAX_ABANDONED * self._max_threads
            if has_room and not future.done() and future not in self._abandoned:
                self._abandoned.add(future)
                self._pending -= 1
                self._add_thread()

    def _add_thread(self) -> None:
        """Start a thread if there is work for one more; call it with the lock held."""
        if len(self._threads) - len(self._abandoned) < min(self._pending, self._max_threads):
            self._threads.append(threading.Thread(target=self._run, daemon=True))
            self._threads[-1].start()

    def close(self) -> None:
        """Stop every thread after its current work, and wait for them briefly."""
        threads = tuple(self._threads)
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            thread.join(CLOSE_TIMEOUT_S / len(threads))

    def _run(self) -> None:
        while (job := self._next()) and self._do(*job):
            del job
        self.client.close()

    def _do(self, future: Future[Any], work: Callable[[C], Any]) -> bool:
        """Do one job; False if the thread must end because another one has taken its place."""
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work(self.client))
            except BaseException as problem:
                future.set_exception(problem)
        with self._lock:
            if future not in self._abandoned:
                self._pending -= 1
                return True
            self._abandoned.remove(future)
            self._threads.remove(threading.current_thread())
            return False

    def _next(self) -> tuple[Future[Any], Callable[[C], Any]] | None:
        """Return the next job; None ends the thread, after a while without work."""
        with suppress(queue.Empty):
            return self._jobs.get(timeout=IDLE_TIMEOUT_S)
        with self._lock:
            if self._jobs.empty():
                self._threads.remove(threading.current_thread())
                return None
        return self._next()
