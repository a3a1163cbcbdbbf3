"""The data of an answer: the question, progress events, rounds, and the result."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sleuth.answers import citation_check
from sleuth.answers.citations import CitedSource, Mark, find
from sleuth.answers.llm.chat import Message, Usage
from sleuth.base.json_output import record_as_json
from sleuth.base.text import clean, splice
from sleuth.base.urls import clean_url, domain
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.relevance.rules import Rules

SEARCH_MODES = ("auto", "on", "off")
EVENTS = (
    "web_search_analysing",
    "web_search_start",
    "web_search_iteration",
    "web_search_fetching",
    "web_search_extracting",
    "web_search_reflecting",
    "web_search_complete",
)


class Question(Record):
    """A question and its options."""

    text: str
    search: str = "auto"  # auto: the model decides | on | off
    search_off: str = "--search off"  # what turns it off, for hints; empty for programs
    history: tuple[Message, ...] = ()  # earlier messages of the conversation
    providers: tuple[str, ...] = ()
    rounds: int = 0  # at most; 0: as configured
    pages: int = 0  # to read per round; 0: as configured
    lang: str = ""
    region: str = ""
    cache: str = "use"  # use | refresh | off
    offline: bool = False
    timeout: float | None = None  # seconds for each search; None: 3 for each provider, or as configured
    rules: "Rules | None" = None  # the user's domain rules
    extractive: bool = False  # quote the pages, even if there is a model
    deep: bool = False  # let the model judge citations that are not verbatim quotes


class ProgressEvent(Record):
    """A step of the work."""

    name: str  # one of EVENTS
    message: str  # translated
    iteration: int = 0
    query: str = ""
    counts: Mapping[str, int] = {}
    sources: tuple[CitedSource, ...] = ()  # all so far, to link the text while it is written; not published

    def as_json(self) -> dict[str, Any]:
        """Return the published form."""
        named: dict[str, Any] = {"event": self.name, "iteration": self.iteration, "query": self.query or None}
        return named | {"counts": dict(self.counts), "message": self.message}


class AnswerProblem(Record):
    """A step that failed on the way to an answer, and what to do about it."""

    code: str  # such as EXTRACTION_FAILED
    message: str
    hint: str = ""


class Round(Record):
    """One round of searching and reading."""

    iteration: int
    query: str
    results: int = 0
    pages: int = 0  # read
    outcome: str = ""  # of the search
    provider: str = ""
    sufficient: bool | None = None  # the verdict of reflection; None if there was none
    missing: str = ""
    reasoning: str = ""
    confidence: float | None = None  # in the verdict, from 0 to 1


class Answer(Record):
    """An answer with its sources; `text` cites them as [n]."""

    question: str
    text: str
    method: str  # model | extractive
    sources: tuple[CitedSource, ...] = ()
    rounds: tuple[Round, ...] = ()
    searched: bool = False
    checks: tuple[citation_check.Support, ...] = ()
    out_of_range: tuple[int, ...] = ()
    model: str = ""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    elapsed_ms: int = 0
    problems: tuple[AnswerProblem, ...] = ()  # the steps that failed

    @property
    def hints(self) -> tuple[str, ...]:
        """Return what to do about the problems."""
        return tuple(dict.fromkeys(problem.hint for problem in self.problems if problem.hint))

    @property
    def cited(self) -> tuple[int, ...]:
        """Return the numbers that the text cites."""
        return tuple(dict.fromkeys(check.citation for check in self.checks))

    def renumbered(self, numbers: Mapping[int, int]) -> "Answer":
        """Return the answer with other numbers for its sources.

        Citations without a source are dropped: their numbers may belong to other sources now.
        """
        text = splice(self.text, (_renumbered(self.text, mark, numbers) for mark in find(self.text)))
        sources = tuple(source._replace(citation=numbers[source.citation]) for source in self.sources)
        checks = tuple(citation_check.check(text, sources))
        return self._replace(text=text, sources=sources, checks=checks, out_of_range=())


def _renumbered(text: str, mark: Mark, numbers: Mapping[int, int]) -> tuple[int, int, str]:
    known = ", ".join(str(numbers[number]) for number in mark.numbers if number in numbers)
    if not known:
        return len(text[: mark.start].rstrip(" ")), mark.end, ""
    return mark.start, mark.end, f"{mark.brackets[0]}{known}{mark.sign}{mark.brackets[1]}"


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """Return the published JSON form of an answer."""
    return {
        "question": answer.question,
        "answer": answer.text,
        **record_as_json(answer, "method", "model", "searched"),
        "citations": [citation_check.as_json(check, answer.sources) for check in answer.checks],
        "outOfRange": list(answer.out_of_range),
        "references": [source_as_json(source) for source in answer.sources if source.citation in answer.cited],
        "sources": [source_as_json(source) for source in answer.sources],
        "rounds": [record_as_json(one) for one in answer.rounds],
        "usage": record_as_json(answer.usage, cost=round(answer.usage.cost, 6)),
        "warnings": list(answer.warnings),
        "problems": [record_as_json(problem) for problem in answer.problems],
        "elapsedMs": answer.elapsed_ms,
    }


def source_as_json(source: CitedSource) -> dict[str, Any]:
    """Return the published form of a source."""
    url = clean_url(source.url, ("http", "https", "file"))  # documents of the library are files
    return {
        "citation": source.citation,
        "title": clean(source.title),
        "url": url or None,
        "domain": domain(url) or None,
        "round": source.round,
    }
