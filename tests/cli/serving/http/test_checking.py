"""Requests are judged as the published schemas say: the same verdict as a JSON Schema validator gives."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sleuth.base.errors import RequestError
from sleuth.serving.http import forms
from sleuth.serving.http.bodies import parse
from sleuth.serving.http.checking import check

SCHEMAS = {"patch": forms.PATCH, "search": forms.SEARCH, "ask": forms.ASK}
NAMES = sorted({name for schema in SCHEMAS.values() for name in schema["properties"]} | {"other", "topicId", "role"})
TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["api", "local", "auto", "on", "user", "https://a.example", "a\n"])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 12), TEXTS, st.just("x" * 5000)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*NAMES, "content"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def fits(value: Any, schema: dict[str, Any]) -> bool:
    try:
        check(value, schema)
    except RequestError:
        return False
    return True


@pytest.mark.parametrize("name", SCHEMAS)
@settings(max_examples=150, deadline=None)
@given(value=st.one_of(VALUES, st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)))
def test_verdict_is_that_of_the_schema(name: str, value: Any) -> None:
    assert fits(value, SCHEMAS[name]) == Draft202012Validator(SCHEMAS[name]).is_valid(value)


def test_place_of_the_fault_is_named() -> None:
    body = {"providerId": "x", "questions": ["a", 5]}
    with pytest.raises(RequestError, match=r"questions\[1\] must be text"):
        check(body, forms.SEARCH)
    with pytest.raises(RequestError, match=r"tracing\.topicId must be text"):
        check({"providerId": "x", "questions": ["a"], "tracing": {"topicId": 1}}, forms.SEARCH)
    with pytest.raises(RequestError, match="search must be one of auto, on, off"):
        check({"question": "x", "search": "maybe"}, forms.ASK)


@settings(max_examples=100, deadline=None)
@given(
    data=st.one_of(st.binary(max_size=40), st.text(alphabet='{}[]",:1eE.-nulltrue\\ud8', max_size=30).map(str.encode))
)
def test_any_bytes_are_json_or_refused(data: bytes) -> None:
    try:
        parse(data)
    except RequestError:
        return
