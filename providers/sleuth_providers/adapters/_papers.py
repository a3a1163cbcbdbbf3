"""What the APIs for scientific papers have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sleuth_providers.json import as_text, strip_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_AUTHORS = 10  # in the text of a result; its details have all of them
# Kinds of works in the terms of Crossref and OpenAlex, and in those of CSL.
WORK_TYPES = {
    "journal-article": "article-journal", "article": "article-journal", "review": "article-journal",
    "proceedings-article": "paper-conference", "posted-content": "article", "preprint": "article",
    "book": "book", "monograph": "book", "edited-book": "book", "reference-book": "book",
    "book-chapter": "chapter", "dissertation": "thesis", "report": "report", "dataset": "dataset",
}  # fmt: skip
BLOCK_END = re.compile(r"</(?:jats:)?(?:p|title|label|sec|h\d|list-item)>")


def paragraphs(markup: Any) -> str:
    """Return HTML or JATS markup as text on one line; the ends of paragraphs and headings separate words."""
    return " ".join(strip_tags(BLOCK_END.sub(" ", as_text(markup))).split())


def known_names(names: Iterable[Any]) -> tuple[str, ...]:
    """Return the names that are texts."""
    return tuple(name for name in map(as_text, names) if name)


def year_of(date: Any) -> int | None:
    """Return the year at the start of a date or the year itself, None for anything else."""
    year = re.match(r"\d{4}(?!\d)", as_text(date))
    return int(year[0]) if year else None


def doi_name(doi: Any) -> str:
    """Return a DOI without its resolver, empty without a DOI."""
    name = re.sub(r"^https?://(?:dx\.)?doi\.org/", "", as_text(doi).strip())
    return name if name.startswith("10.") else ""


def author_names(names: Iterable[Any]) -> str:
    """Return the names of authors, comma-separated, the first ones of many."""
    known = known_names(names)
    return ", ".join(known[:MAX_AUTHORS]) + (" et al." if len(known) > MAX_AUTHORS else "")


def filters(conditions: Mapping[str, str]) -> str:
    """Return conditions as `name:value`, comma-separated; those without a value are left out."""
    return ",".join(f"{name}:{value}" for name, value in conditions.items() if value)


def doi_url(doi: Any) -> str:
    """Return the address of a DOI, given with or without its resolver; empty without a DOI."""
    name = doi_name(doi)
    return f"https://doi.org/{name}" if name else ""
