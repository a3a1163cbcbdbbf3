"""The passage of a document that shows best why it was found: where the query's words are closest together."""

import math
import re
from collections import Counter

from sleuth.base.text import shorten
from sleuth.relevance.words import query_terms
from sleuth_providers.records import Record

MAX_CHARS = 300
MAX_OCCURRENCES = 1_000  # of one word; more add nothing
MAX_WORDS = 40
OPENING_SHARE = 0.6  # of the best cluster's value: from here on the opening is preferred
REPEATED = 0.1  # value of a word that is already in the cluster; a new one has 1
SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？；]+[”’」』）]*|\n")


class Occurrence(Record):
    """An occurrence of a query word."""

    start: int
    end: int
    word: str


def best_passage(text: str, query: str) -> str:
    """Return the best passage on one line, cut at sentence boundaries if there are any near."""
    if len(text) <= MAX_CHARS:
        return " ".join(text.split())
    places, width = _occurrences(text, query), int(0.7 * MAX_CHARS)
    first, last, value = _densest(places, width)
    opening = _densest([place for place in places if place.end <= width], width)
    if opening[2] >= OPENING_SHARE * value:  # a text says what it is about at its beginning
        first, last, _ = opening
    start = _start(text, first)
    end = _end(text, start, last)
    found = " ".join(text[start:end].split())
    before = "…" if start and not _is_boundary(text, start) else ""
    after = "…" if end < len(text) and not _is_boundary(text, end) else ""
    return before + shorten(found, MAX_CHARS) + after


def _occurrences(text: str, query: str) -> list[Occurrence]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two characters, which would shift the offsets
        lowered = "".join(low if len(low := character.lower()) == 1 else character for character in text)
    return sorted(place for word in _needles(query) for place in _find(lowered, word))


def _needles(query: str) -> list[str]:
    """Return the strings to look for: stems, which most forms of a word start with, and pairs of CJK characters."""
    stems = (word[:-1] if len(word) > 3 and word.endswith("i") else word for word in query_terms(query))
    return list(dict.fromkeys(stems))[:MAX_WORDS]


def _find(text: str, word: str) -> list[Occurrence]:
    found: list[Occurrence] = []
    is_latin = word[0].isascii() and word[0].isalnum()  # must not start inside another word
    at = text.find(word)
    while at >= 0 and len(found) < MAX_OCCURRENCES:
        if not (is_latin and at and text[at - 1].isascii() and text[at - 1].isalnum()):
            found.append(Occurrence(at, at + len(word), word))
        at = text.find(word, at + len(word))
    return found


def _densest(places: list[Occurrence], width: int) -> tuple[int, int, float]:
    """Return the start, end and value of the best cluster that fits into `width` characters.

    A word counts less the more often it occurs in the text, and hardly at all when repeated within a cluster. The
    window slides over the places once, adding a word at its right end and removing those that fall out at its left.
    """
    worth = {word: 1 / (1 + math.log(count)) for word, count in Counter(place.word for place in places).items()}
    inside: Counter[str] = Counter()
    best, value, left = (0, 0, 0.0), 0.0, 0
    for place in places:
        value += worth[place.word] * (REPEATED if inside[place.word] else 1.0)
        inside[place.word] += 1
        while place.end - places[left].start > width:
            gone = places[left].word
            inside[gone] -= 1
            value -= worth[gone] * (REPEATED if inside[gone] else 1.0)
            left += 1
        if value > best[2] + 1e-9:
            best = (places[left].start, place.end, value)
    return best


def _start(text: str, first: int) -> int:
    """Return where the passage starts: at the sentence of the cluster, or at a word shortly before it."""
    earliest = max(0, first - MAX_CHARS // 3)
    ends = [found.end() for found in SENTENCE_END.finditer(text, earliest, first)]
    if ends:
        return ends[-1]
    if earliest == 0:
        return 0
    space = text.find(" ", earliest, first)
    return space + 1 if space >= 0 else earliest


def _end(text: str, start: int, last: int) -> int:
    latest = min(len(text), start + MAX_CHARS)
    if latest == len(text):
        return latest
    ends = [found.end() for found in SENTENCE_END.finditer(text, max(last, start + MAX_CHARS // 2), latest)]
    if ends:
        return ends[-1]
    space = text.rfind(" ", max(last, start + MAX_CHARS // 2), latest)
    return space if space > 0 else latest


def _is_boundary(text: str, at: int) -> bool:
    return text[at - 1] in "\n。！？；”’」』）" or bool(re.match(r"[.!?…][\"'”’)\]]*\s", text[max(0, at - 1) : at + 1]))
