"""The JSON writer for terminals, pipes and files."""

from __future__ import annotations

import json
from functools import cache

from sleuth.base.text import replace_invisible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO


def write_json(document: Any, out: TextIO, *, indent: int | None = 2) -> None:
    """Write indented JSON, or one line of it with `indent=None`."""
    is_utf8 = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    out.write(json_text(document, indent=indent, ascii=not is_utf8) + "\n")


def json_text(document: Any, *, indent: int | None = None, ascii: bool = False) -> str:
    """Return JSON with unprintable characters escaped, so that it is safe on a terminal."""
    text = json.dumps(document, ensure_ascii=ascii, indent=indent)
    if not all(line.isprintable() for line in text.split("\n")):
        text = "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)
    return replace_invisible(text, lambda found: json.dumps(found[0])[1:-1])


def camel_case(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields under their published names: `elapsed_ms` becomes `elapsedMs`."""
    return {_published(name): value for name, value in fields.items()}


@cache
def _published(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def record_as_json(record: Any, *names: str, **changes: Any) -> dict[str, Any]:
    """Return the fields of a record, or those that are named, under their published names; an empty text becomes null.

    `changes` replace the values of some fields.
    """
    fields = {name: getattr(record, name) for name in names or record._fields} | changes
    return camel_case({name: (value or None) if isinstance(value, str) else value for name, value in fields.items()})
