"""The state of one question: limits, cost, warnings, rounds, and the numbered sources found so far."""

import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from sleuth.answers.answer import AnswerProblem, ProgressEvent, Question, Round
from sleuth.answers.citations import CitedSource, Numbering
from sleuth.answers.llm.chat import Usage
from sleuth.answers.llm.endpoint import step_timeout, timeout_setting
from sleuth.answers.llm.errors import ModelError, ModelTimeoutError
from sleuth.answers.sanitize import without_citations
from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.engine.outcome import Outcome
from sleuth.pages.page import Page
from sleuth.relevance.compress import explain_failure
from sleuth.relevance.hit import Hit
from sleuth.relevance.sentences import cut
from sleuth.store.settings import ASK_PAGES, ASK_ROUNDS, HISTORY, MAX_OUTPUT_CHARS, SEARCH_WITH_TIME, Settings
from sleuth_providers.records import Record

MIN_PROMPT_CHARS = 6_000  # with fewer there would be instructions and no findings
MAX_QUESTION_SHARE = 3  # the question takes at most a third of a prompt
MAX_PAGE_CHARS = 1_000_000  # documents of the library may be books
DATE_CHARS = 10  # of an ISO date
UNKNOWN_RELEVANCE = 0.5  # of a page without notes: between relevant and irrelevant ones


class Note(Record):
    """What a model noted about a page."""

    title: str = ""
    summary: str = ""
    key_points: tuple[str, ...] = ()
    relevance: float = UNKNOWN_RELEVANCE
    confidence: float = UNKNOWN_RELEVANCE


class FoundSource(Record):
    """A search result, and its page if it was read. None of its text can be taken for a citation."""

    citation: int
    title: str
    url: str
    site: str = ""
    published: str = ""
    snippet: str = ""
    text: str = ""  # of the page; empty if it was not read
    note: Note | None = None
    archived: str = ""  # date of the copy, if the page was read from an archive

    @property
    def relevance(self) -> float:
        """Return how relevant it is to the question, as far as known."""
        return self.note.relevance if self.note else UNKNOWN_RELEVANCE if self.text else 0.0


class Research:
    """What all steps towards one answer share. Used only by the calling thread."""

    def __init__(self, question: Question, settings: Settings, on_progress: Callable[[ProgressEvent], None]) -> None:
        self.question, self.settings, self._on_progress = question, settings, on_progress
        if not settings[HISTORY]:
            logs.keep_out(*(turn.content for turn in question.history if turn.role == "user"), question.text)
        self.fence_code = secrets.token_hex(8)  # pages cannot guess it
        self.max_chars = max(settings[MAX_OUTPUT_CHARS], MIN_PROMPT_CHARS)  # of a prompt
        self.max_rounds = question.rounds or settings[ASK_ROUNDS]
        self.max_pages = question.pages or settings[ASK_PAGES]  # per round
        self.today = datetime.now(UTC).date().isoformat() if settings[SEARCH_WITH_TIME] else ""
        self.usage = Usage()
        self.warnings: list[str] = []
        self.problems: list[AnswerProblem] = []
        self.rounds: list[Round] = []
        self.opened: set[str] = set()  # canonical URLs of pages that were tried
        self.question_text = self._truncated(question.text.strip())  # for prompts
        self._numbering = Numbering()
        self._found: dict[int, FoundSource] = {}
        self.providers: dict[str, None] = {}
        self._started = time.monotonic()

    def _truncated(self, text: str) -> str:
        limit = self.max_chars // MAX_QUESTION_SHARE
        if len(text) > limit:
            self.warn(tr("the question is too long; only its first {limit} characters are used", limit=limit))
        return text[:limit]

    @property
    def elapsed_ms(self) -> int:
        """Return the time since the start, at least 1."""
        return max(1, round((time.monotonic() - self._started) * 1000))

    def report(self, name: str, message: str, query: str = "", **counts: int) -> None:
        """Send a progress event; the query defaults to that of the current round."""
        query = query or self.rounds[-1].query
        self._on_progress(ProgressEvent(name, message, len(self.rounds), query, counts, self.sources))

    def warn(self, message: str) -> None:
        """Record a warning for the user, once."""
        if message not in self.warnings:
            self.warnings.append(message)
            if self.settings[HISTORY]:  # a model's error may quote a part of the question
                logs.log("answer: %s", message)

    def warn_of(self, code: str, message: str, hint: str = "") -> None:
        """Record a warning about a step that failed, with a code for programs."""
        problem = AnswerProblem(code, message, hint)
        if problem not in self.problems:
            self.problems.append(problem)
        self.warn(message)

    def timeout(self, step: str) -> float:
        """Return the seconds that the model has for a step."""
        return step_timeout(self.settings, step)

    def add_usage(self, usage: Usage) -> None:
        """Count the tokens and cost of a model call."""
        self.usage = self.usage.plus(usage)

    def explain(self, error: Exception) -> str:
        """Return the reason of a failure for the user, and count what a failed model call cost."""
        if isinstance(error, ModelError):
            self.add_usage(error.usage)
        brief = type(error).__name__, getattr(error, "status", None)  # see `warn`
        logs.log("answer: %r", error if self.settings[HISTORY] else brief)
        return explain_failure(error)

    def hint(self, error: Exception, step: str = "write") -> str:
        """Return what to do about a failure in a step."""
        if isinstance(error, TimeoutError | ModelTimeoutError):
            return tr(ModelTimeoutError.hint, setting=timeout_setting(self.settings, step).key)
        return tr(error.hint, **error.values) if isinstance(error, SleuthError) and error.hint else ""

    @property
    def sources(self) -> tuple[CitedSource, ...]:
        """Return what can be cited, with the text that citations are checked against."""
        return self._numbering.sources

    @property
    def provider(self) -> str:
        """Return the names of the providers that returned results."""
        return ", ".join(self.providers)

    @property
    def missing(self) -> str:
        """Return what the last successful round left open, according to reflection."""
        return next((one.missing for one in reversed(self.rounds) if one.outcome != "failed"), "")

    def ranked(self) -> list[FoundSource]:
        """Return all sources, most relevant first."""
        return sorted(
            self._found.values(),
            key=lambda found: (-found.relevance, -found.note.confidence if found.note else 0.0, found.citation),
        )

    def has_searched(self, query: str) -> bool:
        """Tell whether a round used the same query, ignoring case and spaces."""
        return _folded(query) in {_folded(one.query) for one in self.rounds}

    def add(self, outcome: Outcome, pages: Mapping[str, Page]) -> list[FoundSource]:
        """Number the results of a round and return those with a page; `pages` has them by URL."""
        found = [_found_source(hit, pages.get(hit.url, Page(hit.url))) for hit in outcome.results]
        numbers = self._numbering.add(
            CitedSource(hit.citation, hit.url, hit.title, one.text or one.snippet)
            for hit, one in zip(outcome.results, found, strict=True)
        )
        self.providers |= dict.fromkeys(outcome.provider.split(","))
        numbered = [one._replace(citation=numbers[one.citation]) for one in found]
        for one in numbered:
            if one.text or one.citation not in self._found:
                self._found[one.citation] = one
        return [one for one in numbered if one.text]

    def set_note(self, citation: int, note: Note) -> None:
        """Attach a model's note to a source."""
        self._found[citation] = self._found[citation]._replace(note=note)


def _found_source(hit: Hit, page: Page) -> FoundSource:
    text = page.whole_text
    return FoundSource(
        hit.citation,
        without_citations(hit.title),
        hit.url,
        without_citations(domain(hit.url) or hit.site_name),
        without_citations(hit.published[:DATE_CHARS]),
        without_citations(hit.snippet),
        without_citations(text[: cut(text, MAX_PAGE_CHARS)]),
        archived=page.archived,
    )


def _folded(query: str) -> str:
    return " ".join(query.casefold().split())
