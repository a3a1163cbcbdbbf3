"""The HTTP policy of every provider: one deadline, few retries, own-origin redirects, status → error."""

import os
import string
import sys
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote, urljoin, urlsplit

from sleuth_providers.base import ErrorDetector, Request, Response
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BlockedError,
    DeadlineError,
    KeyInvalidError,
    NotFoundError,
    ProviderError,
    QuotaError,
    RateLimitError,
    UnavailableError,
)
from sleuth_providers.net.connection import ExchangeLimits, exchange, split
from sleuth_providers.net.policy import Guard, Policy

MAX_REDIRECTS = 5
MAX_RETRY_AFTER_S = 86400.0  # seconds; no server's word puts it to rest for longer
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
COMMON_HEADERS = {
    "Accept": "application/json, text/html;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "Accept-Language": "en",
    "Connection": "close",
}

Transport = Callable[[Request, Mapping[str, str], ExchangeLimits, Guard | None], Response]


class HttpClient:
    """Sends requests under one policy; the time limit runs from construction."""

    def __init__(
        self, policy: Policy, wire: Transport | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.policy, self.sleep = policy, sleep
        self.wire = wire
        self.deadline = time.monotonic() + policy.timeout

    def time_left(self) -> float:
        """Return how many seconds there are until the deadline, never less than none."""
        return max(0.0, self.deadline - time.monotonic())

    def send(self, request: Request, detect_error: ErrorDetector | None = None) -> Response:
        """Return the good answer to a request, or raise the ProviderError that says why there is none."""
        for attempt in range(1, self.policy.attempts + 1):
            try:
                response = self._follow(request)
                error = (detect_error(response) if detect_error else None) or status_error(response)
                if error is None:
                    return response
                raise error
            except ProviderError as error:
                pause = _pause(error, attempt)
                final = attempt == self.policy.attempts or not error.retryable
                if final or time.monotonic() + pause >= self.deadline:
                    raise
            self.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _follow(self, request: Request) -> Response:
        for _ in range(MAX_REDIRECTS + 1):
            response = self._exchange(request)
            target = response.headers.get("location")
            if response.status not in (301, 302, 303, 307, 308) or not target:
                return response
            request = self._redirected(request, response.status, _joined(request.address, target))
        raise BadResponseError("redirected in a circle")

    def _redirected(self, request: Request, status: int, target: str) -> Request:
        same = _same_origin(request.address, target)
        if not same and not self.policy.roam:
            raise BadResponseError(f"redirected to another place: {urlsplit(target).netloc[:100]!r}", status=status)
        kept = request if same else request._replace(headers={})
        if same and status in (307, 308):
            return kept._replace(url=target, params={})
        return kept._replace(url=target, params={}, method="GET", json=None, form=None)

    def _exchange(self, request: Request) -> Response:
        limits = ExchangeLimits(self.deadline, self.policy.connect_timeout, self.policy.max_body)
        headers = COMMON_HEADERS | {"User-Agent": self.policy.user_agent}
        wire = self.wire or choose_transport(request.address)
        return wire(request, headers, limits, self.policy.guard)


def _pause(error: ProviderError, attempt: int) -> float:
    if error.retry_after is not None:
        return error.retry_after
    import random

    return 0.3 * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)


def status_error(response: Response) -> ProviderError | None:
    """Return the error an HTTP status means, None for a good one."""
    status, detail = response.status, f"HTTP {response.status}"
    if status == 200 or status in (201, 203):
        return None
    if status == 202:
        return BlockedError(detail, status=status)
    if status in (401, 403):
        return KeyInvalidError(detail, status=status)
    if status == 402:
        return QuotaError(detail, status=status)
    if status == 429:
        return RateLimitError(detail, status=status, retry_after=retry_after(response))
    if status == 404:
        return NotFoundError(detail, status=status)
    if status == 408:
        return DeadlineError(detail, status=status)
    if status >= 500:
        return UnavailableError(detail, status=status, retry_after=retry_after(response))
    if status >= 400:
        return BadRequestError(detail, status=status)
    return BadResponseError(detail, status=status)


def retry_after(response: Response) -> float | None:
    """Return how many seconds the server asks us to wait, from either form of Retry-After."""
    value = response.headers.get("retry-after", "").strip()
    try:
        if not value:
            return None
        seconds = float(value) if value.isdigit() else _until(value)
        return min(max(0.0, seconds), MAX_RETRY_AFTER_S)
    except (ValueError, OverflowError):
        return None


def _until(date: str) -> float:
    from email.utils import parsedate_to_datetime

    return parsedate_to_datetime(date).timestamp() - time.time()


def _joined(here: str, location: str) -> str:
    """Return where a redirect leads; http.client read its bytes as Latin-1, most servers mean UTF-8."""
    try:
        target = urljoin(here, quote(location.strip().encode("latin-1", "replace"), safe=string.punctuation))
        urlsplit(target).port  # noqa: B018 - raises for a port that is none
        return target
    except ValueError as problem:
        raise BadResponseError("redirected to an address that is none") from problem


def _same_origin(here: str, there: str) -> bool:
    """Tell whether a redirect stays: same scheme, host and port, or the same host moving up to https."""
    try:
        (one, host, port), (two, other_host, other_port) = split(here), split(there)
    except BadRequestError:
        return False
    if host != other_host:
        return False
    if one.scheme == two.scheme:
        return port == other_port
    return (one.scheme, port, two.scheme, other_port) == ("http", 80, "https", 443)


def choose_transport(address: str) -> Transport:
    """Go direct unless the system names a proxy; a loopback address never goes through one."""
    proxy = system_proxy(address)
    if proxy is None:
        return exchange
    from sleuth_providers.net.proxy import proxy_transport

    transport: Transport = proxy_transport(proxy)
    return transport


def system_proxy(address: str) -> str | None:
    """Return the proxy the system names for an address; what looks for it is loaded only where there may be one."""
    if sys.platform == "linux" and not any(name.lower() in PROXY_VARIABLES for name in os.environ):
        return None
    from sleuth_providers.net import proxy

    return proxy.proxy_for(address) or None
