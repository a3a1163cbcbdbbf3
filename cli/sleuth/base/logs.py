"""The rotating log file and --debug output, with secrets redacted. The file is opened when something is logged."""

import os
import re
import sys
import time
from contextlib import suppress

from sleuth.base.append import append
from sleuth.base.files import locked, private_folder, wait_for_writers
from sleuth.base.text import clean, is_common, redact

MAX_LOG_BYTES = 1_000_000  # then sleuth.log is renamed to sleuth.log.1, replacing the previous one
MAX_LINE_CHARS = 8000
MAX_PRIVATE_TEXTS = 64
# Patterns of secrets that were not registered with `hide`; the group is what stays. Kept as text because most runs log
# nothing, and compiling them takes time.
SEPARATOR = r"\\?[\"']?\s*(?:=|:|%3d|,(?=\s*b?[\"']))\s*+(?:b(?=[\"']))?+\\?+(?!\[hidden\])"  # between name and value
NAMES = "key|token|secret|passw(?:or)?d|passphrase|pwd|signature|credentials?"
NOT_IN_PATH = r"(?<!/)(?<!/api[_-])"  # as in `/etc/passwd: denied`
QUOTED = r""""(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?"""
HOST_AND_PORT = r"(?:localhost|[\w-]{1,63}+\.[\w.-]{1,250}+|\[[\da-f:.]{2,45}+\]):\d{1,5}+[/?#]"  # with no login before
SECRET_PATTERNS = (
    rf"(?i)({NOT_IN_PATH}(?:authorization|cookie){SEPARATOR}|(?:authorization|cookie)(?:=|%3d))(?:{QUOTED}|.+)",
    r"(?i)\b((?:bearer|basic)\s+)[\w.~+/=%-]{6,}",
    rf"(?i)({NOT_IN_PATH}(?:{NAMES}){SEPARATOR}|(?:{NAMES})(?:=|%3d))(?:{QUOTED}|[^\s&\"'<>]+)",
    rf"(:(?:\\?/){{2}})(?!{HOST_AND_PORT})[^\s:/@\"'<>]*(?::[^\s\"'<>]{{0,1000}})?(?=@)",
    r"(?<![A-Za-z0-9])(sk-|tvly-|jina_|fc-|pplx-|gsk_|xai-|ghp_|hf_|AIza|BSA)[\w-]{10,}",
)

_secrets: set[str] = set()
_private_texts: list[str] = []
_state = {"debug": False, "folder": ""}


def configure(folder: str, debug: bool) -> None:
    """Set the folder of the log file, and whether lines go to stderr as well."""
    _state.update(debug=debug, folder=folder)


def hide(*secrets: str) -> None:
    """Register secrets to redact from messages and from every line of the log."""
    _secrets.update(secret for secret in secrets if secret)


def without_secrets(text: str) -> str:
    """Return text without the registered secrets, except those that may occur in any text."""
    return redact(text, [secret for secret in {*_secrets} if not is_common(secret)])


def keep_out(*texts: str) -> None:
    """Redact recent queries of a user who keeps no history."""
    _private_texts.extend(text for text in texts if text not in _private_texts)
    del _private_texts[:-MAX_PRIVATE_TEXTS]


def safe(line: str) -> str:
    """Return a line without secrets and control characters; indentation is kept."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    text = clean(_redacted(line), 4000, entities=False)
    return indent[:200] + _redacted(text)  # again: a removed control character may have split a secret


def _redacted(text: str) -> str:
    text = redact(text, {*_secrets, *_private_texts})[:MAX_LINE_CHARS]
    for pattern in SECRET_PATTERNS:
        text = re.sub(pattern, r"\1[hidden]", text)
    return text


def log(template: str, *values: object) -> None:
    """Log one line without secrets and control characters. Logging never fails a command."""
    with suppress(Exception):  # there is nowhere to report it
        log_facts("%s", safe(template % values if values else template))


def log_facts(template: str, *values: object) -> None:
    """Log one line of our own words, ids and numbers, which needs no redaction: its patterns take time to compile."""
    with suppress(Exception):  # see `log`
        line = template % values
        _print(line)
        if _state["folder"]:
            _append(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {os.getpid()} {line}\n")


def debug(template: str, *values: object) -> None:
    """Print one line with --debug; the file does not get it, as it may contain the query."""
    if _state["debug"]:
        with suppress(Exception):
            _print(safe(template % values))


def _print(line: str) -> None:
    if _state["debug"]:
        with suppress(OSError, ValueError):  # stderr is closed; the file still gets the line
            print(f"debug: {line}", file=sys.stderr)


def _append(line: str) -> None:
    path = os.path.join(private_folder(str(_state["folder"])), "sleuth.log")
    if _size(path) > MAX_LOG_BYTES:
        with suppress(Exception):  # no lock file possible; the line is written all the same
            _rotate(path)
    append(path, line.encode("utf-8", "replace"), 2 * MAX_LOG_BYTES)


def _rotate(path: str) -> None:
    """Rotate the log; of many processes that find it full, only the first one does."""
    older = f"{path}.1"
    with locked(f"{path}.lock", 1.0, once=True) as held:
        if held and _size(path) > MAX_LOG_BYTES and (not os.path.exists(older) or wait_for_writers(older)):
            os.replace(path, older)


def _size(path: str) -> int:
    with suppress(OSError):
        return os.path.getsize(path)
    return 0
