"""JSON as models write it: an object of plain values, or ValueError; valid JSON is unchanged."""

import json
from typing import Any

from sleuth.answers.llm.json_reply import MAX_REPLY_CHARS, read_object

WORDS = (
    "```json\n ¦ ``` ¦ { ¦ } ¦ [ ¦ ] ¦ \" ¦ ' ¦ “ ¦ ” ¦ : ¦ , ¦ \\ ¦ \\u ¦ \\ud800 ¦ // ¦ /* ¦ */ ¦ true ¦ "
    "None ¦ <think> ¦ </think> ¦ 1e999 ¦ - ¦ 「"
)
ROUNDS = 1500


def check(data: bytes) -> None:
    """Parse the object in a reply."""
    text = data.decode("utf-8", "replace")
    try:
        found = read_object(text)
    except ValueError:
        found = {}
    assert_plain(found)
    try:
        good = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(good, dict) and _depth(good) < 40 and len(text) <= MAX_REPLY_CHARS:
        assert repr(found) == repr(good), "valid JSON is unchanged"


def assert_plain(value: Any) -> None:
    """Assert that a value consists of JSON types."""
    if isinstance(value, dict):
        assert all(type(name) is str for name in value)
        for entry in value.values():
            assert_plain(entry)
    elif isinstance(value, list):
        for entry in value:
            assert_plain(entry)
    else:
        assert value is None or type(value) in (str, bool, int, float)


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inside), default=0)
