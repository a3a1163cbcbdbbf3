"""Fetches one page as a browser would: every redirect guarded, no cookies, no keys, time and size bounded."""

import re
from urllib.parse import quote, urlsplit

from sleuth.base.text import clean
from sleuth.base.urls import SAFE_CHARS, mask_login
from sleuth.pages import charsets
from sleuth.pages.errors import UnreadableError
from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadRequestError, BlockedError, NotFoundError, ProviderError
from sleuth_providers.html import bot_walls
from sleuth_providers.net.client import HttpClient, Transport, status_error
from sleuth_providers.net.identity import accept_language
from sleuth_providers.net.policy import Guard, Policy
from sleuth_providers.net.urls import to_idna
from sleuth_providers.records import Record
from sleuth_providers.translatable import Translatable

MAX_BODY_BYTES = 10_000_000
CONNECT_TIMEOUT_S = 5.0
SNIFFED_BYTES = 2048

# By subtype, without `x-`.
KINDS = {"html": "html", "xhtml+xml": "html", "plain": "text", "markdown": "markdown", "json": "json", "pdf": "pdf"}
CODE_TYPES = ("javascript", "yaml", "toml", "sql", "sh", "python", "csv", "css", "ecmascript")
HTML_START = re.compile(
    rb"\s*+(?:<!--(?:[^-]|-(?!->))*+-->\s*+|<\?xml[^>]*+>\s*+)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|article|div|p)\b",
    re.IGNORECASE,
)


class Fetched(Record):
    """The body of a page, and how to read it."""

    final_url: str
    kind: str  # html | text | code | markdown | json | pdf
    charset: str  # the codec; empty for PDF
    body: bytes

    def text(self) -> str:
        """Decode the body; invalid bytes become replacement characters."""
        return self.body.decode(self.charset or "utf-8", "replace")


def fetch(
    url: str,
    *,
    timeout: float,
    guard: Guard | None = None,
    transport: Transport | None = None,
    language: str = "",
    impersonate: bool = True,
) -> Response:
    """Fetch a page as a browser, or raise the ProviderError that says why not."""
    address = wire_url(url)
    policy = Policy(
        timeout=timeout,
        connect_timeout=min(CONNECT_TIMEOUT_S, timeout),
        attempts=1,  # the next layer is a better second attempt
        max_body=MAX_BODY_BYTES,
        browser=True,
        impersonate=impersonate,
        guard=guard,
        cross_origin=True,
        headers={"Accept-Language": accept_language(language)},
    )
    return HttpClient(policy, transport).send(Request(address), refusal)


def received(reply: Response, requested: str) -> Fetched:
    """Return a successful response as a page; raise if it is a bot check, a login page or not text."""
    declared = reply.headers.get("content-type", "")
    final_url = reply.url or requested
    kind = _kind(declared.partition(";")[0].strip().lower(), reply.body, final_url)
    charset = ""
    if kind != "pdf":
        label = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", declared, re.IGNORECASE)
        charset = charsets.find(reply.body, label[1] if label else "", markup=kind == "html")
    page = Fetched(final_url, kind, charset, reply.body)
    if kind == "html" and (wall := bot_walls.find_wall(page.text(), requested, final_url)):
        raise blocked(wall.template, reply.status)
    return page


def refusal(reply: Response) -> ProviderError | None:
    """Return the error for the status of a page; the messages for providers mention keys."""
    status = reply.status
    if bot_walls.is_challenge(reply.headers):
        return blocked("bot check", status)
    if status in (202, 401, 402, 403, 407, 451):
        return blocked("", status)
    return NotFoundError(status=status) if status == 410 else status_error(reply)


def blocked(detail: str, status: int) -> BlockedError:
    """Return the error for a page that the site refuses to show."""
    return BlockedError(detail, message="{provider} denied access to the page", status=status)


def wire_url(url: str) -> str:
    """Return a URL as it is sent: the host in IDNA, the rest percent-encoded, without fragment and login."""
    error = BadRequestError(message="invalid page URL: {url}", url=clean(mask_login(url), 200))
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
        name = to_idna(host)
    except (ValueError, UnicodeError) as problem:
        raise error from problem
    if parts.scheme not in ("http", "https") or not name:
        raise error
    place = f"[{name}]" if ":" in name else name
    path, query = (quote(part, safe=SAFE_CHARS, errors="surrogatepass") for part in (parts.path, parts.query))
    return f"{parts.scheme}://{place}{f':{port}' if port else ''}{path or '/'}{f'?{query}' if query else ''}"


def _kind(content_type: str, body: bytes, url: str) -> str:
    start = body[:SNIFFED_BYTES]
    if b"%PDF-" in start[:1024]:
        return "pdf"
    declared = _declared_kind(content_type)
    if declared in ("", "text") and HTML_START.match(start):
        return "html"
    if declared == "pdf" or not declared or charsets.is_binary(start):
        raise UnreadableError("{kind}", kind=content_type or Translatable("unknown type"))
    if declared == "text" and urlsplit(url).path.lower().endswith((".md", ".markdown")):
        return "markdown"
    return declared


def _declared_kind(content_type: str) -> str:
    family, _, name = content_type.partition("/")
    bare = name.removeprefix("x-")
    if bare in KINDS and family in ("text", "application"):
        return KINDS[bare]
    if name.endswith("+json"):
        return "json"
    if name == "xml" or name.endswith("+xml"):
        return ""  # the body shows whether it is XHTML; feeds and drawings are not pages
    if bare in CODE_TYPES or (family == "text" and name.startswith("x-")):
        return "code"
    # With no type, or the default type of a server, the body decides.
    return "text" if family == "text" or content_type in ("", "application/octet-stream") else ""
