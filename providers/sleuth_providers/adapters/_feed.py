"""RSS and Atom feeds, split as text: an XML parser would expand entities, and reject feeds that are cut short."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.json import MAX_ITEMS, strip_tags


def elements(markup: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes and the inner markup of the elements with this name, which must not be nested."""
    for part in markup.split(f"<{name}", MAX_ITEMS)[1:]:
        attributes, _, rest = part.partition(">")
        if attributes and not attributes[0].isspace() and attributes != "/":
            continue  # another element whose name starts the same
        yield attributes, "" if attributes.endswith("/") else rest.partition(f"</{name}>")[0]


def feed_elements(response: Response, root: str, name: str) -> Iterator[str]:
    """Return the inner markup of the elements of a feed; raise BadResponseError for anything but a feed."""
    feed = response.text()
    if f"<{root}" not in feed[:1000]:
        raise BadResponseError("not a feed", status=response.status)
    return (inner for _, inner in elements(feed, name))


def field(markup: str, name: str) -> str:
    """Return the text of the first element with this name: CDATA unwrapped, entities decoded once."""
    text = next((inner for _, inner in elements(markup, name)), "").strip()
    if text.startswith("<![CDATA["):
        return text.removeprefix("<![CDATA[").removesuffix("]]>").strip()
    return html.unescape(text).strip()


def plain_field(markup: str, name: str) -> str:
    """Return the text of the first element with this name on one line, without tags."""
    return " ".join(strip_tags(field(markup, name)).split())


def attribute(attributes: str, name: str) -> str:
    """Return the value of an attribute."""
    found = re.search(rf"""\s{name}\s?=\s?(?:"([^"]*)"|'([^']*)')""", attributes[:2000])
    return html.unescape(found[1] or found[2] or "") if found else ""
