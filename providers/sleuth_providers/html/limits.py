"""Limits for markup: HTML parsers need far more memory and time than a hostile page has bytes."""

import re
from collections import Counter
from itertools import islice

MAX_TAGS = 60_000
MAX_TAG_ATTRIBUTES = 1000  # parsers compare each attribute with all before it
MAX_ATTRIBUTES = 100_000  # of the whole page
MAX_PARSER_WORK = 10_000_000  # about 0.3 s and 70 MB; 8 MB of documentation take half of it
REOPENING_WORK = 20  # of creating an element again, compared with looking at one that is open

# Tags as browsers read them; those inside scripts count too, which does no harm.
_ATTRIBUTE = r"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
ATTRIBUTE = re.compile(_ATTRIBUTE)
TAG = re.compile(rf"<[a-zA-Z][^\s/>]*+((?:{_ATTRIBUTE})*+)")
TAG_NAME = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)")
VOID = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta param source track wbr"))
# Elements that are often not closed, and formatting, which goes on in the next block until it is closed.
SIBLINGS = frozenset(re.findall(r"\w+", "dd dt li option p rb rp rt tbody td tfoot th thead tr"))
FORMATTING = frozenset(re.findall(r"\w+", "a b big code em font i nobr s small strike strong tt u"))


def limit_markup(page: str) -> str:
    """Return a page up to the tag where one of the limits is exceeded."""
    total = 0
    for number, tag in enumerate(TAG.finditer(page), 1):
        attributes = sum(1 for _ in islice(ATTRIBUTE.finditer(page, *tag.span(1)), MAX_TAG_ATTRIBUTES + 1))
        total += attributes
        if number > MAX_TAGS or attributes > MAX_TAG_ATTRIBUTES or total > MAX_ATTRIBUTES:
            return page[: tag.start()]
    return page


def is_costly(page: str) -> bool:
    """Tell whether a browser's parser would take long.

    For most tags it looks at all elements that are open, so that nesting takes quadratic time. Formatting that is open
    when its block ends is opened again in the next one: 1,500 such elements and as many blocks take 800 MB.
    """
    stack: list[str] = []  # of open elements
    on_stack: Counter[str] = Counter()
    active: Counter[str] = Counter()  # formatting without an end tag so far
    reopened = work = 0
    for tag in TAG_NAME.finditer(page):
        name = tag[2].lower()
        if name in VOID:
            continue
        change = (-1 if active[name] else 0) if tag[1] else 1
        if name in FORMATTING:
            active[name] += change
            reopened += change
        if tag[1] and on_stack[name]:
            while (last := stack.pop()) != name:
                on_stack[last] -= 1
            on_stack[name] -= 1
        elif not tag[1] and not (name in SIBLINGS and stack and stack[-1] == name):
            stack.append(name)
            on_stack[name] += 1
        work += len(stack) + (0 if name in FORMATTING else reopened * REOPENING_WORK)
        if work > MAX_PARSER_WORK:
            return True
    return False
