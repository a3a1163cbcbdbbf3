"""Others who can read a page for us: the Jina reader, and the Wayback Machine for pages that are gone.

Both learn which page is read. `SLEUTH_JINA_HOST` and `SLEUTH_ARCHIVE_HOST` name servers of one's own in their place.
"""

import re
from email.utils import parsedate_to_datetime

from sleuth.pages import bot_walls
from sleuth.pages.blocks import after_title, as_text, from_markdown
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import ExtractedPage, extract, finished
from sleuth.pages.fetch import ascii_address, blocked, received
from sleuth_providers import json
from sleuth_providers.base import Request, Response, Sender
from sleuth_providers.errors import BadResponseError, DeadlineError, NotFoundError, ProviderError
from sleuth_providers.records import Record

JINA = "https://r.jina.ai"
ARCHIVE = "https://archive.org"  # knows which copies there are
COPIES = "https://web.archive.org"  # has them
NEWEST = "2"  # a year so unfinished that the archive takes the last copy


class ServiceReply(Record):
    """A page that was read, one way or another."""

    content: ExtractedPage
    final_url: str
    archived: str = ""  # ISO date of a copy in an archive


def read_by_jina(url: str, http: Sender, host: str = "", key: str = "") -> ServiceReply:
    """Have the Jina reader fetch a page, with its own browser, and tell us what it says."""
    headers = {"Accept": "application/json", "X-Retain-Images": "none"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    # In a body, not in the path, an address needs no encoding and does not end up in logs.
    request = Request(
        f"{(host or JINA).rstrip('/')}/", method="POST", headers=headers, json={"url": ascii_address(url)}
    )
    reply = http.send(request)
    data = json.as_dict(json.as_dict(reply.json()).get("data"))
    warning, title = json.as_text(data.get("warning")), json.as_text(data.get("title"))
    if failed := re.search(r"error (\d{3})", warning):
        raise BadResponseError(f"HTTP {failed[1]}", message="{provider} did not get the page either")
    blocks = from_markdown(json.as_text(data.get("content")))
    words = len(as_text(blocks))
    if "captcha" in warning.lower() or (bot_walls.CHECK_TITLE.search(title) and words < bot_walls.SHORT):
        raise blocked("bot check", reply.status)
    if not blocks:
        raise EmptyPageError
    language = json.as_text(json.as_dict(data.get("metadata")).get("lang"))
    published = _date(json.as_text(data.get("publishedTime")))
    content = ExtractedPage(title, "", published, language, after_title(blocks, title) or blocks)
    return ServiceReply(finished(content), json.as_text(data.get("url")) or url)


def read_from_archive(url: str, http: Sender, host: str = "", until: float | None = None) -> ServiceReply:
    """Read the newest copy of a page in the Wayback Machine, as it was: without the archive's own frame."""
    address = ascii_address(url)
    stamp = _newest_copy(address, http, host or ARCHIVE)
    place = (host or COPIES).rstrip("/")
    reply = http.send(Request(f"{place}/web/{stamp}id_/{address}"), _no_copy)
    found = re.search(r"/web/(\d{4})(\d\d)?(\d\d)?", reply.url)
    archived = "-".join(part for part in found.groups() if part) if found else ""
    return ServiceReply(extract(received(reply, url), until), reply.url or url, archived)


def _newest_copy(address: str, http: Sender, host: str) -> str:
    """Return the time of the newest good copy; the list is known to miss some, so its "none" is asked about again."""
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
    if reply.status in (404, 403):
        return NotFoundError(message="{provider} has no copy of the page", status=reply.status)
    return None


def _date(text: str) -> str:
    if found := re.match(r"\d{4}-\d\d-\d\d", text):
        return found[0]
    try:
        return parsedate_to_datetime(text).date().isoformat() if text else ""
    except ValueError:
        return ""
