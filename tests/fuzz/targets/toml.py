"""Settings in TOML: a file is read or refused, and one value changed leaves every other, and each comment, as it was.

The first line of a case is a key and the value it is to get, none to remove it; the file follows.
"""

import re
import tempfile
import tomllib
from pathlib import Path

from sleuth.base.errors import SettingsError
from sleuth.store.settings import TABLE, Settings, change
from sleuth.store.toml_file import read_toml

FOLDER = tempfile.TemporaryDirectory(prefix="sleuth-fuzz-")
PATH = Path(FOLDER.name, "config.toml")
WORDS = " ¦ ".join(TABLE) + (
    " ¦ [websearch] ¦ [websearch.compression]"
    " ¦ websearch = { ¦ # c ¦ ''' ¦ \"\"\" ¦ [[websearch]] ¦ . ¦ \\u0000 ¦ 1979-05-27 ¦ inf"
)
ROUNDS = 250
LARGE = 20_000  # bytes: the file is the user's own, and the parser of the standard library is not made for more


def check(data: bytes) -> None:
    """Read a file, say what is wrong with it, and change one value."""
    head, _, body = data.partition(b"\n")
    PATH.write_bytes(body)
    try:
        before = read_toml(str(PATH))
    except SettingsError as refused:
        assert "line" in str(refused) or "column" in str(refused) or "TOML" in str(refused)
        return
    settings = Settings(str(PATH), {})
    assert all(type(problem) is str for problem in settings.problems())
    for setting in TABLE.values():
        assert setting.kind.accepts(settings[setting]), "what does not fit is not used"
    key, _, value = head.decode("utf-8", "surrogateescape").partition(" ")
    try:
        change(str(PATH), key, value or None)
    except SettingsError:
        assert PATH.read_bytes() == body, "what is refused writes nothing"
        return
    after = PATH.read_bytes()
    now = tomllib.loads(after.decode("utf-8-sig"))
    assert _without(now, key) == _without(before, key), "everything else stays"
    if not _is_inside_text(body):
        assert _comments(body) - _comments(after) <= _comments_of(body, key), "comments stay"


def _without(values: dict[str, object], key: str) -> dict[str, str]:
    """Return all values by their path, those of a key left out."""
    found: dict[str, str] = {}
    stack: list[tuple[str, object]] = [("", values)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and path != key:
            stack += [(f"{path}.{name}" if path else name, entry) for name, entry in value.items()]
        elif path != key:
            found[path] = repr(value)
    return found


def _comments(body: bytes) -> set[bytes]:
    return set(re.findall(rb"(?m)^\s*(# \w+)[ \t\r]*$", body))


def _comments_of(body: bytes, key: str) -> set[bytes]:
    """Return the comments inside of the value of a key, which go with it."""
    name = key.rpartition(".")[2].encode("utf-8", "replace")
    return set(re.findall(rb"# \w+", body[body.find(name) :])) if name in body else set()


def _is_inside_text(body: bytes) -> bool:
    return b"'''" in body or b'"""' in body
