"""Services that read a page in our place: the Jina reader, and the Wayback Machine for pages that are gone.

Both learn which page is read. `SLEUTH_JINA_HOST` and `SLEUTH_ARCHIVE_HOST` name other servers to use instead.
"""

import re
from datetime import UTC, datetime

from sleuth.base.text import redact
from sleuth.pages.blocks import as_text
from sleuth.pages.extract import ExtractedPage, finished
from sleuth.pages.fetch import blocked, wire_url
from sleuth.pages.worker_pool import POOL
from sleuth.relevance.dates import normalise
from sleuth_providers import json
from sleuth_providers.base import Request, Response, Sender
from sleuth_providers.errors import BadResponseError, DeadlineError, NotFoundError, ProviderError
from sleuth_providers.html import bot_walls

JINA = "https://r.jina.ai"
ARCHIVE_INDEX = "https://archive.org"
ARCHIVE_COPIES = "https://web.archive.org"
NEWEST = "2"  # an incomplete timestamp, which the archive rounds to its last copy


def read_by_jina(url: str, http: Sender, host: str, until: float, *, key: str = "") -> ExtractedPage:
    """Let the Jina reader fetch and render a page; `until` is the deadline of every service."""
    login = {"Authorization": f"Bearer {key}"} if key else {}
    headers = {"Accept": "application/json", "X-Retain-Images": "none"} | login
    # In the body instead of the path, the URL needs no encoding and does not appear in server logs.
    body = {"url": wire_url(url)}
    reply = http.send(Request(f"{(host or JINA).rstrip('/')}/", method="POST", headers=headers, json=body))
    if key:
        reply = reply._replace(body=redact(reply.text(), (key,)).encode())
    data = json.as_dict(json.as_dict(reply.json()).get("data"))
    warning, title = json.as_text(data.get("warning")), json.as_text(data.get("title"))
    if failed := re.search(r"error (\d{3})", warning):
        raise BadResponseError(message="{provider} could not read the page either", status=int(failed[1]))
    content = Response(200, {"content-type": "text/markdown"}, json.as_text(data.get("content")).encode(), url)
    # The Markdown is that of the service: the page itself would have come without the URLs of its links.
    blocks = [one._replace(linked="") for one in POOL.extract(content, url, until).blocks]
    is_short = len(as_text(blocks)) < bot_walls.MAX_CHECK_CHARS
    if "captcha" in warning.lower() or (is_short and bot_walls.CHECK_TITLE.search(title)):
        raise blocked("bot check", reply.status)
    read = ExtractedPage(
        title,
        "",
        normalise(json.as_text(data.get("publishedTime")), datetime.now(UTC)),
        json.as_text(json.as_dict(data.get("metadata")).get("lang")),
        blocks,
        json.as_text(data.get("url")) or url,
    )
    return finished(read)


def read_from_archive(url: str, http: Sender, host: str, until: float) -> ExtractedPage:
    """Read the newest copy of a page in the Wayback Machine, without the archive's banner."""
    address = wire_url(url)
    stamp = _newest_copy(address, http, host or ARCHIVE_INDEX)
    place = (host or ARCHIVE_COPIES).rstrip("/")
    reply = http.send(Request(f"{place}/web/{stamp}id_/{address}"), _no_copy)
    found = re.search(r"/web/(\d{4})(\d\d)?(\d\d)?", reply.url)
    archived = "-".join(part for part in found.groups() if part) if found else ""
    return POOL.extract(reply, url, until)._replace(archived=archived)


def _newest_copy(address: str, http: Sender, host: str) -> str:
    """Return the timestamp of the newest good copy, or NEWEST: the index is known to miss some copies."""
    try:
        reply = http.send(Request(f"{host.rstrip('/')}/wayback/available", {"url": address}))
        copies = json.as_dict(json.as_dict(reply.json()).get("archived_snapshots"))
    except DeadlineError:
        raise
    except ProviderError:
        return NEWEST
    closest = json.as_dict(copies.get("closest"))
    stamp = json.as_text(closest.get("timestamp"))
    return stamp if stamp.isdigit() and json.as_text(closest.get("status")) == "200" else NEWEST


def _no_copy(reply: Response) -> ProviderError | None:
    return NotFoundError(message="{provider} has no copy of the page") if reply.status in (404, 403) else None
