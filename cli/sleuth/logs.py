"""The rotating log in the state folder, and --debug on stderr. Nothing is opened until something is logged."""

import os
import sys
import time
from contextlib import suppress

from sleuth.files import append_private, private_folder
from sleuth.text import clean, redact

MAX_SIZE = 1_000_000

_secrets: set[str] = set()
_state = {"debug": False, "folder": ""}


def configure(folder: str, debug: bool) -> None:
    """Say where the log is and whether it is shown on stderr too."""
    _state.update(debug=debug, folder=folder)


def hide(*secrets: str) -> None:
    """Remember secrets that must never be logged."""
    _secrets.update(secret for secret in secrets if secret)


def safe(line: str) -> str:
    """Return a line without secrets and control characters; indentation stays."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    text = clean(redact(line, _secrets), 4000, entities=False)
    return indent[:200] + redact(text, _secrets)  # again: what was cleaned away may have split a secret


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
    if os.path.exists(path) and os.path.getsize(path) > MAX_SIZE:
        os.replace(path, f"{path}.1")
    handle = append_private(path)
    try:
        os.write(handle, line.encode("utf-8", "replace"))
    finally:
        os.close(handle)
