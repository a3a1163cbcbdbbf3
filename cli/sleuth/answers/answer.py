"""Plain frozen data: a question, how the work on it goes, and the answer with everything one may want to know of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sleuth.answers import support
from sleuth.answers.citations import CitedSource
from sleuth.answers.llm.chat import Message, Usage
from sleuth.base.text import clean
from sleuth.base.urls import clean_url, domain
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.relevance.rules import Rules

SEARCH_MODES = ("auto", "on", "off")
EVENTS = (
    "web_search_start",
    "web_search_iteration",
    "web_search_fetching",
    "web_search_extracting",
    "web_search_reflecting",
    "web_search_complete",
)


class Question(Record):
    """What is asked, and how it may be worked on."""

    text: str
    search: str = "auto"  # auto: the model decides | on | off
    history: tuple[Message, ...] = ()  # earlier turns of the conversation
    providers: tuple[str, ...] = ("auto",)
    rounds: int = 0  # at the most; nought: as the settings say
    pages: int = 0  # read in a round
    lang: str = ""
    region: str = ""
    cache: str = "use"  # use | refresh | off
    offline: bool = False
    timeout: float | None = None  # seconds for a search; None: three, unless the settings say otherwise
    rules: "Rules | None" = None  # domain rules of the user
    extractive: bool = False  # sentences of the pages word for word, even where a model is set up


class ProgressEvent(Record):
    """How far the work is."""

    name: str  # one of EVENTS
    message: str  # for people, in their language
    iteration: int = 0
    query: str = ""
    counts: Mapping[str, int] = {}
    sources: tuple[CitedSource, ...] = ()  # all so far, so that a text can be linked while it is written; not published

    def as_json(self) -> dict[str, Any]:
        """Return the published form."""
        named: dict[str, Any] = {"event": self.name, "iteration": self.iteration, "query": self.query or None}
        return named | {"counts": dict(self.counts), "message": self.message}


class Round(Record):
    """One round of searching and reading."""

    number: int
    query: str
    results: int = 0
    pages: int = 0  # that could be read
    outcome: str = ""  # of the search
    provider: str = ""
    sufficient: bool | None = None  # what reflection said; None when nobody asked it
    missing: str = ""


class Answer(Record):
    """An answer and what it stands on. `text` is as written, with [n] for the sources."""

    question: str
    text: str
    method: str  # model | extractive
    sources: tuple[CitedSource, ...] = ()
    rounds: tuple[Round, ...] = ()
    searched: bool = False
    checks: tuple[support.Support, ...] = ()
    out_of_range: tuple[int, ...] = ()
    attached: tuple[support.Attachment, ...] = ()  # [n+] that sleuth put there
    model: str = ""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    elapsed_ms: int = 0

    @property
    def cited(self) -> tuple[int, ...]:
        """Return the numbers of the sources that the text cites."""
        return tuple(dict.fromkeys(check.citation for check in self.checks))


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """Return the published JSON form of an answer."""
    usage = answer.usage
    return {
        "question": answer.question,
        "answer": answer.text,
        "method": answer.method,
        "model": answer.model or None,
        "searched": answer.searched,
        "citations": [support.as_json(check, answer.sources) for check in answer.checks],
        "outOfRange": list(answer.out_of_range),
        "references": [source_as_json(source) for source in answer.sources if source.citation in answer.cited],
        "sources": [source_as_json(source) for source in answer.sources],
        "rounds": [
            {
                "iteration": one.number,
                "query": one.query,
                "results": one.results,
                "pages": one.pages,
                "outcome": one.outcome or None,
                "provider": one.provider or None,
                "sufficient": one.sufficient,
                "missing": one.missing or None,
            }
            for one in answer.rounds
        ],
        "usage": {
            "calls": usage.calls,
            "promptTokens": usage.prompt_tokens,
            "completionTokens": usage.completion_tokens,
            "reasoningTokens": usage.reasoning_tokens,
            "cachedTokens": usage.cached_tokens,
            "cost": round(usage.cost, 6),
            "estimated": usage.estimated,
        },
        "warnings": list(answer.warnings),
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
