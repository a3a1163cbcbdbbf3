"""What SearXNG's templates for papers, pictures and videos add to a result."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sleuth_providers.base import Details, Response
from sleuth_providers.json import as_count, as_list, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIZE = r"(\d{1,6})\s*[x×*]\s*(\d{1,6})"
PAGE_SIGN = rb'content="searxng/|id="(?:search|results)"|class="result'  # of SearXNG's own pages
SIGNS = ("authors", "doi", "pdf_url", "resolution", "views", "isbn")  # fields of which a detailed result has one


def is_bot_check(response: Response) -> bool:
    """Tell whether a bot check in front of the server answered; a page of SearXNG itself may be about captchas."""
    from sleuth_providers.html import bot_walls  # not for every search

    if bot_walls.is_challenge(response.headers):
        return True
    if "html" not in response.headers.get("content-type", "") or re.search(PAGE_SIGN, response.body):
        return False
    return bot_walls.find_wall(response.text(), response.url, response.url) == "bot check"


def details_of(item: Mapping[str, Any]) -> Details:
    """Return the details of a result; most results of a general search have none."""
    if not any(item.get(name) for name in SIGNS):
        return Details()
    from sleuth_providers.adapters._papers import doi_name, known_names, year_of  # not for every search

    size = re.search(SIZE, as_text(item.get("resolution")))
    is_work = bool(item.get("authors") or item.get("doi"))
    return Details(
        authors=known_names(as_list(item.get("authors"))),
        year=year_of(item.get("publishedDate")) if is_work else None,
        venue=as_text(item.get("journal")),
        publisher=as_text(item.get("publisher")),
        volume=as_text(item.get("volume")),
        issue=as_text(item.get("number")),
        pages=as_text(item.get("pages")),
        doi=doi_name(item.get("doi")),
        isbn=next(iter(known_names(as_list(item.get("isbn")))), ""),
        pdf=as_text(item.get("pdf_url")),
        width=as_count(size[1]) if size else None,
        height=as_count(size[2]) if size else None,
        views=as_count(item.get("views")),
    )
