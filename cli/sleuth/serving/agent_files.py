"""The MCP entry of sleuth in the settings file of an agent: added, changed and removed without touching the rest.

Agents keep their settings as JSON, as JSON with comments and trailing commas, or as TOML. JSON is edited as text: only
the characters of the entry change. What the edited text means is compared with what it should mean before it is used.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from sleuth.base.errors import RequestError
from sleuth.base.files import text_beside
from sleuth_providers.records import Record

ENTRY = "sleuth"
SKILL = text_beside(__file__, "skill.md")
# Space, comments, strings, punctuation, and numbers or words. A string without an end is a token too, so that it is
# read once and not again from each of its quotes.
TOKEN = re.compile(r'(?s)\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]+')
REMARK = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*)(?=\n)")  # a comment up to the end of its line
DEFAULT_INDENT = "  "
PARSE_ERRORS = (ValueError, IndexError, AttributeError, TypeError, RecursionError)  # tomlkit's errors are ValueErrors

Entry = dict[str, Any]
Token = re.Match[str]


class _Member(Record):
    key: str
    first: int  # indexes of tokens: of the key,
    value: int  # of the first token of the value,
    end: int  # and of the token behind it


def with_entry(path: str, text: str, section: str, entry: Entry | None) -> str:
    """Return the text of a settings file with the entry of sleuth, or without it if `entry` is None."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return with_entry(path, text.replace("\r\n", "\n"), section, entry).replace("\n", "\r\n")
    try:
        return _with_toml(text, section, entry) if path.endswith(".toml") else _with_json(text, section, entry)
    except PARSE_ERRORS as problem:
        hint = "add the entry by hand: sleuth handbook agents"
        raise RequestError("cannot edit {path} safely", hint, path=path) from problem


def current_entry(path: str, text: str, section: str) -> Entry | None:
    """Return the entry of sleuth in a settings file."""
    import tomllib

    try:
        document = tomllib.loads(text) if path.endswith(".toml") else _meaning(text)
        entry: Entry | None = (document.get(section) or {}).get(ENTRY)
    except PARSE_ERRORS:
        return None
    return entry


def _with_toml(text: str, section: str, entry: Entry | None) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if entry is not None:
        document.setdefault(section, tomlkit.table(is_super_table=True))[ENTRY] = entry
    elif section in document:
        document[section].pop(ENTRY, None)
        if not document[section]:
            del document[section]
    return tomlkit.dumps(document)


def _with_json(text: str, section: str, entry: Entry | None) -> str:
    if not text.strip():
        return json.dumps({section: {ENTRY: entry}}, indent=2) + "\n" if entry is not None else text
    expected = _meaning(text)
    if entry is None:
        del expected[section][ENTRY]
    else:
        expected.setdefault(section, {})[ENTRY] = entry
    edited = _removed(text, section) if entry is None else _added(text, section, entry)
    if _meaning(edited) != expected:
        raise ValueError("the edit changed something else")
    return edited


def _added(text: str, section: str, entry: Entry) -> str:
    tokens = _tokens(text)
    parent = next((member for member in _members(tokens, 0) if member.key == section), None)
    if parent is None:
        return _insert(text, tokens, 0, section, {ENTRY: entry})
    own = next((member for member in _members(tokens, parent.value) if member.key == ENTRY), None)
    if own is None:
        return _insert(text, tokens, parent.value, ENTRY, entry)
    start, end = tokens[own.value].start(), tokens[own.end - 1].end()
    return text[:start] + _dumped(entry, _indent(text, tokens[own.first].start())) + text[end:]


def _insert(text: str, tokens: list[Token], place: int, key: str, value: Any) -> str:
    """Return the text with a new last member of the object whose brace is the token `place`."""
    members = list(_members(tokens, place))
    if not members:
        outer = _indent(text, tokens[place].start())
        inner = outer + DEFAULT_INDENT
        closing = tokens[place + 1]
        member = f"{inner}{json.dumps(key)}: {_dumped(value, inner)}"
        return f"{text[: tokens[place].end()]}\n{member}\n{outer}{text[closing.start() :]}"
    inner, last = _indent(text, tokens[members[-1].first].start()), members[-1]
    trailing = "," if tokens[last.end][0] == "," else ""
    end = tokens[last.end].end() if trailing else tokens[last.end - 1].end()
    remark = REMARK.match(text, end)
    behind = remark.end() if remark else end
    member = f"\n{inner}{json.dumps(key)}: {_dumped(value, inner)}{trailing}"
    return f"{text[:end]}{'' if trailing else ','}{text[end:behind]}{member}{text[behind:]}"


def _removed(text: str, section: str) -> str:
    tokens = _tokens(text)
    parent = next(member for member in _members(tokens, 0) if member.key == section)
    own = next(member for member in _members(tokens, parent.value) if member.key == ENTRY)
    start, end = tokens[own.first].start(), tokens[own.end - 1].end()
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        start = max(line - 1, 0)
    if tokens[own.end][0] == ",":
        return text[:start] + text[tokens[own.end].end() :]
    before = tokens[own.first - 1]
    if before[0] == ",":
        return text[: before.start()] + text[before.end() : start] + text[end:]
    return text[:start] + text[end:]


def _tokens(text: str) -> list[Token]:
    """Return the tokens without space and comments."""
    found = list(TOKEN.finditer(text))
    if sum(len(token[0]) for token in found) < len(text):
        raise ValueError("not JSON")
    return [token for token in found if not token[0].isspace() and not token[0].startswith(("//", "/*"))]


def _members(tokens: list[Token], place: int) -> Iterator[_Member]:
    """Yield the members of the object whose opening brace is the token `place`."""
    if tokens[place][0] != "{":
        raise ValueError("not an object")
    place += 1
    while tokens[place][0] != "}":
        end = _behind(tokens, place + 2)
        yield _Member(json.loads(tokens[place][0]), place, place + 2, end)
        place = end + 1 if tokens[end][0] == "," else end


def _behind(tokens: list[Token], place: int) -> int:
    """Return the index of the token behind the value that begins at `place`."""
    depth = 0
    while True:
        depth += tokens[place][0] in "{["
        depth -= tokens[place][0] in "}]"
        place += 1
        if not depth:
            return place


def _meaning(text: str) -> dict[str, Any]:
    """Return the value of JSON with comments and trailing commas."""
    tokens = _tokens(text)
    last_commas = {place for place, token in enumerate(tokens[:-1]) if token[0] == "," and tokens[place + 1][0] in "}]"}
    value = json.loads(" ".join(token[0] for place, token in enumerate(tokens) if place not in last_commas) or "{}")
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _indent(text: str, place: int) -> str:
    """Return the space before what begins at `place`, if there is nothing else on its line."""
    before = text[text.rfind("\n", 0, place) + 1 : place]
    return before[: len(before) - len(before.lstrip())]


def _dumped(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")
