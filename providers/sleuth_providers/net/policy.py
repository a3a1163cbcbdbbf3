"""Limits and identity of HTTP requests, apart from the client so that a cached answer loads no HTTP code."""

import time
from collections.abc import Callable, Mapping

from sleuth_providers.records import Record

Guard = Callable[[str, list[str]], None]  # takes a host and all its addresses; raises to refuse the connection


class Policy(Record):
    """What a request, with its retries and redirects, may take and do."""

    timeout: float = 15.0
    connect_timeout: float = 5.0
    attempts: int = 3
    max_body: int = 10_000_000
    user_agent: str = "sleuth"
    browser: bool = False  # send the headers of a browser instead of `user_agent`
    impersonate: bool = True  # with `browser`: its TLS and HTTP/2 too, where wreq is installed
    guard: Guard | None = None
    cross_origin: bool = False  # follow redirects to other origins, without the headers of the request
    headers: Mapping[str, str] = {}  # sent at every redirect as well, so no keys
    trace: Callable[..., None] | None = None  # receives a template and values for every exchange


class ExchangeLimits(Record):
    """What one request and its reply may take."""

    deadline: float  # on the monotonic clock
    connect: float = 5.0  # seconds
    body: int = 10_000_000  # bytes
    impersonate: bool = False

    def connect_by(self) -> float:
        """Return the deadline for the connection, TLS included."""
        return min(self.deadline, time.monotonic() + self.connect)
