"""How an error is told over HTTP: its status, and always the same body."""

from collections.abc import Mapping
from typing import Any

from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError
from sleuth.runtime import error_as_json

JSON = "application/json"
LOST = "INTERNAL_ERROR"


class DeniedError(SleuthError):
    """A request that is turned away with a status of its own."""

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        status: int,
        code: str,
        headers: Mapping[str, str] | None = None,
        **values: Any,
    ) -> None:
        super().__init__(message, hint, code=code, **values)
        self.status: int = status
        self.headers = dict(headers or {})


def busy() -> DeniedError:
    """Return the refusal of one request too many."""
    return DeniedError(
        "there are too many requests at the moment",
        "try again in a moment",
        status=503,
        code="BUSY",
        headers={"Retry-After": "1"},
    )


def not_http() -> RequestError:
    """Return the refusal of what HTTP does not allow, or what two readers of it could take for two things."""
    return RequestError("this is not HTTP as it should be", "see what there is: GET /openapi.json")


def unexpected() -> SleuthError:
    """Return what is said of a fault of ours; the log has the rest."""
    return SleuthError("something unexpected went wrong", "the log of sleuth serve tells more", code=LOST)


def status_of(error: SleuthError) -> int:
    """Return the HTTP status of an error; a search that failed is 500, whatever the provider's own status was."""
    if isinstance(error, DeniedError):
        return error.status
    if isinstance(error, UnknownProviderError):
        return 404
    return 400 if isinstance(error, RequestError) else 500


def body_of(error: SleuthError) -> dict[str, Any]:
    """Return what happened and what to do."""
    told = error_as_json(error)
    return {"error": {name: told[name] for name in ("code", "message", "hint")}}
