"""The models accept exactly what the OpenAPI document says."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError
from tests.cli.serving.conftest import document

from sleuth.answers.answer import SEARCH_MODES
from sleuth.serving.http import models
from sleuth.store.provider_fields import TYPES
from sleuth.store.provider_table import ProviderRow

BODIES = (models.ProviderPatch, models.SearchBody, models.AskBody)
NAMES = sorted({field.alias for body in BODIES for field in body.model_fields.values()} | {"other", "topicId", "role"})
TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["api", "local", "auto", "on", "user", "https://a.example", "a\n"])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 22), st.just(3.0), TEXTS, st.just("x" * 5000)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*NAMES, "content"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def accepts(body: type[models.RequestBody], value: Any) -> bool:
    try:
        body.model_validate(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
@settings(max_examples=150, deadline=None)
@given(value=st.one_of(VALUES, st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)))
def test_model_and_published_schema_agree(body: type[models.RequestBody], value: Any) -> None:
    schema = document() | {"$ref": f"#/components/schemas/{body.__name__}"}
    assert accepts(body, value) == Draft202012Validator(schema).is_valid(value)


def test_choices_are_those_of_the_code() -> None:
    assert get_args(models.AskBody.model_fields["search"].annotation) == SEARCH_MODES
    assert get_args(models.ProviderView.model_fields["type"].annotation) == TYPES


def test_fields_of_a_provider_are_columns_of_the_table() -> None:
    assert models.ProviderPatch.model_fields.keys() <= models.ProviderView.model_fields.keys()
    assert models.ProviderView.model_fields.keys() <= set(ProviderRow._fields)
