"""Reads lines from a terminal, with editing and history, or from a pipe."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from sleuth.base.errors import UnwritableError
from sleuth.base.files import append_private, private_folder, read_file
from sleuth.runtime import Runtime
from sleuth.store.settings import HISTORY

if TYPE_CHECKING:
    from types import ModuleType

MAX_HISTORY_LINES = 1000
MAX_HISTORY_BYTES = 10_000_000


class Lines:
    """The input of a session. Its history file is named after it."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self.runtime, self.path = runtime, os.path.join(runtime.paths.state, f"{name}_history")
        self.readline = _readline(runtime)
        if self.readline is not None:
            with suppress(OSError):  # a missing or unreadable history file is an empty one
                read_file(self.path, MAX_HISTORY_BYTES)  # reading a pipe would block
                self.readline.read_history_file(self.path)
            self.readline.set_history_length(MAX_HISTORY_LINES)

    def ask(self, prompt: str) -> str | None:
        """Return the next line; None at the end of the input. Ctrl-C raises KeyboardInterrupt."""
        if self.readline is not None:
            try:
                return input(prompt).strip()
            except EOFError:
                print(file=self.runtime.stderr)
                return None
        if self.runtime.stdin.isatty():  # stdout is redirected and must not contain the prompt
            self.runtime.stderr.write(prompt)
            self.runtime.stderr.flush()
        line = self.runtime.stdin.readline()
        return line.strip() if line else None

    def unfinished(self) -> str:
        """Return what was typed when Ctrl-C interrupted a line."""
        return self.readline.get_line_buffer() if self.readline is not None else ""

    def close(self) -> None:
        """Save the history, unless it is turned off."""
        if self.readline is not None and self.runtime.settings[HISTORY]:
            with suppress(OSError, UnwritableError):  # losing the history is no reason to fail
                private_folder(self.runtime.paths.state)
                os.close(append_private(self.path))
                self.readline.write_history_file(self.path)


def _readline(runtime: Runtime) -> "ModuleType | None":
    """Return the readline module on a terminal, if Python has it."""
    if runtime.stdin.isatty() and runtime.stdout.isatty():
        with suppress(ImportError):
            import readline

            return readline
    return None
