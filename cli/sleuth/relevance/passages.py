"""Pages cut in passages of whole sentences, and how well each of them answers a query."""

import math
import re
from collections.abc import Callable, Sequence

from sleuth.relevance.bm25 import rank, standardise
from sleuth.relevance.sentences import sentences, word_end
from sleuth.relevance.words import RUN
from sleuth_providers.records import Record

SIZE = 200  # Latin characters of a passage: the smaller, the more of them fit, and the less each says
UNSPACED_SIZE = 80  # and of scripts that say as much in fewer
LONGEST = 3  # passages' sizes; a longer sentence is a table, a script or a list, and is cut
NEIGHBOURS = 0.3  # what a passage gains from those beside it
DENSE_TOP, DENSE_SHARE = 100, 0.5  # dense scores are mixed in where words have found something
RERANK_TOP, RERANK_SHARE = 50, 1.0  # a reranker read both query and passage: its word counts alone
CLAUSE = re.compile(r"[,;:，、；：|](?=\s|[^\x00-\x7f])")

Span = tuple[int, int]
Scorer = Callable[[str, Sequence[str]], Sequence[float]]  # query and texts → a score for each text


class Passage(Record):
    """A part of a page, by its character offsets, and how well it answers the query."""

    page: int  # from 0, in the order given
    start: int
    end: int
    score: float = 0.0


def split(text: str, size: int = SIZE, overlap: int = 0) -> list[Span]:
    """Return passages of whole sentences; with `overlap` each repeats about so many characters of the one before."""
    parts = [part for start, end in sentences(text) for part in _short(text, start, end, size)]
    weights = [weigh(text[start:end]) for start, end in parts]
    found: list[Span] = []
    first, total = 0, 0.0
    for number, weight in enumerate(weights):
        if number > first and total + weight > size:
            found.append((parts[first][0], parts[number - 1][1]))
            first, total = _back(weights, first, number, overlap)
        total += weight
    return [*found, (parts[first][0], parts[-1][1])] if parts else []


def weigh(text: str) -> float:
    """Return the length of a text in Latin characters; one of an unspaced script counts for more."""
    if text.isascii():
        return float(len(text))
    return len(text) + (SIZE / UNSPACED_SIZE - 1) * sum(map(len, RUN.findall(text)))


def score(
    query: str,
    pages: Sequence[str],
    *,
    dense: Scorer | None = None,
    rerank: Scorer | None = None,
    overlap: int = 0,
) -> list[Passage]:
    """Return the passages of all pages in reading order, each with its score."""
    found = [Passage(page, *span) for page, text in enumerate(pages) for span in split(text, overlap=overlap)]
    texts = [pages[passage.page][passage.start : passage.end] for passage in found]
    whole = standardise(rank(query, pages))
    scores = [
        own + whole[passage.page]
        for own, passage in zip(standardise(_with_neighbours(found, rank(query, texts))), found, strict=True)
    ]
    if dense:
        scores = _mixed(scores, query, texts, dense, DENSE_TOP, DENSE_SHARE)
    if rerank:
        scores = _mixed(scores, query, texts, rerank, RERANK_TOP, RERANK_SHARE)
    return [passage._replace(score=value) for passage, value in zip(found, scores, strict=True)]


def best_first(passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with the best ones first; among equals the beginnings of pages, in the order of the pages."""
    return sorted(passages, key=lambda passage: (-passage.score, passage.start, passage.page))


def _short(text: str, start: int, end: int, size: int) -> list[Span]:
    """Return a sentence, or its pieces if it is far too long for one."""
    weight = weigh(text[start:end])
    if weight <= LONGEST * size:
        return [(start, end)]
    pieces: list[Span] = []
    room = max(int(size * (end - start) / weight), 1)
    while end - start > room:
        place = _clause_end(text, start, start + room)
        pieces.append((start, place))
        while place < end and text[place].isspace():
            place += 1
        start = place
    return [*pieces, (start, end)] if start < end else pieces


def _clause_end(text: str, start: int, limit: int) -> int:
    ends = [found.end() for found in CLAUSE.finditer(text, start + (limit - start) // 2, limit)]
    return ends[-1] if ends else max(start + word_end(text[start : limit + 1], limit - start), start + 1)


def _back(weights: Sequence[float], first: int, number: int, overlap: int) -> tuple[int, float]:
    """Return where a passage begins that may repeat the end of the one before, and what is in it by then."""
    start, total = number, 0.0
    while start - 1 > first and total + weights[start - 1] <= overlap:
        start -= 1
        total += weights[start]
    return start, total


def _with_neighbours(passages: Sequence[Passage], scores: Sequence[float]) -> list[float]:
    pages = [-1, *(passage.page for passage in passages), -1]
    padded = [0.0, *scores, 0.0]
    return [
        padded[at]
        + NEIGHBOURS * (padded[at - 1] * (pages[at - 1] == pages[at]) + padded[at + 1] * (pages[at + 1] == pages[at]))
        for at in range(1, len(padded) - 1)
    ]


def _mixed(
    scores: Sequence[float], query: str, texts: Sequence[str], scorer: Scorer, top: int, share: float
) -> list[float]:
    """Return scores with another scorer's opinion of the best ones; the others stay behind these, as they were."""
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    asked = order[:top]
    told = list(scorer(query, [texts[at] for at in asked])) if asked else []
    if len(told) != len(asked) or not all(map(math.isfinite, told)):
        raise ValueError(f"{len(asked)} passages, but {len(told)} scores or some that are no numbers")
    ours, theirs = standardise([scores[at] for at in asked]), standardise(told)
    mixed = [(1 - share) * own + share * other for own, other in zip(ours, theirs, strict=True)]
    floor = max((scores[at] for at in order[top:]), default=0.0) - min(mixed, default=0.0) + 1.0
    result = list(scores)
    for at, value in zip(asked, mixed, strict=True):
        result[at] = floor + value
    return result
