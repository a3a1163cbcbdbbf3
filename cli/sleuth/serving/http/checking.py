"""Checks values from outside against the published schemas, so that what is documented is what is accepted.

Knows as much of JSON Schema as `forms.py` uses: type, enum, properties, required, additionalProperties, items, bounds.
"""

import re
from typing import Any

from sleuth.base.errors import RequestError

HINT = "the shapes of requests are described at /openapi.json"
WRONG_TYPE = {
    "string": "{place} must be text",
    "integer": "{place} must be a whole number",
    "boolean": "{place} must be true or false",
    "array": "{place} must be a list",
    "object": "{place} must be an object",
}
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def check(value: Any, schema: dict[str, Any], place: str = "body") -> None:
    """Refuse a value that does not fit, naming the place where it does not."""
    allowed = schema.get("type", [])
    kinds = [allowed] if isinstance(allowed, str) else allowed
    if kinds and not any(type(value) in KINDS[kind] for kind in kinds):
        raise RequestError(WRONG_TYPE[kinds[0]], HINT, place=place)
    if "enum" in schema and value not in schema["enum"]:
        names = ", ".join(str(name) for name in schema["enum"])
        raise RequestError("{place} must be one of {names}", HINT, place=place, names=names)
    if isinstance(value, str):
        _check_text(value, schema, place)
    elif isinstance(value, int):
        _check_number(value, schema, place)
    elif isinstance(value, list):
        _check_list(value, schema, place)
    elif isinstance(value, dict):
        _check_object(value, schema, place)


def _check_text(value: str, schema: dict[str, Any], place: str) -> None:
    if len(value) < schema.get("minLength", 0):
        raise RequestError("{place} cannot be empty", HINT, place=place)
    if len(value) > schema.get("maxLength", len(value)):
        raise RequestError("{place} is too long", "{most} at the most", place=place, most=schema["maxLength"])
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise RequestError("{place} does not have the right form", HINT, place=place)


def _check_number(value: int, schema: dict[str, Any], place: str) -> None:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        low, high = schema["minimum"], schema["maximum"]
        raise RequestError("{place} must be from {low} to {high}", HINT, place=place, low=low, high=high)


def _check_list(value: list[Any], schema: dict[str, Any], place: str) -> None:
    if len(value) < schema.get("minItems", 0):
        raise RequestError("{place} cannot be empty", HINT, place=place)
    if len(value) > schema.get("maxItems", len(value)):
        raise RequestError("{place} is too long", "{most} at the most", place=place, most=schema["maxItems"])
    for number, item in enumerate(value):
        check(item, schema.get("items", {}), f"{place}[{number}]")


def _check_object(value: dict[str, Any], schema: dict[str, Any], place: str) -> None:
    known = schema.get("properties", {})
    inside = "" if place == "body" else f"{place}."
    for name in schema.get("required", ()):
        if name not in value:
            raise RequestError("{place} is missing", HINT, place=inside + name)
    for name, item in value.items():
        if name in known:
            check(item, known[name], inside + name)
        elif schema.get("additionalProperties") is False:
            fields = ", ".join(known)
            raise RequestError("there is no field {name!r}", "fields: {fields}", name=name[:100], fields=fields)
