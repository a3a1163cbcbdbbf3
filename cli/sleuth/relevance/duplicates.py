"""Texts that are almost the same: snippets of one page, and copies of a page on other sites."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from sleuth_providers.records import Record

# Snippets are similar if one contains the other, or if their sets of four-letter pieces have this Jaccard index.
MIN_SNIPPET_SHARE = 0.8
MIN_SNIPPET_LETTERS, MAX_SNIPPET_LETTERS = 40, 500  # shorter ones are similar by chance

# Pages are copies (mirrors, AMP versions, syndicated articles) if most of their shingles are the same.
SHINGLE_CHARS = 40  # letters and digits in a row: pages made from one template differ in most of them, copies do not
MAX_COMPARED_CHARS = 50_000  # of a page
KEPT_SHARE = 8  # one of so many shingles is compared, chosen by its hash
MIN_SHINGLES = 30  # about 250 letters; shorter pages are similar by chance
MIN_PAGE_SHARE = 0.7  # of the shingles of two pages: the rest is what each site puts around an article


class SnippetSketch(Record):
    """The part of a snippet that is compared: its letters, and their four-letter pieces."""

    letters: str
    pieces: frozenset[str]


def letters(text: str) -> str:
    """Return the letters and digits of a text, in one form of each."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def sketch_snippet(snippet: str) -> SnippetSketch:
    """Return what is compared of a snippet."""
    text = letters(snippet[: 2 * MAX_SNIPPET_LETTERS])[:MAX_SNIPPET_LETTERS]
    return SnippetSketch(text, frozenset(text[start : start + 4] for start in range(len(text) - 3)))


def is_similar(one: SnippetSketch, other: SnippetSketch) -> bool:
    """Tell whether two snippets are of the same text."""
    if min(len(one.letters), len(other.letters)) < MIN_SNIPPET_LETTERS:
        return False
    if one.letters in other.letters or other.letters in one.letters:
        return True
    return len(one.pieces & other.pieces) >= MIN_SNIPPET_SHARE * len(one.pieces | other.pieces)


def find_duplicates(texts: Sequence[str]) -> dict[int, int]:
    """Map the index of each near-duplicate page to that of the first page with its text."""
    sketches: dict[int, Counter[int]] = {}  # of pages that repeat no other
    found: dict[int, int] = {}
    for place, text in enumerate(texts):
        sketch = _shingles(text)
        first = next((at for at, other in sketches.items() if _is_copy(sketch, other)), None)
        if first is None:
            sketches[place] = sketch
        else:
            found[place] = first
    return found


def _shingles(text: str) -> Counter[int]:
    """Return how often each shingle occurs: what a template repeats counts as often as it does."""
    from zlib import crc32  # not needed for snippets

    plain = letters(text[:MAX_COMPARED_CHARS])
    shingles = (plain[at : at + SHINGLE_CHARS].encode() for at in range(len(plain) - SHINGLE_CHARS + 1))
    return Counter(number for number in map(crc32, shingles) if number % KEPT_SHARE == 0)


def _is_copy(one: Counter[int], other: Counter[int]) -> bool:
    shared, total = (one & other).total(), (one | other).total()
    return min(one.total(), other.total()) >= MIN_SHINGLES and shared >= MIN_PAGE_SHARE * total
