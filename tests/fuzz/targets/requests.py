"""Bodies of HTTP requests: rejected by the model, or valid for another validator of the published schema.

The first line of a case names the model.
"""

import json
from typing import Any

from jsonschema import Draft202012Validator
from pydantic import ValidationError

from sleuth.serving.http.models import AskBody, ProviderPatch, RequestBody, SearchBody

MODELS: dict[str, type[RequestBody]] = {"search": SearchBody, "patch": ProviderPatch, "ask": AskBody}
VALIDATORS = {name: Draft202012Validator(model.model_json_schema()) for name, model in MODELS.items()}
WORDS = (
    '"questions": [] ¦ "a": 1, "a": 2 ¦ NaN ¦ 1e400 ¦ 1.0 ¦ "\\ud800" ¦ "\\n" ¦ "\\u0000" ¦ " " ¦ true ¦ -0 ¦ "de\\n"'
)
ROUNDS = 900


def check(data: bytes) -> None:
    """Validate a body twice."""
    head, _, body = data.partition(b"\n")
    name = head.decode("utf-8", "replace")
    if name not in MODELS:
        return
    try:
        value: Any = json.loads(body)
        model = MODELS[name].model_validate(value)
    except (ValueError, ValidationError, RecursionError):
        return
    assert VALIDATORS[name].is_valid(value), "an accepted body is valid for the published schema"
    model.model_dump_json().encode()
