"""How much markup is worth parsing: parsers of HTML take far more memory, and time, than a hostile page has bytes."""

import re
from itertools import islice

MOST_TAGS = 60_000
MOST_ATTRIBUTES = 1000  # of one tag: parsers compare each with all before it
MOST_IN_ALL = 100_000

# As browsers read them; what looks like a tag within a script is counted too, which does no harm.
_ATTRIBUTE = r"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
ATTRIBUTE = re.compile(_ATTRIBUTE)
TAG = re.compile(rf"<[a-zA-Z][^\s/>]*+((?:{_ATTRIBUTE})*+)")


def limit_markup(page: str, most_tags: int = MOST_TAGS) -> str:
    """Return a page up to where there are too many tags, or attributes in one tag or in all."""
    total = 0
    for number, tag in enumerate(TAG.finditer(page), 1):
        attributes = sum(1 for _ in islice(ATTRIBUTE.finditer(page, *tag.span(1)), MOST_ATTRIBUTES + 1))
        total += attributes
        if number > most_tags or attributes > MOST_ATTRIBUTES or total > MOST_IN_ALL:
            return page[: tag.start()]
    return page
