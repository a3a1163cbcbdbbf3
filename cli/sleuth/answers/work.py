"""One question being worked on: what it may use, what it has cost, and what went wrong so far."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

from sleuth.answers.answer import ProgressEvent, Question
from sleuth.answers.citations import CitedSource
from sleuth.answers.llm.chat import Usage
from sleuth.answers.llm.errors import ModelError
from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.store.settings import ASK_PAGES, ASK_ROUNDS, MAX_OUTPUT_CHARS, SEARCH_WITH_TIME, Settings

LEAST = 6_000  # characters of a prompt; with fewer there would be instructions and nothing to work on
QUESTION_SHARE = 3  # a third of a prompt at the most


class Work:
    """What all steps towards one answer share. It is touched by the calling thread alone."""

    def __init__(self, question: Question, settings: Settings, tell: Callable[[ProgressEvent], None]) -> None:
        self.question, self.settings, self._tell = question, settings, tell
        self.code = secrets.token_hex(8)  # of the fence: nobody outside can know it
        self.room = max(settings[MAX_OUTPUT_CHARS], LEAST)
        self.rounds = question.rounds or settings[ASK_ROUNDS]
        self.pages = question.pages or settings[ASK_PAGES]
        self.today = datetime.now(UTC).date().isoformat() if settings[SEARCH_WITH_TIME] else ""
        self.usage = Usage()
        self.warnings: list[str] = []
        self.sources: tuple[CitedSource, ...] = ()
        self.asked = self._cut(question.text.strip())  # as prompts carry it
        self._started = time.monotonic()

    @property
    def elapsed_ms(self) -> int:
        """Return how long the work has taken so far."""
        return max(1, round((time.monotonic() - self._started) * 1000))

    def tell(self, name: str, message: str, iteration: int = 0, query: str = "", **counts: int) -> None:
        """Tell how far the work is."""
        self._tell(ProgressEvent(name, message, iteration, query, counts, self.sources))

    def warn(self, message: str) -> None:
        """Keep what the user should know; once is enough."""
        if message not in self.warnings:
            self.warnings.append(message)
            logs.log("answer: %s", message)

    def spend(self, usage: Usage) -> None:
        """Add what a call of a model took."""
        self.usage = self.usage.plus(usage)

    def explain(self, problem: Exception) -> str:
        """Return why a step failed, in words for the user; what a model took for nothing is added."""
        if isinstance(problem, ModelError):
            self.spend(problem.usage)
        if isinstance(problem, SleuthError):
            return tr(problem.message, **problem.values)
        logs.log("answer: %r", problem)
        return str(problem) if isinstance(problem, TimeoutError) else type(problem).__name__

    def _cut(self, text: str) -> str:
        limit = self.room // QUESTION_SHARE
        if len(text) <= limit:
            return text
        self.warn(tr("the question is too long and was cut after {limit} characters", limit=limit))
        return text[:limit]
