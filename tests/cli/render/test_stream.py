"""A text while it is written, on a screen that is emulated as far as it is used."""

import io
import re
from contextlib import closing

import pytest
from rich.console import Console

from sleuth.render import stream as streaming
from sleuth.render.document import MarkdownRenderer
from sleuth.render.rich import STYLES, make_console
from sleuth.render.stream import Stream

TEXT = "First *paragraph*.\n\n- one\n- two\n\n```\ncode\n\nmore\n```\n\n| a | b |\n|---|---|\n| c | d |\n\nThe end."
SHOWN = "First paragraph.\n\n• one\n• two\n\n    code\n\n    more\n\n a   b\n ─────\n c   d\n\nThe end."
MOVE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Terminal(io.StringIO):
    """Keeps what stays on the screen: understands the moves that are made, and fails at any other."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.row, self.column = [""], 0, 0
        self.highest = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        place = 0
        while place < len(text):
            if found := MOVE.match(text, place):
                self._move(found[1], found[2])
                place = found.end()
            else:
                self._put(text[place])
                place += 1
        return len(text)

    def _move(self, count: str, kind: str) -> None:
        if kind == "A":
            self.row -= int(count or 1)
            self.highest = max(self.highest, int(count or 1))
            assert self.row >= 0
        elif kind == "K":
            self.rows[self.row] = ""
        else:
            assert kind in "mhl", kind

    def _put(self, sign: str) -> None:
        if sign == "\r":
            self.column = 0
        elif sign == "\n":
            self.row, self.column = self.row + 1, 0
            self.rows += [""] * (self.row + 1 - len(self.rows))
        else:
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + sign + line[self.column + 1 :]
            self.column += 1

    @property
    def shown(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows).strip("\n")


def make(height: int) -> tuple[Stream, Terminal]:
    out = Terminal()
    console: Console = make_console(out)
    console.width, console.height = 40, height
    document = MarkdownRenderer(console, STYLES["plain"], 40)
    return Stream(console, document, lambda text: text, lambda block: block.replace("one", "ONE")), out


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MIN_REDRAW_S", 0)
    monkeypatch.setattr(streaming, "REDRAW_SHARE", 0)


def test_text_that_fits_is_replaced_as_a_whole() -> None:
    stream, out = make(40)
    with closing(stream):
        for sign in TEXT:
            stream.write(sign)
        assert out.shown == SHOWN
        stream.finish(["All *new*.", "Two."])
    assert out.shown == "All new.\n\nTwo."
    assert stream.printed == []


@pytest.mark.parametrize("height", [3, 5, 8])
def test_finished_blocks_are_printed_on_a_small_screen(height: int) -> None:
    stream, out = make(height)
    with closing(stream):
        for sign in TEXT:
            stream.write(sign)
        assert "".join(stream.printed) + stream.waiting == TEXT
        assert stream.printed
        stream.finish([stream.waiting])
    assert out.shown == SHOWN.replace("one", "ONE")
    assert out.highest < height


def test_list_is_not_printed_before_it_ends() -> None:
    stream, _ = make(3)
    for sign in "1. one\n\n2. two\n\n2":
        stream.write(sign)
    assert stream.printed == []
    for sign in "\n\ntext\n\nmore":
        stream.write(sign)
    assert stream.printed[0] == "1. one\n\n2. two\n\n"


def test_text_stays_on_the_screen_after_an_error() -> None:
    stream, out = make(40)

    def interrupted() -> None:
        with closing(stream):
            for sign in "Half a sent":
                stream.write(sign)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.shown == "Half a sent"


def test_heading_is_printed_once() -> None:
    for height in (40, 4):
        stream, out = make(height)
        stream.heading = "Label"
        with closing(stream):
            for sign in TEXT:
                stream.write(sign)
            stream.finish([stream.waiting])
        assert out.shown.replace("ONE", "one") == f"Label\n\n{SHOWN}"


def test_long_block_shows_its_end_within_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "MAX_MARKDOWN_CHARS", 500)
    stream, out = make(10)
    with closing(stream):
        for number in range(300):
            stream.write(f"```\n{number} \x1b[2J\x1b]52;c;aGk=\x07\n" if not number else f"{number} \u202e\n")
            assert len(out.rows) <= 11
        assert "299" in out.shown
        stream.finish([])
    assert out.shown == ""
