"""Browser bookmarks as library documents, from the Netscape file that every browser exports."""

import re
from collections.abc import Iterator
from html import unescape

from sleuth.base.text import clean
from sleuth.base.urls import clean_url, domain
from sleuth.library.library import Document

PART = re.compile(
    r"<h3\b[^<>]*>(?P<folder>[^<]*)|(?P<open><dl\b)|(?P<close></dl)"
    r"|<a\b(?P<attributes>[^<>]*)>(?P<title>[^<]*)|<dd>(?P<note>[^<]*)",
    re.IGNORECASE,
)
ATTRIBUTE = re.compile(r'\b(\w++)\s*=\s*"([^"]*)"')


def is_bookmarks(markup: str) -> bool:
    """Tell whether an HTML file is a bookmark export."""
    return "netscape-bookmark-file" in markup[:500].lower()


def bookmarks(markup: str, modified: float) -> Iterator[Document]:
    """Yield each link once, with its title, folder, note and the date it was added."""
    found: dict[str, Document] = {}
    folders: list[str] = []
    name = url = ""
    for part in PART.finditer(markup):
        if part["folder"] is not None:
            name = clean(part["folder"], 100)
        elif part["open"]:
            folders.append(name)
            name = ""
        elif part["close"]:
            del folders[-1:]
        elif part["note"] is not None:
            if url:
                found[url] = found[url]._replace(text=f"{clean(part['note'], 1000)}\n{found[url].text}".strip())
        else:
            document = _document(part["attributes"], part["title"], " / ".join(filter(None, folders)), modified)
            url = document.url if document and document.url not in found else ""
            if document and url:
                found[url] = document
    yield from found.values()


def _document(attributes: str, title: str, folder: str, modified: float) -> Document | None:
    values = {name.lower(): value for name, value in ATTRIBUTE.findall(attributes)}
    url = clean_url(unescape(values.get("href", "")))
    if not url:
        return None  # javascript:, place: and the like
    added = values.get("add_date", "")
    words = clean(re.sub(r"[/?&=#_+%-]+", " ", url.partition("://")[2]), 300)
    return Document(
        url=url,
        title=clean(title, 300) or domain(url),
        text=f"{folder}\n{words}".strip(),
        site=domain(url),
        modified=float(added) if re.fullmatch(r"\d{1,11}", added) else modified,
        size=len(attributes) + len(title) + len(folder),
        kind="bookmark",
        source="bookmark",
    )
