"""ROUGE of a text against human ones: by characters for Chinese, by stemmed words otherwise, without punctuation."""

import re
from collections import Counter
from collections.abc import Sequence


def rouge(text: str, references: Sequence[str], by_character: bool) -> dict[str, float]:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L as F1, each against the nearest reference."""
    pairs = [(units(text, by_character), units(reference, by_character)) for reference in references]
    return {
        "1": max(f1(overlap(one, other, 1), len(one), len(other)) for one, other in pairs),
        "2": max(f1(overlap(one, other, 2), len(one) - 1, len(other) - 1) for one, other in pairs),
        "L": max(f1(common(one, other), len(one), len(other)) for one, other in pairs),
    }


def units(text: str, by_character: bool) -> list[str]:
    """Return what is compared: Chinese characters and whole Latin words, or stemmed words."""
    if by_character:
        return re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower())
    from Stemmer import Stemmer

    return list(Stemmer("porter").stemWords(re.findall(r"[a-z0-9]+", text.lower())))


def f1(hits: int, found: int, wanted: int) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * hits / (found + wanted) if hits else 0.0


def overlap(one: Sequence[str], other: Sequence[str], size: int) -> int:
    """Return how many n-grams of this size two texts share."""
    grams = [Counter(tuple(text[at : at + size]) for at in range(len(text) - size + 1)) for text in (one, other)]
    return (grams[0] & grams[1]).total()


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, computed bit by bit in one long number."""
    places: dict[str, int] = {}
    for at, unit in enumerate(one):
        places[unit] = places.get(unit, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for unit in other:
        hits = row & places.get(unit, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(one) - row.bit_count()
