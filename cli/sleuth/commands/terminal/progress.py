"""Reading pages for a command: how far it is goes to stderr, on a terminal or as JSON lines."""

import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean, fit
from sleuth.base.urls import domain
from sleuth.engine.content import compression_options
from sleuth.engine.outcome import Outcome
from sleuth.pages.page import PageEvent
from sleuth.runtime import Runtime

if TYPE_CHECKING:
    from sleuth.answers import answer

Squeezing = tuple[str | None, int | None, str | None, int | None]  # method, limit, unit, tokens
TICK = 1.0  # seconds
LONG = 2  # seconds after which it is said how long something has been taking
ERASE = "\r\x1b[K"
COLUMNS = 80  # of a terminal that does not tell


def with_content(runtime: Runtime, outcome: Outcome, squeezing: Squeezing, progress: str, **plan: Any) -> Outcome:
    """Return the outcome with the text of its pages."""
    squeeze = compression_options(runtime.settings, *squeezing)
    with Progress(runtime, progress) as tell:
        return runtime.content_reader.add(outcome, squeeze, plan, tell)


class Progress:
    """Tells how far the reading of pages, or the work on an answer, is."""

    def __init__(self, runtime: Runtime, kind: str) -> None:
        self.err = runtime.stderr
        self.kind = kind if kind != "auto" else "line" if runtime.stderr.isatty() else "none"
        self._line, self._since = "", 0.0
        self._lock = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.clear()

    def __call__(self, event: PageEvent) -> None:
        """Tell of one page."""
        if self.kind == "json":
            ok = event.page.ok if event.page else None
            message = {"event": "web_search_fetching", "kind": event.kind, "url": event.url, "ok": ok}
            self._write_json(message | {"done": event.done, "total": event.total})
        else:
            text = tr("reading {done}/{total}", done=event.done, total=event.total)
            self._show(f"{text} · {domain(event.url)}")

    def follow(self, event: "answer.ProgressEvent") -> None:
        """Tell of a step towards an answer."""
        if self.kind == "json":
            self._write_json(event.as_json())
        else:
            self._show(clean(event.message, 500, entities=False))

    def clear(self) -> None:
        """Leave no trace on the terminal."""
        with self._lock:
            if self._line:
                self._line = ""
                self._write(ERASE)

    def _show(self, text: str) -> None:
        if self.kind != "line":
            return
        if not self._since:
            threading.Thread(target=self._tick, daemon=True).start()
        with self._lock:
            self._line, self._since = text, time.monotonic()
            self._draw()

    def _tick(self) -> None:
        """Let the user see that something that takes long is still going on."""
        while not self._over.wait(TICK):
            with self._lock:
                if self._line:
                    self._draw()

    def _draw(self) -> None:
        seconds = int(time.monotonic() - self._since)
        taking = f" · {seconds} s" if seconds >= LONG else ""
        self._write(f"{ERASE}{fit(self._line, self._columns() - len(taking) - 1)}{taking}")

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self.err.fileno()).columns or COLUMNS
        except (OSError, ValueError):
            return COLUMNS

    def _write_json(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message, ensure_ascii=False) + "\n")

    def _write(self, text: str) -> None:
        self.err.write(text)
        self.err.flush()
