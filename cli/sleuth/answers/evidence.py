"""Finds the evidence for a claim in a source by comparing words, without a model.

The score of a claim is the share of its terms that occur in the best run of neighbouring sentences of the source.
Weighting terms by rarity or adding word pairs does not improve accuracy. A claim that reaches the threshold is still
weak if a number is in no sentence about it, if it has a negation that the source lacks, or if subject and object are
swapped. Most other contradictions stay invisible: results say "found in the source", never "true". docs/relevance.md
has the accuracy.
"""

import re
from collections.abc import Iterator, Sequence

from sleuth.answers.citations import CitedSource, by_number
from sleuth.relevance.languages import ENGLISH, detect
from sleuth.relevance.sentences import MARKER, sentences
from sleuth.relevance.words import GRAMMAR_CHARACTERS, UNSPACED_RUN, words
from sleuth_providers.records import Record

QUOTED, SUPPORTED, WEAK, NOT_FOUND, UNCHECKED = "quote_found", "supported", "weak", "not_found", "unchecked"
STATES = (QUOTED, SUPPORTED, WEAK, NOT_FOUND, UNCHECKED)  # best first
# A threshold slightly above half of the terms separates supported from unsupported claims best. Below two fifths, the
# words in common are mostly those of the topic, which any page about it has.
SUPPORTED_SCORE, WEAK_SCORE = 0.55, 0.4
MAX_NEIGHBOURS = 3  # a claim often sums up two or three sentences; longer runs match by chance
# A quotation must be long enough not to be found by chance: four words, or six Chinese or Japanese characters.
MIN_QUOTE_WORDS, MIN_QUOTE_CJK_CHARS = 4, 6
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


class ClaimVerdict(Record):
    """How well one source supports one claim."""

    support: str
    score: float = 0.0
    evidence: tuple[int, int] | None = None  # offsets in the text of the source


class Evidence:
    """The sentences of all sources, with their terms."""

    def __init__(self, sources: Sequence[CitedSource]) -> None:
        self.texts = {number: source.text for number, source in by_number(sources).items() if source.text.strip()}
        self._normal = {number: text.translate(PUNCTUATION) for number, text in self.texts.items()}
        self._language = detect(self.texts.values())
        self._sentences = {
            number: [(start, end, terms(text[start:end], self._language)) for start, end in sentences(text)]
            for number, text in self.texts.items()
        }
        self._known: dict[tuple[str, int], ClaimVerdict] = {}

    def judge(self, claim: str, number: int) -> ClaimVerdict:
        """Return how well a source supports a claim."""
        key = (claim, number)
        if key not in self._known:
            self._known[key] = self._judge(claim, number)
        return self._known[key]

    def _judge(self, claim: str, number: int) -> ClaimVerdict:
        claim_terms = terms(claim, self._language)
        if number not in self.texts or not claim_terms:
            return ClaimVerdict(UNCHECKED)
        text = self.texts[number]
        quotes = _quotations(claim)
        places = [_find_quote(quote, self._normal[number]) for quote in quotes or [_bare(claim)]]
        if not quotes and places[0] and _has_numbers(claim, text):  # the claim as a whole
            return ClaimVerdict(QUOTED, 1.0, places[0])
        score, evidence = self._best_run(claim_terms, number)
        if evidence is None or (score < WEAK_SCORE and not all(places)):
            return ClaimVerdict(NOT_FOUND, score)
        found = text[slice(*evidence)]
        is_denied = NEGATION.search(claim) and not NEGATION.search(found)
        is_supported = score >= SUPPORTED_SCORE and not is_denied and not _swaps_roles(claim, found)
        if not quotes:
            has_numbers = _has_numbers(claim, found) or _has_numbers(claim, self._context(claim_terms, number))
            return ClaimVerdict(SUPPORTED if is_supported and has_numbers else WEAK, score, evidence)
        # A quotation that is not in the source makes a claim weak at best; one that is found proves only itself.
        rest = frozenset(term for term in terms(QUOTATION.sub(" ", claim), self._language) if len(term) > 1)
        has_rest = len(rest) < MIN_REST_TERMS or self._best_run(rest, number)[0] >= WEAK_SCORE
        is_supported = is_supported and all(places) and has_rest and _has_numbers(claim, text)
        return ClaimVerdict(QUOTED if is_supported else WEAK, score, places[0] or evidence)

    def _best_run(self, claim_terms: frozenset[str], number: int) -> tuple[float, tuple[int, int] | None]:
        """Return the score and offsets of the run of sentences with the highest score; among equals, the shortest."""
        shared = [(start, end, claim_terms & found) for start, end, found in self._sentences[number]]
        best, best_length, evidence = 0.0, 0, None
        for first, (start, _, common) in enumerate(shared):
            together: frozenset[str] = frozenset()
            for _, end, more in shared[first : first + MAX_NEIGHBOURS] if common else ():
                together |= more
                score = round(len(together) / len(claim_terms), 4)
                if (score, start - end) > (best, -best_length):
                    best, best_length, evidence = score, end - start, (start, end)
        return best, evidence

    def _context(self, claim_terms: frozenset[str], number: int) -> str:
        """Return the sentences of a source that share a term with a claim, other than a number."""
        subject = frozenset(term for term in claim_terms if not term[0].isdigit())
        found = (slice(start, end) for start, end, known in self._sentences[number] if known & subject)
        return "\n".join(self.texts[number][place] for place in found)


def terms(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the content words of a text, stemmed."""
    return frozenset(words(MARKDOWN_SIGNS.sub(" ", text), language)) - GRAMMAR_CHARACTERS


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


def _find_quote(quote: str, text: str) -> tuple[int, int] | None:
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
    known = {verb: sides for sentence in sentences(evidence) for verb, sides in _roles(evidence[slice(*sentence)])}
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
        for stem in words(verb[0]):
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
