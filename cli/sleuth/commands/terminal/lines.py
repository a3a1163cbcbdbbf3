"""Lines that a person types, with editing and history, or that come through a pipe."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from sleuth.base.errors import UnwritableError
from sleuth.base.files import append_private, private_folder
from sleuth.runtime import Runtime
from sleuth.store.settings import HISTORY

if TYPE_CHECKING:
    from types import ModuleType

KEPT = 1000  # lines of history


class Lines:
    """The lines of a session; those that were typed are remembered for the next one of that name."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self.runtime, self.path = runtime, os.path.join(runtime.paths.state, f"{name}_history")
        self.readline = _readline(runtime)
        if self.readline is not None:
            with suppress(OSError):  # none yet, or one that cannot be read: then there is nothing to recall
                self.readline.read_history_file(self.path)
            self.readline.set_history_length(KEPT)

    def ask(self, prompt: str) -> str | None:
        """Return the next line; None at the end of the input. Ctrl-C is the caller's to catch."""
        if self.readline is not None:
            try:
                return input(prompt).strip()
            except EOFError:
                print(file=self.runtime.stderr)
                return None
        if self.runtime.stdin.isatty():  # stdout leads elsewhere, and must not get the prompt
            self.runtime.stderr.write(prompt)
            self.runtime.stderr.flush()
        line = self.runtime.stdin.readline()
        return line.strip() if line else None

    def close(self) -> None:
        """Keep the history, where the user wants that."""
        if self.readline is not None and self.runtime.settings[HISTORY]:
            with suppress(OSError, UnwritableError):  # what was typed has been done; recalling it is a convenience
                private_folder(self.runtime.paths.state)
                os.close(append_private(self.path))
                self.readline.write_history_file(self.path)


def _readline(runtime: Runtime) -> "ModuleType | None":
    """Return line editing, where there is a terminal that can."""
    if not (runtime.stdin.isatty() and runtime.stdout.isatty()):
        return None
    try:
        import readline
    except ImportError:
        return None
    return readline
