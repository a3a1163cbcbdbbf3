"""The links of a page or file: their text and their absolute URL."""

from urllib.parse import urljoin

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
    for label, target in _anchors(source):
        url = _absolute(base, target)
        if url and len(found) < MAX_LINKS:
            found[url] = found.get(url) or clean(label, MAX_LABEL_CHARS)
    return [PageLink(text or url, url) for url, text in found.items()]


def _anchors(markup: str) -> list[tuple[str, str]]:
    from selectolax.lexbor import LexborHTMLParser

    markup = limit_markup(markup)
    if is_costly(markup):
        raise UnreadableError("nested too deeply")
    tree = LexborHTMLParser(markup)
    base = tree.css_first("base[href]")
    prefix = str(base.attributes.get("href") or "") if base else ""
    return [(node.text(), urljoin(prefix, str(node.attributes.get("href") or ""))) for node in tree.css("a[href]")]


def _absolute(base: str, target: str) -> str:
    """Return a web URL without its fragment; empty for mail addresses, scripts and invalid ones."""
    try:
        return clean_url(urljoin(base, target).partition("#")[0])
    except ValueError:
        return ""
