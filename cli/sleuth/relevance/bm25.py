"""BM25 scores of texts for a query, without an index."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from sleuth.relevance.words import TokenCounter

K1 = 1.2  # how soon the repetition of a word stops to add to the score
GENERAL_SCALE = 4.0  # makes general rarity, from 0 to about 1, as large as BM25's among some dozens of texts
Counts = tuple[tuple[str, ...], tuple[int, ...], int]  # tokens, how often each occurs, and the length of the text
B = 0.75  # how much the length of a text counts against it


def rank(query: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text for the query; the texts are the collection."""
    return _rank(query, texts)


def rank_found(query: str, texts: Sequence[str]) -> list[float]:
    """Return BM25 scores of texts that were found for the query.

    Since all of them have its words, how rare a word is among them says little; half of the weight of a word is
    therefore how rare it is in general.
    """
    from sleuth.relevance.tokens import rarity

    return _rank(query, texts, rarity)


def _rank(query: str, texts: Sequence[str], general: Callable[[str], float] | None = None) -> list[float]:
    counter = TokenCounter.of_query(query, texts)
    known: dict[Counts, Counts] = {}  # a page can have 250,000 short sentences; many have the same counts
    found = ((tuple(counts), tuple(counts.values()), length) for counts, length in map(counter.of, texts))
    counted = [known.setdefault(counts, counts) for counts in found]
    mean_length = sum(length for _, _, length in counted) / max(len(counted), 1) or 1.0
    holders = Counter(token for tokens, _, _ in counted for token in tokens)
    rarity = {token: math.log(1 + (len(counted) - n + 0.5) / (n + 0.5)) for token, n in holders.items()}  # IDF
    if general:
        rarity = {token: (own + GENERAL_SCALE * general(token)) / 2 for token, own in rarity.items()}
    return [_score(tokens, times, length / mean_length, rarity) for tokens, times, length in counted]


def standardise(scores: Sequence[float]) -> list[float]:
    """Return z-scores: distances from the mean in standard deviations, or zeros if all scores are equal."""
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if deviation <= 1e-12 * max(abs(score) for score in scores):  # rounding errors
        return [0.0] * len(scores)
    return [(score - mean) / deviation for score in scores]


def _score(tokens: Sequence[str], times: Sequence[int], length: float, rarity: dict[str, float]) -> float:
    norm = K1 * (1 - B + B * length)
    return math.fsum(rarity[token] * n * (K1 + 1) / (n + norm) for token, n in zip(tokens, times, strict=True))
