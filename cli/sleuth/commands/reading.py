"""Reading pages for a command: how far it is goes to stderr, on a terminal or as JSON lines."""

import json
from typing import Any

from sleuth.content import chosen_squeeze
from sleuth.language import say
from sleuth.outcome import Outcome
from sleuth.pages.page import Event
from sleuth.runtime import Runtime
from sleuth.text import domain

Squeezing = tuple[str | None, int | None, str | None, int | None]  # method, limit, unit, tokens


def with_content(runtime: Runtime, outcome: Outcome, squeezing: Squeezing, progress: str, **plan: Any) -> Outcome:
    """Return the outcome with the text of its pages."""
    squeeze = chosen_squeeze(runtime.settings, *squeezing)
    with Progress(runtime, progress) as tell:
        return runtime.contents.add(outcome, squeeze, plan, tell)


class Progress:
    """Tells how far the reading of pages is."""

    def __init__(self, runtime: Runtime, kind: str) -> None:
        self.err = runtime.stderr
        self.kind = kind if kind != "auto" else "line" if runtime.stderr.isatty() else "none"

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self.kind == "line":
            self._write("\r\x1b[K")

    def __call__(self, event: Event) -> None:
        """Tell of one page."""
        if self.kind == "json":
            ok = event.page.ok if event.page else None
            message = {"event": "web_search_fetching", "kind": event.kind, "url": event.url, "ok": ok}
            self._write(json.dumps(message | {"done": event.done, "total": event.total}, ensure_ascii=False) + "\n")
        elif self.kind == "line":
            text = say("reading {done}/{total}", done=event.done, total=event.total)
            self._write(f"\r\x1b[K{text} · {domain(event.url)}")

    def _write(self, text: str) -> None:
        self.err.write(text)
        self.err.flush()
