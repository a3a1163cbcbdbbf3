"""The terminal of an answer: its text while it streams, the finished text, sources and panels."""

import io
import re
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Self, TextIO

from sleuth.answers import presentation
from sleuth.answers.answer import Answer, ProgressEvent
from sleuth.answers.citations import CitedSource, heading, link, listed, shown_numbers, targets
from sleuth.answers.markdown import safe_markdown
from sleuth.commands.terminal import display
from sleuth.commands.terminal.progress import Progress
from sleuth.runtime import Runtime
from sleuth.store.settings import UI_THEME

ATTACHED = re.compile(r" ?\[\d+\+\]")


class Screen:
    """Shows an answer on a terminal, or writes it to a file as a terminal would show it."""

    def __init__(
        self, runtime: Runtime, progress: Progress | None = None, output: str | None = None, out: TextIO | None = None
    ) -> None:
        from sleuth.render.document import MarkdownRenderer
        from sleuth.render.rich import MAX_WIDTH, STYLES, make_console
        from sleuth.render.stream import Stream

        self.runtime, self.output, self.progress = runtime, output, progress or Progress(runtime, "none")
        self.out: TextIO = out or (io.StringIO() if output else runtime.stdout)
        self.console, self.styles = make_console(self.out, runtime.color), STYLES[runtime.settings[UI_THEME]]
        self.document = MarkdownRenderer(self.console, self.styles, min(self.console.width, MAX_WIDTH))
        self.stream = Stream(self.console, self.document, self._draft, self._final)
        self.set_sources(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        text = "".join([*self.stream.printed, self.stream.waiting])
        self.stream.close()
        if problem[0] is KeyboardInterrupt and (cited := link(text, self.sources).cited):
            self.list(self.sources, cited)
        if isinstance(self.out, io.StringIO) and self.output and problem[0] is None:
            display.deliver(self.runtime, self.out.getvalue(), self.output)

    def follow(self, event: ProgressEvent) -> None:
        """Show a step towards the answer."""
        self.set_sources(event.sources)
        self.progress.follow(event)

    def write(self, piece: str) -> None:
        """Stream a piece of text; without a terminal the whole text is written at the end."""
        if self.out.isatty():
            self.progress.clear()
            self.stream.write(piece)

    def set_sources(self, sources: tuple[CitedSource, ...]) -> None:
        """Set the sources that can be cited from now on."""
        self.sources = sources
        self.document.set_citation_targets(targets(sources))

    def finish(self, found: Answer) -> None:
        """Replace the streamed text by the finished answer, and list its sources."""
        self.progress.clear()
        self.set_sources(found.sources)
        text = presentation.linked(found, "markdown")
        if presentation.is_extractive(found):
            self.stream.heading = presentation.extractive_label()
        self.replace(found.text, text.text)
        self.list(found.sources, text.cited)

    def replace(self, written: str, linked: str) -> None:
        """Replace the streamed text by the finished one, except for blocks that were printed already."""
        from sleuth.base.markdown import split_blocks

        printed = (safe_markdown(block, targets(self.sources)) for block in self.stream.printed)
        pairs = zip(printed, split_blocks(written), strict=False)
        done = len(list(takewhile(lambda pair: _bare(pair[0]) == _bare(pair[1]), pairs)))
        self.stream.finish(split_blocks(linked)[done:])

    def list(self, sources: Sequence[CitedSource], cited: Collection[int]) -> None:
        """Print the list of the cited sources, or all if none is cited."""
        from sleuth.render.answer import print_references

        groups = listed(sources, shown_numbers(sources, cited))
        print_references(self.console, self.styles, heading(cited), groups, targets(sources))

    def print(self, lines: Sequence[str]) -> None:
        """Print lines of text, wrapped."""
        from rich.text import Text

        from sleuth.render.rich import print_lines
        from sleuth.render.wrap import wrap

        print_lines(self.console, wrap(Text("\n".join(lines)), self.document.width))

    def _draft(self, text: str) -> str:
        return link(text, self.sources).text

    def _final(self, block: str) -> str:
        return presentation.linked_block(block, self.sources)


def _bare(block: str) -> str:
    """Return a block without the citations that were attached later."""
    return ATTACHED.sub("", block).strip()
