"""Extracts pages in a few worker processes, which end at the deadline of their page and use all cores."""

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from sleuth.base import logs
from sleuth.pages.errors import NOT_READ, UnreadableError
from sleuth.pages.extract import ExtractedPage
from sleuth.pages.links import PageLink
from sleuth.pages.worker import CONTENT, GRACE_S, LINKS, run
from sleuth_providers.base import Response
from sleuth_providers.errors import DeadlineError, ProviderError

MAX_WORKERS = max(2, os.cpu_count() or 1)
PAGES_PER_WORKER = 10  # a worker takes half a second to start, in which one that runs already extracts so many
MAX_WAIT_S = 2.0  # without a finished page, since one may never end; then another worker is started
SPARE_WORKERS = 2  # beyond the limit, once pages have waited that long; twice as many for small pages
SMALL_PAGE_BYTES = 100_000
COMMAND = ("-P", "-m", "sleuth.pages.worker")  # -P: never import from the current folder
HAS_TIMER = hasattr(signal, "setitimer")  # so that the kernel ends a worker; elsewhere (Windows) this process does
BROKEN_PIPE = (OSError, EOFError, pickle.UnpicklingError)
RESULT_MODULES = (  # whose classes are unpickled: a worker that a page has compromised can send nothing else
    "sleuth.pages.blocks",
    "sleuth.pages.errors",
    "sleuth.pages.extract",
    "sleuth.pages.links",
    "sleuth_providers.errors",
    "sleuth_providers.translatable",
)


class ExtractionPool:
    """Worker processes, started when they are needed. When none can be started, this process does their work."""

    def __init__(self, limit: int = MAX_WORKERS) -> None:
        self.limit = limit
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._last_finished = 0.0  # when a worker became idle, on the monotonic clock
        self._changed = threading.Condition()

    def prepare(self, pages: int) -> None:
        """Start workers for a number of pages, so that they are ready when the pages arrive."""
        with self._changed:
            while len(self._workers) < min(self.limit, 1 + pages // PAGES_PER_WORKER) and self._start():
                continue

    def extract(self, reply: Response, requested: str, until: float) -> ExtractedPage:
        """Return the content of a response, or raise the ProviderError that says why it has no content."""
        return self._run(CONTENT, reply, requested, until)  # type: ignore[return-value]  # see worker.run

    def links(self, reply: Response, requested: str, until: float) -> list[PageLink]:
        """Return the links of a response; raise the ProviderError that says why there are none."""
        return self._run(LINKS, reply, requested, until)  # type: ignore[return-value]  # see worker.run

    def _run(self, job: str, reply: Response, requested: str, until: float) -> object:
        worker = self._acquire(until, len(reply.body))
        if worker is None:
            return run(job, reply, requested, until)
        try:
            result = worker.run(job, reply, requested, until - time.monotonic())
        except BROKEN_PIPE as problem:
            if time.monotonic() >= until:
                raise DeadlineError("reading it took too long", message=NOT_READ) from problem
            raise UnreadableError("the page needs too much memory or crashes the parser") from problem
        finally:
            self._release(worker)
        if isinstance(result, ProviderError):
            raise result
        return result

    def close(self) -> None:
        """End all workers."""
        with self._changed:
            for worker in self._workers:
                worker.end()
            self._workers, self._idle = [], []

    def _acquire(self, until: float, size: int) -> "_Worker | None":
        with self._changed:
            worker = self._next_idle(until, size)
        if worker and not worker.is_ready():
            logs.log("pages: a worker process ended at once")
            worker.end()
            self._release(worker)
            return None
        return worker

    def _next_idle(self, until: float, size: int) -> "_Worker | None":
        called, limit = time.monotonic(), self.limit + SPARE_WORKERS * (2 if size <= SMALL_PAGE_BYTES else 1)
        while not self._idle or len(self._workers) - len(self._idle) >= limit:
            now, late = time.monotonic(), max(called, self._last_finished) + MAX_WAIT_S
            if not self._workers or (now >= late and len(self._workers) < limit):
                if not self._start():
                    return None
            elif now >= until:
                raise DeadlineError("too many pages at once", message=NOT_READ)
            else:
                self._changed.wait((min(until, late) if now < late else until) - now)
        return self._idle.pop()

    def _start(self) -> bool:
        try:
            worker = _Worker()
        except (OSError, ValueError) as problem:
            logs.log("pages: worker processes cannot be started: %r", problem)
            return False
        if not self._workers:
            atexit.register(self.close)
        self._workers.append(worker)
        self._idle.append(worker)
        return True

    def _release(self, worker: "_Worker") -> None:
        with self._changed:
            self._last_finished = time.monotonic()
            if worker.process.poll() is None and len(self._idle) < self.limit:
                self._idle.append(worker)
            elif worker in self._workers:
                worker.end()
                self._workers.remove(worker)
            self._changed.notify_all()  # one of those waiting may not be allowed to use it


class _Worker:
    """A process of `sleuth.pages.worker` and the pipes to it."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter with one of sleuth's modules
            [sys.executable, *COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
        )
        self._greeted = False

    def is_ready(self) -> bool:
        """Wait until the worker runs; False if it does not."""
        with suppress(*BROKEN_PIPE):
            self._greeted = self._greeted or self._receive() is not None
            return True
        return False

    def run(self, job: str, reply: Response, requested: str, timeout: float) -> object:
        assert self.process.stdin
        timer = threading.Timer(timeout + GRACE_S, self.process.kill)
        if not HAS_TIMER:
            timer.start()
        try:
            pickle.dump((job, reply, requested, timeout), self.process.stdin, pickle.HIGHEST_PROTOCOL)
            self.process.stdin.flush()
            return self._receive()
        except BROKEN_PIPE:
            self.end()
            raise
        finally:
            timer.cancel()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in filter(None, (self.process.stdin, self.process.stdout)):
            with suppress(OSError):  # what was not sent yet
                stream.close()

    def _receive(self) -> object:
        assert self.process.stdout
        return _ResultUnpickler(self.process.stdout).load()


class _ResultUnpickler(pickle.Unpickler):
    """Creates pages, blocks and errors, and nothing else."""

    def find_class(self, module: str, name: str) -> object:
        found = super().find_class(module, name) if module in RESULT_MODULES else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return found


POOL = ExtractionPool()  # of this process
