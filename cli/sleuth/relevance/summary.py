"""Extractive summaries: sentences of the pages, word for word, each with its position.

One page: sentences are picked one by one by maximal marginal relevance. With a question, a sentence's relevance is its
BM25 score and a fading share of its neighbours'; without one, how much of the page's vocabulary it shares.

Several pages: the unit is a window of adjacent sentences, since answers span sentences. A window scores by how many of
its terms other pages have as well, by its place, and by which words of the question it has. How much the latter count
depends on the question: for "how to" and opinions, the sentences most like the question are titles and the question
repeated; for facts, they are the answer. A question is taken for factual by its question word, if few of the pages
contain its words, and if it is not Chinese. bench/relevance.py measures both kinds.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import islice

from sleuth.relevance.bm25 import rank, standardise
from sleuth.relevance.passages import latin_length
from sleuth.relevance.sentences import cut, iter_sentences
from sleuth.relevance.words import TokenCounter, iter_words
from sleuth_providers.records import Record

LENGTHS = {"short": 200, "medium": 400, "long": 1000}  # in Latin characters, see `latin_length`
MAX_WINDOW_CHARS = 400  # of one page, in an answer from several
MAX_WINDOWS = 3  # in a summary of several pages without a question
MAX_COMPARED_WINDOWS = 200_000  # of all pages; they take 100 MB
MAX_SENTENCES = 1000  # of a page that are compared with each other; the others are too unlike the question or the page
FREQUENT_WORDS = 20  # of a page, which stand for it where there is no question
SAMPLED_STRETCHES, STRETCH_CHARS = 100, 1_000  # of a longer page, which can have a million different words
FULL_WEIGHT_CHARS = 80  # shorter sentences score less: headings, greetings and fragments say little on their own
NEIGHBOUR_REACH = 3  # sentences before and after that add to the score of one
NEIGHBOUR_DECAY = 0.6  # per sentence of distance
DIVERSITY = 0.3  # weight of novelty against relevance
MAX_SIMILARITY = 0.9  # cosine; a sentence closer to a chosen one repeats it
POSITION_WEIGHT = 0.5  # of being near the beginning of a page, against 1 for agreement
RANK_WEIGHT = 0.5  # of being on one of the first pages; without a question, their order means nothing
QUERY_WEIGHT = 1.5  # of the words of the question, for each of the two signs of a factual question
HEADING = re.compile(r"#{1,6}\s")  # of Markdown; its words occur again below
PROSE_END = re.compile(r"[.!?…。！？][\"'”’」』）)\]]*$")
CODE_SIGNS = re.compile(r"[][{}()<>=;:_|&$@#\\\"'`/]|\.(?=\w)")
CHARS_PER_SIGN = 8  # of code: `await sleep(1, result=value)` has one in seven, a list item fewer
# Questions for facts: by a Chinese question word, or in another language.
FACTUAL = re.compile(r"谁|誰|哪|几|幾|多少|多[长長大高久远遠]|何[时時处處]|时候|時候|\A[^\u2e80-\uffff]*\Z")
HOW_TO = re.compile(  # and opinions
    r"(?i)怎|如何|[为為][什何]|[吗嗎]|[方办辦做]法|\b(?:why|how(?! (?:many|much|long|old|far|tall|big|often)\b))\b"
)
MIN_NEW_SHARE = 0.5  # of its terms that a further window must add


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
    """Adjacent sentences of one page: `units[first:end]`."""

    units: Sequence[SummarySentence]  # all of the page: there are many windows, so they copy nothing
    first: int
    end: int
    agreement: float  # how many of its terms other pages have, by the root of its length
    asked: frozenset[str]  # tokens of the question that it has

    @property
    def page(self) -> int:
        """Return the page it is on."""
        return self.units[0].page

    @property
    def sentences(self) -> Sequence[SummarySentence]:
        """Return its sentences."""
        return self.units[self.first : self.end]


def summarise(pages: Sequence[str], query: str = "", length: str | int = "medium") -> Summary:
    """Summarise each page and all of them, each in at most `length`: a name, or a number of characters."""
    text = "".join(pages)
    density = len(text) / (latin_length(text) or 1.0)
    limit = length if isinstance(length, int) else int(LENGTHS[length] * density)
    spans = [_candidates(text, query) for text in pages]
    by_page = [_sentences(page, text, spans[page], limit) for page, text in enumerate(pages)]
    per_page = tuple(_one_page(found, query, limit) for found in by_page)
    filled = [page for page, found in enumerate(by_page) if found]
    if len(filled) < 2:
        return Summary(per_page, per_page[filled[0]] if filled else ())
    room = min(limit, int(MAX_WINDOW_CHARS * density)) if query else limit // min(len(filled), MAX_WINDOWS)
    units = [_statements(_sentences(page, pages[page], spans[page], room)) for page in filled]
    values, counter = _shared_terms(units, _terms(query)), TokenCounter.of_query(query, pages)
    most = MAX_COMPARED_WINDOWS // len(units)
    windows = [window for page in units for window in islice(_windows(page, values, counter, room), most)]
    chosen = _pick_windows(_rank_windows(windows, query), (limit + 1) // (room + 1))
    return Summary(per_page, tuple(sentence for window in chosen for sentence in window.sentences))


def _sentences(page: int, text: str, spans: Sequence[tuple[int, int]], limit: int) -> list[SummarySentence]:
    found: list[SummarySentence] = []
    for start, end in spans:
        if end - start > limit:
            end = start + cut(text[start:end], limit)
        terms = _terms(text[start:end])
        if terms and not HEADING.match(text, start):
            found.append(SummarySentence(text[start:end], page, start, end, terms))
    return [one for one in found if not _is_code(one.text)] or found


def _is_code(text: str) -> bool:
    """Tell whether a sentence is code: it has no full stop, and one of its lines more than a few signs."""
    lines = () if PROSE_END.search(text) else text.splitlines()
    return any(len(CODE_SIGNS.findall(line)) > len(line) / CHARS_PER_SIGN for line in lines)


def _candidates(text: str, query: str) -> list[tuple[int, int]]:
    """Return the sentences of a text; of a long one, its beginning and the surroundings of those like the question.

    Without a question, these are the sentences with the most frequent words of the page.
    """
    starts, ends = array("L"), array("L")
    for start, end in iter_sentences(text):
        if starts and text[ends[-1] - 1] in ";；" and "\n" not in text[ends[-1] : start]:
            ends[-1] = end  # half a sentence says little
        else:
            starts.append(start)
            ends.append(end)
    spans = zip(starts, ends, strict=True)
    if len(starts) <= MAX_SENTENCES:
        return list(spans)
    step = max(len(text) // SAMPLED_STRETCHES, STRETCH_CHARS)
    sample = "".join(text[at : at + STRETCH_CHARS] for at in range(0, len(text), step))
    subject = query or " ".join(word for word, _ in Counter(iter_words(sample)).most_common(FREQUENT_WORDS))
    scores = rank(subject, [text[start:end] for start, end in spans])
    likely = nlargest(MAX_SENTENCES // 10, range(len(scores)), key=scores.__getitem__)
    near = {at + step for at in likely for step in range(-NEIGHBOUR_REACH, NEIGHBOUR_REACH + 1)}
    return [(starts[at], ends[at]) for at in range(len(starts)) if at < MAX_SENTENCES // 10 or at in near]


def _statements(units: list[SummarySentence]) -> list[SummarySentence]:
    """Return sentences without questions, unless there is nothing else: forums repeat what was asked."""
    return [unit for unit in units if not unit.text.endswith(("?", "？"))] or units


def _terms(text: str) -> frozenset[str]:
    """Return the tokens that carry meaning: words, and pairs of CJK characters; single ones are too ambiguous."""
    return frozenset(word for word in iter_words(text) if len(word) > 1 or word.isascii())


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


def _shared_terms(pages: Sequence[Sequence[SummarySentence]], question: frozenset[str]) -> Counter[str]:
    """Return on how many other pages each term is; those of the question count nothing."""
    holders = Counter(term for units in pages for term in frozenset[str]().union(*(unit.terms for unit in units)))
    return Counter({term: number - 1 for term, number in holders.items() if number > 1 and term not in question})


def _windows(
    units: Sequence[SummarySentence], values: Mapping[str, int], counter: TokenCounter, room: int
) -> Iterator[Window]:
    """Yield the windows from each sentence on, of every length that fits."""
    asked = [frozenset(counter.of(unit.text)[0]) for unit in units]
    for first, unit in enumerate(units):
        terms, found, agreed = set[str](), frozenset[str](), 0
        for last in range(first, len(units)):
            if units[last].end - unit.start > room:
                break
            agreed += sum(map(values.__getitem__, units[last].terms - terms))
            terms |= units[last].terms
            if not asked[last] <= found:  # most windows share their set with the one before
                found |= asked[last]
            yield Window(units, first, last + 1, agreed / math.sqrt(len(terms)), found)


def _pick_windows(windows: Sequence[Window], number: int) -> list[Window]:
    """Return the best window, then those of further pages that add new terms."""
    chosen: list[Window] = []
    covered = frozenset[str]()
    for window in windows:
        if len(chosen) >= number:
            break
        if all(window.page != other.page for other in chosen):
            terms = frozenset[str]().union(*(sentence.terms for sentence in window.sentences))
            if len(terms - covered) >= MIN_NEW_SHARE * len(terms):
                chosen.append(window)
                covered |= terms
    return chosen


def _rank_windows(windows: Sequence[Window], query: str) -> list[Window]:
    """Return the windows, best first."""
    holders = Counter(token for window in windows for token in window.asked)
    rarity = {token: math.log(1 + len(windows) / number) for token, number in holders.items()}
    by_query = [math.fsum(map(rarity.__getitem__, window.asked)) ** 2 for window in windows]
    best: dict[int, float] = {}  # by page
    for window, score in zip(windows, by_query, strict=True):
        best[window.page] = max(best.get(window.page, 0.0), score)
    by_page = sorted(best.values()) or [0.0]
    spread = 1 - by_page[len(by_page) // 2] / (by_page[-1] or 1.0)  # 0 if most pages match as well as the best one
    signs = spread + bool(FACTUAL.search(query)) - bool(HOW_TO.search(query)) / 2
    weighted = (
        (1.0, [window.agreement for window in windows]),
        (POSITION_WEIGHT, [1 / (1 + window.first) for window in windows]),
        (RANK_WEIGHT if query else 0.0, [1 / (1 + window.page) for window in windows]),
        (QUERY_WEIGHT * max(signs, 0.0), by_query),
    )
    columns = ([weight * score for score in standardise(scores)] for weight, scores in weighted)
    totals = list(map(sum, zip(*columns, strict=True)))
    return [windows[at] for at in sorted(range(len(windows)), key=lambda at: -totals[at])]
