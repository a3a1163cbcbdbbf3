"""Plain frozen data: a page as everybody else sees it, and the form in which the cache keeps it."""

from hashlib import sha256
from typing import Any

from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.pages import blocks
from sleuth.pages.chain import LayerAttempt
from sleuth.pages.extract import ExtractedPage
from sleuth.pages.services import ServiceReply
from sleuth.relevance.urls import canonical
from sleuth_providers.records import Record

LABEL = 1000  # characters; a title is shorter when it is read


class Page(Record):
    """A page that was read, or the reasons why it was not."""

    url: str
    final_url: str = ""
    title: str = ""
    text: str = ""
    markdown: str = ""
    author: str = ""
    published: str = ""  # ISO date
    language: str = ""  # BCP 47
    layer: str = ""  # the way that led to it; empty when none did
    attempts: tuple[LayerAttempt, ...] = ()
    elapsed_ms: int = 0
    cached: bool = False
    truncated: bool = False
    age: float = 0.0  # seconds that a cached page has been kept
    archived: str = ""  # ISO date of a copy from an archive

    @property
    def ok(self) -> bool:
        """Tell whether there is a text."""
        return bool(self.layer)

    @property
    def problem(self) -> str:
        """Return why there is no text: the site's own reason, which is the first."""
        return "" if self.ok else next((attempt.message for attempt in self.attempts if attempt.message), "")


class PageEvent(Record):
    """How far the reading of several pages is."""

    kind: str  # start | end
    url: str
    done: int
    total: int
    page: Page | None = None


def cache_key(url: str) -> str:
    """Return the name under which a page is kept."""
    return sha256(f"page {canonical(url)}".encode("utf-8", "replace")).hexdigest()


def from_reading(url: str, reading: ServiceReply, limit: int) -> Page:
    """Return as much of a page as is wanted."""
    content = reading.content
    kept, truncated = blocks.cut(content.blocks, limit)
    return Page(
        url,
        clean_url(reading.final_url),
        content.title,
        blocks.as_text(kept),
        blocks.as_markdown(kept),
        content.author,
        content.published,
        content.language,
        truncated=truncated,
        archived=reading.archived,
    )


def as_json(layer: str, reading: ServiceReply) -> dict[str, Any]:
    """Return a page in the form the cache keeps: whole, however little of it was wanted."""
    content = reading.content
    return {
        "layer": layer,
        "url": reading.final_url,
        "archived": reading.archived,
        "about": [content.title, content.author, content.published, content.language],
        "blocks": [list(one) for one in content.blocks],
    }


def from_json(value: Any) -> ServiceReply:
    """Read a page back; raises KeyError, TypeError or ValueError for what is none."""
    title, author, published, language = (clean(part, LABEL, entities=False) for part in value["about"])
    content = ExtractedPage(title, author, published, language, blocks.from_json(value["blocks"]))
    return ServiceReply(content, str(value["url"]), clean(value["archived"], LABEL))
