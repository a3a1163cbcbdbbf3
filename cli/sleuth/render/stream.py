"""A text on a terminal while it is being written: what is finished stays, the rest is shown and replaced."""

import time
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sleuth.base.markdown import split_blocks
from sleuth.base.text import strip_controls
from sleuth.render.document import Document, print_lines
from sleuth.render.wrap import wrap

PAUSE = 0.05  # seconds between two looks at the text
PATIENCE = 10  # times as long as a look took, until the next one
LONGEST = 20_000  # characters of Markdown that are worth parsing again and again
FREE = 2  # rows of the screen

Link = Callable[[str], str]


class Stream:
    """Shows a Markdown text piece by piece; as long as it fits on the screen, all of it can still be replaced.

    `draft` links the citations of a text that is not finished, `final` those of a block that is.
    """

    def __init__(self, console: Console, document: Document, draft: Link, final: Link) -> None:
        self.console, self.document, self.draft, self.final = console, document, draft, final
        self.heading = ""  # stands above it all
        self.waiting = ""  # what can still be replaced
        self.printed: list[str] = []  # blocks that cannot
        self._has_printed = False
        self._live: Live | None = None
        self._next = 0.0

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave on the screen what was written so far, also when something went wrong."""
        self.finish([self.draft(self.waiting)] if self.waiting.strip() else [])

    def write(self, piece: str) -> None:
        """Take the next piece; what is shown follows a little later."""
        self.waiting += piece
        started = time.monotonic()
        if started < self._next:
            return
        self._make_room()
        self._show()
        self._next = time.monotonic() + max(PAUSE, PATIENCE * (time.monotonic() - started))

    def finish(self, rest: Sequence[str]) -> None:
        """Put the finished rest in place of what can still be replaced; its citations are linked."""
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
        """Print what is finished for good, as far as the screen is too small for all of it."""
        complete = self.waiting[: self.waiting.rfind("\n") + 1]  # half a line may still become anything
        finished = split_blocks(complete)[:-1]
        while finished and len(self._lines(self.waiting)) > self._rows:
            self.printed.append(finished.pop(0))
            self.waiting = self.waiting.removeprefix(self.printed[-1])
            self._print(self.final(self.printed[-1]))

    @property
    def _rows(self) -> int:
        return max(self.console.height - FREE, 1)

    def _lines(self, text: str) -> list[Text]:
        if len(text) <= LONGEST:
            return self.document.lines(self.draft(text))
        return wrap(Text(strip_controls(text[-LONGEST:])), self.document.width)

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
