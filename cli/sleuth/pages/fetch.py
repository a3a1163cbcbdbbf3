"""One page over HTTP, as a browser would ask for it: each hop guarded, no cookies, no keys, time and size bounded."""

import re
import time
from urllib.parse import quote, urlsplit
from zlib import crc32

from sleuth.base.text import clean
from sleuth.pages import bot_walls, charsets
from sleuth.pages.errors import UnreadableError
from sleuth_providers.base import Request, Response
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BlockedError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    UnavailableError,
)
from sleuth_providers.net.client import HttpClient, Transport
from sleuth_providers.net.policy import Guard, Policy
from sleuth_providers.records import Record

MAX_BODY = 10_000_000
CONNECT = 5.0  # seconds
KEPT = "!#$%&'()*+,/:;=?@[]~-._"  # what stays as it is in the path and query of an address

# Browsers that many people use; a site sees the same one each time.
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0",
)
ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,application/pdf;q=0.8,*/*;q=0.7"

KINDS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
}
CODE = ("javascript", "yaml", "toml", "sql", "sh", "python", "csv", "css", "x-sh", "x-yaml", "ecmascript")
MARKUP = re.compile(
    rb"\s*(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|title|article|div|p)\b",
    re.IGNORECASE | re.DOTALL,
)
SNIFFED = 2048  # bytes that tell what a body is


class Fetched(Record):
    """A page as it came, before anybody looked for its text."""

    url: str
    final_url: str
    status: int
    content_type: str  # without parameters
    kind: str  # html | text | code | markdown | json | pdf
    charset: str  # the codec that reads it; empty for PDF
    body: bytes
    elapsed: float = 0.0

    def text(self) -> str:
        """Return the body as text; what cannot be read becomes a replacement character."""
        return self.body.decode(self.charset or "utf-8", "replace")


class PageSender(Record):
    """How pages are asked for."""

    timeout: float = 8.0
    guard: Guard | None = None
    transport: Transport | None = None
    language: str = ""  # the user's, as in Accept-Language


def fetch(url: str, asker: PageSender) -> Fetched:
    """Return a page, or raise the ProviderError that says why there is none to read."""
    started = time.monotonic()
    address = ascii_address(url)
    policy = Policy(
        timeout=asker.timeout,
        connect_timeout=min(CONNECT, asker.timeout),
        attempts=1,  # another layer is the better second try
        max_body=MAX_BODY,
        user_agent=agent_for(address),
        guard=asker.guard,
        cross_origin=True,
    )
    reply = _PageHttp(policy, asker).send(Request(address), refusal)
    return received(reply, url)._replace(elapsed=time.monotonic() - started)


class _PageHttp(HttpClient):
    """Sends the same harmless headers on every hop, where the client for providers would fall back to an API's."""

    def __init__(self, policy: Policy, asker: PageSender) -> None:
        super().__init__(policy, asker.transport)
        self.headers = {"Accept": ACCEPT, "Upgrade-Insecure-Requests": "1"}
        if asker.language:
            self.headers["Accept-Language"] = f"{asker.language},en;q=0.5"

    def _exchange(self, request: Request) -> Response:
        return super()._exchange(request._replace(headers=self.headers))


def received(reply: Response, asked: str) -> Fetched:
    """Return a good reply as a page, unless it is a wall or nothing one can read."""
    declared = reply.headers.get("content-type", "")
    content_type = declared.partition(";")[0].strip().lower()
    shown = reply.url or asked
    kind = _kind(content_type, reply.body, shown)
    charset = ""
    if kind != "pdf":
        label = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", declared, re.IGNORECASE)
        charset = charsets.find(reply.body, label[1] if label else "", markup=kind == "html")
    page = Fetched(asked, shown, reply.status, content_type, kind, charset, reply.body)
    if kind == "html" and (wall := bot_walls.find_wall(page.text(), asked, shown)):
        raise blocked(wall, reply.status)
    return page


def refusal(reply: Response) -> ProviderError | None:
    """Return the error that the status of a page means; the words for providers speak of keys."""
    status, detail = reply.status, f"HTTP {reply.status}"
    if bot_walls.is_challenge(reply.headers):
        return blocked("bot check", status)
    if status in (200, 203):
        return None
    if status in (202, 401, 402, 403, 407, 451):
        return blocked(detail, status)
    if status in (404, 410):
        return NotFoundError(detail, status=status)
    if status == 429:
        return RateLimitError(detail, status=status)
    if status >= 500:
        return UnavailableError(detail, status=status)
    kind = BadRequestError if status >= 400 else BadResponseError
    return kind(detail, message="{provider} did not give the page", status=status)


def blocked(detail: str, status: int) -> BlockedError:
    """Return the error for a page that is kept from us."""
    return BlockedError(detail, message="{provider} does not show the page to everybody", status=status)


def ascii_address(url: str) -> str:
    """Return an address as it goes over the wire: the host in IDNA, the rest percent-encoded, no fragment or login."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
        name = host if host.isascii() else host.encode("idna").decode()
    except (ValueError, UnicodeError) as problem:
        raise BadRequestError(
            message="not an address of a page: {address}", values={"address": clean(url, 200)}
        ) from problem
    if parts.scheme not in ("http", "https") or not name:
        raise BadRequestError(message="not an address of a page: {address}", values={"address": clean(url, 200)})
    place = f"[{name}]" if ":" in name else name
    where = f"{place}:{port}" if port else place
    path, query = (quote(part, safe=KEPT, errors="surrogatepass") for part in (parts.path, parts.query))
    return f"{parts.scheme}://{where}{path or '/'}{f'?{query}' if query else ''}"


def agent_for(url: str) -> str:
    """Return the browser that a site takes us for."""
    return AGENTS[crc32(urlsplit(url).netloc.encode("utf-8", "replace")) % len(AGENTS)]


def _kind(content_type: str, body: bytes, url: str) -> str:
    start = body[:SNIFFED]
    if b"%PDF-" in start[:1024]:
        return "pdf"
    declared = KINDS.get(content_type) or _kind_of_family(content_type)
    if declared in ("", "text") and MARKUP.match(start):
        return "html"
    if declared == "pdf" or not declared or charsets.is_binary(start):
        raise UnreadableError(content_type or "unknown type")
    if declared == "text" and urlsplit(url).path.lower().endswith((".md", ".markdown")):
        return "markdown"
    return declared


def _kind_of_family(content_type: str) -> str:
    family, _, name = content_type.partition("/")
    if name.endswith("+json"):
        return "json"
    if name == "xml" or name.endswith("+xml"):
        return ""  # XHTML is told by its body; feeds and drawings are not pages
    if name.removeprefix("x-") in CODE:
        return "code"
    if family == "text" and name.startswith("x-"):
        return "code"
    # Nothing said, or the type of a server that does not know: the body decides.
    return "text" if family == "text" or content_type in ("", "application/octet-stream") else ""
