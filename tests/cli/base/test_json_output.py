"""JSON on a terminal: the same data, and nothing in it that acts."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from sleuth.base.json_output import write_json


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_json_is_the_same_data_in_visible_characters(text: str) -> None:
    out = io.StringIO()
    write_json({"text": text}, out)
    written = out.getvalue()
    assert json.loads(written) == {"text": text}
    assert all(line.isprintable() for line in written.split("\n"))


def test_words_of_all_languages_stay_readable() -> None:
    out = io.StringIO()
    write_json(["中文", "a\u202eb\x9b"], out)
    assert out.getvalue() == '[\n  "中文",\n  "a\\u202eb\\u009b"\n]\n'
