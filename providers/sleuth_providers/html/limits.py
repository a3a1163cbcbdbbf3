"""Limits for markup: HTML parsers need far more memory and time than a hostile page has bytes."""

import re
from itertools import islice

MAX_TAGS = 60_000
MAX_TAG_ATTRIBUTES = 1000  # parsers compare each attribute with all before it
MAX_ATTRIBUTES = 100_000  # of the whole page

# Tags as browsers read them; those inside scripts count too, which does no harm.
_ATTRIBUTE = r"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
ATTRIBUTE = re.compile(_ATTRIBUTE)
TAG = re.compile(rf"<[a-zA-Z][^\s/>]*+((?:{_ATTRIBUTE})*+)")


def limit_markup(page: str) -> str:
    """Return a page up to the tag where one of the limits is exceeded."""
    total = 0
    for number, tag in enumerate(TAG.finditer(page), 1):
        attributes = sum(1 for _ in islice(ATTRIBUTE.finditer(page, *tag.span(1)), MAX_TAG_ATTRIBUTES + 1))
        total += attributes
        if number > MAX_TAGS or attributes > MAX_TAG_ATTRIBUTES or total > MAX_ATTRIBUTES:
            return page[: tag.start()]
    return page
