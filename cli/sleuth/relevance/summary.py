"""Extractive summaries: sentences of the pages, word for word, each with its position.

One page: sentences are picked one by one by maximal marginal relevance. With a question, a sentence's relevance is its
BM25 score and a fading share of its neighbours'; without one, how much of the page's vocabulary it shares.

Several pages: the unit is a window of adjacent sentences, since answers span sentences. A window scores by how many of
its terms other pages have as well. Similarity to the question is deliberately no part of it: it finds titles, and the
question repeated. bench/summaries.py measures the constants: ROUGE against human answers and summaries.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sleuth.relevance.bm25 import rank, standardise
from sleuth.relevance.passages import latin_length
from sleuth.relevance.sentences import cut, sentences
from sleuth.relevance.words import words
from sleuth_providers.records import Record

LENGTHS = {"short": 200, "medium": 400, "long": 1000}  # in Latin characters, see `latin_length`
MAX_WINDOW_CHARS = 400  # of one page, in an answer from several
MAX_WINDOWS = 3  # in a summary of several pages without a question
FULL_WEIGHT_CHARS = 80  # shorter sentences score less: headings, greetings and fragments say little on their own
NEIGHBOUR_REACH = 3  # sentences before and after that add to the score of one
NEIGHBOUR_DECAY = 0.6  # per sentence of distance
DIVERSITY = 0.3  # weight of novelty against relevance
MAX_SIMILARITY = 0.9  # cosine; a sentence closer to a chosen one repeats it
POSITION_WEIGHT = 0.5  # of being near the beginning of a page, against 1 for agreement
RANK_WEIGHT = 0.5  # of being on one of the first pages
HEADING = re.compile(r"#{1,6}\s")  # of Markdown; its words occur again below
MIN_NEW_SHARE = 0.5  # of its terms that a further window must add
MIN_ROOM_SHARE = 0.5  # of the limit that must be left for a further window


class SummarySentence(Record):
    """A sentence of a page: `pages[page][start:end] == text`."""

    text: str
    page: int  # from 0, in the order given
    start: int
    end: int
    terms: frozenset[str] = frozenset()


class Summary(Record):
    """Summaries of each page and of all pages; in the latter the best window comes first."""

    per_page: tuple[tuple[SummarySentence, ...], ...]
    overall: tuple[SummarySentence, ...]


class Window(Record):
    """Adjacent sentences of one page."""

    page: int
    first: int
    sentences: tuple[SummarySentence, ...]
    terms: frozenset[str]

    @property
    def length(self) -> int:
        """Return its length in characters."""
        return self.sentences[-1].end - self.sentences[0].start


def summarise(pages: Sequence[str], query: str = "", length: str | int = "medium") -> Summary:
    """Summarise each page and all of them, each in at most `length`: a name, or a number of characters."""
    text = "".join(pages)
    density = len(text) / (latin_length(text) or 1.0)
    limit = length if isinstance(length, int) else int(LENGTHS[length] * density)
    by_page = [_sentences(page, text, limit) for page, text in enumerate(pages)]
    per_page = tuple(_one_page(found, query, limit) for found in by_page)
    filled = [page for page, found in enumerate(by_page) if found]
    if len(filled) < 2:
        return Summary(per_page, per_page[filled[0]] if filled else ())
    room = min(limit, int(MAX_WINDOW_CHARS * density)) if query else limit // min(len(filled), MAX_WINDOWS)
    if room < limit:
        by_page = [_sentences(page, text, room) for page, text in enumerate(pages)]
    chosen = _pick_windows([window for page in filled for window in _windows(page, by_page[page], room)], query, limit)
    return Summary(per_page, tuple(sentence for window in chosen for sentence in window.sentences))


def _sentences(page: int, text: str, limit: int) -> list[SummarySentence]:
    found: list[SummarySentence] = []
    for start, end in sentences(text):
        if end - start > limit:
            end = start + cut(text[start:end], limit)
        terms = _terms(text[start:end])
        if terms and not HEADING.match(text, start):
            found.append(SummarySentence(text[start:end], page, start, end, terms))
    return found


def _terms(text: str) -> frozenset[str]:
    """Return the tokens that carry meaning: words, and pairs of CJK characters; single ones are too ambiguous."""
    return frozenset(word for word in words(text) if len(word) > 1 or word.isascii())


def _one_page(units: Sequence[SummarySentence], query: str, limit: int) -> tuple[SummarySentence, ...]:
    texts = [unit.text for unit in units]
    scores = _query_scores(query, texts) if query else []
    if not any(scores):
        scores = _centrality(units)
    damped = [
        score * min(1.0, latin_length(text) / FULL_WEIGHT_CHARS) for score, text in zip(scores, texts, strict=True)
    ]
    return tuple(units[at] for at in sorted(_pick_diverse(damped, units, limit)))


def _query_scores(query: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each sentence plus the fading scores of those around it."""
    own = rank(query, texts)
    padded = [0.0] * NEIGHBOUR_REACH + own + [0.0] * NEIGHBOUR_REACH
    return [
        sum(NEIGHBOUR_DECAY ** abs(step) * padded[at + step] for step in range(-NEIGHBOUR_REACH, NEIGHBOUR_REACH + 1))
        for at in range(NEIGHBOUR_REACH, NEIGHBOUR_REACH + len(own))
    ]


def _centrality(units: Sequence[SummarySentence]) -> list[float]:
    """Return how many terms each sentence shares with the rest of its page, with a bonus for the first ones.

    Dividing by the square root of the length keeps long sentences from winning by size alone.
    """
    spread = Counter(term for unit in units for term in unit.terms)
    shared = [sum(spread[term] - 1 for term in unit.terms) / math.sqrt(len(unit.terms)) for unit in units]
    highest = max(shared, default=0.0) or 1.0
    return [score / highest + 1 / (1 + at / NEIGHBOUR_REACH) for at, score in enumerate(shared)]


def _pick_diverse(scores: Sequence[float], units: Sequence[SummarySentence], limit: int) -> list[int]:
    """Pick sentences by maximal marginal relevance until the limit is reached."""
    best = max(scores, default=0.0) or 1.0
    similarity = [0.0] * len(units)
    chosen: list[int] = []
    left = limit
    while fitting := [
        at for at, unit in enumerate(units) if len(unit.text) <= left and similarity[at] < MAX_SIMILARITY
    ]:
        pick = max(fitting, key=lambda at: (1 - DIVERSITY) * scores[at] / best - DIVERSITY * similarity[at])
        chosen.append(pick)
        left -= len(units[pick].text) + 1
        for at, unit in enumerate(units):
            similarity[at] = 1.0 if at == pick else max(similarity[at], _cosine(unit.terms, units[pick].terms))
    return chosen


def _cosine(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other))


def _windows(page: int, units: Sequence[SummarySentence], room: int) -> Iterator[Window]:
    """Yield a window from each sentence on, as long as fits."""
    for first, unit in enumerate(units):
        last = first + 1
        while last < len(units) and units[last].end - unit.start <= room:
            last += 1
        inside = tuple(units[first:last])
        yield Window(page, first, inside, frozenset[str]().union(*(unit.terms for unit in inside)))


def _pick_windows(windows: Sequence[Window], query: str, limit: int) -> list[Window]:
    """Return the best window, then those of further pages that add new terms and fit."""
    chosen: list[Window] = []
    covered: frozenset[str] = frozenset()
    left = limit
    for window in _rank_windows(windows, query):
        is_new = len(window.terms - covered) >= MIN_NEW_SHARE * len(window.terms)
        has_room = window.length <= left and (not chosen or left >= MIN_ROOM_SHARE * limit)
        if has_room and is_new and all(window.page != other.page for other in chosen):
            chosen.append(window)
            covered |= window.terms
            left -= window.length + 1
    return chosen


def _rank_windows(windows: Sequence[Window], query: str) -> list[Window]:
    """Return the windows, best first."""
    scores = zip(
        standardise(_agreement(windows, _terms(query))),
        standardise([1 / (1 + window.first) for window in windows]),
        standardise([1 / (1 + window.page) for window in windows]),
        strict=True,
    )
    rank_weight = RANK_WEIGHT if query else 0.0  # without a question, the order of pages means nothing
    totals = [agreed + POSITION_WEIGHT * first + rank_weight * early for agreed, first, early in scores]
    return [windows[at] for at in sorted(range(len(windows)), key=lambda at: -totals[at])]


def _agreement(windows: Sequence[Window], question: frozenset[str]) -> list[float]:
    """Return for each window how many of its terms other pages have, without those of the question."""
    on_page: dict[int, set[str]] = {}
    for window in windows:
        on_page.setdefault(window.page, set()).update(window.terms)
    holders = Counter(term for terms in on_page.values() for term in terms)
    others = max(len(on_page) - 1, 1)
    return [sum(holders[term] - 1 for term in window.terms - question) / others for window in windows]
