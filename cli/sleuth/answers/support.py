"""Whether what a text claims is found in the sources it cites. No model is asked; found is not the same as true."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sleuth.answers.citations import CitedSource, Mark, by_number, find
from sleuth.answers.evidence import NOT_FOUND, QUOTED, STATES, SUPPORTED, UNCHECKED, WEAK, Evidence, terms
from sleuth.answers.prose import prose
from sleuth.base.i18n import tr
from sleuth.relevance.sentences import CLOSERS, END, sentences
from sleuth.relevance.words import UNSPACED_RUN
from sleuth_providers.records import Record

SIGNS = {WEAK: "?", NOT_FOUND: "??"}  # behind the number in the text
SAID = 3  # terms without which a clause claims nothing by itself
WORTH_CITING = 5  # terms of a sentence that a source is looked for
ASIDE = " \t\n,;，、；"  # what may stand between citations that speak for the same words
LAST_STOP = re.compile(rf"{END.pattern}$")

Span = tuple[int, int]


class Support(Record):
    """How far the sentence of a citation is found in its source."""

    citation: int
    mark: int  # where the citation starts
    start: int  # of the sentence, or the clause, in the text
    end: int
    support: str
    score: float = 0.0
    evidence: Span | None = None  # in the text of the source


class Attachment(Record):
    """A source that was found for a sentence without one."""

    citation: int
    place: int  # in the new text
    score: float


class Attached(Record):
    """A text with [n+] behind sentences that named no source and are found in one."""

    text: str
    added: tuple[Attachment, ...]


class Claims:
    """The sentences of a text, its citations blanked out, and which of them a citation speaks for."""

    def __init__(self, text: str, marks: Sequence[Mark]) -> None:
        self.masked = _blank(text, marks)
        self.sentences = sentences(self.masked)
        self._starts = [start for start, _ in self.sentences]
        self.spans: list[list[Span]] = []  # of each mark: what it may speak for, its clause or its sentence
        self.cited: set[int] = set()  # sentences
        self._assign(marks)

    def _assign(self, marks: Sequence[Mark]) -> None:
        previous = 0
        groups: dict[int, list[list[Span]]] = {}  # of each sentence
        for mark in marks:
            between = self.masked[previous : mark.start]
            if self.spans and not between.strip(ASIDE) and "\n" not in between:
                self.spans.append(self.spans[-1])  # [1][2] and [1], [2] speak for the same words
            else:
                place = self._sentence_of(mark)
                self.spans.append([] if place is None else self._claims(place, previous, mark))
                groups.setdefault(-1 if place is None else place, []).append(self.spans[-1])
            previous = mark.end
        for several in (group for group in groups.values() if len(group) > 1):
            for spans in several:
                del spans[1:]  # each has its clause; the words of another must not speak for it
        self.cited = set(groups)

    def _sentence_of(self, mark: Mark) -> int | None:
        """Return the sentence a citation is in, else the one before it on the line, else the one after it."""
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
        is_claim = clause != whole and len(terms(self.masked[slice(*clause)])) >= SAID
        return [clause, whole] if is_claim else [whole]

    def _trimmed(self, start: int, end: int) -> Span:
        part = self.masked[start:end]
        return start + len(part) - len(part.lstrip(ASIDE)), start + len(part.rstrip())


def _blank(text: str, marks: Sequence[Mark]) -> str:
    """Return the text with spaces in place of citations: every other character stays where it is."""
    pieces, end = [], 0
    for mark in marks:
        pieces += [text[end : mark.start], " " * (mark.end - mark.start)]
        end = mark.end
    return "".join([*pieces, text[end:]])


def check(text: str, sources: Sequence[CitedSource]) -> list[Support]:
    """Compare the sentence of every citation that has a source with that source."""
    evidence, known = Evidence(sources), by_number(sources)
    marks = find(text)
    claims = Claims(text, marks)
    return [
        _checked(evidence, claims.masked, spans, mark, number)
        for mark, spans in zip(marks, claims.spans, strict=True)
        for number in mark.numbers
        if number in known
    ]


def _checked(evidence: Evidence, masked: str, spans: Sequence[Span], mark: Mark, number: int) -> Support:
    """Judge what a citation may speak for; the better one counts."""
    judged = [(evidence.judge(masked[start:end], number), start, end) for start, end in spans]
    if not judged:
        return Support(number, mark.start, mark.start, mark.end, UNCHECKED)
    verdict, start, end = min(judged, key=lambda one: (STATES.index(one[0].support), -one[0].score))
    return Support(number, mark.start, start, end, *verdict)


def signs(checks: Sequence[Support]) -> dict[tuple[int, int], str]:
    """Return what to put behind numbers that are not supported, as `link` takes it."""
    return {(one.mark, one.citation): SIGNS[one.support] for one in checks if one.support in SIGNS}


def tally(checks: Sequence[Support]) -> str:
    """Return how the citations of a text fared, in one sentence."""
    counts = Counter(one.support for one in checks)
    return tr(
        "citations checked: {total}, of them {quoted} quoted from the source, {supported} found in it, {weak} weak, "
        "{missing} not found, {unchecked} without text to check",
        total=len(checks),
        quoted=counts[QUOTED],
        supported=counts[SUPPORTED],
        weak=counts[WEAK],
        missing=counts[NOT_FOUND],
        unchecked=counts[UNCHECKED],
    )


def attach(text: str, sources: Sequence[CitedSource]) -> Attached:
    """Put the source that supports it best behind every sentence that names none, as [n+]."""
    seen, claims = prose(text), Claims(text, find(text))
    citable = [source for source in sources if str(source.citation) not in seen.labels]  # else [1] is a link
    evidence = Evidence(citable)
    pieces, end, size = [], 0, 0
    added: list[Attachment] = []
    for place, (start, stop) in enumerate(claims.sentences):
        if place in claims.cited or not _is_within(start, stop, seen.stretches):
            continue
        if best := _supporter(evidence, text[start:stop]):
            cut = _before_stop(text, start, stop)
            mark = f"{'' if UNSPACED_RUN.match(text[cut - 1]) else ' '}[{best.citation}+]"
            pieces += [text[end:cut], mark]
            size += cut - end + len(mark)
            added.append(best._replace(place=size - len(mark.lstrip())))
            end = cut
    return Attached("".join([*pieces, text[end:]]), tuple(added))


def _is_within(start: int, end: int, stretches: Sequence[Span]) -> bool:
    nearest = bisect_right(stretches, (start, end)) - 1
    around = stretches[max(nearest, 0) : nearest + 2]
    return any(first <= start and end <= last for first, last in around)


def _supporter(evidence: Evidence, claim: str) -> Attachment | None:
    """Return the source that supports a sentence best; headings and questions need none."""
    if claim.startswith("#") or claim.endswith(("?", "？", ":", "：")) or len(terms(claim)) < WORTH_CITING:
        return None
    judged = ((number, evidence.judge(claim, number)) for number in evidence.texts)
    good = [(verdict.score, -number) for number, verdict in judged if verdict.support in (QUOTED, SUPPORTED)]
    score, number = max(good, default=(0.0, 0))
    return Attachment(-number, 0, score) if good else None


def _before_stop(text: str, start: int, end: int) -> int:
    """Return where a citation goes: before the full stop, but behind what closes the sentence."""
    stop = None if text[end - 1] in CLOSERS else LAST_STOP.search(text, start, end)
    return stop.start() if stop and stop.start() > start else end


def as_json(found: Support, sources: Sequence[CitedSource]) -> dict[str, Any]:
    """Return the published form of a check; `evidence` is where the source was found to say it."""
    text = by_number(sources)[found.citation].text
    start, end = found.evidence or (0, 0)
    return {
        "citation": found.citation,
        "mark": found.mark,
        "sentence": {"start": found.start, "end": found.end},
        "support": found.support,
        "score": found.score,
        "evidence": {"start": start, "end": end, "text": text[start:end]} if found.evidence else None,
    }
