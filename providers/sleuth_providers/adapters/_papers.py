"""What the APIs for scientific papers have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sleuth_providers.json import as_text, strip_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_AUTHORS = 10
BLOCK_END = re.compile(r"</(?:jats:)?(?:p|title|label|sec|h\d|list-item)>")


def paragraphs(markup: Any) -> str:
    """Return HTML or JATS markup as text on one line; the ends of paragraphs and headings separate words."""
    return " ".join(strip_tags(BLOCK_END.sub(" ", as_text(markup))).split())


def author_names(names: Iterable[Any]) -> str:
    """Return the names of authors, comma-separated, the first ones of many."""
    known = [name for name in map(as_text, names) if name]
    return ", ".join(known[:MAX_AUTHORS]) + (" et al." if len(known) > MAX_AUTHORS else "")


def filters(conditions: Mapping[str, str]) -> str:
    """Return conditions as `name:value`, comma-separated; those without a value are left out."""
    return ",".join(f"{name}:{value}" for name, value in conditions.items() if value)


def doi_url(doi: Any) -> str:
    """Return the address of a DOI, given with or without its resolver; empty without a DOI."""
    name = re.sub(r"^https?://(?:dx\.)?doi\.org/", "", as_text(doi).strip())
    return f"https://doi.org/{name}" if name.startswith("10.") else ""
