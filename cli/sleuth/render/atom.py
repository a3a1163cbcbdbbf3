"""A saved search as an Atom feed (RFC 4287)."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from sleuth import __version__
from sleuth.base.text import clean
from sleuth.base.urls import ascii_url, domain
from sleuth.store.watches import WatchItem

NAMESPACE = "http://www.w3.org/2005/Atom"


def render(query: str, items: Iterable[WatchItem], updated: float) -> bytes:
    """Return the feed as UTF-8; ElementTree escapes every text, and `clean` removes what XML forbids."""
    feed = ET.Element("feed", {"xmlns": NAMESPACE})
    _add(feed, "id", uuid.uuid5(uuid.NAMESPACE_URL, f"sleuth watch {query}").urn)
    _add(feed, "title", clean(query, entities=False))
    _add(feed, "updated", _moment(updated))
    ET.SubElement(_add(feed, "author"), "name").text = "sleuth"
    _add(feed, "generator", "sleuth", version=__version__)
    for item in items:
        url = ascii_url(item.url)
        entry = _add(feed, "entry")
        _add(entry, "id", url)
        _add(entry, "title", clean(item.title, entities=False) or url)
        _add(entry, "link", rel="alternate", href=url)
        _add(entry, "updated", _moment(item.seen_at))
        if re.fullmatch(r"\d{4}-\d\d-\d\d", item.published):
            _add(entry, "published", f"{item.published}T00:00:00Z")
        _add(entry, "summary", clean(item.snippet, entities=False))
        ET.SubElement(_add(entry, "author"), "name").text = domain(item.url) or "sleuth"
    ET.indent(feed)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(feed, encoding="unicode")}\n'.encode()


def _add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    child = ET.SubElement(parent, tag, attributes)
    child.text = text or None
    return child


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
