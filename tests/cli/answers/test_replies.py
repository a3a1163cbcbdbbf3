"""What models put into JSON, read with patience."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.answers.replies import flag_of, share_of, text_of, texts_of

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("value", "share"),
    [
        (0.8, 0.8),
        (0, 0.0),
        (1, 1.0),
        ("0.25", 0.25),
        (7, 0.7),
        ("7/10", 0.7),
        (85, 0.85),
        ("85%", 0.85),
        (-3, 0.0),
        (1000, 1.0),
        ("high", 0.5),
        (None, 0.5),
        ("1/0", 0.5),
        (float("nan"), 0.5),
        ([1], 0.5),
        (True, 0.5),
    ],
)
def test_share_is_understood_in_every_scale(value: Any, share: float) -> None:
    assert share_of({"score": value}, "score", 0.5) == share


@pytest.mark.parametrize(
    ("value", "flag"),
    [(True, True), (False, False), ("true", True), ("No", False), ("是", True), (1, True), (None, True), ([], True)],
)
def test_flag_is_understood_when_spelled_out(value: Any, flag: bool) -> None:
    assert flag_of({"search": value}, "search", default=True) is flag


def test_texts_are_lines_without_control_characters() -> None:
    reply = {"query": " tokio\n\x1b[31m timers ", "facts": ["a", "a", 3, " ", "b" * 500, "c"], "one": "alone"}
    assert text_of(reply, "query", 100) == "tokio [31m timers"
    assert texts_of(reply, "facts", 2, 10) == ("a", "bbbbbbbbb…")
    assert texts_of(reply, "one", 5, 100) == ("alone",)
    assert (text_of(reply, "facts", 5), texts_of(reply, "none", 5, 5)) == ("", ())


@given(anything)
def test_nothing_makes_it_fail(value: Any) -> None:
    reply = {"x": value}
    assert 0 <= share_of(reply, "x", 0.5) <= 1
    assert flag_of(reply, "x", default=False) in (True, False)
    assert len(text_of(reply, "x", 5)) <= 5
    assert len(texts_of(reply, "x", 2, 5)) <= 2
