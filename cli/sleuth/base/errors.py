"""Our own errors, and the one table that turns any error into an exit code.

SleuthError                 FAILED                1
├── RequestError            INVALID_REQUEST       2   what was asked makes no sense
├── SettingsError           INVALID_SETTINGS      2   settings or database that cannot be used
│   └── UnwritableError     INVALID_SETTINGS      2   a folder or file that cannot be made or written
├── UnknownProviderError    PROVIDER_NOT_FOUND    3
├── MissingExtraError       MISSING_EXTRA         2   an optional part is not installed
├── SearchError             as the provider's     1–6 nobody could answer
└── ModelError              as in its own tree    1–6 a language model could not answer: `sleuth.answers.llm.errors`

Errors of providers have a tree of their own in `sleuth_providers.errors`.
"""

from __future__ import annotations

from enum import IntEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class Exit(IntEnum):
    """What the process says when it ends."""

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
    "TIMEOUT": Exit.UNREACHABLE,
    "UNREACHABLE": Exit.UNREACHABLE,
    "PROVIDER_UNAVAILABLE": Exit.UNREACHABLE,
    "INTERRUPTED": Exit.INTERRUPTED,
}

# What `error.status` in JSON says for errors that had no HTTP status of their own.
STATUSES = {Exit.INVALID: 400, Exit.UNKNOWN_PROVIDER: 404, Exit.KEY: 401, Exit.LIMIT: 429, Exit.UNREACHABLE: 503}


class SleuthError(Exception):
    """Something the user should know: what happened and what to do. Both are templates, translated when shown."""

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
        """Return what to do, in English with its values filled in, as `str` of the error is what happened."""
        try:
            return self.hint.format_map(self.values) if self.values else self.hint
        except (KeyError, ValueError, IndexError):  # a brace that is meant as one
            return self.hint

    @property
    def exit(self) -> Exit:
        """Return the exit code of this error."""
        return EXITS.get(self.code, Exit.FAILED)


class RequestError(SleuthError):
    """The command makes no sense as typed."""

    code = "INVALID_REQUEST"


class SettingsError(SleuthError):
    """Settings, database or folders cannot be used as they are."""

    code = "INVALID_SETTINGS"


class UnwritableError(SettingsError):
    """A place sleuth must write to does not let it; a search goes on without."""


class UnknownProviderError(SleuthError):
    """No provider has that id."""

    code = "PROVIDER_NOT_FOUND"
    hint = "see which there are: sleuth providers list"


class MissingExtraError(SleuthError):
    """An optional part of sleuth is not installed."""

    code = "MISSING_EXTRA"


class SearchError(SleuthError):
    """Nobody who was asked could answer."""

    recoverable = True
