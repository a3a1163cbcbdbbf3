"""What sources say of a claim: its words, weighed, in neighbouring sentences; its quotations; its numbers."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sleuth.answers.citations import CitedSource, by_number
from sleuth.relevance.sentences import MARKER, sentences
from sleuth.relevance.words import GRAMMAR_CHARACTERS, UNSPACED_RUN, words
from sleuth_providers.records import Record

QUOTED, SUPPORTED, WEAK, NOT_FOUND, UNCHECKED = "quote_found", "supported", "weak", "not_found", "unchecked"
STATES = (QUOTED, SUPPORTED, WEAK, NOT_FOUND, UNCHECKED)
ENOUGH, LITTLE = 0.5, 0.25  # share of a claim's terms, weighed, that makes it supported, or weak
NEIGHBOURS = 3  # sentences of a source that may support a claim together

QUOTES = re.compile(r"\"([^\"\n]{8,})\"|“([^”\n]{4,})”|「([^」\n]{4,})」|『([^』\n]{4,})』|«([^»\n]{8,})»")
SAME_SIGNS = str.maketrans("‘’“”–—−，：；！？（）", "''\"\"---,:;!?()")  # one for one, so that places stay
NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:[.,][0-9]+)*")
GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
SPELLED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
HAN = "零一二三四五六七八九十"
DECORATION = re.compile(r"[*_`#>|]+")


class ClaimVerdict(Record):
    """What one source says of one claim."""

    support: str
    score: float = 0.0
    evidence: tuple[int, int] | None = None  # in the text of the source


class EvidenceSentence(Record):
    """A sentence of a source as it is compared."""

    start: int
    end: int
    terms: frozenset[str]


class Evidence:
    """The sentences of all sources, and how rare each term is in them."""

    def __init__(self, sources: Sequence[CitedSource]) -> None:
        self.texts = {number: source.text for number, source in by_number(sources).items() if source.text.strip()}
        self._same = {number: text.translate(SAME_SIGNS) for number, text in self.texts.items()}
        self._sentences = {number: _sentences(text) for number, text in self.texts.items()}
        everything = [sentence for found in self._sentences.values() for sentence in found]
        self._holders = Counter(term for sentence in everything for term in sentence.terms)
        self._size = len(everything)
        self._known: dict[tuple[str, int], ClaimVerdict] = {}

    def judge(self, claim: str, number: int) -> ClaimVerdict:
        """Tell how far a claim is found in a source."""
        key = (claim, number)
        if key not in self._known:
            self._known[key] = self._judge(claim, number)
        return self._known[key]

    def _judge(self, claim: str, number: int) -> ClaimVerdict:
        wanted = terms(claim)
        if number not in self.texts or not wanted:
            return ClaimVerdict(UNCHECKED)
        text = self.texts[number]
        quotes = _quotes(claim)
        places = [_place(quote, self._same[number]) for quote in quotes or [_bare(claim)]]
        if all(places) and _has_numbers(claim, text):
            return ClaimVerdict(QUOTED, 1.0, places[0])
        score, evidence = self._best(wanted, number)
        if score < LITTLE or evidence is None:
            return ClaimVerdict(NOT_FOUND, score)
        is_enough = score >= ENOUGH and not quotes and _has_numbers(claim, text[slice(*evidence)])
        return ClaimVerdict(SUPPORTED if is_enough else WEAK, score, evidence)

    def _best(self, wanted: frozenset[str], number: int) -> tuple[float, tuple[int, int] | None]:
        """Return the neighbouring sentences that have most of the terms, as few as will do, and how much that is."""
        weights = {term: self._rarity(term) for term in wanted}
        total = math.fsum(weights.values())
        found = [(sentence, wanted & sentence.terms) for sentence in self._sentences[number]]
        best, shortest, evidence = 0.0, 0, None
        for first, (start, common) in enumerate(found):
            shared: frozenset[str] = frozenset()
            for sentence, more in found[first : first + NEIGHBOURS] if common else ():
                shared |= more
                score = round(math.fsum(weights[term] for term in shared) / total, 4)
                length = sentence.end - start.start
                if (score, -length) > (best, -shortest):
                    best, shortest, evidence = score, length, (start.start, sentence.end)
        return best, evidence

    def _rarity(self, term: str) -> float:
        holders = max(self._holders[term], 1)  # a word of the writer's own weighs no more than a rare one
        return math.log(1 + (max(self._size - holders, 0) + 0.5) / (holders + 0.5))


def terms(text: str) -> frozenset[str]:
    """Return what a sentence says: its terms without grammar."""
    return frozenset(words(DECORATION.sub(" ", text))) - GRAMMAR_CHARACTERS


def _sentences(text: str) -> list[EvidenceSentence]:
    return [EvidenceSentence(start, end, terms(text[start:end])) for start, end in sentences(text)]


def _quotes(claim: str) -> list[str]:
    """Return what a claim says to be quoting."""
    found = ("".join(filter(None, quote.groups())) for quote in QUOTES.finditer(claim))
    return [quote for quote in found if _is_long(quote)]


def _is_long(quote: str) -> bool:
    return len(quote.split()) >= 4 or len("".join(UNSPACED_RUN.findall(quote))) >= 6


def _unmarked(claim: str) -> str:
    """Return a claim without the mark of a list item, whose number claims nothing."""
    marker = MARKER.match(claim)
    return claim[marker.end() :] if marker else claim


def _bare(claim: str) -> str:
    return DECORATION.sub("", _unmarked(claim)).strip(" .。!！;；,，\n\t")


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a source has these words, whatever its line breaks, letter case and quotation marks."""
    if not _is_long(quote):
        return None
    parts = quote.translate(SAME_SIGNS).strip(" ,.;。").split()
    found = re.search(r"\s+".join(map(re.escape, parts)), text, re.IGNORECASE)
    return found.span() if found else None


def _has_numbers(claim: str, text: str) -> bool:
    told = set(_figures(text))
    return all(figure in told or _is_told(figure, told, text) for figure in set(_figures(_unmarked(claim))))


def _figures(text: str) -> Iterator[str]:
    for found in NUMBER.findall(text):
        yield found.replace(",", "") if GROUPED.fullmatch(found) else found


def _is_told(figure: str, told: set[str], text: str) -> bool:
    """Tell whether a text has a number in another form: as the start of a version, or spelled out when it is small."""
    if any(other.startswith(f"{figure}.") for other in told):
        return True
    small = int(figure) if figure.isdigit() and len(figure) < 3 else len(SPELLED)
    spelled = small < len(SPELLED) and re.search(rf"\b{SPELLED[small]}\b", text, re.IGNORECASE)
    return bool(spelled) or (small < len(HAN) and HAN[small] in text)
