"""JSON on a terminal: the same data, and nothing in it that acts."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from sleuth.base.json_output import camel_case, write_json


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_json_has_only_printable_characters(text: str) -> None:
    out = io.StringIO()
    write_json({"text": text}, out)
    written = out.getvalue()
    assert json.loads(written) == {"text": text}
    assert all(line.isprintable() for line in written.split("\n"))


def test_text_of_all_languages_is_not_escaped() -> None:
    out = io.StringIO()
    write_json(["中文", "a\u202eb\x9b"], out)
    assert out.getvalue() == '[\n  "中文",\n  "a\\u202eb\\u009b"\n]\n'


def test_published_names_are_in_camel_case() -> None:
    assert camel_case({"id": 1, "elapsed_ms": 2, "cache_hit_rate": 3}) == {"id": 1, "elapsedMs": 2, "cacheHitRate": 3}
