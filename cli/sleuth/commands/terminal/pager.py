"""Shows long text in the user's pager, as git does; text that fits the screen, or goes to a pipe, is just written."""

import signal
import subprocess
import sys
from shutil import which

from sleuth.base.process import terminal_lines
from sleuth.runtime import Runtime

# With -F, -R and -X less shows colours, leaves the text on the screen, and quits at once if it fits.
LESS_OPTIONS = "FRX"


def show(runtime: Runtime, text: str) -> None:
    """Write a text to stdout, through the pager if it is taller than the terminal."""
    command = _command(runtime, text)
    if not command:
        runtime.stdout.write(text)
        runtime.stdout.flush()
        return
    environ = {"LESS": LESS_OPTIONS, "LV": "-c"} | runtime.environ
    process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environ)  # noqa: S602 - PAGER of the user
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
    try:
        process.communicate(text.encode("utf-8", "replace"))
    finally:
        signal.signal(signal.SIGINT, before)


def _command(runtime: Runtime, text: str) -> str:
    """Return the command of the pager; empty if none is wanted, or the text fits the terminal."""
    if not runtime.pager or not runtime.stdout.isatty() or runtime.environ.get("TERM", "dumb") == "dumb":
        return ""
    if runtime.stdout is not sys.stdout or text.count("\n") < terminal_lines():
        return ""
    chosen = runtime.environ.get("PAGER", "less").strip()
    return "" if chosen in ("", "cat") or not which(chosen.split()[0]) else chosen
