"""What can go wrong between sleuth and a provider.

ProviderError                 SEARCH_FAILED
├── KeyMissingError           API_KEY_MISSING
├── KeyInvalidError           API_KEY_INVALID
├── RateLimitError            RATE_LIMIT_EXCEEDED   asked too fast; try later
│   └── QuotaError            RATE_LIMIT_EXCEEDED   the plan, the money or the day is used up
├── BlockedError              BLOCKED               a captcha or challenge page instead of an answer
├── DeadlineError             TIMEOUT
├── UnreachableError          UNREACHABLE           nobody answers at that address: an answer of its own, not retried
│   └── BrokenOffError        UNREACHABLE           a connection that ended half-way: worth another try
├── UnavailableError          PROVIDER_UNAVAILABLE  HTTP 5xx
├── BadRequestError           INVALID_REQUEST       the provider does not accept this query
└── BadResponseError          BAD_RESPONSE          an answer that cannot be read
    └── NotFoundError         BAD_RESPONSE          HTTP 404: most often a wrong host or path

Messages and hints are templates: `{provider}` is the display name and `{id}` the row of the provider table, both filled
in by whoever asked; `detail` is ours, never the server's body. Templates are what gets translated.
"""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class ProviderError(Exception):
    """A provider did not answer as hoped; says what to do about it."""

    code: ClassVar[str] = "SEARCH_FAILED"
    state: ClassVar[str] = "bad_response"
    retryable: ClassVar[bool] = False
    message: str = "{provider} could not answer"
    hint: str = "try another provider: sleuth search -p ID …, or see: sleuth providers list"

    def __init__(
        self,
        detail: str = "",
        *,
        message: str = "",
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        values: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail or message or self.message)
        self.detail = detail
        self.message = message or self.message
        self.hint = hint or self.hint
        self.status = status
        self.retry_after = retry_after
        self.values: dict[str, str] = dict(values or {})


class KeyMissingError(ProviderError):
    """The provider needs a key and none is known."""

    code = "API_KEY_MISSING"
    state = "key_missing"
    message = "{provider} needs an API key"
    hint = "set one: sleuth providers set {id} --api-key -"


class KeyInvalidError(ProviderError):
    """The provider rejected the key."""

    code = "API_KEY_INVALID"
    state = "key_invalid"
    message = "{provider} rejected the API key"
    hint = "check the key in settings: sleuth providers set {id} --api-key -"


class RateLimitError(ProviderError):
    """Too many requests in too little time."""

    code = "RATE_LIMIT_EXCEEDED"
    state = "rate_limited"
    retryable = True
    message = "{provider} limits how often it may be asked"
    hint = "try later, or ask another provider: sleuth search -p ID …"


class QuotaError(RateLimitError):
    """The plan's allowance is used up; asking again at once is no use."""

    state = "quota"
    retryable = False
    message = "the quota of {provider} is used up"
    hint = "try later, top up the account, or ask another provider: sleuth search -p ID …"


class BlockedError(ProviderError):
    """A bot wall answered instead of the provider."""

    code = "BLOCKED"
    state = "blocked"
    message = "{provider} answered with a bot check instead of results"
    hint = "try later or ask another provider: sleuth search -p ID …"


class DeadlineError(ProviderError):
    """No whole answer within the time limit."""

    code = "TIMEOUT"
    state = "timeout"
    message = "{provider} did not answer in time"
    hint = "check the network, or allow more time: --timeout 30"


class UnreachableError(ProviderError):
    """No connection: refused, unknown host, bad certificate."""

    code = "UNREACHABLE"
    state = "unreachable"
    message = "{provider} cannot be reached"
    hint = "check the network and the address: sleuth providers show {id}"


class BrokenOffError(UnreachableError):
    """The connection was there and broke."""

    retryable = True


class UnavailableError(ProviderError):
    """The provider's own server failed."""

    code = "PROVIDER_UNAVAILABLE"
    state = "unreachable"
    retryable = True
    message = "{provider} is unavailable"
    hint = "try later or ask another provider: sleuth search -p ID …"


class BadRequestError(ProviderError):
    """The provider refuses this very query."""

    code = "INVALID_REQUEST"
    message = "{provider} does not accept this request"
    hint = "try other words or fewer options; --debug shows the exchange"


class BadResponseError(ProviderError):
    """The answer is not what the provider's API promises."""

    code = "BAD_RESPONSE"
    message = "{provider} sent an answer that cannot be read"
    hint = "check the address: sleuth providers show {id}"


class NotFoundError(BadResponseError):
    """Nothing lives at that path."""

    message = "{provider} has nothing at this address"


class PrivateAddressError(ProviderError):
    """The page lives at an address that is not on the public internet."""

    code = "PRIVATE_ADDRESS"
    state = "refused"
    message = "{provider} is at a private address, and pages there are not read"
    hint = "if you mean to read it: sleuth config set fetch.allow_private true"
