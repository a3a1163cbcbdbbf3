"""A page as other packages see it, and the JSON form in the cache."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.json_output import record_as_json
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.pages import blocks
from sleuth.pages.blocks import Block
from sleuth.pages.chain import LayerAttempt
from sleuth.pages.errors import EmptyPageError, UnreadableError
from sleuth.pages.extract import ExtractedPage
from sleuth.relevance.urls import canonical
from sleuth_providers.errors import DeadlineError, PrivateAddressError
from sleuth_providers.records import Record

MAX_LABEL_CHARS = 1000
LABELS = ("title", "author", "published", "language", "archived")


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
    layer: str = ""  # the source it was read from; empty if all failed
    attempts: tuple[LayerAttempt, ...] = ()
    elapsed_ms: int = 0
    cached: bool = False
    truncated: bool = False
    age: float = 0.0  # seconds in the cache
    archived: str = ""  # ISO date of a copy from an archive
    blocks: Sequence[Block] = ()  # of the whole page, if text and markdown are truncated

    @property
    def ok(self) -> bool:
        """Tell whether the page was read."""
        return bool(self.layer)

    @property
    def whole_text(self) -> str:
        """Return the text of the whole page, which passages, summaries and evidence are selected from."""
        return blocks.as_text(self.blocks) if self.blocks else self.text

    @property
    def whole_markdown(self) -> str:
        """Return the whole page in Markdown, or its text if it has none."""
        return blocks.as_markdown(self.blocks) if self.blocks else self.markdown or self.text

    @property
    def problem(self) -> str:
        """Return why the page was not read: the reason of the browser, or the first one, which is the site's own."""
        reasons = {attempt.layer: attempt.message for attempt in self.attempts if attempt.message}
        return "" if self.ok else reasons.get("browser") or next(iter(reasons.values()), "")

    @property
    def hint(self) -> str:
        """Return how the page could be read."""
        states = {attempt.layer: attempt.state for attempt in self.attempts}
        hints = dict.fromkeys(("unreachable", "rate_limited"), tr("check the URL and the network, or try again later"))
        hints |= {"skipped": "omit --offline", "blocked": UnreadableError.hint}
        hints |= {kind.state: kind.hint for kind in (PrivateAddressError, EmptyPageError, DeadlineError)}
        return "" if "browser" in states else hints.get(states.get("page", states.get("cache", "")), "")


def page_as_json(page: Page) -> dict[str, Any]:
    """Return the published form of a page."""
    about = record_as_json(page, "url", "final_url", "title", "author", "published", "language")
    about |= {"title": page.title, "content": page.markdown}
    return about | record_as_json(page, "truncated", "archived", "cached")


class PageEvent(Record):
    """Progress while reading several pages."""

    kind: str  # start | end
    url: str
    done: int
    total: int
    page: Page | None = None


def cache_key(url: str) -> str:
    """Return the cache key of a page."""
    return sha256(f"page {canonical(url)}".encode("utf-8", "replace")).hexdigest()


def to_page(url: str, content: ExtractedPage, limit: int) -> Page:
    """Return a page whose text is truncated to `limit` characters."""
    body = blocks.without_title(content.blocks, content.title) or content.blocks
    kept, truncated = blocks.cut(body, limit)
    about = content._asdict() | {"final_url": clean_url(content.final_url), "blocks": body if truncated else ()}
    return Page(url, text=blocks.as_text(kept), markdown=blocks.as_markdown(kept), truncated=truncated, **about)


def from_json(value: Any) -> ExtractedPage:
    """Read a page from the cache, which others may write to; raise TypeError or ValueError for an invalid entry."""
    content = ExtractedPage(**value)
    if not content.blocks:
        raise ValueError("no blocks")
    labels = {name: clean(getattr(content, name), MAX_LABEL_CHARS, entities=False) for name in LABELS}
    return content._replace(**labels, final_url=str(content.final_url), blocks=blocks.from_json(content.blocks))
