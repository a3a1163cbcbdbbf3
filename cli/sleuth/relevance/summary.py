"""Summaries and answers put together from sentences of the pages themselves, each with the place it was taken from."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sleuth.relevance.bm25 import rank, standardise
from sleuth.relevance.passages import weigh
from sleuth.relevance.sentences import cut, sentences
from sleuth.relevance.words import words
from sleuth_providers.records import Record

LENGTHS = {"short": 200, "medium": 400, "long": 1000}  # Latin characters; scripts that say more in fewer get fewer
WINDOW = 400  # of one page in an answer from several
MOST_WINDOWS = 3  # in a summary of several pages without a question
SHORT = 80  # a sentence below this says little by itself: a heading, a greeting, a fragment
REACH, DECAY = 3, 0.6  # how far a sentence that answers lights up those around it, and how fast that fades
VARIETY = 0.3  # against relevance: how much a sentence loses by saying what has been said
SAME = 0.9  # likeness above which it is not said again
POSITION, RANK = 0.5, 0.5  # against the agreement of pages: how much the beginning of a page, and the first page, count
HEADING = re.compile(r"#{1,6}\s")  # of Markdown: no sentence, and its words come again below
NEW = 0.5  # share of terms that a further page must add
ROOM = 0.5  # share of the whole that must be left for it


class SummarySentence(Record):
    """A sentence of a page, word for word: `pages[page][start:end] == text`."""

    text: str
    page: int  # from 0, in the order given
    start: int
    end: int


class Summary(Record):
    """What each page says, and what they say together; the best place comes first, sentences in reading order."""

    per_page: tuple[tuple[SummarySentence, ...], ...]
    overall: tuple[SummarySentence, ...]


class Unit(Record):
    """A sentence as it is weighed: where it is, and which terms it has."""

    start: int
    end: int
    terms: frozenset[str]


class Window(Record):
    """Sentences of one page that follow each other."""

    page: int
    first: int
    units: tuple[Unit, ...]
    terms: frozenset[str]

    @property
    def length(self) -> int:
        """Return how many characters it takes."""
        return self.units[-1].end - self.units[0].start


def summarise(pages: Sequence[str], query: str = "", length: str | int = "medium") -> Summary:
    """Return a summary of each page and of all of them, none longer than `length`: a name, or characters."""
    text = "".join(pages)
    density = len(text) / (weigh(text) or 1.0)
    limit = length if isinstance(length, int) else int(LENGTHS[length] * density)
    units = [_units(page, limit) for page in pages]
    per_page = tuple(_one_page(pages, page, found, query, limit) for page, found in enumerate(units))
    told = [page for page, found in enumerate(units) if found]
    if len(told) < 2:
        return Summary(per_page, per_page[told[0]] if told else ())
    room = min(limit, int(WINDOW * density)) if query else limit // min(len(told), MOST_WINDOWS)
    if room < limit:
        units = [_units(page, room) for page in pages]
    chosen = _agreed([window for page in told for window in _windows(page, units[page], room)], query, limit)
    overall = (_sentence(pages, window.page, unit) for window in chosen for unit in window.units)
    return Summary(per_page, tuple(overall))


def _units(text: str, limit: int) -> list[Unit]:
    found: list[Unit] = []
    for start, end in sentences(text):
        if end - start > limit:
            end = start + cut(text[start:end], limit)
        terms = _terms(text[start:end])
        if terms and not HEADING.match(text, start):
            found.append(Unit(start, end, terms))
    return found


def _terms(text: str) -> frozenset[str]:
    """Return what a text speaks of: words, and pairs of characters where no spaces are written."""
    return frozenset(word for word in words(text) if len(word) > 1 or word.isascii())


def _sentence(pages: Sequence[str], page: int, unit: Unit) -> SummarySentence:
    return SummarySentence(pages[page][unit.start : unit.end], page, unit.start, unit.end)


def _one_page(
    pages: Sequence[str], page: int, units: Sequence[Unit], query: str, limit: int
) -> tuple[SummarySentence, ...]:
    texts = [pages[page][unit.start : unit.end] for unit in units]
    scores = _answering(query, texts) if query else []
    if not any(scores):
        scores = _central(units)
    damped = [score * min(1.0, weigh(text) / SHORT) for score, text in zip(scores, texts, strict=True)]
    return tuple(_sentence(pages, page, units[at]) for at in sorted(_varied(damped, units, limit)))


def _answering(query: str, texts: Sequence[str]) -> list[float]:
    """Return how well sentences and those around them answer the query."""
    own = rank(query, texts)
    padded = [0.0] * REACH + own + [0.0] * REACH
    return [
        sum(DECAY ** abs(step) * padded[at + step] for step in range(-REACH, REACH + 1))
        for at in range(REACH, REACH + len(own))
    ]


def _central(units: Sequence[Unit]) -> list[float]:
    """Return how much of what the whole page speaks of is in each sentence, the first ones a little ahead."""
    spread = Counter(term for unit in units for term in unit.terms)
    shared = [sum(spread[term] - 1 for term in unit.terms) / math.sqrt(len(unit.terms)) for unit in units]
    most = max(shared, default=0.0) or 1.0
    return [score / most + 1 / (1 + at / REACH) for at, score in enumerate(shared)]


def _varied(scores: Sequence[float], units: Sequence[Unit], limit: int) -> list[int]:
    """Choose sentences one by one, each good by itself and unlike those chosen, until the room is used."""
    best = max(scores, default=0.0) or 1.0
    likeness = [0.0] * len(units)
    chosen: list[int] = []
    left = limit
    while fitting := [
        at for at in range(len(units)) if units[at].end - units[at].start <= left and likeness[at] < SAME
    ]:
        pick = max(fitting, key=lambda at: (1 - VARIETY) * scores[at] / best - VARIETY * likeness[at])
        chosen.append(pick)
        left -= units[pick].end - units[pick].start + 1
        for at, unit in enumerate(units):
            likeness[at] = 1.0 if at == pick else max(likeness[at], _alike(unit.terms, units[pick].terms))
    return chosen


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other))


def _windows(page: int, units: Sequence[Unit], room: int) -> Iterator[Window]:
    """Yield, for each sentence, it and those after it that fit."""
    for first, unit in enumerate(units):
        last = first + 1
        while last < len(units) and units[last].end - unit.start <= room:
            last += 1
        inside = tuple(units[first:last])
        yield Window(page, first, inside, frozenset[str]().union(*(unit.terms for unit in inside)))


def _agreed(windows: Sequence[Window], query: str, limit: int) -> list[Window]:
    """Return the window that says most of what other pages say too, then one of each page that adds something."""
    chosen: list[Window] = []
    said: frozenset[str] = frozenset()
    left = limit
    for window in _ranked(windows, query):
        is_new = len(window.terms - said) >= NEW * len(window.terms)
        has_room = window.length <= left and (not chosen or left >= ROOM * limit)
        if has_room and is_new and all(window.page != other.page for other in chosen):
            chosen.append(window)
            said |= window.terms
            left -= window.length + 1
    return chosen


def _ranked(windows: Sequence[Window], query: str) -> list[Window]:
    """Return windows, best first. Likeness to the query is no merit: it finds titles and the question said again."""
    scores = zip(
        standardise(_agreement(windows, _terms(query))),
        standardise([1 / (1 + window.first) for window in windows]),
        standardise([1 / (1 + window.page) for window in windows]),
        strict=True,
    )
    rank_weight = RANK if query else 0.0  # without a question nobody has ranked the pages
    totals = [agreed + POSITION * first + rank_weight * early for agreed, first, early in scores]
    return [windows[at] for at in sorted(range(len(windows)), key=lambda at: -totals[at])]


def _agreement(windows: Sequence[Window], asked: frozenset[str]) -> list[float]:
    """Return for each window how many of its terms other pages have as well, those of the question apart."""
    on_page: dict[int, set[str]] = {}
    for window in windows:
        on_page.setdefault(window.page, set()).update(window.terms)
    holders = Counter(term for terms in on_page.values() for term in terms)
    others = max(len(on_page) - 1, 1)
    return [sum(holders[term] - 1 for term in window.terms - asked) / others for window in windows]
