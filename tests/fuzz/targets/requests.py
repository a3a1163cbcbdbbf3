"""Bodies of HTTP requests: refused with a RequestError, or of the published shape, as another validator sees it.

The first line of a case names the shape.
"""

import json
from typing import Any

from jsonschema import Draft202012Validator

from sleuth.base.errors import RequestError
from sleuth.serving.http.bodies import parse
from sleuth.serving.http.checking import check as check_shape
from sleuth.serving.http.forms import ASK, PATCH, SEARCH

SHAPES = {"search": SEARCH, "patch": PATCH, "ask": ASK}
VALIDATORS = {name: Draft202012Validator(shape) for name, shape in SHAPES.items()}
WORDS = (
    '"questions": [] ¦ "a": 1, "a": 2 ¦ NaN ¦ 1e400 ¦ 1.0 ¦ "\\ud800" ¦ "\\n" ¦ "\\u0000" ¦ " " ¦ true ¦ -0 ¦ "de\\n"'
)
ROUNDS = 900


def check(data: bytes) -> None:
    """Check a body twice."""
    head, _, body = data.partition(b"\n")
    name = head.decode("utf-8", "replace")
    if name not in SHAPES:
        return
    try:
        value: Any = parse(body)
        check_shape(value, SHAPES[name])
    except RequestError as refused:
        assert str(refused)
        return
    assert VALIDATORS[name].is_valid(value), "what is accepted fits the published schema"
    json.dumps(value).encode()
