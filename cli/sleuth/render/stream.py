"""Shows a Markdown text on a terminal while it streams: finished blocks stay, the rest is redrawn."""

import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sleuth.base.markdown import split_blocks
from sleuth.base.text import strip_controls
from sleuth.render.document import MarkdownRenderer
from sleuth.render.rich import print_lines
from sleuth.render.wrap import wrap

MIN_REDRAW_S = 0.05  # between two redraws
REDRAW_SHARE = 10  # redrawing takes at most a tenth of the time
MAX_MARKDOWN_CHARS = 20_000  # longer text is too slow to parse for every redraw
FREE_ROWS = 2

Link = Callable[[str], str]


class Stream:
    """Shows a text piece by piece; as long as it fits on the screen, all of it can still be replaced.

    `draft` links the citations of unfinished text, `final` those of a finished block.
    """

    def __init__(self, console: Console, document: MarkdownRenderer, draft: Link, final: Link) -> None:
        self.console, self.document, self.draft, self.final = console, document, draft, final
        self.heading = ""
        self.waiting = ""  # what can still be replaced
        self.printed: list[str] = []  # blocks that cannot
        self._has_printed = False
        self._live: Live | None = None
        self._next = 0.0

    def close(self) -> None:
        """Leave what was written so far on the screen, even after an error."""
        self.finish([self.draft(self.waiting)] if self.waiting.strip() else [])

    def write(self, piece: str) -> None:
        """Add a piece; it is shown with the next redraw."""
        self.waiting += piece
        started = time.monotonic()
        if started < self._next:
            return
        self._make_room()
        self._show()
        self._next = time.monotonic() + max(MIN_REDRAW_S, REDRAW_SHARE * (time.monotonic() - started))

    def finish(self, rest: Sequence[str]) -> None:
        """Print the finished rest in place of what can still be replaced."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        for block in rest:
            self._print(block)
        self.waiting = ""

    def _show(self) -> None:
        lines = [*self._head(), *self._lines(self.waiting)][-self._rows :]
        if self._live is None:
            self._live = Live(console=self.console, auto_refresh=False, transient=True, vertical_overflow="crop")
            self._live.start()
        self._live.update(Text("\n", no_wrap=True, overflow="ellipsis").join(lines), refresh=True)

    def _make_room(self) -> None:
        """Print finished blocks for good as soon as the text does not fit on the screen."""
        complete = self.waiting[: self.waiting.rfind("\n") + 1]  # an incomplete line may still become anything
        finished = split_blocks(complete)[:-1]
        while finished and len(self._lines(self.waiting)) > self._rows:
            self.printed.append(finished.pop(0))
            self.waiting = self.waiting.removeprefix(self.printed[-1])
            self._print(self.final(self.printed[-1]))

    @property
    def _rows(self) -> int:
        return max(self.console.height - FREE_ROWS, 1)

    def _lines(self, text: str) -> list[Text]:
        if len(text) <= MAX_MARKDOWN_CHARS:
            return self.document.lines(self.draft(text))
        return wrap(Text(strip_controls(text[-MAX_MARKDOWN_CHARS:])), self.document.width)

    def _print(self, markdown: str) -> None:
        lines = self.document.lines(markdown)
        if not lines:
            return
        print_lines(self.console, [*([Text()] if self._has_printed else self._head()), *lines])
        self._has_printed = True

    def _head(self) -> list[Text]:
        if self._has_printed or not self.heading:
            return []
        return [*wrap(Text(strip_controls(self.heading), self.document.styles["quiet"]), self.document.width), Text()]
