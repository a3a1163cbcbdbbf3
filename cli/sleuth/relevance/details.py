"""Details of results: sanitised, identified across providers, and united from several providers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.relevance.hit import Hit
from sleuth_providers.base import Details, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_AUTHORS, MAX_TEXT_CHARS, MAX_COUNT = 100, 300, 10**15
URL_FIELDS = ("pdf", "license_url")
LARGEST_FIELDS = ("cited_by", "editions", "views", "points", "answer_count", "comments", "stars")
ARXIV_DOI = "10.48550/arxiv."
# Compiled on first use, since few searches need them.
BARE_YEAR = r"(1[4-9]\d\d|20\d\d)(?:-\d\d?)?"
DOI = r"(?i)(?:https?://(?:dx\.)?doi\.org/|doi:)?(10\.\d{4,9}/[^\s\"<>{}\\]{1,200})"
ARXIV_ID = r"(?i)(?:arxiv:)?(\d{4}\.\d{4,5}|[a-z-]{1,20}(?:\.[a-z]{2})?/\d{7})(?:v\d{1,3})?"
ARXIV_PAGE = r"https?://(?:\w{1,20}\.)?arxiv\.org/(?:abs|pdf|html)/([\w.\-/]{1,40}?)(?:\.pdf)?/?"


def clean_details(result: Result) -> Details:
    """Return the details of a result sanitised, with the year of a bare year, which is not a date."""
    known: dict[str, Any] = {name: _cleaned(name, value) for name, value in result.details.known().items()}
    if known.get("doi"):
        known["doi"] = doi_of(known["doi"])
    if known.get("arxiv"):
        known["arxiv"] = arxiv_of(known["arxiv"])
    published = result.published.strip() if "year" not in known else ""
    if 4 <= len(published) <= 7 and (year := re.fullmatch(BARE_YEAR, published)):
        known["year"] = int(year[1])
    return Details(**known) if known else result.details


def _cleaned(name: str, value: Any) -> Any:
    if name == "authors":
        return tuple(filter(None, (clean(author, MAX_TEXT_CHARS) for author in value[:MAX_AUTHORS])))
    if not isinstance(value, str):
        return None if isinstance(value, int) and abs(value) > MAX_COUNT else value  # as a shared cache may contain
    return clean_url(value) if name in URL_FIELDS else clean(value, MAX_TEXT_CHARS)


def doi_of(text: str) -> str:
    """Return the DOI in a text or URL, empty for anything else."""
    found = re.fullmatch(DOI, text.strip()) if "10." in text else None
    return found[1] if found else ""


def arxiv_of(text: str) -> str:
    """Return an arXiv id without its version, empty for anything else."""
    found = re.fullmatch(ARXIV_ID, text.strip())
    return found[1] if found else ""


def is_picture(result: Result | Hit) -> bool:
    """Tell whether a result is a picture; pages and articles may have one too, shared with others of their site."""
    return bool(result.image and result.details.width)


def identities(result: Result | Hit, keys: list[str], canonical: Callable[[str], str]) -> list[str]:
    """Return all names of what a result is about: its URL, its DOI, its arXiv id, its picture."""
    names = list(keys)
    doi = (result.details.doi or doi_of(result.url)).lower()
    page = re.fullmatch(ARXIV_PAGE, result.url) if "arxiv.org/" in result.url else None
    arxiv = result.details.arxiv or (arxiv_of(page[1]) if page else "")
    if doi.startswith(ARXIV_DOI):
        arxiv, doi = arxiv or arxiv_of(doi.removeprefix(ARXIV_DOI)), ""
    names += [f"doi:{doi}"] if doi else []
    names += [f"arxiv:{arxiv.lower()}"] if arxiv else []
    names += [f"image:{canonical(result.image)}"] if is_picture(result) else []
    return names or [f"url:{result.url}"]


def united_details(all_details: Sequence[Details]) -> Details:
    """Return the details of one result from several providers: counts are the largest, other facts the first known."""
    if len(all_details) == 1:
        return all_details[0]
    united: dict[str, Any] = {}
    for details in all_details:
        for name, value in details.known().items():
            known = united.get(name, value)
            united[name] = max(known, value) if name in LARGEST_FIELDS else known
    # The DOI of a publication is worth more than that of its preprint.
    published = [one for one in all_details if one.doi and not one.doi.lower().startswith(ARXIV_DOI)]
    if published:
        united["doi"] = published[0].doi
    types = [details.type for details in all_details if details.type not in ("", "article")]
    if types:  # a preprint that was published
        united["type"] = types[0]
    if any(details.open_access for details in all_details):
        united["open_access"] = True
    return Details(**united)
