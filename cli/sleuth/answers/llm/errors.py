"""What can go wrong between sleuth and a model, and how a server's error response becomes one of these errors.

ModelError                    FAILED                1
├── ModelKeyError             API_KEY_INVALID       4   HTTP 401 and 403
├── ModelLimitError           RATE_LIMIT_EXCEEDED   5   too many requests; try later
│   └── ModelBalanceError     RATE_LIMIT_EXCEEDED   5   out of credit or quota
├── ModelTimeoutError         TIMEOUT               6
├── ModelUnreachableError     UNREACHABLE           6   no connection
│   └── ModelBrokenOffError   UNREACHABLE           6   a reply that was cut off
├── ModelUnavailableError     PROVIDER_UNAVAILABLE  6   HTTP 5xx
├── ModelRequestError         INVALID_REQUEST       2   the server rejects this request
│   ├── ModelNotFoundError    MODEL_NOT_FOUND       2   no model of that name
│   └── ContextTooLongError   CONTEXT_TOO_LONG      2   the prompt exceeds the context window
└── ModelResponseError        BAD_RESPONSE          1   a response that cannot be parsed
    └── ModelAddressError     BAD_RESPONSE          1   HTTP 404 or a redirect: usually a wrong path

In messages `{server}` is the host and `{detail}` the server's message or what happened, cleaned and redacted.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from sleuth.answers.llm.chat import Usage
from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.text import shorten
from sleuth.base.urls import clean_url
from sleuth_providers.base import Response
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BrokenOffError,
    DeadlineError,
    ProviderError,
    UnreachableError,
)
from sleuth_providers.json import as_dict, as_list, as_number, as_text
from sleuth_providers.net.client import retry_after
from sleuth_providers.records import Record

MAX_DETAIL_CHARS = 300


class ModelError(SleuthError):
    """A call to a model failed."""

    message: str = "the model at {server} failed: {detail}"
    hint: str = "find the cause: sleuth doctor --only model"
    retryable: ClassVar[bool] = False

    def __init__(self, *, server: str, detail: str = "", hint: str = "", **values: Any) -> None:
        super().__init__(self.message, hint or self.hint, server=server, detail=detail, **values)
        self.status: int | None = values.get("status")
        self.retry_after: float | None = values.get("wait")  # seconds
        self.usage = Usage()  # tokens spent on failed attempts

    @property
    def detail(self) -> str:
        """Return the server's message, or what happened."""
        return str(self.values["detail"])


class ModelKeyError(ModelError):
    """The key is missing, wrong, or not valid for this model or region."""

    code = "API_KEY_INVALID"
    message = "{server} rejected the model's API key: {detail}"
    hint = "set another key: sleuth config set llm.api_key -"


class ModelLimitError(ModelError):
    """Too many requests in a short time."""

    code = "RATE_LIMIT_EXCEEDED"
    recoverable = True
    retryable = True
    message = "rate limited by {server}: {detail}"
    hint = "try again later"


class ModelBalanceError(ModelLimitError):
    """The account is out of credit or quota; a retry cannot help."""

    retryable = False
    message = "the account at {server} is out of credit: {detail}"
    hint = "add credit, or use another server: sleuth config set llm.base_url URL"


class ModelTimeoutError(ModelError):
    """No reply in time, or a stream that stalled."""

    code = "TIMEOUT"
    recoverable = True
    message = "the model at {server} did not answer within {seconds:g} s"
    hint = "allow more time: sleuth config set {setting} SECONDS"


class ModelUnreachableError(ModelError):
    """No connection: refused, unknown host, bad certificate."""

    code = "UNREACHABLE"
    recoverable = True
    message = "cannot reach the model at {server}: {detail}"


class ModelBrokenOffError(ModelUnreachableError):
    """The connection was lost, or the reply ended without a finish reason."""

    retryable = True
    message = "the reply from the model at {server} was cut off: {detail}"
    hint = "try again"


class ModelUnavailableError(ModelError):
    """The server failed or is overloaded."""

    code = "PROVIDER_UNAVAILABLE"
    recoverable = True
    retryable = True
    message = "the model at {server} is unavailable: {detail}"
    hint = "try again later"


class ModelRequestError(ModelError):
    """The server rejects this request."""

    code = "INVALID_REQUEST"
    message = "{server} rejected the request: {detail}"


class ModelNotFoundError(ModelRequestError):
    """The server has no model of that name."""

    code = "MODEL_NOT_FOUND"
    message = "{server} has no model {model!r}: {detail}"
    hint = "list its models with: sleuth doctor --only model, then: sleuth config set llm.model NAME"


class ContextTooLongError(ModelRequestError):
    """The prompt exceeds the model's context window."""

    code = "CONTEXT_TOO_LONG"
    message = "the prompt is too long for the model at {server}: {detail}"
    hint = "send less text: sleuth config set websearch.max_output_chars 10000"


class ModelResponseError(ModelError):
    """The response does not follow the chat completions API."""

    code = "BAD_RESPONSE"
    message = "invalid response from {server}: {detail}"


class ModelAddressError(ModelResponseError):
    """The URL belongs to something other than a chat completions API."""

    message = "there is no model API at {address}: {detail}"
    hint = "most endpoints end in /v1: sleuth config set llm.base_url https://HOST/v1"


# Servers agree on neither status codes nor error codes, so the text of the error decides where it can.
TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|exceed_context|too many tokens|(?:prompt|input|request) (?:is )?too (?:long|big)"
    r"|request too large|input length|maximum (?:prompt|input|sequence) length|max_model_len",
    re.IGNORECASE,
)
NO_MODEL = re.compile(
    r"model.{0,80}(?:not.?found|not.?exist|no such|unknown)|(?:unknown|invalid|no such|not a valid) model",
    re.IGNORECASE | re.DOTALL,
)
OUT_OF_CREDIT = re.compile(
    r"insufficient.?(?:quota|balance|funds|credit)|balance.{0,9}insufficient|exceeded your current quota|余额不足",
    re.IGNORECASE,
)
# For errors inside a stream, which come with HTTP 200.
STATUS_BY_TEXT = (
    (r"rate.?limit", 429),
    (r"api.?key|authentication", 401),
    (r"overload|server.?error|unavailable", 503),
)


CONNECTION_ERRORS: dict[type[ProviderError], type[ModelError]] = {  # the first type that matches
    BrokenOffError: ModelBrokenOffError,
    UnreachableError: ModelUnreachableError,
    BadRequestError: ModelRequestError,
    BadResponseError: ModelResponseError,
}


class RequestTarget(Record):
    """The model and URL of a request, for error messages."""

    server: str
    model: str
    url: str


def error_text(document: Any) -> str:
    """Return the message of an error document, in any of the forms servers use."""
    body = as_dict(document)
    error = body.get("error")
    inner = as_dict(error)
    texts = [inner.get("message"), error, body.get("message"), body.get("msg"), body.get("detail")]
    problems = "; ".join(_validation_error(as_dict(entry)) for entry in as_list(body.get("detail")))
    found = next(filter(None, map(as_text, texts)), "") or problems or as_text(inner.get("code") or inner.get("type"))
    return shorten(logs.safe(found.strip()[: 100 * MAX_DETAIL_CHARS]), MAX_DETAIL_CHARS)


def _validation_error(entry: dict[str, Any]) -> str:
    """Return one entry of FastAPI's list: the field and what is wrong with it."""
    place = ".".join(as_text(step) for step in as_list(entry.get("loc")) if step != "body")
    return f"{place}: {as_text(entry.get('msg'))}" if place else as_text(entry.get("msg"))


def is_error(document: Any) -> bool:
    """Tell whether a document that came with HTTP 200 is still an error."""
    body = as_dict(document)
    return (
        bool(body.get("error")) or body.get("object") == "error" or ("choices" not in body and bool(error_text(body)))
    )


def connection_error(target: RequestTarget, error: ProviderError, seconds: float) -> ModelError:
    """Return the error for a connection that failed, or that was silent for some seconds."""
    if isinstance(error, DeadlineError):
        return ModelTimeoutError(server=target.server, seconds=seconds, setting="llm.timeout")
    kind = next((ours for theirs, ours in CONNECTION_ERRORS.items() if isinstance(error, theirs)), ModelError)
    return kind(server=target.server, detail=error.detail)


def response_error(target: RequestTarget, response: Response) -> ModelError:
    """Return the error for a response other than 200."""
    try:
        document = as_dict(response.json())
    except ProviderError:  # HTML, plain text or nothing: only the status helps
        document = {}
    if 300 <= response.status < 400:
        location = logs.safe(response.headers.get("location", ""))[:MAX_DETAIL_CHARS]
        return wrong_url(target, f"HTTP {response.status}, {location}", response.status)
    return classify(target, document, response.status, retry_after(response))


def wrong_url(target: RequestTarget, detail: str, status: int) -> ModelError:
    """Return the error for a URL that is not a chat completions API."""
    return ModelAddressError(server=target.server, detail=detail, status=status, address=clean_url(target.url))


def classify(target: RequestTarget, document: Any, status: int, wait: float | None = None) -> ModelError:
    """Return the error for an error document and a status."""
    error = as_dict(as_dict(document).get("error"))
    message, field = error_text(document), as_text(error.get("param"))
    text = f"{message} {as_text(error.get('code'))} {as_text(error.get('type'))}"
    likely = next((code for pattern, code in STATUS_BY_TEXT if re.search(pattern, text, re.IGNORECASE)), 200)
    status = _own_status(error) or (likely if status == 200 else status)
    detail = message or f"HTTP {status}"
    common: dict[str, Any] = {"server": target.server, "detail": detail, "status": status}
    wait = wait and math.ceil(wait)  # HTTP has whole seconds, and 0 s is no advice
    retry: dict[str, Any] = {"wait": wait, "hint": "try again in {wait:.0f} s" if wait else ""}
    if status == 402 or (status in (403, 429) and OUT_OF_CREDIT.search(text)):
        return ModelBalanceError(**common)
    if status in (401, 403):
        return ModelKeyError(**common)
    if status == 429:
        return ModelLimitError(**common, **retry)
    if status == 413 or TOO_LONG.search(text):
        return ContextTooLongError(**common)
    if status in (400, 404, 422) and NO_MODEL.search(text):
        return ModelNotFoundError(**common, model=target.model)
    if status == 404:
        return wrong_url(target, detail, status)
    if status >= 500:
        return ModelUnavailableError(**common, **retry)
    if status >= 400:
        return ModelRequestError(**common | {"detail": detail if field in message else f"{field}: {detail}"})
    return ModelError(**common)


def _own_status(error: Mapping[str, Any]) -> int:
    """Return the HTTP status inside an error document: gateways forward errors with HTTP 200."""
    code = as_number(error.get("code"))
    return int(code) if code is not None and 400 <= code < 600 else 0
