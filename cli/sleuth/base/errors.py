"""The errors sleuth raises, and the exit code of each.

SleuthError                 FAILED                1
├── RequestError            INVALID_REQUEST       2   invalid arguments or input
├── SettingsError           INVALID_SETTINGS      2   unusable settings or database
│   └── UnwritableError     INVALID_SETTINGS      2   a file or folder that cannot be written
├── UnknownProviderError    PROVIDER_NOT_FOUND    3
├── MissingExtraError       MISSING_EXTRA         2   an optional dependency is not installed
├── SearchError             of the first failure  1–6 no provider answered
└── ModelError              of its subclass       1–6 the language model failed: `sleuth.answers.llm.errors`

Providers raise `sleuth_providers.errors`.
"""

from __future__ import annotations

from enum import IntEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from sleuth_providers.errors import ProviderError


class Exit(IntEnum):
    """The exit codes of the process."""

    DONE = 0
    FAILED = 1
    INVALID = 2
    UNKNOWN_PROVIDER = 3
    KEY = 4
    LIMIT = 5
    UNREACHABLE = 6
    NO_RESULTS = 7
    INTERRUPTED = 130


EXITS = {
    "INVALID_REQUEST": Exit.INVALID,
    "INVALID_SETTINGS": Exit.INVALID,
    "MISSING_EXTRA": Exit.INVALID,
    "MODEL_NOT_FOUND": Exit.INVALID,
    "CONTEXT_TOO_LONG": Exit.INVALID,
    "PROVIDER_NOT_FOUND": Exit.UNKNOWN_PROVIDER,
    "API_KEY_MISSING": Exit.KEY,
    "API_KEY_INVALID": Exit.KEY,
    "RATE_LIMIT_EXCEEDED": Exit.LIMIT,
    "BLOCKED": Exit.LIMIT,
    "COOLDOWN": Exit.LIMIT,
    "PACED": Exit.LIMIT,
    "TIMEOUT": Exit.UNREACHABLE,
    "UNREACHABLE": Exit.UNREACHABLE,
    "PROVIDER_UNAVAILABLE": Exit.UNREACHABLE,
    "INTERRUPTED": Exit.INTERRUPTED,
}

# `error.status` in JSON for errors that did not come from an HTTP response.
STATUSES = {Exit.INVALID: 400, Exit.UNKNOWN_PROVIDER: 404, Exit.KEY: 401, Exit.LIMIT: 429, Exit.UNREACHABLE: 503}


class SleuthError(Exception):
    """An error with a message and a hint for the user; both are templates, translated when shown."""

    code: str = "FAILED"
    hint: str = ""
    recoverable: ClassVar[bool] = False

    def __init__(self, message: str, hint: str = "", *, code: str = "", provider: str = "", **values: Any) -> None:
        super().__init__(message.format_map(values) if values else message)
        self.message = message
        self.hint = hint or self.hint
        self.code = code or self.code
        self.provider = provider
        self.values = values
        self.status: int | None = None

    @property
    def advice(self) -> str:
        """Return the English hint with its values filled in, for programs; `str` of the error is the message."""
        return self.hint.format_map(self.values) if self.values else self.hint

    @property
    def exit(self) -> Exit:
        """Return the exit code of this error."""
        return EXITS.get(self.code, Exit.FAILED)


class RequestError(SleuthError):
    """The arguments or the input are invalid."""

    code = "INVALID_REQUEST"


class SettingsError(SleuthError):
    """Settings, database or folders are unusable."""

    code = "INVALID_SETTINGS"


class UnwritableError(SettingsError):
    """A file or folder cannot be written; a search continues without it."""


class DatabaseError(UnwritableError):
    """A database is damaged, or was written by a newer version; nothing is written to it."""


class UnknownProviderError(SleuthError):
    """No provider has that id."""

    code = "PROVIDER_NOT_FOUND"
    hint = "to list the providers: sleuth providers list"


class MissingExtraError(SleuthError):
    """An optional dependency is not installed."""

    code = "MISSING_EXTRA"


class SearchError(SleuthError):
    """No provider answered."""

    recoverable = True


def local_time(seconds: float) -> str:
    """Format an end time, rounded up to the minute: the time of day, with the date unless it is today."""
    import math
    import time

    when, now = time.localtime(math.ceil(seconds / 60) * 60), time.localtime()
    return time.strftime("%H:%M" if when[:3] == now[:3] else "%Y-%m-%d %H:%M", when)


def describe(error: SleuthError | ProviderError, **names: str) -> tuple[str, str]:
    """Return message and hint of an error in the user's language, redacted; `names` fills in provider and id."""
    from sleuth.base.i18n import tr
    from sleuth.base.logs import without_secrets

    values = names | error.values
    message = tr(error.message, **values)
    if detail := getattr(error, "detail", ""):
        message = tr("{message} ({detail})", message=message, detail=detail)
    if retry_after := getattr(error, "retry_after", None):
        import time

        message = tr("{message}; retry after {until}", message=message, until=local_time(time.time() + retry_after))
    return without_secrets(message), without_secrets(tr(error.hint, **values))
