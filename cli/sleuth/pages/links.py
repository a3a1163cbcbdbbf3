"""The links of a page or file: their text and their absolute URL."""

from collections.abc import Iterator

from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.pages.blocks import MAX_TEXT_CHARS
from sleuth.pages.errors import UnreadableError
from sleuth.pages.fetch import Fetched
from sleuth_providers.html.limits import is_costly, limit_markup
from sleuth_providers.records import Record

MAX_LINKS = 2000
MAX_LABEL_CHARS = 200


class PageLink(Record):
    """A link: its text and its URL."""

    text: str
    url: str


def find_links(page: Fetched) -> list[PageLink]:
    """Return the links of a page; a PDF file has none."""
    return [] if page.kind == "pdf" else links(page.text(), page.final_url, page.kind)


def links(source: str, base: str, kind: str) -> list[PageLink]:
    """Return the web links of an HTML or Markdown text in their order, each URL once."""
    if kind == "markdown":
        from sleuth.base.markdown import to_html

        source = to_html(source[:MAX_TEXT_CHARS])
    found: dict[str, str] = {}
    for label, url in _anchors(source, base):
        if url and len(found) < MAX_LINKS:
            found[url] = found.get(url) or clean(label, MAX_LABEL_CHARS)
    return [PageLink(text or url, url) for url, text in found.items()]


def _anchors(markup: str, url: str) -> Iterator[tuple[str, str]]:
    """Yield the text and URL of each link of a page; the URL is empty for mail addresses, scripts and invalid ones."""
    from selectolax.lexbor import LexborHTMLParser

    from sleuth_providers.html.tree import join

    markup = limit_markup(markup)
    if is_costly(markup):
        raise UnreadableError("nested too deeply")
    tree = LexborHTMLParser(markup)
    base = tree.css_first("base[href]")
    prefix = join(url, base.attributes.get("href") or "") if base else url
    for node in tree.css("a[href]"):
        yield node.text(), clean_url(join(prefix, node.attributes.get("href") or "").partition("#")[0])
