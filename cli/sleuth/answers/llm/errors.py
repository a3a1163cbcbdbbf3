"""What can go wrong between sleuth and a model.

ModelError                    FAILED                1
├── ModelKeyError             API_KEY_INVALID       4   HTTP 401 and 403
├── ModelLimitError           RATE_LIMIT_EXCEEDED   5   asked too fast; try later
│   └── ModelBalanceError     RATE_LIMIT_EXCEEDED   5   the money or the quota is used up
├── ModelTimeoutError         TIMEOUT               6
├── ModelUnreachableError     UNREACHABLE           6   nobody answers at that address
│   └── ModelBrokenOffError   UNREACHABLE           6   a reply that ended half-way
├── ModelUnavailableError     PROVIDER_UNAVAILABLE  6   HTTP 5xx
├── ModelRequestError         INVALID_REQUEST       2   the server does not accept this request, and says why
│   ├── ModelNotFoundError    MODEL_NOT_FOUND       2   no model of that name
│   └── ContextTooLongError   CONTEXT_TOO_LONG      2   more text than the model can read: send less
└── ModelResponseError        BAD_RESPONSE          1   an answer that cannot be read
    └── ModelAddressError     BAD_RESPONSE          1   HTTP 404 or a redirect: most often a wrong path

In messages `{server}` is the host and `{detail}` what it said or what was seen, cleaned and without secrets.
"""

from typing import Any, ClassVar

from sleuth.answers.llm.chat import Usage
from sleuth.base.errors import SleuthError


class ModelError(SleuthError):
    """A model did not answer as hoped."""

    message: str = "the model at {server} could not answer: {detail}"
    hint: str = "see what is wrong with it: sleuth doctor --only model"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        *,
        server: str,
        detail: str = "",
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        **values: Any,
    ) -> None:
        super().__init__(self.message, hint or self.hint, server=server, detail=detail, wait=retry_after, **values)
        self.status = status
        self.retry_after = retry_after
        self.usage = Usage()  # what was paid for nothing

    @property
    def detail(self) -> str:
        """Return what the server said, or what was seen."""
        return str(self.values["detail"])


class ModelKeyError(ModelError):
    """The key is missing, wrong, or not good for this model or region."""

    code = "API_KEY_INVALID"
    message = "{server} rejects the key of the model: {detail}"
    hint = "set another key: sleuth config set llm.api_key -"


class ModelLimitError(ModelError):
    """Too many requests in too little time."""

    code = "RATE_LIMIT_EXCEEDED"
    recoverable = True
    retryable = True
    message = "{server} limits how often the model may be asked: {detail}"
    hint = "try later"


class ModelBalanceError(ModelLimitError):
    """There is no money or no quota left; asking again is no use."""

    retryable = False
    message = "the account at {server} is used up: {detail}"
    hint = "top it up, or ask another server: sleuth config set llm.base_url URL"


class ModelTimeoutError(ModelError):
    """No reply in time, or none that went on."""

    code = "TIMEOUT"
    recoverable = True
    message = "the model at {server} did not answer within {seconds:g} s"
    hint = "try again; a smaller model is quicker: sleuth config set llm.model NAME"


class ModelUnreachableError(ModelError):
    """No connection: refused, unknown host, bad certificate."""

    code = "UNREACHABLE"
    recoverable = True
    message = "the model at {server} cannot be reached: {detail}"


class ModelBrokenOffError(ModelUnreachableError):
    """The connection was there and broke, or the reply ended without an end."""

    retryable = True
    message = "the reply of the model at {server} broke off: {detail}"
    hint = "try again"


class ModelUnavailableError(ModelError):
    """The server failed or is overloaded."""

    code = "PROVIDER_UNAVAILABLE"
    recoverable = True
    retryable = True
    message = "the model at {server} is unavailable: {detail}"
    hint = "try later"


class ModelRequestError(ModelError):
    """The server refuses this very request."""

    code = "INVALID_REQUEST"
    message = "{server} does not accept the request: {detail}"


class ModelNotFoundError(ModelRequestError):
    """The server has no model of that name."""

    code = "MODEL_NOT_FOUND"
    message = "{server} has no model {model!r}: {detail}"
    hint = "see which it has: sleuth doctor --only model, then: sleuth config set llm.model NAME"


class ContextTooLongError(ModelRequestError):
    """The prompt is longer than the model can read; a shorter one may do."""

    code = "CONTEXT_TOO_LONG"
    message = "the text is too long for the model at {server}: {detail}"
    hint = "let fewer pages be read: sleuth config set ask.pages 1"


class ModelResponseError(ModelError):
    """The answer is not what a model's API promises."""

    code = "BAD_RESPONSE"
    message = "{server} sent an answer that cannot be read: {detail}"


class ModelAddressError(ModelResponseError):
    """Something else lives at that path."""

    message = "no model answers at {address}: {detail}"
    hint = "most endpoints end in /v1: sleuth config set llm.base_url https://HOST/v1"
