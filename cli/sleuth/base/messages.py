"""Messages on stderr: warnings, notes, hints and errors, on a terminal wrapped and with coloured labels."""

from __future__ import annotations

from sleuth.base.errors import STATUSES, SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO


class Messages:
    """Prints the messages of one run."""

    def __init__(self, environ: dict[str, str], stderr: TextIO) -> None:
        self.environ, self.stderr = environ, stderr
        self.color = "auto"
        self.json_errors = False
        self.quiet = False  # no notes and warnings
        self.warnings: set[str] = set()  # printed so far

    def warn(self, message: str) -> None:
        """Print a warning on stderr, once."""
        if message not in self.warnings and not self.quiet:
            self.warnings.add(message)
            self._print(tr("warning: {message}", message=clean(message, 4000, entities=False)), "33")

    def note(self, message: str) -> None:
        """Print a note on stderr."""
        if not self.quiet:
            self._print(tr("note: {message}", message=clean(message, 4000, entities=False)), "36")

    def hint(self, hint: str | None) -> None:
        """Print on stderr what to do about an error or warning."""
        if hint:
            self._print(tr("hint: {hint}", hint=clean(hint, 1000, entities=False)), "32")

    def show_error(self, error: SleuthError) -> None:
        """Print an error and its hint on stderr; with --json, as one JSON object."""
        body = error_as_json(error)
        if not self.json_errors:
            self._print(tr("error: {message}", message=body["message"]), "1;31")
            self.hint(body["hint"])
            return
        from sleuth.base.json_output import json_text

        print(json_text({"error": body}), file=self.stderr)

    def _print(self, text: str, label_style: str) -> None:
        """Print a message on stderr; on a terminal it is wrapped at words and its label coloured."""
        if self.stderr.isatty():
            from sleuth.base.process import terminal_columns
            from sleuth.base.wrap import wrap_text

            text = "\n".join(wrap_text(text, terminal_columns(), "  "))
            if self.color != "never" and not self.environ.get("NO_COLOR") and self.environ.get("TERM") != "dumb":
                end = min(place for place in (text.find(":"), text.find("："), len(text)) if place >= 0) + 1
                text = f"\x1b[{label_style}m{text[:end]}\x1b[0m{text[end:]}"
        print(text, file=self.stderr)


def error_as_json(error: SleuthError) -> dict[str, Any]:
    """Return the published JSON form of an error, in the user's language, redacted."""
    from sleuth.base.logs import without_secrets

    message = without_secrets(tr(error.message, **error.values))
    hint = without_secrets(tr(error.hint, **error.values))
    return {
        "code": error.code,
        "status": error.status or STATUSES.get(error.exit, 500),
        "message": clean(message, 2000, entities=False),
        "hint": clean(hint, 1000, entities=False) or None,
        "provider": error.provider or None,
        "recoverable": error.recoverable,
    }
