"""Finds the prose in a Markdown text: everything but code, formulas, links, images, link definitions and HTML.

The Markdown parser finds the paragraphs. It gives no offsets of inline elements, which citations need; hence regular
expressions for those.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from sleuth.answers.blocks import TEXT_FORMULA
from sleuth.base.markdown import prose_lines
from sleuth_providers.records import Record

Span = tuple[int, int]

LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")

RAW = re.compile(r"<(?:(pre|code|script|style|textarea)\b|!--)", re.IGNORECASE)
LABEL = r"(?!\^)((?:[^\[\]\\]|\\.){1,999})"
TITLE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
DEFINITION = re.compile(
    rf"^[ \t>]*+(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]++)?\[{LABEL}\]:[ \t]*+(?:\n[ \t]*+)?(?:<[^<>\n]*+>|[^\s<]\S*+)"
    rf"(?:(?:[ \t]++(?:\n[ \t]++)?|\n[ \t]++){TITLE})?[ \t]*+$",
    re.MULTILINE,
)
REFERENCE = re.compile(rf"\[(?:{LABEL})?\]")
# A link target, with balanced parentheses as in URLs of Wikipedia.
SIGN = r"[^\s()\\]|\\."
PLAIN = rf"(?!<)(?:{SIGN}|\((?:{SIGN}|\((?:{SIGN})*+\))*+\))++"
TARGET = re.compile(rf"\(\s*(?:(?:<(?:[^<>\n\\]|\\.)*+>|{PLAIN})(?:\s+{TITLE})?\s*)?\)")
TOKEN = re.compile(
    rf"(?P<formula>{TEXT_FORMULA})|(?P<escape>\\.)|(?P<ticks>`+)|(?P<bracket>[\[\]])"
    r"|(?P<tag></?[a-z][\w-]*(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?)*+\s*/?>|<[a-z/?!][^<>\n]*>)"
    r"|(?P<url>https?://(?:[!-;=?-Z^-_a-z~|{}]|(?<=[\w=/&])\[[\w,-]*\])++)"
    r"|(?P<hyperlink>\x1b\]8;[^\x1b]*\x1b\\.*?\x1b\]8;;\x1b\\)",
    re.IGNORECASE | re.DOTALL,
)


class Prose(Record):
    """The prose of a text, and the labels of its link definitions."""

    stretches: tuple[Span, ...]
    labels: frozenset[str]


@lru_cache(2)  # an answer before and after citations are attached: each is looked at several times
def prose(text: str) -> Prose:
    """Return the prose of a Markdown text."""
    raw = list(_elements(text))
    parts = [part for start, end in paragraphs(text) for part in _without(start, end, raw)]
    definitions = [found for start, end in parts for found in DEFINITION.finditer(text[start:end])]
    labels = frozenset(normal_label(found[1]) for found in definitions)
    stretches = (part for start, end in parts for part in _without(start, end, _taken(text, start, end, labels)))
    return Prose(tuple(stretches), labels)


def normal_label(label: str) -> str:
    """Return a label in the form Markdown compares."""
    return " ".join(label.casefold().split())


def _without(start: int, end: int, taken: Iterable[Span]) -> Iterator[Span]:
    """Yield what is left of a span after removing others."""
    for first, last in sorted(taken):
        if last <= start or first >= end:
            continue
        if first > start:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end


def _elements(text: str) -> Iterator[Span]:
    """Yield HTML comments and elements with code."""
    lower, unclosed, done = text.lower(), set[str](), 0
    if len(lower) != len(text):  # lower() changes the length of a few characters
        lower = text
    for opening in RAW.finditer(text):
        closing = f"</{opening[1].lower()}>" if opening[1] else "-->"
        if opening.start() < done or closing in unclosed:
            continue
        end = lower.find(closing, opening.end())
        if end < 0:
            unclosed.add(closing)
        else:
            done = end + len(closing)
            yield opening.start(), done


def paragraphs(text: str) -> Iterator[Span]:
    """Yield runs of lines that are neither blank nor code."""
    numbers = prose_lines(text)
    lines = enumerate(line.span(1) for line in LINE.finditer(text))
    for is_prose, run in groupby(lines, key=lambda line: line[0] in numbers):
        if is_prose:
            spans = [span for _, span in run]
            yield spans[0][0], spans[-1][1]


def _taken(text: str, start: int, end: int, labels: frozenset[str]) -> list[Span]:
    """Return what is not prose in a paragraph: code, formulas, links, definitions, tags, URLs, escaped characters."""
    part = text[start:end]
    found = [match.span() for match in DEFINITION.finditer(part)] + list(inline(part, labels))
    return [(start + first, start + last) for first, last in found]


def inline(part: str, labels: frozenset[str]) -> Iterator[Span]:
    """Yield the code, formulas, links, images, tags, URLs and escaped characters in a paragraph."""
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", part):
        ticks.setdefault(len(run[0]), []).append(run.start())
    opened: list[int] = []
    place = 0
    while token := TOKEN.search(part, place):
        first, place = token.span()
        if token.lastgroup == "ticks":
            place = _closing_tick(ticks, first, len(token[0])) or place
            yield first, place
        elif token[0] == "[":
            opened.append(first)
        elif token[0] == "]":
            if opened and (last := _link_end(part, opened[-1], first, labels)):
                is_image = part[opened[-1] - 1 : opened[-1]] == "!"
                yield opened[-1] - is_image, last
                place = last
            del opened[-1:]
        else:
            yield first, place


def _closing_tick(ticks: Mapping[int, Sequence[int]], first: int, length: int) -> int:
    runs = ticks.get(length, ())
    following = bisect_left(runs, first + length)
    return runs[following] + length if following < len(runs) else 0


def _link_end(part: str, opening: int, closing: int, labels: frozenset[str]) -> int:
    """Return the end of the link with this text, or 0 if the brackets are not a link."""
    if target := TARGET.match(part, closing + 1):
        return target.end()
    own = normal_label(part[opening + 1 : closing])
    reference = REFERENCE.match(part, closing + 1)
    if reference and normal_label(reference[1] or own) in labels:
        return reference.end()
    return closing + 1 if own in labels else 0
