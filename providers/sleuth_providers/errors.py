"""Errors of providers and of the network.

ProviderError                 SEARCH_FAILED
├── KeyMissingError           API_KEY_MISSING
├── KeyInvalidError           API_KEY_INVALID
├── RateLimitError            RATE_LIMIT_EXCEEDED   too many requests; try later
│   └── QuotaError            RATE_LIMIT_EXCEEDED   the plan, the balance or the daily allowance is exhausted
├── BlockedError              BLOCKED               a captcha or challenge page instead of results
│   └── KeyRequiredError      API_KEY_MISSING       requests without a key, which is optional, are refused
├── NoResultsError           SEARCH_FAILED         becomes an empty result
├── DeadlineError             TIMEOUT
├── UnreachableError          UNREACHABLE           no connection; not retried
│   └── BrokenOffError        UNREACHABLE           the connection was closed early; retried
├── UnavailableError          PROVIDER_UNAVAILABLE  HTTP 5xx
├── BadRequestError           INVALID_REQUEST       the provider rejects this query
└── BadResponseError          BAD_RESPONSE          an unreadable response
    └── NotFoundError         BAD_RESPONSE          HTTP 404: usually a wrong host or path

Messages, hints and details are templates, and translated as such: the engine fills in `{provider}` (display name)
and `{id}` (row of the provider table). `detail` never quotes the server's body, which may contain a key.
"""

from __future__ import annotations

from collections.abc import Mapping

from sleuth_providers.translatable import Translatable

OWN_KEY_HINT = "try again later, or use your own key: sleuth providers set {id} --api-key -"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class ProviderError(Exception):
    """A request to a provider failed."""

    code: ClassVar[str] = "SEARCH_FAILED"
    state: ClassVar[str] = "bad_response"
    retryable: ClassVar[bool] = False
    message: str = "the request to {provider} failed"
    hint: str = "try another provider: sleuth search -p ID …, or see: sleuth providers list"
    engines: Mapping[str, str] = {}  # failed engines behind the provider, with the reason

    def __init__(
        self,
        detail: str = "",
        /,
        *,
        message: str = "",
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        **values: Any,
    ) -> None:
        if not detail and status:
            detail = f"HTTP {status}"
        self.detail = Translatable(detail, **values)
        super().__init__(self.detail or message or self.message)
        self.message = message or self.message
        self.hint = hint or self.hint
        self.status = status
        self.retry_after = retry_after
        self.values = values


class KeyMissingError(ProviderError):
    """The provider needs a key, and none is set."""

    code = "API_KEY_MISSING"
    state = "key_missing"
    message = "{provider} needs an API key"
    hint = "set one: sleuth providers set {id} --api-key -"


class KeyInvalidError(ProviderError):
    """The provider rejected the key."""

    code = "API_KEY_INVALID"
    state = "key_invalid"
    message = "{provider} rejected the API key"
    hint = "check the key, then set it again: sleuth providers set {id} --api-key -"


class RateLimitError(ProviderError):
    """Too many requests in a short time."""

    code = "RATE_LIMIT_EXCEEDED"
    state = "rate_limited"
    retryable = True
    message = "{provider} received too many requests"
    hint = "try again later, or use another provider: sleuth search -p ID …"


class QuotaError(RateLimitError):
    """The allowance of the plan is exhausted; a retry does not help."""

    state = "quota"
    retryable = False
    message = "{provider} quota exhausted"
    hint = "try again later, top up the account, or use another provider: sleuth search -p ID …"


class BlockedError(ProviderError):
    """The provider sent a captcha or challenge page."""

    code = "BLOCKED"
    state = "blocked"
    message = "{provider} returned a bot check instead of results"
    hint = "try again later, or use another provider: sleuth search -p ID …"


class KeyRequiredError(BlockedError):
    """The provider refuses requests without a key, although it documents that it takes them."""

    code = "API_KEY_MISSING"
    message = "{provider} refuses requests without an API key"
    hint = KeyMissingError.hint


class NoResultsError(ProviderError):
    """The API reports an empty result as an error; `Provider.search` turns it into an empty `Found`."""


class DeadlineError(ProviderError):
    """The response was not complete by the deadline."""

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
    """The connection was closed before the response was complete."""

    retryable = True


class UnavailableError(ProviderError):
    """The provider's server failed."""

    code = "PROVIDER_UNAVAILABLE"
    state = "unreachable"
    retryable = True
    message = "{provider} is unavailable"
    hint = "try again later, or use another provider: sleuth search -p ID …"


class BadRequestError(ProviderError):
    """The provider rejects this query."""

    code = "INVALID_REQUEST"
    message = "{provider} rejected the request"
    hint = "try other words or fewer options; --debug shows the request and the response"


class BadResponseError(ProviderError):
    """The response does not have the shape that the API documents."""

    code = "BAD_RESPONSE"
    message = "{provider} returned an unreadable response"
    hint = "check the address: sleuth providers show {id}"


class NotFoundError(BadResponseError):
    """The URL does not exist."""

    message = "{provider} has nothing at this address"


class PrivateAddressError(ProviderError):
    """The page is at an address that is not on the public internet."""

    code = "PRIVATE_ADDRESS"
    state = "refused"
    message = "{provider} is at a private address; such pages are not read"
    hint = "to allow private addresses: sleuth config set fetch.allow_private true"
