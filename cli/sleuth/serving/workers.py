"""Daemon threads that run blocking work for an event loop; shared by the MCP and HTTP servers."""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from sleuth.api import Client
from sleuth.base.errors import SleuthError

CLOSE_TIMEOUT_S = 0.2  # for work that still runs when the pool is closed

E = TypeVar("E")
T = TypeVar("T")


class BusyError(SleuthError):
    """All threads work and the queue is full."""

    code = "BUSY"


class WorkCancelledError(BaseException):
    """Nothing waits for the work any more. Not an Exception, so that no fallback takes it for a failed search."""


class WorkerPool:
    """A pool of daemon threads: unlike ThreadPoolExecutor, work that hangs never keeps the process from exiting."""

    def __init__(self, client: Client, threads: int, queue_size: int) -> None:
        self.client = client
        self._max_threads, self._max_pending = threads, threads + queue_size
        self._lock = threading.Lock()
        self._pending = 0  # queued or running
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[Client], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def submit(self, work: Callable[[Client], T]) -> "Future[T]":
        """Run work in a thread as soon as one is free; raises BusyError if the queue is full."""
        future: Future[T] = Future()
        with self._lock:
            if self._pending >= self._max_pending:
                raise BusyError("too many requests at the moment", "try again in a moment")
            self._pending += 1
            if len(self._threads) < min(self._pending, self._max_threads):
                self._threads.append(threading.Thread(target=self._run, daemon=True))
                self._threads[-1].start()
        self._jobs.put((future, work))
        return future

    async def run(self, work: Callable[[Client], T]) -> T:
        """Run work in a thread and wait for it; work that is cancelled in the queue never starts."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        """Stop every thread after its current work, and wait for them briefly."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(CLOSE_TIMEOUT_S / len(self._threads))

    def _run(self) -> None:
        while job := self._jobs.get():
            future, work = job
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(work(self.client))
            except BaseException as problem:
                future.set_exception(problem)
            finally:
                with self._lock:
                    self._pending -= 1
            del job, future, work
        self.client.close()


class StreamedWork(Generic[E, T]):
    """Work in a pool that reports events to the event loop and ends early when it is cancelled."""

    def __init__(self, pool: WorkerPool, work: Callable[[Client, Callable[[E], None]], T]) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[E | None] = asyncio.Queue()
        self._work, self._thread, self._cancelled = work, 0, False
        self._future = pool.submit(self._run)
        self._future.add_done_callback(lambda _: self._post(None))

    async def events(self, idle_s: float | None = None) -> AsyncIterator[E | None]:
        """Yield events until the work ends, and None whenever `idle_s` seconds pass without an event."""
        while True:
            try:
                event = await asyncio.wait_for(self._events.get(), idle_s)
            except TimeoutError:
                yield None
                continue
            if event is None:
                return
            yield event

    def result(self) -> T:
        """Return the result of the work, or raise its error; call it when `events` has ended."""
        return self._future.result(0)

    def cancel(self) -> None:
        """Drop the work if it is still queued; otherwise end it when it reports its next event."""
        self._cancelled = True
        self._future.cancel()

    def _run(self, client: Client) -> T:
        self._thread = threading.get_ident()
        return self._work(client, self._report)

    def _report(self, event: E) -> None:
        # Engines report from helper threads too, where raising would end only the helper.
        if self._cancelled and threading.get_ident() == self._thread:
            raise WorkCancelledError
        self._post(event)

    def _post(self, event: E | None) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
