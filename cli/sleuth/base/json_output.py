"""JSON as it is written to a terminal, a pipe or a file."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO


def write_json(document: Any, out: TextIO, *, indent: int | None = 2) -> None:
    """Write indented JSON, or one line of it with `indent=None`."""
    out.write(json_text(document, indent=indent, ascii=not _takes_unicode(out)) + "\n")


def json_text(document: Any, *, indent: int | None = None, ascii: bool = False) -> str:
    """Return JSON; what cannot be seen is escaped, so that it does no harm on a terminal either."""
    text = json.dumps(document, ensure_ascii=ascii, indent=indent)
    if not all(line.isprintable() for line in text.split("\n")):
        text = "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)
    return text


def _takes_unicode(out: TextIO) -> bool:
    return (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
