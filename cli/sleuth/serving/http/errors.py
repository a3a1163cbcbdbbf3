"""HTTP statuses and bodies of errors."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError
from sleuth.runtime import error_as_json
from sleuth.serving.workers import BusyError

OPENAPI_HINT = "see GET /openapi.json"


class HttpError(SleuthError):
    """A request refused with a status of its own."""

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


def malformed_request() -> RequestError:
    """Return the error for bytes that are not HTTP, or that two parsers could read differently."""
    return RequestError("malformed HTTP request", OPENAPI_HINT)


def body_too_large() -> HttpError:
    """Return the error for a body over the limit."""
    return HttpError("the body is larger than 1 MB", "send less", status=413, code="BODY_TOO_LARGE")


def internal_error() -> SleuthError:
    """Return the error for a bug in sleuth; the log has the details."""
    return SleuthError("internal error", "see the log: sleuth doctor shows where it is", code="INTERNAL_ERROR")


def stopping() -> HttpError:
    """Return the error for requests that are cut off by a shutdown."""
    return HttpError(
        "the server is stopping", "try again later", status=503, code="STOPPING", headers={"Retry-After": "5"}
    )


def error_status(error: SleuthError) -> int:
    """Return the HTTP status; a failed search is 500 whatever status the provider sent."""
    if isinstance(error, HttpError):
        return error.status
    if isinstance(error, BusyError):
        return 503
    if isinstance(error, UnknownProviderError):
        return 404
    return 400 if isinstance(error, RequestError) else 500


def error_body(error: SleuthError) -> dict[str, Any]:
    """Return the body that all errors share."""
    described = error_as_json(error)
    return {"error": {name: described[name] for name in ("code", "message", "hint")}}


def error_response(error: SleuthError) -> JSONResponse:
    """Return the response for an error."""
    headers = error.headers if isinstance(error, HttpError) else {}
    if isinstance(error, BusyError):
        headers = {"Retry-After": "1"}
    return JSONResponse(error_body(error), error_status(error), headers)
