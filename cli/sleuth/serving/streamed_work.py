"""Work in a thread that reports events to an event loop; shared by the MCP and HTTP servers."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Generic, TypeVar

from sleuth.api import Client
from sleuth.base.daemon_pool import DaemonThreadPool

E = TypeVar("E")
T = TypeVar("T")
Workers = DaemonThreadPool[Client]


class WorkCancelledError(BaseException):
    """Nothing waits for the work any more. Not an Exception, so that no fallback takes it for a failed search."""


class StreamedWork(Generic[E, T]):
    """Work in a pool that reports events to the event loop and ends early when it is cancelled."""

    def __init__(self, pool: Workers, work: Callable[[Client, Callable[[E], None]], T]) -> None:
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[E | None] = asyncio.Queue()
        self._work, self._thread, self._cancelled = work, 0, False
        self._error: Exception | None = None
        self._pool, self._future = pool, pool.submit(self._run)
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
        if self._error:
            raise self._error
        return self._future.result(0)

    def stop(self, error: Exception) -> None:
        """End the events, with an error as the result; call it in the event loop."""
        self._error = error
        self._events.put_nowait(None)

    def cancel(self) -> None:
        """Drop the work if it is still queued; otherwise free its place now, and end it at its next event."""
        self._cancelled = True
        self._pool.abandon(self._future)

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
