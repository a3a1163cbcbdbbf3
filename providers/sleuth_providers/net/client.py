"""The HTTP client of providers and pages: one deadline, retries, redirects within an origin, status → error."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote, urljoin, urlsplit

from sleuth_providers.base import ErrorDetector, Request, Response
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    DeadlineError,
    KeyInvalidError,
    NotFoundError,
    ProviderError,
    QuotaError,
    RateLimitError,
    UnavailableError,
)
from sleuth_providers.net.connection import numeric_address
from sleuth_providers.net.http1 import exchange
from sleuth_providers.net.identity import browser_headers
from sleuth_providers.net.policy import ExchangeLimits, Guard, Policy
from sleuth_providers.net.urls import ASCII_PUNCTUATION, split_url

MAX_REDIRECTS = 5
MAX_NETLOC_CHARS = 300  # a host has at most 253
MAX_RETRY_AFTER_S = 31 * 86400.0  # upper bound for what a server may ask
RETRY_PAUSE_S = 0.3  # before the first retry; doubles with each, and varies so that clients spread out
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
COMMON_HEADERS = {
    "Accept": "application/json, text/html;q=0.9, */*;q=0.5",  # SearXNG's limiter demands text/html
    "Accept-Encoding": "gzip, deflate",
    "Accept-Language": "en",
    "Connection": "close",
}

STATUS_ERRORS: dict[int, type[ProviderError]] = {
    401: KeyInvalidError,
    402: QuotaError,
    403: KeyInvalidError,
    404: NotFoundError,
    408: DeadlineError,
    429: RateLimitError,
}

Transport = Callable[[Request, Mapping[str, str], ExchangeLimits, Guard | None], Response]


class HttpClient:
    """Sends requests under one policy; the timeout runs from construction."""

    def __init__(
        self, policy: Policy, transport: Transport | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.policy, self.transport, self.sleep, self.guard = policy, transport, sleep, policy.guard
        self.sent = 0  # requests, with retries and redirects
        self.deadline = time.monotonic() + policy.timeout

    def time_left(self) -> float:
        """Return the seconds until the deadline, at least 0."""
        return max(0.0, self.deadline - time.monotonic())

    def send(self, request: Request, detect_error: ErrorDetector | None = None) -> Response:
        """Return the reply to a request; raise a ProviderError for an error status or a failed connection."""
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._follow(request)
                error = (detect_error(response) if detect_error else None) or status_error(response)
                if error is None:
                    return response
                raise error
            except ProviderError as error:
                pause = retry_pause(error.retry_after, attempt, RETRY_PAUSE_S)
                is_last = attempt >= self.policy.attempts or not error.retryable
                if is_last or time.monotonic() + pause >= self.deadline:
                    raise
            self.sleep(pause)

    def _follow(self, request: Request) -> Response:
        for _ in range(MAX_REDIRECTS + 1):
            response = self._exchange(request)
            target = response.headers.get("location")
            if response.status not in (301, 302, 303, 307, 308) or not target:
                return response
            request = self._redirected(request, response.status, _joined(request.address, target))
        raise BadResponseError("too many redirects")

    def _redirected(self, request: Request, status: int, target: str) -> Request:
        same = _same_origin(request.address, target)
        if not same and not self.policy.cross_origin:
            host = urlsplit(target).netloc  # not cut, as a part of a key would not be redacted
            raise BadResponseError("redirected to another host: {host!r}", host=host, status=status)
        kept = request if same else request._replace(headers={})
        if same and status in (307, 308):
            return kept._replace(url=target, params={})
        return kept._replace(url=target, params={}, method="GET", json=None, form=None)

    def _exchange(self, request: Request) -> Response:
        policy = self.policy
        as_browser = policy.browser and "User-Agent" not in request.headers
        impersonate = as_browser and policy.impersonate
        limits = ExchangeLimits(self.deadline, policy.connect_timeout, policy.max_body, impersonate)
        if as_browser:
            headers = browser_headers(request, policy.headers)
        else:
            headers = COMMON_HEADERS | {"User-Agent": policy.user_agent} | dict(policy.headers)
        transport = self.transport or transmit
        self.sent += 1
        started = time.monotonic()
        try:
            response = transport(request, headers, limits, policy.guard)
        except ProviderError as error:
            self._trace("%s %s: %s %s", request.method, request.address, error.code, error.detail)
            raise
        result = (response.status, len(response.body), (time.monotonic() - started) * 1000)
        self._trace("%s %s: %s, %d bytes, %.0f ms", request.method, request.address, *result)
        if response.status >= 400:
            self._trace("%s: %s", response.status, response.text()[:500])
        return response

    def _trace(self, template: str, *values: object) -> None:
        if self.policy.trace:
            self.policy.trace(template, *values)


def retry_pause(retry_after: float | None, attempt: int, first_s: float) -> float:
    """Return the seconds before the next attempt: what the server asked for, else a random pause that doubles."""
    if retry_after is not None:
        return retry_after
    import random

    return first_s * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)


def status_error(response: Response) -> ProviderError | None:
    """Return the error for an HTTP status, None for a successful one."""
    status = response.status
    if status in (200, 201, 203):
        return None
    family = UnavailableError if status >= 500 else BadRequestError if status >= 400 else BadResponseError
    error = STATUS_ERRORS.get(status, family)
    return error(status=status, retry_after=retry_after(response) if status == 429 or status >= 500 else None)


def retry_after(response: Response) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or a date; None without a valid one."""
    value = response.headers.get("retry-after", "").strip()
    try:
        seconds = float(value) if value.isdigit() or not value else _seconds_until(value)
        return min(max(0.0, seconds), MAX_RETRY_AFTER_S)
    except (ValueError, OverflowError):
        return None


def _seconds_until(date: str) -> float:
    from email.utils import parsedate_to_datetime

    return parsedate_to_datetime(date).timestamp() - time.time()


def _joined(here: str, location: str) -> str:
    """Return the URL a redirect leads to; headers are decoded as Latin-1, and most servers mean UTF-8."""
    try:
        target = urljoin(here, quote(location.strip().encode("latin-1", "replace"), safe=ASCII_PUNCTUATION))
        if urlsplit(target).port == 0 or len(urlsplit(target).netloc) > MAX_NETLOC_CHARS:
            raise ValueError(target)
        return target
    except ValueError as problem:
        raise BadResponseError("redirected to an invalid URL") from problem


def _same_origin(here: str, there: str) -> bool:
    """Tell whether two URLs share scheme, host and port, or differ only by the step from http to https."""
    try:
        (one, host, port), (two, other_host, other_port) = split_url(here), split_url(there)
    except BadRequestError:
        return False
    is_upgrade = (one.scheme, port, two.scheme, other_port) == ("http", 80, "https", 443)
    return host == other_host and (is_upgrade or (one.scheme, port) == (two.scheme, other_port))


def transmit(request: Request, headers: Mapping[str, str], limits: ExchangeLimits, guard: Guard | None) -> Response:
    """Send a request over the transport that fits: as Chrome, direct, or through the system's proxy."""
    if limits.impersonate and request.url.startswith("https:"):
        from sleuth_providers.net.impersonation import chrome_transport

        if transport := chrome_transport(system_proxy(request.address)):
            return transport(request, headers, limits, guard)
    return choose_transport(request.address)(request, headers, limits, guard)


def choose_transport(url: str) -> Transport:
    """Return the direct transport, or the one through the system's proxy."""
    proxy = system_proxy(url)
    if proxy is None:
        return exchange
    from sleuth_providers.net.httpx_transport import proxy_transport

    return proxy_transport(proxy)


def system_proxy(url: str) -> str | None:
    """Return the proxy that environment or system settings name for a URL; never one for a loopback address."""
    if sys.platform == "linux" and not any(name.lower() in PROXY_VARIABLES for name in os.environ):
        return None  # elsewhere the system's settings count too
    from urllib.request import getproxies, proxy_bypass

    parts, host, _ = split_url(url)
    address = numeric_address(host.rstrip("."))  # 127.0.0.1.example.org is a name
    is_loopback = f".{host.rstrip('.')}".endswith(".localhost") or address == "::1" or address.startswith("127.")
    if is_loopback or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy or None
