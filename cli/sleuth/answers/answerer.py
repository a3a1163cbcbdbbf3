"""From a question to an answer: analyse, search and read in rounds, reflect, write."""

from collections.abc import Callable

from sleuth.answers.analysis import Analysis, analyse
from sleuth.answers.answer import Answer, ProgressEvent, Question
from sleuth.answers.errors import UnwrittenError
from sleuth.answers.extraction import extract
from sleuth.answers.extractive import quoted
from sleuth.answers.findings import Findings
from sleuth.answers.finishing import finished
from sleuth.answers.llm.chat import Models
from sleuth.answers.llm.endpoint import is_private
from sleuth.answers.llm.errors import ModelError
from sleuth.answers.reflection import reflect
from sleuth.answers.rounds import Gatherer
from sleuth.answers.work import Work
from sleuth.answers.writing import write_answer
from sleuth.base.errors import RequestError, SearchError
from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.engine.content import ContentReader
from sleuth.engine.search import Searcher
from sleuth.store.settings import LLM_URL, Settings

Tell = Callable[[ProgressEvent], None]
Write = Callable[[str], None]


class Answerer:
    """Answers questions; everything it needs is handed in."""

    def __init__(self, settings: Settings, searcher: Searcher, contents: ContentReader, models: Models | None) -> None:
        self.settings, self.searcher, self.content_reader, self.models = settings, searcher, contents, models
        self._gatherer = Gatherer(searcher, contents)

    def answer(self, question: Question, tell: Tell, write: Write) -> Answer:
        """Answer a question; `tell` hears how far the work is, `write` gets the text as it is written."""
        _check(question)
        work, found = Work(question, self.settings, tell), Findings()
        if question.extractive:
            return self._quote(work, found, write)
        try:
            models = self._models(question)
            aim = analyse(work, models.writer)
            if aim.search:
                self._search(work, models, found, aim)
            text = write_answer(work, models.writer, found, write)
        except (ModelError, UnwrittenError) as problem:
            if question.search == "off" or (found.rounds and not found.sources):
                raise  # there is nothing to quote
            why = work.explain(problem)
            work.warn(tr("this is what pages say, word for word, without a model: {reason}", reason=why))
            return self._quote(work, found, write)
        return finished(work, found, text, "model", models.writer.name)

    def _models(self, question: Question) -> Models:
        """Return who is asked; without a network only a model on this machine or beside it is."""
        if self.models is None:
            raise UnwrittenError("no model is set up", "give its key: sleuth config set llm.api_key -")
        address = self.settings[LLM_URL]
        if question.offline and not is_private(address):
            raise UnwrittenError("offline, and the model is at {host}", "leave --offline out", host=domain(address))
        return self.models

    def _search(self, work: Work, models: Models, found: Findings, aim: Analysis) -> None:
        """Search, read and take notes in rounds until it is enough."""
        self._start(work, aim.query, work.rounds)
        query = aim.query
        for number in range(1, work.rounds + 1):
            try:
                pages = self._gatherer.gather(work, found, query)
            except SearchError as problem:
                work.warn(tr("the search failed: {reason}", reason=work.explain(problem)))
                break
            if pages:
                extract(work, models.writer, found, pages, aim, query)
            if number == work.rounds:
                break
            verdict = reflect(work, models.reasoner, found, aim)
            query = verdict.query
            if verdict.sufficient or not query or found.has_asked(query):
                break
        if not found.sources:
            work.warn(tr("there are no sources: the answer comes from the model's own knowledge"))
        self._complete(work, found)

    def _quote(self, work: Work, found: Findings, write: Write) -> Answer:
        """Answer with passages of the pages; where nothing was searched for yet, by the question's own words."""
        if not found.rounds:
            self._start(work, work.question.text, 1)
            self._gatherer.gather(work, found, work.question.text)
            self._complete(work, found)
        text = quoted(found, work.question.text) or tr("Nothing was found that answers this.")
        write(text)
        return finished(work, found, text, "extractive")

    def _start(self, work: Work, query: str, rounds: int) -> None:
        work.tell("web_search_start", tr("Searching for {query}", query=query), 0, query, rounds=rounds)

    def _complete(self, work: Work, found: Findings) -> None:
        counts = {"rounds": len(found.rounds), "sources": len(found.sources)}
        message = tr("Found {sources} sources in {rounds} rounds", **counts)
        pages = sum(one.pages for one in found.rounds)
        work.tell("web_search_complete", message, counts["rounds"], found.rounds[-1].query, pages=pages, **counts)


def _check(question: Question) -> None:
    if not question.text.strip():
        raise RequestError("there is nothing to answer", "ask something: sleuth ask why is the sky blue")
    if question.extractive and question.search == "off":
        raise RequestError("an extractive answer needs a search", "leave --search off out")
