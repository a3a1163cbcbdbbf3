"""The tokens that requests must carry: from a file, the environment, or generated on first use.

A file has a single token, or a line for each person or program: a name, the token, and the requests per minute that
are allowed. Lines that start with # are comments.
"""

import os
import re
import secrets
from collections.abc import Mapping

from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.files import locked, private_folder, read_file, unreadable, write_atomic
from sleuth.base.i18n import tr
from sleuth_providers.records import Record

VARIABLE = "SLEUTH_SERVE_TOKEN"
FILE_NAME = "serve-token"
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,500}")  # the characters of RFC 6750, too long to guess
MAX_FILE_CHARS = 10_000


class Token(Record):
    """A token and its limit."""

    text: str
    name: str = "default"
    per_minute: int = 0  # requests; 0 is no limit


class Tokens(Record):
    """The tokens, where they came from, and a warning if others can read them."""

    all: tuple[Token, ...]
    source: str
    warning: str = ""


def find_tokens(environ: Mapping[str, str], state: str, file: str | None = None) -> Tokens:
    """Return the tokens: `file` wins over the environment, and a missing file is created."""
    if file is None and environ.get(VARIABLE):
        return Tokens((Token(_validated(environ[VARIABLE], VARIABLE)),), VARIABLE)
    path = os.path.abspath(os.path.expanduser(file or os.path.join(state, FILE_NAME)))
    if not os.path.exists(path):
        _create(path)
    return Tokens(_parse(_read(path, named=file is not None), path), path, _permission_warning(path))


def _parse(text: str, path: str) -> tuple[Token, ...]:
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) == 1 and len(lines[0]) == 1:
        return (Token(_validated(lines[0][0], path)),)
    found = []
    for fields in lines:
        match fields:
            case [name, token]:
                found.append(Token(_validated(token, path), name))
            case [name, token, limit] if limit.isdecimal() and int(limit) > 0:
                found.append(Token(_validated(token, path), name, int(limit)))
            case _:
                raise _invalid(path)
    if not found or len({token.name for token in found}) < len(found):
        raise _invalid(path)
    return tuple(found)


def _create(path: str) -> None:
    private_folder(os.path.dirname(path))
    with locked(f"{path}.lock", once=True):  # two servers that start at the same time share one token
        if not os.path.exists(path):
            write_atomic(path, f"{secrets.token_urlsafe(32)}\n".encode())


def _read(path: str, *, named: bool) -> str:
    """Return the text of a file; one that is named may belong to another user, as a secret in a container does."""
    try:
        return read_file(path, MAX_FILE_CHARS, own=not named).decode("ascii", "replace").strip()
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _validated(text: str, source: str) -> str:
    logs.hide(text)
    if not TOKEN.fullmatch(text):
        raise _invalid(source)
    return text


def _invalid(source: str) -> SettingsError:
    hint = (
        "a token is 16 to 500 letters, digits or -._~+/=; for several tokens, write NAME TOKEN "
        "[REQUESTS-PER-MINUTE] on each line"
    )
    return SettingsError("invalid token in {source}", hint, source=source)


def _permission_warning(path: str) -> str:
    state = os.stat(path)
    others = os.name == "posix" and state.st_uid == os.geteuid() and state.st_mode & 0o077
    return tr("other users can read {path}; run: chmod 600 {path}", path=path) if others else ""
