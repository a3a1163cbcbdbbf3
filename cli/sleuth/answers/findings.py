"""What was found for a question: numbered over all rounds, with the text of pages and the notes taken from them."""

from collections.abc import Iterable, Mapping

from sleuth.answers.answer import Round
from sleuth.answers.citations import CitedSource, Numbering
from sleuth.answers.fence import defused
from sleuth.base.urls import domain
from sleuth.engine.outcome import Outcome
from sleuth.relevance.hit import Hit
from sleuth.relevance.sentences import cut
from sleuth.relevance.urls import canonical
from sleuth_providers.records import Record

MAX_TEXT = 30_000  # characters of a page; documents of the library may be books
DAY = 10  # characters of a date
UNJUDGED = 0.5  # relevance of a page that nobody has judged


class Note(Record):
    """What a model took from a page."""

    title: str = ""
    summary: str = ""
    key_points: tuple[str, ...] = ()
    relevance: float = UNJUDGED
    confidence: float = UNJUDGED


class SourceFinding(Record):
    """A source: a result of a search, and its page where it was read. No text in it can pass for a citation."""

    citation: int
    title: str
    url: str
    site: str = ""
    published: str = ""
    snippet: str = ""
    text: str = ""  # of the page; empty where it was not read
    note: Note | None = None

    @property
    def relevance(self) -> float:
        """Return how much it has to do with the question, as far as anybody knows."""
        if self.note:
            return self.note.relevance
        return UNJUDGED if self.text else 0.0


class Findings:
    """All that the rounds have brought."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []
        self.opened: set[str] = set()  # pages that were tried, by their canonical addresses
        self._numbering = Numbering()
        self._findings: dict[int, SourceFinding] = {}
        self._providers: dict[str, None] = {}

    @property
    def sources(self) -> tuple[CitedSource, ...]:
        """Return what can be cited, with the text that claims are checked against."""
        return self._numbering.sources

    @property
    def provider(self) -> str:
        """Return who found it."""
        return ", ".join(self._providers)

    @property
    def missing(self) -> str:
        """Return what reflection missed in the last round that found anything; nothing where it was not asked."""
        return next((one.missing for one in reversed(self.rounds) if one.outcome != "failed"), "")

    def ranked(self) -> list[SourceFinding]:
        """Return everything, what has most to do with the question first."""
        return sorted(
            self._findings.values(),
            key=lambda found: (-found.relevance, -found.note.confidence if found.note else 0.0, found.citation),
        )

    def has_asked(self, query: str) -> bool:
        """Tell whether a query was asked in a round before."""
        return _folded(query) in {_folded(one.query) for one in self.rounds}

    def add(self, outcome: Outcome, texts: Mapping[str, str]) -> list[SourceFinding]:
        """Number the results of a round; `texts` are those of the pages read in it, which are returned."""
        found = [_finding(hit, texts.get(hit.url, "")) for hit in outcome.results]
        titles = {hit.citation: hit.title for hit in outcome.results}
        numbers = self._numbering.add(
            CitedSource(one.citation, one.url, titles[one.citation], one.text or one.snippet) for one in found
        )
        self._providers |= dict.fromkeys(outcome.provider.split(","))
        numbered = [one._replace(citation=numbers[one.citation]) for one in found]
        for one in numbered:
            if one.text or one.citation not in self._findings:
                self._findings[one.citation] = one
        return [one for one in numbered if one.text]

    def annotate(self, citation: int, note: Note) -> None:
        """Keep what was taken from a page."""
        self._findings[citation] = self._findings[citation]._replace(note=note)

    def judge(self, *, sufficient: bool, missing: str) -> None:
        """Keep what reflection said of the last round."""
        self.rounds[-1] = self.rounds[-1]._replace(sufficient=sufficient, missing=missing)

    def not_opened(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return the results whose pages nobody has tried to read."""
        return [hit for hit in hits if canonical(hit.url) not in self.opened]


def _finding(hit: Hit, text: str) -> SourceFinding:
    whole = text[: cut(text, MAX_TEXT)]
    return SourceFinding(
        hit.citation,
        defused(hit.title),
        hit.url,
        defused(domain(hit.url) or hit.site_name),
        defused(hit.published[:DAY]),
        defused(hit.snippet),
        defused(whole),
    )


def _folded(query: str) -> str:
    return " ".join(query.casefold().split())
