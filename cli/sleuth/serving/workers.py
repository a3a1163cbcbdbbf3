"""A few threads that do the engine's work for the event loop; what finds no place is turned away."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from sleuth.api import Client
from sleuth.serving.http.errors import busy

PATIENCE = 0.2  # seconds for what still runs when everything ends

Work = Callable[[Client], Any]


class Workers:
    """Threads with an engine room each. They are daemons: work that hangs never keeps the process from ending."""

    def __init__(self, client: Client, size: int, room: int) -> None:
        self.client = client
        self._jobs: queue.Queue[tuple[Future[Any], Work] | None] = queue.Queue(room)
        self._size = size
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin, one thread after the other; raises what is wrong with settings or database."""
        for _ in range(self._size):
            opened: Future[None] = Future()
            self._threads.append(threading.Thread(target=self._work, args=(opened,), daemon=True))
            self._threads[-1].start()
            opened.result()

    def submit(self, work: Work) -> "Future[Any]":
        """Have work done as soon as a thread is free."""
        future: Future[Any] = Future()
        try:
            self._jobs.put_nowait((future, work))
        except queue.Full:
            raise busy() from None
        return future

    def close(self) -> None:
        """Let every thread end after what it is doing, and wait a moment for that."""
        for _ in self._threads:
            try:
                self._jobs.put_nowait(None)
            except queue.Full:
                break
        for thread in self._threads:
            thread.join(PATIENCE / self._size)

    def _work(self, opened: "Future[None]") -> None:
        try:
            self.client.runtime.selector  # noqa: B018 - by turns: the registry and the language are shared by all threads
        except BaseException as problem:
            opened.set_exception(problem)
            return
        opened.set_result(None)
        while job := self._jobs.get():
            future, work = job
            if not future.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            try:
                future.set_result(work(self.client))
            except BaseException as problem:
                future.set_exception(problem)
            del job, future, work
        self.client.close()
