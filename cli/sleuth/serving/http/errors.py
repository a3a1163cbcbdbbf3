"""HTTP statuses and bodies of errors."""

from typing import Any

from starlette.responses import JSONResponse

from sleuth.api import for_programs
from sleuth.base.daemon_pool import BusyError
from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError
from sleuth.base.messages import error_as_json

OPENAPI_HINT = "see GET /openapi.json"
STATUSES = {BusyError: 503, UnknownProviderError: 404, RequestError: 400}  # the first type that matches


class HttpError(SleuthError):
    """A request that is refused with a specific HTTP status."""

    def __init__(self, message: str, hint: str, status: int, code: str, **values: Any) -> None:
        super().__init__(message, hint, code=code, **values)
        self.status: int = status
        self.retry_after = 1 if status == 503 else 0  # seconds


def malformed_request() -> RequestError:
    """Return the error for bytes that are not HTTP, or that two parsers could read differently."""
    return RequestError("malformed HTTP request", OPENAPI_HINT)


def body_too_large() -> HttpError:
    """Return the error for a body over the limit."""
    return HttpError("the body is larger than 1 MB", "send it in several requests", 413, "BODY_TOO_LARGE")


def stopping() -> HttpError:
    """Return the error for requests that the end of the server interrupts."""
    return HttpError("the server is stopping", "try again later", 503, "STOPPING")


def internal_error() -> SleuthError:
    """Return the error for a bug in sleuth; the log has the details."""
    return SleuthError("internal error", "see sleuth.log in the state folder", code="INTERNAL_ERROR")


def error_status(error: SleuthError) -> int:
    """Return the HTTP status; a failed search is 500 whatever status the provider sent."""
    if isinstance(error, HttpError):
        return error.status
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


def error_body(error: SleuthError) -> dict[str, Any]:
    """Return the body that all errors share."""
    described = error_as_json(error)
    return {"error": {name: for_programs(described[name] or "") or None for name in ("code", "message", "hint")}}


def error_response(error: SleuthError, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the response for an error."""
    retry = {"Retry-After": str(seconds)} if (seconds := getattr(error, "retry_after", 0)) else {}
    return JSONResponse(error_body(error), error_status(error), retry | (headers or {}))
