"""Any single step may fail: there is still an answer, with a warning."""

import threading
from typing import Any

import pytest

from sleuth.answers.answer import answer_as_json
from sleuth.answers.evidence import QUOTED
from sleuth.answers.llm.chat import Message, Models, Prompt
from sleuth.answers.llm.errors import (
    ContextTooLongError,
    ModelBalanceError,
    ModelBrokenOffError,
    ModelError,
    ModelKeyError,
    ModelNotFoundError,
    ModelTimeoutError,
    ModelUnavailableError,
    ModelUnreachableError,
)
from sleuth.base import logs
from sleuth.base.errors import SearchError
from sleuth.base.i18n import tr

DOWN = ModelUnavailableError(server="llm.example", detail="HTTP 503")
PERMANENT = [
    ModelKeyError(server="llm.example", detail="wrong key"),
    ModelBalanceError(server="llm.example", detail="no money"),
    ModelNotFoundError(server="llm.example", detail="unknown", model="gpt-0"),
    ModelUnreachableError(server="llm.example", detail="connection refused"),
]


def warned(answer: Any, *words: str) -> bool:
    return any(all(word in warning for word in words) for warning in answer.warnings)


@pytest.mark.parametrize(
    "problem",
    [
        DOWN,
        ModelTimeoutError(server="llm.example", seconds=20.0, setting="llm.timeout"),
        ModelBrokenOffError(server="llm.example", detail="reset"),
    ],
)
def test_failed_analysis_searches_for_the_question_itself(ask: Any, model: Any, web: Any, problem: Any) -> None:
    answer, _, _ = ask(model(analyse=problem))
    assert web.queries == ["How precise are Tokio's timers?"]
    assert answer.method == "model"
    assert warned(answer, "could not analyse", "llm.example")
    assert (answer.problems[0].code, answer.hints) == ("ANALYSIS_FAILED", (tr(problem.hint, **problem.values),))


def allow_more(setting: str) -> str:
    return f"allow more time: sleuth config set {setting} SECONDS"


@pytest.mark.parametrize("search", ["auto", "off"])
@pytest.mark.parametrize("setting", ["llm.timeout", "llm.timeouts.write"])
def test_hint_after_a_timeout_names_the_setting_that_applies(
    ask: Any, model: Any, runtime: Any, setting: str, search: str
) -> None:
    runtime.settings.environ |= {"SLEUTH_LLM_TIMEOUT": "30", f"SLEUTH_{setting.upper().replace('.', '_')}": "20"}
    late = ModelTimeoutError(server="llm.example", seconds=20.0, setting="llm.timeout")
    scripted = model(write=late, write_without_search=late)
    if search == "auto":
        assert ask(scripted)[0].hints == (allow_more(setting),)
        return
    with pytest.raises(ModelTimeoutError) as caught:
        ask(scripted, search="off")
    assert caught.value.advice == allow_more(setting)


def test_invalid_json_is_requested_once_more(ask: Any, model: Any, web: Any) -> None:
    scripted = model(analyse=["I would search for tokio.", {"search": True, "query": "tokio"}])
    answer, _, _ = ask(scripted)
    assert scripted.steps[:2] == ["analyse", "analyse"]
    assert (web.queries, answer.warnings) == (["tokio"], ())
    assert answer.usage.calls == 6


def test_invalid_json_twice_counts_as_failure(ask: Any, model: Any) -> None:
    scripted = model(analyse="no", extract="no", reflect="no")
    answer, _, _ = ask(scripted)
    assert scripted.steps.count("extract") == 4
    assert all(warned(answer, words) for words in ("could not analyse", "could not take notes", "could not judge"))
    codes = [problem["code"] for problem in answer_as_json(answer)["problems"]]
    assert codes == ["ANALYSIS_FAILED", "EXTRACTION_FAILED", "REFLECTION_FAILED"]
    assert answer.usage.calls == 2 + 4 + 2 + 1


def test_failed_search_leads_to_an_answer_from_own_knowledge(ask: Any, model: Any, web: Any) -> None:
    web.status = 500
    scripted = model(write_without_results="I found no sources. About 1 ms.")
    answer, events, _ = ask(scripted)
    assert scripted.steps == ["analyse", "write_without_results"]
    assert "[search results — none: failed]" in scripted.asked[-1][1].messages[-1].content
    assert warned(answer, "the search failed", "SearXNG")
    assert warned(answer, "own knowledge")
    assert len(answer.warnings) == 2, "the cause is told once"
    assert [problem.code for problem in answer.problems] == ["ALL_SOURCES_FAILED", "NO_SOURCES"]
    assert all(words in answer.hints[0] for words in ("sleuth doctor", "--search off"))
    assert (answer.searched, answer.sources, answer.rounds[0].outcome) == (True, (), "failed")
    assert events[-1].name == "web_search_complete"


def test_server_that_is_cooling_down_is_asked_again_if_there_is_no_other(ask: Any, model: Any, web: Any) -> None:
    web.status = 429
    ask(model(write_without_results="About 1 ms."))
    answer, _, _ = ask(model(write_without_results="About 1 ms."), "Are its timers precise?")
    assert warned(answer, "SearXNG received too many requests")
    assert [
        hint.endswith("see: sleuth doctor; to answer without searching: --search off") for hint in answer.hints
    ] == [True]


def test_failed_later_search_keeps_earlier_findings(ask: Any, model: Any, web: Any) -> None:
    def go_on(prompt: Prompt) -> Any:
        web.status = 500
        return {"sufficient": False, "query": "more"}

    scripted = model(reflect=go_on)
    answer, _, _ = ask(scripted)
    assert scripted.steps[-1] == "write"
    assert warned(answer, "the search failed")
    assert not warned(answer, "own knowledge")
    assert [one.outcome for one in answer.rounds] == ["success", "failed"]


def test_empty_results_are_reported_to_model_and_user(ask: Any, model: Any, web: Any) -> None:
    web.results["*"] = []
    scripted = model(write_without_results="I do not know.", reflect={"sufficient": False, "query": "other words"})
    answer, _, _ = ask(scripted, rounds=2)
    assert web.queries == ["tokio timers", "other words"]
    assert "[search results — none: no_results]" in scripted.asked[-1][1].messages[-1].content
    assert warned(answer, "own knowledge")


def test_next_result_replaces_an_unreadable_page(ask: Any, model: Any, web: Any) -> None:
    web.results["*"] = ["gone", "tokio", "smol"]
    scripted = model()
    answer, _, _ = ask(scripted, pages=2)
    assert [bool("precision" in source.text or "precise" in source.text) for source in answer.sources] == [
        False,
        True,
        True,
    ]
    assert (answer.rounds[0].pages, scripted.steps.count("extract")) == (2, 2)
    assert warned(answer, "could not read")
    assert not warned(answer, "FETCH_FAILED")


def test_snippets_are_used_if_no_page_is_readable(ask: Any, model: Any, web: Any) -> None:
    web.results["*"] = ["gone", "lost"]
    scripted = model(write="There is “a snippet on gone” [1].")
    answer, _, _ = ask(scripted)
    assert "extract" not in scripted.steps
    assert "A snippet on gone." in scripted.prompts("write")[0].messages[-1].content
    assert warned(answer, "FETCH_FAILED", "snippets")
    assert (answer.rounds[0].pages, answer.checks[0].support) == (0, QUOTED)


def test_page_is_used_as_it_is_if_notes_fail(ask: Any, model: Any) -> None:
    scripted = model(extract=[DOWN, {"summary": "A NOTE", "relevanceScore": 1}])
    answer, _, _ = ask(scripted)
    shown = scripted.prompts("write")[0].messages[-1].content
    assert "A NOTE" in shown
    assert "precision of 1 millisecond" in shown
    assert "below 1 millisecond" in shown
    assert warned(answer, "1 page ", "could not take notes", "503")


def test_slow_notes_time_out(ask: Any, model: Any, runtime: Any) -> None:
    runtime.settings.environ["SLEUTH_LLM_TIMEOUTS_EXTRACT"] = "0.3"
    released = threading.Event()
    answer, _, _ = ask(model(extract=lambda _: (released.wait(), {})[1]))
    released.set()
    assert warned(answer, "2 pages", "no response in time")
    assert answer.hints == (allow_more("llm.timeouts.extract"),)


def test_notes_are_taken_on_three_pages_at_a_time(ask: Any, model: Any, web: Any) -> None:
    names = [f"page{n}" for n in range(5)]
    web.results["*"] = names
    for name in names:
        web.page(name, f"The page {name} says that timers of {name} have a precision of one millisecond.")
    started: list[str] = []
    together = threading.Barrier(3, timeout=60)

    def note(prompt: Prompt) -> Any:
        started.append(prompt.messages[-1].content)
        if len(started) <= 3:
            together.wait()  # three do run at the same time
            assert len(started) == 3
        return {"summary": "x"}

    answer, _, _ = ask(model(extract=note), pages=5)
    assert (len(started), answer.warnings) == (5, ())


def test_failed_reflection_ends_the_rounds(ask: Any, model: Any, web: Any) -> None:
    answer, _, _ = ask(model(reflect=DOWN))
    assert len(web.queries) == 1
    assert answer.rounds[0].sufficient is None
    assert warned(answer, "could not judge", "503")


def test_slow_reflection_times_out(ask: Any, model: Any, runtime: Any) -> None:
    runtime.settings.environ["SLEUTH_LLM_TIMEOUTS_REFLECT"] = "0.3"
    released = threading.Event()
    answer, _, _ = ask(model(reflect=lambda _: (released.wait(), {})[1]))
    released.set()
    assert warned(answer, "could not judge", "no response in time")
    assert answer.hints == (allow_more("llm.timeouts.reflect"),)


def test_answer_that_is_cut_off_is_kept(ask: Any, model: Any) -> None:
    problem = ModelBrokenOffError(server="llm.example", detail="connection reset")
    answer, _, written = ask(model(write="Timers have 1 ms [1] and BREAK more", breaks=problem))
    assert answer.text.strip() == written.strip() == "Timers have 1 ms [1] and"
    assert answer.method == "model"
    assert warned(answer, "incomplete", "connection reset")
    assert answer.problems[-1].code == "INCOMPLETE"


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_incomplete_answer_is_reported(ask: Any, model: Any, finish: str) -> None:
    answer = ask(model(finish=finish)).answer
    assert warned(answer, "incomplete")
    assert answer.problems[-1].code == "INCOMPLETE"


def test_endless_answer_is_stopped(ask: Any, model: Any) -> None:
    answer, _, _ = ask(model(write="round and round " * 100_000))
    assert len(answer.text) < 31_000
    assert warned(answer, "incomplete", "maximum")


def test_context_too_long_is_halved_once(ask: Any, model: Any, web: Any, runtime: Any) -> None:
    web.results["*"] = ["long"]
    web.page("long", *(f"Sentence {n} tells of timer {n} in Tokio and of nothing else at all." for n in range(400)))
    runtime.settings.environ["SLEUTH_FETCH_MAX_CHARS"] = "30000"
    scripted = model(write=[ContextTooLongError(server="llm.example", detail="8192 tokens"), "Short [1]."])
    answer, _, _ = ask(scripted)
    first, second = (sum(len(message.content) for message in prompt.messages) for prompt in scripted.prompts("write"))
    assert second <= 15_000 < first <= 30_000
    assert answer.method == "model"
    assert warned(answer, "half")
    scripted = model(write=ContextTooLongError(server="llm.example", detail="8192 tokens"))
    answer, _, _ = ask(scripted)
    assert (answer.method, warned(answer, "half")) == ("extractive", False)
    assert scripted.steps.count("write") == 2


@pytest.mark.parametrize("problem", PERMANENT, ids=lambda problem: problem.code)
def test_unusable_model_leads_to_an_extractive_answer(ask: Any, model: Any, web: Any, problem: ModelError) -> None:
    scripted = model(analyse=problem)
    answer, events, written = ask(scripted)
    assert scripted.steps == ["analyse"]
    assert web.queries == ["How precise are Tokio's timers?"]
    assert (answer.method, answer.text) == ("extractive", written)
    assert warned(answer, "quoting the pages", "llm.example")
    assert events[-1].name == "web_search_complete"


def test_pages_are_quoted_if_writing_fails(ask: Any, model: Any, web: Any) -> None:
    answer, _, written = ask(model(write=DOWN))
    assert (answer.method, answer.text, len(web.queries)) == ("extractive", written, 1)
    assert warned(answer, "quoting the pages", "503")
    assert [problem.code for problem in answer.problems] == ["WRITING_FAILED"]
    assert {check.support for check in answer.checks} == {QUOTED}


def test_failing_model_is_reported_once(ask: Any, model: Any) -> None:
    answer, _, _ = ask(model(analyse=DOWN, extract=DOWN, reflect=DOWN, write=DOWN))
    (warning,) = answer.warnings
    assert "quoting the pages" in warning
    codes = [problem["code"] for problem in answer_as_json(answer)["problems"]]
    assert codes == ["ANALYSIS_FAILED", "EXTRACTION_FAILED", "REFLECTION_FAILED", "WRITING_FAILED"]


def test_empty_answer_counts_as_failure(ask: Any, model: Any) -> None:
    answer, _, _ = ask(model(write=" "))
    assert answer.method == "extractive"
    assert warned(answer, "wrote nothing")


def test_nothing_to_quote_is_an_error(ask: Any, model: Any, web: Any) -> None:
    web.status = 500
    with pytest.raises(ModelUnavailableError):
        ask(model(write_without_results=DOWN))
    with pytest.raises(ModelUnavailableError):
        ask(model(write_without_search=DOWN), search="off")
    with pytest.raises(SearchError):
        ask(None)


def test_hint_for_a_prompt_that_is_too_long_helps_without_pages(ask: Any, model: Any, runtime: Any) -> None:
    with pytest.raises(ContextTooLongError, match="too long") as caught:
        ask(model(write_without_search=ContextTooLongError(server="llm.example")), "word " * 9000, search="off")
    assert caught.value.hint == "send less text: sleuth config set websearch.max_output_chars 10000"
    runtime.settings.environ["SLEUTH_WEBSEARCH_MAX_OUTPUT_CHARS"] = "10000"
    scripted = model(write_without_search="Yes.")
    ask(scripted, "word " * 9000, search="off")
    assert sum(len(message.content) for message in scripted.asked[-1][1].messages) < 10_000


def test_without_a_model_pages_are_quoted_word_for_word(ask: Any, web: Any) -> None:
    answer, events, _ = ask(None)
    assert (answer.method, answer.model, answer.usage.calls) == ("extractive", "", 0)
    assert warned(answer, "no model is configured")
    assert {event.name for event in events} == {
        "web_search_start",
        "web_search_iteration",
        "web_search_fetching",
        "web_search_complete",
    }
    assert answer.checks
    texts = {source.citation: " ".join(source.text.split()) for source in answer.sources}
    for part in answer.text.split("\n\n"):
        words, _, number = part.rpartition(" [")
        assert words in texts[int(number.rstrip("]"))]


def test_snippets_are_quoted_if_no_page_is_readable(ask: Any, web: Any) -> None:
    web.results["*"] = ["gone"]
    answer, _, _ = ask(None)
    assert answer.text == "A snippet on gone. [1]"


def test_empty_results_without_a_model_are_reported(ask: Any, web: Any) -> None:
    web.results["*"] = []
    assert ask(None).answer.text == "No answer was found."


@pytest.mark.usefixtures("indexed_handbook")
def test_remote_model_is_not_used_offline(ask: Any, model: Any, web: Any) -> None:
    ask(model())  # what was read is remembered
    before = len(web.server.log)
    scripted = model()
    answer, _, _ = ask(scripted, "How precise are the timers of Tokio?", offline=True)
    assert (scripted.steps, len(web.server.log)) == ([], before)
    assert answer.method == "extractive"
    assert warned(answer, "offline", "deepseek.com")
    assert web.url("tokio") in [source.url for source in answer.sources]


@pytest.mark.usefixtures("indexed_handbook")
def test_local_model_is_used_offline(ask: Any, model: Any, web: Any, runtime: Any) -> None:
    ask(model())
    runtime.settings.environ["SLEUTH_LLM_BASE_URL"] = "http://localhost:11434/v1"
    before = len(web.server.log)
    answer, _, _ = ask(model(analyse={"search": True, "query": "precise timers"}), offline=True)
    assert (answer.method, len(web.server.log)) == ("model", before)
    assert "1 millisecond" in answer.sources[0].text + answer.sources[1].text


@pytest.mark.parametrize("step", ["analyse", "extract", "reflect", "write"])
def test_error_that_quotes_a_private_question_is_logged_without_its_text(
    ask: Any, model: Any, runtime: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.settings.environ["SLEUTH_HISTORY_ENABLED"] = "false"
    lines: list[str] = []
    monkeypatch.setattr("sleuth.base.logs.log", lambda text, *values: lines.append(text % values))
    answer, _, _ = ask(model(**{step: ModelUnavailableError(server="llm", detail="in 'Tokio's ti'", status=500)}))
    assert warned(answer, "Tokio's ti")
    assert "answer: ('ModelUnavailableError', 500)" in lines
    assert "Tokio" not in "".join(lines)


def test_private_question_and_those_before_it_are_redacted_in_the_log(ask: Any, model: Any, runtime: Any) -> None:
    runtime.settings.environ["SLEUTH_HISTORY_ENABLED"] = "false"
    ask(model(), "How old is my aunt?", history=(Message("user", "Who is my uncle?"),))
    assert logs.safe("bad: How old is my aunt? Who is my uncle?") == "bad: [hidden] [hidden]"


def test_interrupt_does_not_wait_for_notes(runtime: Any, model: Any) -> None:
    from sleuth.answers.answer import Question
    from sleuth.answers.pipeline import Answerer

    released = threading.Event()
    scripted = model(extract=lambda _: (released.wait(), {})[1])

    def interrupt(event: Any) -> None:
        if event.name == "web_search_extracting":
            raise KeyboardInterrupt

    answerer = Answerer(runtime.settings, runtime.searcher, runtime.content_reader, Models(scripted, scripted))
    with pytest.raises(KeyboardInterrupt):
        answerer.answer(Question("x"), interrupt, lambda _: None)
    released.set()
