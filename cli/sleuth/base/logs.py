"""The rotating log in the state folder, and --debug on stderr. Nothing is opened until something is logged."""

import os
import re
import sys
import time
from contextlib import suppress

from sleuth.base.append import append, settle
from sleuth.base.files import locked, private_folder
from sleuth.base.text import clean, redact

MAX_SIZE = 1_000_000  # bytes; then it becomes sleuth.log.1, and the one before that goes
LONGEST = 8000  # characters of a line that are looked at
RECENT = 64  # texts that are kept out
HIDDEN = "[hidden]"
# What gives a secret away that nobody registered; the group is what may stay. Kept as text, and compiled when something
# is logged, which is not every day.
SAYS = r"\\?[\"']?\s*(?:=|:|%3d|,(?=\s*b?[\"']))\s*+(?:b(?=[\"']))?+\\?+(?!\[hidden\])"  # between name and value
QUOTED = r""""(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?"""
SIGNS = (
    rf"(?i)((?:authorization|cookie){SAYS})(?:{QUOTED}|.+)",
    r"(?i)\b((?:bearer|basic)\s+)[\w.~+/=%-]{6,}",
    rf"(?i)((?:key|token|secret|passw(?:or)?d|passphrase|pwd|signature|credentials?){SAYS})(?:{QUOTED}|[^\s&\"'<>]+)",
    r"(:(?:\\?/){2})[^\s:/@\"'<>]*(?::[^\s\"'<>]{0,1000})?(?=@)",
    r"(?<![A-Za-z0-9])(sk-|tvly-|jina_|fc-|pplx-|gsk_|xai-|ghp_|hf_|AIza|BSA)[\w-]{10,}",
)

_secrets: set[str] = set()
_kept_out: list[str] = []
_state = {"debug": False, "folder": ""}


def configure(folder: str, debug: bool) -> None:
    """Say where the log is and whether it is shown on stderr too."""
    _state.update(debug=debug, folder=folder)


def hide(*secrets: str) -> None:
    """Remember secrets that must never be logged."""
    _secrets.update(secret for secret in secrets if secret)


def keep_out(*texts: str) -> None:
    """Keep what a user does not want remembered out of the log, the last few of such texts."""
    _kept_out.extend(text for text in texts if text not in _kept_out)
    del _kept_out[:-RECENT]


def safe(line: str) -> str:
    """Return a line without secrets and control characters; indentation stays."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    text = clean(_hidden(line), 4000, entities=False)
    return indent[:200] + _hidden(text)  # again: what was cleaned away may have split a secret


def _hidden(text: str) -> str:
    text = redact(text, {*_secrets, *_kept_out})[:LONGEST]
    for sign in SIGNS:
        text = re.sub(sign, rf"\1{HIDDEN}", text)
    return text


def log(template: str, *values: object) -> None:
    """Write one line to the log; secrets and control characters are taken out. Logging never fails a command."""
    with suppress(Exception):  # there is nowhere left to complain to
        line = safe(template % values if values else template)
        if _state["debug"]:
            with suppress(OSError, ValueError):  # a closed stderr leaves the file
                print(f"debug: {line}", file=sys.stderr)
        if _state["folder"]:
            _append(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {os.getpid()} {line}\n")


def _append(line: str) -> None:
    path = os.path.join(private_folder(str(_state["folder"])), "sleuth.log")
    if _size(path) > MAX_SIZE:
        with suppress(Exception):  # a folder that takes no lock takes the line all the same
            _rotate(path)
    append(path, line.encode("utf-8", "replace"), 2 * MAX_SIZE)


def _rotate(path: str) -> None:
    """Make room, once: of many who find the log full, the first one does it."""
    older = f"{path}.1"
    with locked(f"{path}.lock", 1.0, remove=True) as held:
        if held and _size(path) > MAX_SIZE and (not os.path.exists(older) or settle(older)):
            os.replace(path, older)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
