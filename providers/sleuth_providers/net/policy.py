"""Limits and identity of HTTP requests, apart from the client so that a cached answer loads no HTTP code."""

import sys
import time
from collections.abc import Callable, Mapping

from sleuth_providers.records import Record

BROWSER_USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

# What a browser sends when its user opens a page.
BROWSER_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-User": "?1",
}

Guard = Callable[[str, list[str]], None]  # takes a host and all its addresses; raises to refuse the connection


def user_agent(version: str) -> str:
    """Return the user agent of sleuth; scraped pages get that of a browser instead."""
    return f"sleuth/{version} (command-line web search) python/{sys.version_info[0]}.{sys.version_info[1]}"


class Policy(Record):
    """What a request, with its retries and redirects, may take and do."""

    timeout: float = 15.0
    connect_timeout: float = 5.0
    attempts: int = 3
    max_body: int = 10_000_000
    user_agent: str = "sleuth"
    guard: Guard | None = None
    cross_origin: bool = False  # follow redirects to other origins, without the headers of the request
    headers: Mapping[str, str] = {}  # sent at every redirect as well, so no keys
    trace: Callable[..., None] | None = None  # receives a template and values for every exchange


class ExchangeLimits(Record):
    """What one request and its reply may take."""

    deadline: float  # on the monotonic clock
    connect: float = 5.0  # seconds
    body: int = 10_000_000  # bytes

    def connect_by(self) -> float:
        """Return the deadline for the connection, TLS included."""
        return min(self.deadline, time.monotonic() + self.connect)
