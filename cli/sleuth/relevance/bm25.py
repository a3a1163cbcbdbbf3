"""Passages scored against a query by the words they share, without an index."""

import math
from collections import Counter
from collections.abc import Sequence

from sleuth.relevance.words import Counts, words

SATURATION = 1.2  # k1: how soon a word said again adds nothing
LENGTH = 0.75  # b: how much a long passage has to say more


def rank(query: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text for the query, the other texts being the collection."""
    counts = Counts(words(query))
    counted = [counts.of(text) for text in texts]
    usual = sum(length for _, length in counted) / max(len(texts), 1) or 1.0
    holders = Counter(token for found, _ in counted for token in found)
    rarity = {token: _rarity(number, len(texts)) for token, number in holders.items()}
    return [_score(found, length / usual, rarity) for found, length in counted]


def standardise(scores: Sequence[float]) -> list[float]:
    """Return scores as distances from their mean in standard deviations; scores that are all equal become zeros."""
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if deviation <= 1e-12 * max(abs(score) for score in scores):  # nothing but rounding
        return [0.0] * len(scores)
    return [(score - mean) / deviation for score in scores]


def _rarity(holders: int, texts: int) -> float:
    return math.log(1 + (texts - holders + 0.5) / (holders + 0.5))


def _score(counts: dict[str, int], length: float, rarity: dict[str, float]) -> float:
    norm = SATURATION * (1 - LENGTH + LENGTH * length)
    return math.fsum(rarity[token] * times * (SATURATION + 1) / (times + norm) for token, times in counts.items())
