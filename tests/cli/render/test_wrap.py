"""Lines of a width: nothing is lost, nothing is too wide, and Chinese breaks where Chinese may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from sleuth.base.text import width
from sleuth.base.wrap import CLOSING
from sleuth.render.wrap import wrap


def wrapped(text: str, columns: int) -> list[str]:
    return [line.plain for line in wrap(Text(text), columns)]


@given(st.text("ab 的。，（）[]1?é👩\u200d\n", max_size=60), st.integers(2, 20))
def test_lines_fit_and_contain_all_words(text: str, columns: int) -> None:
    lines = wrapped(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two", 7, ["one two"]),
        ("a  b", 1, ["a", "b"]),
        ("unbreakable", 4, ["unbr", "eaka", "ble"]),
        ("Tokio 是一个运行时", 12, ["Tokio 是一个", "运行时"]),
        ("调度任务。很好", 8, ["调度任", "务。很好"]),
        ("任务（见下）", 6, ["任务", "（见", "下）"]),
        ("大量任务[12]。", 10, ["大量任", "务[12]。"]),
        ("x\n\ny", 9, ["x", "", "y"]),
        ("", 9, [""]),
    ],
)
def test_lines_break_at_spaces_and_between_cjk_characters(text: str, columns: int, lines: list[str]) -> None:
    assert wrapped(text, columns) == lines


def test_no_line_begins_with_closing_punctuation() -> None:
    lines = wrapped("它在少量线程上调度大量任务，定时器很精确。社区很大；文档完整！" * 5, 11)
    assert [line for line in lines if line[0] in CLOSING] == []


def test_styles_are_kept() -> None:
    lines = wrap(Text("plain ").append("bold words", "bold").append(" here"), 11)
    styled = [[line.plain[span.start : span.end] for span in line.spans] for line in lines]
    assert styled == [["bold"], ["words"]]
