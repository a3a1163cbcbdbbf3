"""Single requests to a server that may be anything: the reply or the error, and how long it took."""

import re
import time
from typing import Any
from urllib.parse import urljoin

from sleuth.base import logs
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url, mask_login
from sleuth.doctor import USER_AGENT
from sleuth_providers.adapters._searxng import is_bot_check
from sleuth_providers.base import Request, Response
from sleuth_providers.errors import DeadlineError, ProviderError
from sleuth_providers.net.client import COMMON_HEADERS, choose_transport, system_proxy
from sleuth_providers.net.policy import ExchangeLimits
from sleuth_providers.records import Record

REQUEST_TIMEOUT_S = 3.0  # for requests that reach no search engine; a healthy server needs milliseconds
MAX_BODY_BYTES = 4_000_000  # the largest valid reply, /config with every engine, has 0.1 MB
MAX_TEXT_BYTES = 20_000
REDIRECTS = (301, 302, 303, 307, 308)
TITLE = re.compile(r"<title[^<>]*>([^<]{1,200})", re.IGNORECASE)
GENERATOR = re.compile(r"<meta\s+name=\"generator\"\s+content=\"(searxng|searx)/([^\"]{1,60})\"", re.IGNORECASE)


class ProbeResult(Record):
    """The outcome of one request."""

    path: str
    reply: Response | None = None
    error: ProviderError | None = None
    elapsed_ms: int = 0

    @property
    def status(self) -> int:
        """Return the HTTP status, 0 without a reply."""
        return self.reply.status if self.reply else 0

    def header(self, name: str) -> str:
        """Return a header's value, by its name in lower case."""
        return self.reply.headers.get(name, "") if self.reply else ""

    @property
    def text(self) -> str:
        """Return the beginning of the body; the charset does not matter, since all patterns are ASCII."""
        return self.reply.body[:MAX_TEXT_BYTES].decode("utf-8", "replace") if self.reply else ""

    @property
    def target(self) -> str:
        """Return the URL of a redirect, empty for other replies and for invalid URLs."""
        if not self.reply or self.status not in REDIRECTS:
            return ""
        try:
            return clean_url(urljoin(self.reply.url, self.header("location")))
        except ValueError:
            return ""

    def json(self) -> Any:
        """Return the body as JSON, None if it is not JSON."""
        try:
            return self.reply.json() if self.reply else None
        except ProviderError:
            return None

    @property
    def signed(self) -> bool:
        """Tell whether the reply comes from SearXNG itself and not from a proxy in front of it."""
        timing = self.header("server-timing")
        return "total;dur=" in timing and "render;dur=" in timing

    @property
    def is_bot_check(self) -> bool:
        """Tell whether the reply comes from a bot check in front of SearXNG."""
        return self.reply is not None and is_bot_check(self.reply)

    @property
    def timed_out(self) -> bool:
        """Tell whether the request timed out."""
        return isinstance(self.error, DeadlineError)

    @property
    def summary(self) -> str:
        """Return the reply in a few words."""
        if self.reply is None:
            problem = (tr(self.error.detail) or type(self.error).__name__) if self.error else ""
            return f"{self.path}{tr(': ')}{tr('no response in time') if self.timed_out else clean(problem, 200)}"
        server = clean(self.header("server"), 60)
        title = TITLE.search(self.text)
        named = tr("{status} from {server}", status=f"HTTP {self.status}", server=server) if server else ""
        summary = f"{self.path}{tr(': ')}{named or f'HTTP {self.status}'}"
        return tr("{summary}, “{title}”", summary=summary, title=clean(title[1], 80)) if title else summary


class Prober:
    """Sends requests with the headers of a search until one deadline; follows no redirects."""

    def __init__(self, deadline: float, address: str) -> None:
        self.headers = COMMON_HEADERS | {"User-Agent": USER_AGENT}
        self.deadline = deadline
        self.proxy = system_proxy(address)
        self.transport = choose_transport(address)

    def send(self, request: Request, seconds: float = REQUEST_TIMEOUT_S) -> ProbeResult:
        """Send one request; errors are part of the result."""
        started = time.monotonic()
        limits = ExchangeLimits(min(self.deadline, started + seconds), min(seconds, REQUEST_TIMEOUT_S), MAX_BODY_BYTES)
        reply, error = None, None
        try:
            reply = _redacted(self.transport(request, self.headers, limits, None))
        except ProviderError as problem:
            error = problem
        return ProbeResult(_path(request), reply, error, round((time.monotonic() - started) * 1000))


def _redacted(reply: Response) -> Response:
    """Return a reply without the user's secrets, which a server may repeat anywhere."""
    headers = {name: logs.without_secrets(value) for name, value in reply.headers.items()}
    body = logs.without_secrets(reply.body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return reply._replace(headers=headers, body=body)


def _path(request: Request) -> str:
    """Return the path for display, without the query words and keys."""
    path = mask_login("/" + request.url.split("/", 3)[3]) if request.url.count("/") > 2 else "/"
    return path if not request.params else f"{path}?{'q=…&' if 'q' in request.params else ''}format=json"
