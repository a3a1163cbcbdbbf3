"""The token that every request must show: from the environment, a file of the user's, or one made on first use."""

import os
import re
import secrets
import stat
from collections.abc import Mapping

from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.files import locked, private_folder, write_atomic
from sleuth.base.i18n import tr
from sleuth_providers.records import Record

VARIABLE = "SLEUTH_SERVE_TOKEN"
FILE = "serve-token"
FORM = re.compile(r"[A-Za-z0-9._~+/=-]{16,500}")  # what RFC 6750 lets a token be, and long enough not to be guessed
MAX_FILE = 10_000


class Token(Record):
    """The token, where it is kept, and what one should know of that."""

    text: str
    place: str
    warning: str = ""


def find_token(environ: Mapping[str, str], state: str, file: str | None = None) -> Token:
    """Return the token; the file named wins over the environment, and one that is missing is made."""
    if file is None and environ.get(VARIABLE):
        return Token(_checked(environ[VARIABLE], VARIABLE), VARIABLE)
    path = os.path.abspath(os.path.expanduser(file or os.path.join(state, FILE)))
    if not os.path.exists(path):
        _make(path)
    return Token(_checked(_read(path), path), path, _doubts(path))


def _make(path: str) -> None:
    private_folder(os.path.dirname(path))
    with locked(f"{path}.lock", remove=True):  # two servers that start at once share one token
        if not os.path.exists(path):
            write_atomic(path, f"{secrets.token_urlsafe(32)}\n".encode())


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            return stream.read(MAX_FILE).strip()
    except OSError as problem:
        raise SettingsError(
            "cannot read {path} ({reason})", "check its permissions", path=path, reason=problem.strerror
        ) from problem


def _checked(text: str, place: str) -> str:
    logs.hide(text)
    if not FORM.fullmatch(text):
        raise SettingsError(
            "the token in {place} cannot be used",
            "it has 16 to 500 letters, digits and -._~+/=; without it sleuth makes one",
            place=place,
        )
    return text


def _doubts(path: str) -> str:
    others = stat.S_IMODE(os.stat(path).st_mode) & 0o077 if os.name == "posix" else 0
    return tr("others on this machine can read {path}: chmod 600 {path}", path=path) if others else ""
