"""Checks the citations of a text against their sources, and attaches missing ones. "Found" does not mean "true"."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sleuth.answers.citations import CitedSource, Mark, by_number, find
from sleuth.answers.evidence import NOT_FOUND, QUOTED, STATES, SUPPORTED, UNCHECKED, WEAK, ClaimVerdict, judge, terms
from sleuth.answers.prose import prose
from sleuth.base.i18n import tr
from sleuth.base.json_output import record_as_json
from sleuth.base.text import splice
from sleuth.relevance.sentences import CLOSERS, END, FULL_STOPS, sentences
from sleuth.relevance.words import UNSPACED_RUN
from sleuth_providers.records import Record

COUNT_TEMPLATES = {
    QUOTED: "{count} quoted",
    SUPPORTED: "{count} found",
    WEAK: "{count} weak",
    NOT_FOUND: "{count} not found",
    UNCHECKED: "{count} unchecked",
}
SIGNS = {WEAK: "?", NOT_FOUND: "??"}  # behind the number in the text
# Terms are content words. With two, a clause such as "it was fast" matches almost any sentence.
MIN_CLAUSE_TERMS = 3
# Shorter sentences ("This is not surprising.") find support by chance and need no citation.
MIN_ATTACH_TERMS = 5
SEPARATORS = " \t\n,;，、；"  # between citations of the same words: [1], [2]
LAST_STOP = re.compile(rf"(?<![.!?;…{FULL_STOPS}])(?>{END.pattern})$")


Span = tuple[int, int]


class Support(Record):
    """How well a source supports the sentence or clause that cites it."""

    citation: int
    mark: int  # offset of the citation in the text
    start: int  # of the sentence or clause in the text
    end: int
    support: str
    score: float = 0.0
    evidence: Span | None = None  # offsets in the text of the source


class Claims:
    """The sentences of a text, and which of them each citation stands for."""

    def __init__(self, text: str, marks: Sequence[Mark]) -> None:
        # Citations become spaces, so that offsets stay.
        self.masked = splice(text, ((mark.start, mark.end, " " * (mark.end - mark.start)) for mark in marks))
        self.sentences = sentences(self.masked)
        self._starts = [start for start, _ in self.sentences]
        self.spans: list[list[Span]] = []  # for each mark its claims: a clause or a sentence
        self.cited: set[int] = set()  # indexes of sentences
        self._assign(marks)

    def _assign(self, marks: Sequence[Mark]) -> None:
        previous = 0
        groups: dict[int, list[list[Span]]] = {}  # by sentence
        for mark in marks:
            between = self.masked[previous : mark.start]
            if self.spans and not between.strip(SEPARATORS) and "\n" not in between:
                self.spans.append(self.spans[-1])  # [1][2] and [1], [2] stand for the same words
            else:
                place = self._sentence_of(mark)
                self.spans.append([] if place is None else self._claims(place, previous, mark))
                groups.setdefault(-1 if place is None else place, []).append(self.spans[-1])
            previous = mark.end
        for several in (group for group in groups.values() if len(group) > 1):
            for spans in several:
                del spans[1:]  # each has its own clause and is not supported by the words of others
        self.cited = set(groups)

    def _sentence_of(self, mark: Mark) -> int | None:
        """Return the index of the sentence around a citation, else of the one before it on the line, else after it."""
        before = bisect_right(self._starts, mark.start) - 1
        if before >= 0 and "\n" not in self.masked[self.sentences[before][1] : mark.start]:
            return before
        after = before + 1
        if after < len(self.sentences) and "\n" not in self.masked[mark.end : self.sentences[after][0]]:
            return after
        return before if before >= 0 else None

    def _claims(self, place: int, previous: int, mark: Mark) -> list[Span]:
        start, end = self.sentences[place]
        whole = self._trimmed(start, end)
        clause = self._trimmed(max(start, previous), mark.start if start < mark.start < end else end)
        is_claim = clause != whole and len(terms(self.masked[slice(*clause)])) >= MIN_CLAUSE_TERMS
        return [clause, whole] if is_claim else [whole]

    def _trimmed(self, start: int, end: int) -> Span:
        part = self.masked[start:end]
        return start + len(part) - len(part.lstrip(SEPARATORS)), start + len(part.rstrip())


def check(text: str, sources: Sequence[CitedSource]) -> list[Support]:
    """Check every citation that has a source."""
    marks, known = find(text), by_number(sources)
    claims = Claims(text, marks)
    cited = [
        (number, spans, mark)
        for mark, spans in zip(marks, claims.spans, strict=True)
        for number in mark.numbers
        if number in known
    ]
    about: dict[int, list[Span]] = {}  # claims by source
    for number, spans, _ in cited:
        about.setdefault(number, []).extend(spans)
    verdicts = judge(claims.masked, about, sources)
    return [_checked(verdicts[number], number, spans, mark) for number, spans, mark in cited]


def _checked(verdicts: Mapping[Span, ClaimVerdict], number: int, spans: Sequence[Span], mark: Mark) -> Support:
    """Return the better verdict on the clause and the sentence of a citation."""
    if not spans:
        return Support(number, mark.start, mark.start, mark.end, UNCHECKED)
    start, end = min(spans, key=lambda span: (STATES.index(verdicts[span].support), -verdicts[span].score))
    return Support(number, mark.start, start, end, *verdicts[start, end])


def signs(checks: Sequence[Support]) -> dict[tuple[int, int], str]:
    """Return the signs of unsupported citations, in the form that `link` takes."""
    return {(one.mark, one.citation): SIGNS[one.support] for one in checks if one.support in SIGNS}


def tally(checks: Sequence[Support]) -> str:
    """Return how many citations had which result, empty if there are none."""
    counts = Counter(one.support for one in checks)
    parts = [tr(COUNT_TEMPLATES[state], count=counts[state]) for state in COUNT_TEMPLATES if counts[state]]
    return tr("citations: {counts}", counts=tr(", ").join(parts)) if parts else ""


def attach(text: str, sources: Sequence[CitedSource]) -> str:
    """Return the text with [n+] in every uncited sentence that a source supports, for the one that supports it best."""
    seen, claims = prose(text), Claims(text, find(text))
    citable = [source for source in sources if str(source.citation) not in seen.labels]  # else [1] would be a link
    uncited = [
        (start, stop)
        for place, (start, stop) in enumerate(claims.sentences)
        if place not in claims.cited and _is_within(start, stop, seen.stretches) and _is_claim(text[start:stop])
    ]
    verdicts = judge(text, {source.citation: uncited for source in citable}, citable)
    marks: list[tuple[int, int, str]] = []
    for start, stop in uncited:
        judged = ((found[start, stop], number) for number, found in verdicts.items())
        good = [(verdict.score, -number) for verdict, number in judged if verdict.support in (QUOTED, SUPPORTED)]
        if good:
            number = -max(good)[1]
            cut = _citation_place(text, start, stop)
            space = "" if UNSPACED_RUN.match(text[cut - 1]) else " "
            marks.append((cut, cut, f"{space}[{number}+]"))
    return splice(text, marks)


def _is_within(start: int, end: int, stretches: Sequence[Span]) -> bool:
    nearest = bisect_right(stretches, (start, end)) - 1
    around = stretches[max(nearest, 0) : nearest + 2]
    return any(first <= start and end <= last for first, last in around)


def _is_claim(sentence: str) -> bool:
    """Tell whether a sentence can be cited: it is long enough and neither a heading nor a question."""
    return not sentence.startswith("#") and sentence[-1] not in "?？:：" and len(terms(sentence)) >= MIN_ATTACH_TERMS


def _citation_place(text: str, start: int, end: int) -> int:
    """Return where a citation goes: before the full stop and the end of a table row, behind a closing quote."""
    if text[text.rfind("\n", 0, end) + 1 : end].lstrip(" >").startswith("|"):
        end = start + len(text[start:end].rstrip("| \t"))
    stop = None if text[end - 1] in CLOSERS else LAST_STOP.search(text, start, end)
    return stop.start() if stop and stop.start() > start else end


def as_json(found: Support, sources: Sequence[CitedSource]) -> dict[str, Any]:
    """Return the published form of a check."""
    text = by_number(sources)[found.citation].text
    start, end = found.evidence or (0, 0)
    return {
        **record_as_json(found, "citation", "mark"),
        "sentence": {"start": found.start, "end": found.end},
        **record_as_json(found, "support", "score"),
        "evidence": {"start": start, "end": end, "text": text[start:end]} if found.evidence else None,
    }
