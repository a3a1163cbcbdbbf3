"""From a question to an answer: analyse, search and read in rounds, reflect, write, check citations."""

from collections.abc import Callable

from sleuth.answers import citation_check
from sleuth.answers.answer import Answer, ProgressEvent, Question
from sleuth.answers.citations import out_of_range
from sleuth.answers.extractive import quote_pages
from sleuth.answers.llm.chat import Message, Models
from sleuth.answers.llm.endpoint import is_private
from sleuth.answers.llm.errors import ModelError
from sleuth.answers.markdown import safe_markdown
from sleuth.answers.research import Research
from sleuth.answers.rounds import run_round
from sleuth.answers.second_opinion import second_opinion
from sleuth.answers.steps import Analysis, analyse, reflect, take_notes
from sleuth.answers.writing import Write, WritingError, write_answer
from sleuth.base.errors import RequestError, SearchError
from sleuth.base.i18n import tr, trn
from sleuth.base.text import strip_controls
from sleuth.base.urls import domain
from sleuth.engine.content import ContentReader
from sleuth.engine.search import UNNAMED, Searcher
from sleuth.store.settings import LLM_URL, Settings

# Steps whose failures do not matter any more when the model cannot write either.
MODEL_STEPS = ("ANALYSIS_FAILED", "EXTRACTION_FAILED", "REFLECTION_FAILED")
MAX_KNOWN_ANALYSES = 20  # of a conversation

OnProgress = Callable[[ProgressEvent], None]


class Answerer:
    """Answers questions with search results and, if there is one, a model."""

    def __init__(self, settings: Settings, searcher: Searcher, contents: ContentReader, models: Models | None) -> None:
        self.settings, self.searcher, self.contents, self.models = settings, searcher, contents, models
        self._analyses: dict[tuple[str, str, str, tuple[Message, ...]], Analysis] = {}

    def answer(self, question: Question, on_progress: OnProgress, write: Write) -> Answer:
        """Answer a question; `write` gets the text piece by piece."""
        if not question.text.strip():
            raise RequestError("no question given", "for example: sleuth ask why is the sky blue")
        if question.extractive and question.search == "off":
            raise RequestError("{option} needs a search", "omit --search off", option="--extractive")
        if question.providers not in UNNAMED:
            self.searcher.selector.named(question.providers)  # raises for unknown ids, even if no search is needed
        research = Research(question, self.settings, on_progress)
        if question.extractive:
            return self._extract(research, write)
        try:
            models = self._models(question)
            analysis = self._analyse(research, models)
            if analysis.search:
                self._search(research, models, analysis)
            text = write_answer(research, models.writer, write)
        except (ModelError, WritingError) as error:
            if question.search == "off" or (research.rounds and not research.sources):
                raise  # there is nothing to quote
            earlier = {problem.message for problem in research.problems if problem.code in MODEL_STEPS}
            research.warnings = [line for line in research.warnings if line not in earlier]
            message = tr("quoting the pages instead of writing an answer: {reason}", reason=research.explain(error))
            research.warn_of("WRITING_FAILED", message, research.hint(error))
            return self._extract(research, write)
        return _finished(research, text, "model", models)

    def _analyse(self, research: Research, models: Models) -> Analysis:
        """Return the analysis of a question, reusing one made with the same history."""
        question, known = research.question, self._analyses
        # If the history only repeats the question, it does not change the analysis.
        repeated = {turn.content for turn in question.history if turn.role == "user"} == {question.text}
        key = (research.today, question.text, question.search, () if repeated else question.history)
        analysis = known.get(key) or analyse(research, models.writer)
        if not research.problems:
            known[key] = analysis
        while len(known) > MAX_KNOWN_ANALYSES:
            del known[next(iter(known))]
        return analysis

    def _models(self, question: Question) -> Models:
        """Return the models; with --offline only those on this machine or the local network."""
        if self.models is None:
            raise WritingError(
                "no model is configured",
                "to use a model, set its API key: sleuth config set llm.api_key -, "
                "or use a local one: sleuth config set llm.base_url http://localhost:11434/v1",
            )
        url = self.settings[LLM_URL]
        if question.offline and not is_private(url):
            raise WritingError("--offline, but the model is at {host}", "omit --offline", host=domain(url))
        return self.models

    def _search(self, research: Research, models: Models, analysis: Analysis) -> None:
        """Search, read and take notes in rounds until the findings are sufficient."""
        _report_start(research, analysis.query, research.max_rounds)
        query = analysis.query
        for number in range(1, research.max_rounds + 1):
            try:
                pages = run_round(research, self.searcher, self.contents, query)
            except SearchError as error:
                text = tr("the search failed: {reason}", reason=research.explain(error))
                off = research.question.search_off
                other = tr("to answer without searching: {off}", off=off) if off else ""
                research.warn_of("ALL_SOURCES_FAILED", text, tr("; ").join(filter(None, (research.hint(error), other))))
                break
            if pages:
                take_notes(research, models.writer, pages, analysis)
            if number == research.max_rounds:
                break
            verdict = reflect(research, models.reasoner, analysis)
            query = verdict.query
            if verdict.sufficient or not query or research.has_searched(query):
                break
        if not research.sources:
            research.warn_of("NO_SOURCES", tr("no sources found; the answer comes from the model's own knowledge"))
        _report_end(research)

    def _extract(self, research: Research, write: Write) -> Answer:
        """Answer with passages of the pages; if there was no search yet, search for the question."""
        question = research.question.text
        if not research.rounds:
            _report_start(research, question, 1)
            run_round(research, self.searcher, self.contents, question)
            _report_end(research)
        text = safe_markdown(strip_controls(quote_pages(research.ranked(), question)), {}) or tr("No answer was found.")
        write(text)
        return _finished(research, text, "extractive")


def _report_start(research: Research, query: str, rounds: int) -> None:
    research.report("web_search_start", tr("Searching for {query}", query=query), query, rounds=rounds)


def _report_end(research: Research) -> None:
    count, pages = len(research.sources), sum(one.pages for one in research.rounds)
    message = trn("Found {count} source", "Found {count} sources", count)
    research.report("web_search_complete", message, pages=pages, rounds=len(research.rounds), sources=count)


def _finished(research: Research, text: str, method: str, models: Models | None = None) -> Answer:
    """Return the answer with its citations checked, and attached where the model left them out."""
    sources = research.sources
    attached = citation_check.attach(text, sources) if method == "model" else text
    checks = citation_check.check(attached, sources)
    if models and research.question.deep:
        checks, usage, warning = second_opinion(checks, attached, sources, models.reasoner)
        research.add_usage(usage)
        if warning:
            research.warn(warning)
    return Answer(
        question=research.question.text,
        text=attached,
        method=method,
        sources=sources,
        rounds=tuple(research.rounds),
        searched=bool(research.rounds),
        checks=tuple(checks),
        out_of_range=out_of_range(text, sources),
        model=models.writer.name if models else "",
        usage=research.usage,
        warnings=tuple(research.warnings),
        problems=tuple(research.problems),
        elapsed_ms=research.elapsed_ms,
    )
