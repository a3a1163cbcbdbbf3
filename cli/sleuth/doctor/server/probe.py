"""Single requests to a server that may be anything: what came back, or why nothing did, and how long it took."""

import os
import re
import time
from typing import Any
from urllib.parse import urljoin

from sleuth.base.i18n import tr, tr_detail
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BrokenOffError, DeadlineError, ProviderError
from sleuth_providers.net.client import COMMON_HEADERS, Transport
from sleuth_providers.net.connection import ExchangeLimits, exchange
from sleuth_providers.records import Record

SECONDS = 3.0  # for a request that asks no search engine; a healthy server needs milliseconds
MAX_BODY = 4_000_000  # the largest good answer, /config with every engine, has 0.1 MB
MAX_TEXT = 20_000
MOVED = (301, 302, 303, 307, 308)
TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
GENERATOR = re.compile(r"<meta\s+name=\"generator\"\s+content=\"(searxng|searx)/([^\"]{1,60})\"", re.IGNORECASE)


class ProbeResult(Record):
    """What one request met with."""

    path: str
    reply: Response | None = None
    error: ProviderError | None = None
    elapsed_ms: int = 0

    @property
    def status(self) -> int:
        """Return the HTTP status, 0 where there was no answer."""
        return self.reply.status if self.reply else 0

    def header(self, name: str) -> str:
        """Return a header's value, by its name in lower case."""
        return self.reply.headers.get(name, "") if self.reply else ""

    @property
    def text(self) -> str:
        """Return the beginning of the body; in whatever charset it is, what is looked for is ASCII."""
        return self.reply.body[:MAX_TEXT].decode("utf-8", "replace") if self.reply else ""

    @property
    def target(self) -> str:
        """Return where the answer redirects to; nothing where it does not, or to no web address."""
        if not self.reply or self.status not in MOVED:
            return ""
        try:
            return clean_url(urljoin(self.reply.url, self.header("location")))
        except ValueError:
            return ""

    def json(self) -> Any:
        """Return the body as JSON, None where it is none."""
        try:
            return self.reply.json() if self.reply else None
        except ProviderError:
            return None

    @property
    def signed(self) -> bool:
        """Tell whether SearXNG itself answered rather than something in front of it."""
        timing = self.header("server-timing")
        return "total;dur=" in timing and "render;dur=" in timing

    @property
    def is_html(self) -> bool:
        """Tell whether a page for people came back."""
        return "html" in self.header("content-type")

    @property
    def broke_off(self) -> bool:
        """Tell whether the connection was there and ended without an answer."""
        return isinstance(self.error, BrokenOffError)

    @property
    def timed_out(self) -> bool:
        """Tell whether no answer came in time."""
        return isinstance(self.error, DeadlineError)

    @property
    def summary(self) -> str:
        """Say in a few words what came back."""
        if self.reply is None:
            return f"{self.path}: {_reason(self.error)}"
        server = clean(self.header("server"), 60)
        title = TITLE.search(self.text)
        named = tr("{status} from {server}", status=f"HTTP {self.status}", server=server) if server else ""
        words = [f"{self.path}: {named or f'HTTP {self.status}'}", f"“{clean(title[1], 80)}”" if title else ""]
        return ", ".join(word for word in words if word)


def _reason(error: ProviderError | None) -> str:
    if isinstance(error, DeadlineError):
        return tr("no answer in time")
    return clean(tr_detail(error.detail) or type(error).__name__, 200) if error else ""


class Prober:
    """Sends requests with the headers a search sends, none of them beyond one deadline; follows no redirect."""

    def __init__(self, agent: str, deadline: float, address: str) -> None:
        self.headers = COMMON_HEADERS | {"User-Agent": agent}
        self.deadline = deadline
        self.proxy = find_proxy(address)
        self.wire = _through(self.proxy) if self.proxy else exchange

    def send(self, request: Request, seconds: float = SECONDS) -> ProbeResult:
        """Send one request; whatever happens is an observation, never an error."""
        started = time.monotonic()
        limits = ExchangeLimits(min(self.deadline, started + seconds), min(seconds, SECONDS), MAX_BODY)
        reply, error = None, None
        try:
            reply = self.wire(request, self.headers, limits, None)
        except ProviderError as problem:
            error = problem
        return ProbeResult(_path(request), reply, error, round((time.monotonic() - started) * 1000))


def find_proxy(address: str) -> str:
    """Return the proxy that a search for this address goes through; a loopback address goes direct."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return ""
    from sleuth_providers.net import proxy

    return proxy.proxy_for(address) or ""


def _through(proxy: str) -> Transport:
    from sleuth_providers.net.proxy import proxy_transport

    transport: Transport = proxy_transport(proxy)
    return transport


def _path(request: Request) -> str:
    """Return the path as shown; the words of a search are left out."""
    path = "/" + request.url.split("/", 3)[3] if request.url.count("/") > 2 else "/"
    return path if not request.params else f"{path}?{'q=…&' if 'q' in request.params else ''}format=json"
