"""Reads config.toml, and changes one value in it.

tomllib reads the file; tomlkit, imported only to write, keeps comments and order.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from contextlib import suppress

from sleuth.base.errors import SettingsError
from sleuth.base.files import locked, private_folder, read_file, remove_leftovers, unreadable, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_FILE_BYTES, MAX_TABLE_DEPTH = 1_000_000, 20
MAX_SEARCHED_LINES = 1000  # of a broken file, to find the line to fix


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file; a missing one is empty, and an error names line and column."""
    return _parse_toml(path, _read_bytes(path))


def _read_bytes(path: str) -> bytes:
    try:
        return read_file(path, MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _parse_toml(path: str, data: bytes) -> dict[str, Any]:
    if not data:
        return {}
    import re
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        reason = re.sub(r"Cannot declare \('(.{1,500})',?\) twice", r"[\1] is defined twice", str(problem), count=1)
        reason = reason.replace("', '", ".")
        if isinstance(problem, UnicodeDecodeError):
            before = problem.object[: problem.start].split(b"\n")
            reason = f"not UTF-8 (at line {len(before)}, column {len(before[-1]) + 1})"
        line = _broken_line(data.decode("utf-8-sig", "replace"))
        hint = "fix line {line}: sleuth config edit" if line else "sleuth config edit"
        message = "{path}, line {line}: not valid TOML: {reason}"
        if not line or f"(at line {line}, " in reason:
            message = "{path} is not valid TOML: {reason}"
        raise SettingsError(message, hint, path=path, reason=reason, line=line) from problem


def _broken_line(text: str) -> int:
    """Return the line where the broken statement begins, such as a list that is never closed; 0 if it is not found.

    tomllib names the place where it gave up, which may be the end of the file.
    """
    import tomllib

    lines = text.split("\n")
    for end in range(min(len(lines), MAX_SEARCHED_LINES) - 1, -1, -1):
        with suppress(ValueError, RecursionError):
            tomllib.loads("\n".join(lines[:end]))
            return end + 1 + next((n for n, line in enumerate(lines[end:]) if line.strip()), 0)
    return 0


def value_at(data: dict[str, Any], key: str) -> Any:
    """Return the value at a dotted key, or None."""
    place: Any = data
    for name in key.split("."):
        if not isinstance(place, dict) or name not in place:
            return None
        place = place[name]
    return place


def leaves(data: dict[str, Any], whole: Container[str], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted keys and their values; a table under a key in `whole` is one value."""
    for name, value in data.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict) and key not in whole and key.count(".") < MAX_TABLE_DEPTH:
            yield from leaves(value, whole, f"{key}.")
        else:
            yield key, value


def rewrite(path: str, key: str, value: Any, whole: Container[str]) -> None:
    """Set one value, or remove it with None; for `whole` see `leaves`."""
    private_folder(os.path.dirname(path))
    with locked(f"{path}.lock") as held:
        if not held:
            raise SettingsError("{path} is locked by another process", "try again in a moment", path=path)
        remove_leftovers(path)
        data = _read_bytes(path)
        before = _parse_toml(path, data)  # never overwrite a file that does not parse
        if value is None and value_at(before, key) is None:
            return
        after = _edited(data.decode("utf-8-sig"), key, value)
        if not _is_as_intended(before, after, key, value, whole):
            hint = "edit it yourself: sleuth config edit"
            raise SettingsError("cannot change {key} in {path} without damaging the file", hint, key=key, path=path)
        write_atomic(path, after.encode())


def _edited(text: str, key: str, value: Any) -> str:
    """Return TOML with one value set or removed and everything else unchanged, line endings included."""
    import tomlkit

    *sections, name = key.split(".")
    try:
        document = tomlkit.parse(text)
        place: Any = document
        for section in sections:
            place = place.setdefault(section, tomlkit.table())
        if value is None:
            del place[name]
        else:
            tail = _heading_of_next(place) if name not in place else []
            place[name] = tomlkit.inline_table() | value if isinstance(value, dict) else value
            if tail:
                place.value.body.extend(tail)
        after = tomlkit.dumps(document)
    except Exception:  # bugs in tomlkit must not damage the file
        return ""
    return after.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else after


def _heading_of_next(table: Any) -> list[Any]:
    """Cut off the blank lines and comments at the end of a table, which belong to the section below it."""
    from tomlkit.items import Table, Whitespace

    body = table.value.body if isinstance(table, Table) else []
    start = len(body)
    while start and body[start - 1][0] is None:  # neither a key nor a table
        start -= 1
    blank = next((place for place in range(start, len(body)) if isinstance(body[place][1], Whitespace)), start)
    tail = body[blank:]
    del body[blank:]
    return list(tail)


def _is_as_intended(before: dict[str, Any], after: str, key: str, value: Any, whole: Container[str]) -> bool:
    """Check the new text before it is written: tomlkit can lose a setting without an error."""
    import tomllib

    try:
        wanted = {name: repr(entry) for name, entry in leaves(before, whole) if name != key}
        if value is not None:
            wanted[key] = repr(value)
        return {name: repr(entry) for name, entry in leaves(tomllib.loads(after), whole)} == wanted
    except (ValueError, RecursionError):
        return False
