"""NDJSON output: one line per result, in readable characters where the stream allows it."""

import io
import json

from sleuth.engine.outcome import Outcome
from sleuth.relevance.hit import Hit
from sleuth.render import View
from sleuth.render.ndjson import render

OUTCOME = Outcome("q", "searxng", (Hit(1, "大模型", "https://a.example/", "x\u2028\x1b[2J"),))


def test_non_ascii_text_is_not_escaped() -> None:
    out = io.StringIO()
    render(OUTCOME, out, View(fields=("title",)))
    assert out.getvalue() == '{"title": "大模型"}\n'


def test_text_is_escaped_for_other_encodings() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    render(OUTCOME, out, View(fields=("title",)))
    out.seek(0)
    assert out.read() == '{"title": "\\u5927\\u6a21\\u578b"}\n'


def test_invisible_characters_are_escaped() -> None:
    out = io.StringIO()
    render(OUTCOME, out, View())
    assert out.getvalue().rstrip("\n").isprintable()
    assert json.loads(out.getvalue())["snippet"] == "x\u2028\x1b[2J"
