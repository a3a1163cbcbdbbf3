"""Finds the evidence for a claim in a source by comparing words, without a model.

The score of a claim is the share of its terms that occur in the best run of neighbouring sentences of the source.
Weighting terms by rarity or adding word pairs does not improve accuracy. A claim that reaches the threshold is still
weak if a number is in no sentence about it, if it has a negation that the source lacks, or if subject and object are
swapped. Most other contradictions stay invisible: results say "found in the source", never "true". docs/relevance.md
has the accuracy.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sleuth.answers.citations import CitedSource, by_number
from sleuth.relevance.languages import ENGLISH, detect
from sleuth.relevance.sentences import MARKER, iter_sentences
from sleuth.relevance.words import GRAMMAR_CHARACTERS, UNSPACED_RUN, iter_words
from sleuth_providers.records import Record

QUOTED, SUPPORTED, WEAK, NOT_FOUND, UNCHECKED = "quote_found", "supported", "weak", "not_found", "unchecked"
STATES = (QUOTED, SUPPORTED, WEAK, NOT_FOUND, UNCHECKED)  # best first
# A threshold slightly above half of the terms separates supported from unsupported claims best. Below two fifths, the
# words in common are mostly those of the topic, which any page about it has.
SUPPORTED_SCORE, WEAK_SCORE = 0.55, 0.4
MAX_NEIGHBOURS = 3  # a claim often sums up two or three sentences; longer runs match by chance
MAX_RUNS = 100_000  # with different terms; 1 MB of prose has about 30,000
# A quotation must be long enough not to be found by chance: four words, or six Chinese or Japanese characters.
MIN_QUOTE_WORDS, MIN_QUOTE_CJK_CHARS = 4, 6
MAX_ROLE_CHARS = 2_000  # of a claim and its evidence; longer ones are tables and lists, and each verb takes a pass
MIN_REST_TERMS = 3  # with fewer, the words around a quotation only introduce it: "Park writes that …"

QUOTATION = re.compile(r"\"([^\"\n]{8,})\"|“([^“”\n]{4,})”|「([^「」\n]{4,})」|『([^『』\n]{4,})』|«([^«»\n]{8,})»")
PUNCTUATION = str.maketrans("‘’“”–—−，：；！？（）", "''\"\"---,:;!?()")  # one for one, so that offsets stay
NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[0-9]+(?:[.,][0-9]+)*")
GROUPED_NUMBER = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
ENGLISH_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
CHINESE_NUMBERS = "零一二三四五六七八九十"
MARKDOWN_SIGNS = re.compile(r"[*_`#>|]+")
# Words that deny, without those where the same character does not: 不仅, 不同, 未来, 无论, 非常.
NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|nobody|nothing|without|cannot|nicht|kein\w{0,2}|pas|jamais|nunca|ning[uú]n\w?|não)\b"
    r"|n['’]t\b|\b(?:не|нет|никогда)\b|不(?![仅僅但同断斷过過管论論止少久得])|没|沒|未(?!来|來)|[无無](?!论|論|线|線)|(?<!除)非(?![常洲凡])",
    re.IGNORECASE,
)
VERB = re.compile(
    r"\b(?:[a-z]+ed|wrote|written|won|beat|beaten|built|bought|sold|made|led|gave|given|taught|sent|stole|stolen|chose"
    r"|chosen|drove|driven|held|found|took|taken|caught|fought|drew|drawn|paid|shot|hit|knew|known|saw|seen)\b",
    re.IGNORECASE,
)


Span = tuple[int, int]


class ClaimVerdict(Record):
    """How well one source supports one claim."""

    support: str
    score: float = 0.0
    evidence: Span | None = None  # offsets in the text of the source


Verdicts = dict[int, dict[Span, ClaimVerdict]]  # by the number of the source


def judge(text: str, claims: Mapping[int, Sequence[Span]], sources: Sequence[CitedSource]) -> Verdicts:
    """Return how well each source supports the claims about it, which are parts of a text."""
    texts = {number: source.text for number, source in by_number(sources).items() if source.text.strip()}
    language = detect(texts.values())
    verdicts: Verdicts = {}
    for number, spans in claims.items():  # one source at a time, since a long one takes much memory
        evidence = _Evidence(texts.get(number, ""), (text[slice(*span)] for span in spans), language)
        verdicts[number] = {span: evidence.judge(text[slice(*span)]) for span in spans}
    return verdicts


class _Evidence:
    """The sentences of a source, each with a bit mask of its terms that occur in claims; all terms take 300 MB."""

    def __init__(self, text: str, claims: Iterable[str], language: str) -> None:
        self.text, self._normal, self._language = text, text.translate(PUNCTUATION), language
        self._starts, self._ends = array("L"), array("L")  # of sentences
        self._masks: list[int] = []  # the terms of sentences
        self._runs: dict[int, Span] = {}  # by the terms of the run: length and start of the shortest
        parts = (part for claim in claims for part in (claim, QUOTATION.sub(" ", claim)))
        found = dict.fromkeys(term for part in parts for term in terms(part, language))
        self._bits = {term: 1 << place for place, term in enumerate(found)}
        known: dict[int, int] = {}  # shared, because a page repeats most of them
        for start, end in iter_sentences(text):
            mask = self._mask(_words(text[start:end], language))
            self._masks.append(known.setdefault(mask, mask))
            self._starts.append(start)
            self._ends.append(end)
        self._find_runs()

    def judge(self, claim: str) -> ClaimVerdict:
        """Return how well the source supports a claim."""
        claim_terms = terms(claim, self._language)
        if not self.text or not claim_terms:
            return ClaimVerdict(UNCHECKED)
        quotes = _quotations(claim)
        places = [_find_quote(quote, self._normal) for quote in quotes or [_bare(claim)]]
        if not quotes and places[0] and _has_numbers(claim, self.text):  # the claim as a whole
            return ClaimVerdict(QUOTED, 1.0, places[0])
        score, evidence = self._best_run(claim_terms)
        if evidence is None or (score < WEAK_SCORE and not all(places)):
            return ClaimVerdict(NOT_FOUND, score)
        found = self.text[slice(*evidence)]
        is_denied = NEGATION.search(claim) and not NEGATION.search(found)
        is_supported = score >= SUPPORTED_SCORE and not is_denied and not _swaps_roles(claim, found)
        if not quotes:
            has_numbers = _has_numbers(claim, found) or _has_numbers(claim, self._context(claim_terms))
            return ClaimVerdict(SUPPORTED if is_supported and has_numbers else WEAK, score, evidence)
        # A quotation that is not in the source makes a claim weak at best; one that is found proves only itself.
        rest = frozenset(term for term in terms(QUOTATION.sub(" ", claim), self._language) if len(term) > 1)
        has_rest = len(rest) < MIN_REST_TERMS or self._best_run(rest)[0] >= WEAK_SCORE
        is_supported = is_supported and all(places) and has_rest and _has_numbers(claim, self.text)
        return ClaimVerdict(QUOTED if is_supported else WEAK, score, places[0] or evidence)

    def _find_runs(self) -> None:
        for first, start in enumerate(self._starts):
            together = 0
            for last, mask in enumerate(self._masks[first : first + MAX_NEIGHBOURS], first):
                together |= mask
                run = self._ends[last] - start, start
                if together in self._runs or len(self._runs) < MAX_RUNS:
                    self._runs[together] = min(run, self._runs.get(together, run))

    def _best_run(self, claim_terms: frozenset[str]) -> tuple[float, Span | None]:
        """Return the score and offsets of the run of sentences with the highest score; among equals, the shortest."""
        wanted = self._mask(claim_terms)
        most = max(((found & wanted).bit_count() for found in self._runs), default=0)
        if not most:
            return 0.0, None
        length, start = min(run for found, run in self._runs.items() if (found & wanted).bit_count() == most)
        return round(most / len(claim_terms), 4), (start, start + length)

    def _context(self, claim_terms: frozenset[str]) -> str:
        """Return the sentences that share a term with a claim, other than a number."""
        subject = self._mask(term for term in claim_terms if not term[0].isdigit())
        places = (at for at, found in enumerate(self._masks) if found & subject)
        return "\n".join(self.text[self._starts[at] : self._ends[at]] for at in places)

    def _mask(self, some: Iterable[str]) -> int:
        """Return the bits of those terms that claims have."""
        return sum(self._bits[term] for term in self._bits.keys() & some)


def terms(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the content words of a text, stemmed."""
    return frozenset(_words(text, language)) - GRAMMAR_CHARACTERS


def _words(text: str, language: str) -> Iterator[str]:
    return iter_words(MARKDOWN_SIGNS.sub(" ", text), language)


def _quotations(claim: str) -> list[str]:
    found = ("".join(filter(None, quote.groups())) for quote in QUOTATION.finditer(claim))
    return [quote for quote in found if _is_long(quote)]


def _is_long(quote: str) -> bool:
    return len(quote.split()) >= MIN_QUOTE_WORDS or len("".join(UNSPACED_RUN.findall(quote))) >= MIN_QUOTE_CJK_CHARS


def _without_marker(claim: str) -> str:
    """Return a claim without its list marker, whose number claims nothing."""
    marker = MARKER.match(claim)
    return claim[marker.end() :] if marker else claim


def _bare(claim: str) -> str:
    return MARKDOWN_SIGNS.sub("", _without_marker(claim)).strip(" .。!！;；,，\n\t")


def _find_quote(quote: str, text: str) -> Span | None:
    """Return where a source has these words, ignoring line breaks, case and the form of punctuation."""
    if not _is_long(quote):
        return None
    parts = quote.translate(PUNCTUATION).strip(" ,.;。").split()
    found = re.search(r"\s+".join(map(re.escape, parts)), text, re.IGNORECASE)
    return found.span() if found else None


def _swaps_roles(claim: str, evidence: str) -> bool:
    """Tell whether subject and object of a verb are swapped: "the paper wrote Park" for "written by Park".

    Words must have moved from each side of the verb to the other, and none of the subject may have stayed; words of
    time and place behind the verb may stay. After a passive, "by" introduces the subject.
    """
    if max(len(claim), len(evidence)) > MAX_ROLE_CHARS:
        return False
    known = {verb: sides for sentence in iter_sentences(evidence) for verb, sides in _roles(evidence[slice(*sentence)])}
    for verb, (subject, other) in _roles(claim):
        real_subject, real_other = known.get(verb, (subject, other))
        if subject & real_other and other & real_subject and not subject & real_subject:
            return True
    return False


def _roles(sentence: str) -> Iterator[tuple[str, tuple[frozenset[str], frozenset[str]]]]:
    """Yield the stem of each English verb in a sentence, with the terms on the side of its subject and on the other."""
    for verb in VERB.finditer(sentence):
        before, after = terms(sentence[: verb.start()]), sentence[verb.end() :]
        sides = (before, terms(after))
        for stem in iter_words(verb[0]):
            yield stem, sides[::-1] if after.lstrip().startswith("by ") else sides


def _has_numbers(claim: str, text: str) -> bool:
    known = set(_numbers(text))
    return all(number in known or _is_spelled(number, known, text) for number in set(_numbers(_without_marker(claim))))


def _numbers(text: str) -> Iterator[str]:
    for found in NUMBER.findall(text):
        yield found.replace(",", "") if GROUPED_NUMBER.fullmatch(found) else found


def _is_spelled(number: str, known: set[str], text: str) -> bool:
    """Tell whether a text has a number in another form: as the start of a version, or as a word if it is small."""
    if any(other.startswith(f"{number}.") for other in known):
        return True
    small = int(number) if number.isdigit() and len(number) < 3 else len(ENGLISH_NUMBERS)
    if small < len(ENGLISH_NUMBERS) and re.search(rf"\b{ENGLISH_NUMBERS[small]}\b", text, re.IGNORECASE):
        return True
    return small < len(CHINESE_NUMBERS) and CHINESE_NUMBERS[small] in text
