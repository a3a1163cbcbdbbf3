"""The links of a page or file: their text and their absolute URL."""

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.store.settings import FETCH_PRIVATE, FETCH_TIMEOUT
from sleuth_providers.html.limits import limit_markup
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.pages.reader import Reader

MAX_LINKS = 2000
MAX_LABEL_CHARS = 200


class PageLink(Record):
    """A link: its text and its URL."""

    text: str
    url: str


def links(source: str, base: str, kind: str) -> list[PageLink]:
    """Return the web links of an HTML or Markdown text in their order, each URL once."""
    if kind == "markdown":
        from sleuth.base.markdown import to_html

        source = to_html(source)
    found: dict[str, str] = {}
    for label, target in _anchors(source):
        url = _absolute(base, target)
        if url and len(found) < MAX_LINKS:
            found[url] = found.get(url) or clean(label, MAX_LABEL_CHARS)
    return [PageLink(text or url, url) for url, text in found.items()]


def _anchors(markup: str) -> list[tuple[str, str]]:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(limit_markup(markup))
    base = tree.css_first("base[href]")
    prefix = str(base.attributes.get("href") or "") if base else ""
    nodes = tree.css("a[href]")
    return [(node.text(), urljoin(prefix, str(node.attributes.get("href") or ""))) for node in nodes]


def _absolute(base: str, target: str) -> str:
    """Return a web URL without its fragment; empty for mail addresses, scripts and invalid ones."""
    try:
        return clean_url(urljoin(base, target).partition("#")[0])
    except ValueError:
        return ""


def fetch_links(reader: "Reader", url: str, timeout: float | None = None) -> list[PageLink]:
    """Fetch a page and return its links; raise ProviderError if it cannot be read."""
    from sleuth.pages.fetch import fetch, received
    from sleuth_providers.net.guard import AddressGuard

    watch = AddressGuard(reader.guard, reader.settings[FETCH_PRIVATE])
    seconds = timeout or reader.settings[FETCH_TIMEOUT]
    page = received(fetch(url, timeout=seconds, guard=watch, transport=reader.transport), url)
    return [] if page.kind == "pdf" else links(page.text(), page.final_url, page.kind)
