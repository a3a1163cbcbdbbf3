"""Progress on stderr while pages are read or an answer is made: a line on a terminal, or JSON lines."""

import json
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from sleuth.base.i18n import tr, trn
from sleuth.base.process import terminal_columns
from sleuth.base.text import clean, fit
from sleuth.base.urls import domain
from sleuth.pages.page import PageEvent
from sleuth.runtime import Runtime

if TYPE_CHECKING:
    from sleuth.answers import answer
    from sleuth.engine.search import JobState

REDRAW_INTERVAL_S = 1.0
SHOW_ELAPSED_AFTER_S = 2
MIN_REDRAW_S = 0.05  # between two redraws, so that a thousand events a second cost nothing
SHOW_WAITING_AFTER_S = 0.3
WAITING_INTERVAL_S = 0.1
ERASE_LINE = "\r\x1b[K"


class Progress:
    """Progress of one operation; `kind` is auto, line, json or none."""

    def __init__(self, runtime: Runtime, kind: str) -> None:
        self.err = runtime.stderr
        self.kind = kind if kind != "auto" else "line" if runtime.stderr.isatty() else "none"
        self._line, self._since, self._drawn = "", 0.0, 0.0
        self._lock = threading.Lock()
        self._finished = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        self.clear()

    def __call__(self, event: PageEvent) -> None:
        """Report one page."""
        if self.kind == "json":
            ok = event.page.ok if event.page else None
            message = {"event": "web_search_fetching", "kind": event.kind, "url": event.url, "ok": ok}
            self._write_json(message | {"done": event.done, "total": event.total})
        else:
            text = tr("reading {done}/{total}", done=event.done, total=event.total)
            self.show(f"{text} · {domain(event.url)}")

    def follow(self, event: "answer.ProgressEvent") -> None:
        """Report a step towards an answer."""
        if self.kind == "json":
            self._write_json(event.as_json())
        else:
            self.show(clean(event.message, 500, entities=False))

    def count_pages(self, count: int) -> None:
        """Report how many pages were added so far."""
        self.show(trn("{count} page", "{count} pages", count))

    def clear(self) -> None:
        """Erase the line."""
        with self._lock:
            if self._line:
                self._line = ""
                self._write(ERASE_LINE)

    def show(self, text: str) -> None:
        """Show a text as the line."""
        if self.kind != "line":
            return
        if not self._since:
            threading.Thread(target=self._redraw, daemon=True).start()
        with self._lock:
            self._line, self._since = text, time.monotonic()
            if self._since - self._drawn > MIN_REDRAW_S:  # else the thread draws it
                self._draw()

    def _redraw(self) -> None:
        """Redraw the line so that its elapsed time moves."""
        while not self._finished.wait(REDRAW_INTERVAL_S):
            with self._lock:
                if self._line:
                    self._draw()

    def _draw(self) -> None:
        if self._finished.is_set():
            return
        self._drawn = time.monotonic()
        seconds = int(self._drawn - self._since)
        elapsed = f" · {seconds} s" if seconds >= SHOW_ELAPSED_AFTER_S else ""
        self._write(f"{ERASE_LINE}{fit(self._line, terminal_columns() - len(elapsed) - 1)}{elapsed}")

    def _write_json(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message, ensure_ascii=False) + "\n")

    def _write(self, text: str) -> None:
        self.err.write(text)
        self.err.flush()


class WaitingLine(Progress):
    """Shows which providers a search waits for, and for how long, once it takes a moment."""

    def __init__(self, runtime: Runtime, kind: str) -> None:
        super().__init__(runtime, kind if kind == "auto" else "none")
        self._searcher = runtime.searcher
        self._seconds: dict[str, float] = {}  # that providers took

    def __enter__(self) -> Self:
        if self.kind == "line":
            threading.Thread(target=self._watch, daemon=True).start()
        return super().__enter__()

    def _watch(self) -> None:
        delay = SHOW_WAITING_AFTER_S
        while not self._finished.wait(delay):
            jobs = self._searcher.jobs()[::-1]  # the newest first: a long line is truncated at its end
            self.show(" · ".join(map(self._state, sorted(jobs, key=lambda job: not job.is_running))))
            delay = WAITING_INTERVAL_S

    def _state(self, job: "JobState") -> str:
        if job.is_running:
            return f"{job.provider} … {job.seconds:.1f} s"
        mark = "✗" if job.has_failed else "✓"
        return f"{job.provider} {mark} {self._seconds.setdefault(job.provider, job.seconds):.1f} s"
