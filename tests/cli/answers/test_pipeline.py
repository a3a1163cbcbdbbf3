"""The steps from a question to an answer, the end of the rounds, and the result."""

import json
import threading
from typing import Any

import pytest

from sleuth.answers.answer import EVENTS, Question, answer_as_json
from sleuth.answers.evidence import QUOTED, SUPPORTED
from sleuth.answers.llm.chat import Message, Models
from sleuth.answers.pipeline import Answerer
from sleuth.answers.writing import WritingError
from sleuth.base.errors import RequestError, UnknownProviderError
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import SearchRequest
from sleuth.pages.page import Page
from sleuth.pages.reader import Reader

ASK_MORE = {"sufficient": False, "missing": "the price", "query": "tokio price"}


def test_one_round_goes_through_all_steps(ask: Any, model: Any, web: Any) -> None:
    scripted = model()
    answer, _, written = ask(scripted)
    assert scripted.steps == ["analyse", "extract", "extract", "reflect", "write"]
    assert web.queries == ["tokio timers"]
    assert answer.text.strip() == written.strip() == "Its timers have a precision of 1 millisecond [1]."
    assert (answer.method, answer.model, answer.searched, answer.warnings) == ("model", "scripted", True, ())
    assert [(source.citation, source.url) for source in answer.sources] == [(1, web.url("tokio")), (2, web.url("smol"))]
    assert [check.support for check in answer.checks] == [QUOTED]
    assert (answer.usage.calls, answer.usage.prompt_tokens) == (5, 500)
    assert answer.elapsed_ms > 0


def test_each_step_has_its_temperature_and_timeout(ask: Any, model: Any) -> None:
    scripted = model()
    ask(scripted)
    seen = {step: (prompt.temperature, prompt.thinking, prompt.json, prompt.timeout) for step, prompt in scripted.asked}
    assert seen == {
        "analyse": (0.3, False, True, 20.0),
        "extract": (0.5, False, True, 10.0),
        "reflect": (0.3, True, True, 5.0),
        "write": (0.3, False, False, 120.0),
    }


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, [20.0, 10.0, 5.0, 120.0]),
        ({"SLEUTH_LLM_BASE_URL": "http://localhost:11434/v1"}, [120.0, 60.0, 30.0, 720.0]),
        ({"SLEUTH_LLM_TIMEOUT": "90"}, [90.0, 90.0, 90.0, 90.0]),
        ({"SLEUTH_LLM_TIMEOUT": "90", "SLEUTH_LLM_TIMEOUTS_REFLECT": "7"}, [90.0, 90.0, 7.0, 90.0]),
    ],
    ids=["remote", "local", "all steps", "one step"],
)
def test_timeouts_are_settings_with_room_for_local_models(
    ask: Any, model: Any, runtime: Any, environ: dict[str, str], seconds: list[float]
) -> None:
    runtime.settings.environ |= environ
    scripted = model()
    ask(scripted)
    assert [scripted.prompts(step)[0].timeout for step in ("analyse", "extract", "reflect", "write")] == seconds


def test_verdict_of_the_reflection_is_published(ask: Any, model: Any) -> None:
    verdict = {"sufficient": False, "reasoning": "No date.", "confidence": "80%", "missing": ["the date", "the price"]}
    answer, _, _ = ask(model(reflect=verdict))
    found = answer_as_json(answer)["rounds"][0]
    assert [found[name] for name in ("sufficient", "reasoning", "confidence", "missing")] == [
        False,
        "No date.",
        0.8,
        "the date; the price",
    ]


def test_question_asked_again_is_not_analysed_again(runtime: Any, model: Any, web: Any) -> None:
    scripted = model()
    answerer = Answerer(runtime.settings, runtime.searcher, runtime.content_reader, Models(scripted, scripted))

    def asked(text: str, *history: str) -> int:
        turns = tuple(Message("user", message) for message in history)
        answerer.answer(Question(text, history=turns), lambda _: None, lambda _: None)
        return scripted.steps.count("analyse")

    assert (asked("What is tokio?"), asked("What is tokio?", "What is tokio?")) == (1, 1)
    assert (asked("Why?", "What is tokio?"), asked("Why?", "What is smol?")) == (2, 3), "it depends on what was said"
    assert (asked("How fast is it?"), asked("How fast is it?", "What is tokio?")) == (4, 5)


def test_text_from_an_archive_is_marked_with_its_date(ask: Any, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Reader.read

    def read_archive(*arguments: Any, **options: Any) -> list[Page]:
        return [page._replace(archived="2025-01-31") for page in read(*arguments, **options)]

    monkeypatch.setattr(Reader, "read", read_archive)
    scripted = model()
    answer, _, _ = ask(scripted)
    assert any("archived on 2025-01-31" in warning for warning in answer.warnings)
    for step in ("extract", "write"):
        assert "copy archived on 2025-01-31" in scripted.prompts(step)[0].messages[-1].content


def test_rounds_and_verdicts_are_logged(ask: Any, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr("sleuth.base.logs.log", lambda text, *values: lines.append(text % values))
    ask(model())
    assert "answer: round 1: 2 results, 2 pages read" in lines
    assert "answer: round 1: sufficient" in lines


def test_rounds_continue_until_the_findings_suffice(ask: Any, model: Any, web: Any) -> None:
    web.page(
        "price", "Tokio costs nothing at all, because it is free software under the licence of MIT, as its page says."
    )
    web.results["tokio price"] = ["tokio", "price"]
    scripted = model(
        reflect=[ASK_MORE, {"sufficient": True}], write="It is free [3]. It steals work where one idles [1]."
    )
    answer, _, _ = ask(scripted)
    assert scripted.steps == ["analyse", "extract", "extract", "reflect", "extract", "reflect", "write"]
    assert [(one.query, one.results, one.pages, one.sufficient, one.missing) for one in answer.rounds] == [
        ("tokio timers", 2, 2, False, "the price"),
        ("tokio price", 2, 1, True, ""),
    ]
    assert [(source.citation, source.round, source.url) for source in answer.sources] == [
        (1, 1, web.url("tokio")),
        (2, 1, web.url("smol")),
        (3, 2, web.url("price")),
    ]
    prompt = scripted.prompts("write")[0].messages[-1].content
    assert all(f"[{number}] About" in prompt for number in (1, 2, 3))
    assert answer.cited == (3, 1)


@pytest.mark.parametrize(
    "verdict",
    [
        {"sufficient": True, "query": "something else"},
        {"sufficient": False, "query": ""},
        {"sufficient": False},
        {"sufficient": False, "query": "  Tokio   TIMERS "},
    ],
    ids=["enough", "no query", "no query at all", "asked before"],
)
def test_rounds_end_early(ask: Any, model: Any, web: Any, verdict: Any) -> None:
    ask(model(reflect=verdict))
    assert len(web.queries) == 1


@pytest.mark.parametrize(("rounds", "searched", "reflected"), [(0, 3, 2), (1, 1, 0), (2, 2, 1)])
def test_last_round_is_not_judged(ask: Any, model: Any, web: Any, rounds: int, searched: int, reflected: int) -> None:
    queries = iter(range(10))
    scripted = model(reflect=lambda _: ASK_MORE | {"query": f"query {next(queries)}"})
    answer, _, _ = ask(scripted, rounds=rounds)
    assert (len(web.queries), scripted.steps.count("reflect")) == (searched, reflected)
    assert answer.rounds[-1].sufficient is None


def test_pages_are_read_once(ask: Any, model: Any, web: Any) -> None:
    ask(model(reflect=[ASK_MORE, {"sufficient": True}]))
    read = [request.path for request, _ in web.server.log if request.path in ("/tokio", "/smol")]
    assert sorted(read) == ["/smol", "/tokio"]


def test_page_limit_is_respected(ask: Any, model: Any, web: Any) -> None:
    scripted = model()
    answer, _, _ = ask(scripted, pages=1)
    assert scripted.steps.count("extract") == 1
    assert [bool(source.text) for source in answer.sources] == [True, True]
    assert "A snippet on smol." in scripted.prompts("write")[0].messages[-1].content


def test_notes_are_ranked_by_relevance(ask: Any, model: Any) -> None:
    def note(prompt: Any) -> Any:
        about_smol = "About smol" in prompt.messages[-1].content
        return {"summary": "Smol." if about_smol else "Tokio.", "relevanceScore": 0.9 if about_smol else 0.1}

    scripted = model(extract=note)
    ask(scripted)
    shown = scripted.prompts("write")[0].messages[-1].content
    assert shown.index("[2] About smol") < shown.index("[1] About tokio")


def test_progress_events_are_complete(ask: Any, model: Any) -> None:
    here = threading.get_ident()
    answer, events, _ = ask(model())
    assert list(dict.fromkeys(event.name for event in events)) == list(EVENTS)
    assert (events[0].name, events[0].query) == ("web_search_analysing", answer.question)
    first, last = events[1].as_json(), events[-1].as_json()
    assert (first["event"], first["query"], first["counts"]) == ("web_search_start", "tokio timers", {"rounds": 3})
    assert last["counts"] == {"rounds": 1, "sources": 2, "pages": 2}
    assert all(event.message for event in events)
    assert events[-1].sources == answer.sources
    read = [event.counts for event in events if event.name == "web_search_fetching"]
    assert read[-1] == {"results": 2, "done": 2, "total": 2}
    assert threading.get_ident() == here


def test_callbacks_are_called_in_the_calling_thread(runtime: Any, model: Any) -> None:

    scripted = model()
    threads: set[int] = set()
    answerer = Answerer(runtime.settings, runtime.searcher, runtime.content_reader, Models(scripted, scripted))
    answerer.answer(
        Question("x"), lambda _: threads.add(threading.get_ident()), lambda _: threads.add(threading.get_ident())
    )
    assert threads == {threading.get_ident()}


def test_model_decides_whether_to_search(ask: Any, model: Any, web: Any) -> None:
    scripted = model(analyse={"search": False}, write_without_search="Four.")
    answer, events, _ = ask(scripted, "What is two and two?")
    assert scripted.steps == ["analyse", "write_without_search"]
    assert (answer.text.strip(), answer.searched, answer.sources, web.queries) == ("Four.", False, (), [])
    assert [event.name for event in events] == ["web_search_analysing"]


def test_search_on_overrides_the_model(ask: Any, model: Any, web: Any) -> None:
    ask(model(analyse={"search": False, "query": "sum of two and two"}), "What is two and two?", search="on")
    assert web.queries == ["sum of two and two"]


@pytest.mark.parametrize("search", ["auto", "off"])
def test_unknown_provider_is_an_error_even_if_no_search_is_needed(ask: Any, model: Any, search: str) -> None:
    scripted = model(analyse={"search": False})
    with pytest.raises(UnknownProviderError, match="'nosuch'"):
        ask(scripted, search=search, providers=("nosuch",))
    assert scripted.asked == []


def test_search_off_needs_one_call(ask: Any, model: Any, web: Any) -> None:
    scripted = model(write_without_search="Blue, I think [1].")
    answer, _, _ = ask(scripted, "Which colour?", search="off")
    assert (scripted.steps, web.queries) == (["write_without_search"], [])
    assert (answer.text.strip(), answer.checks, answer.out_of_range) == ("Blue, I think [1].", (), (1,))


def test_follow_up_question_comes_with_the_history(ask: Any, model: Any) -> None:
    history = (Message("user", "What is Tokio?"), Message("assistant", "A runtime [4]."), Message("user", "Fast?"))
    scripted = model()
    ask(scripted, "And its timers?", history=history)
    asked = scripted.prompts("analyse")[0].messages[-1].content
    assert "user: What is Tokio?\nassistant: A runtime.\nuser: Fast?" in asked
    written = scripted.prompts("write")[0].messages
    assert written[1:4] == (history[0], Message("assistant", "A runtime."), history[2])


@pytest.mark.parametrize("dated", ["true", "false"])
def test_date_is_in_the_prompts_if_configured(ask: Any, model: Any, runtime: Any, dated: str) -> None:
    runtime.settings.environ["SLEUTH_WEBSEARCH_SEARCH_WITH_TIME"] = dated
    scripted = model()
    ask(scripted)
    for step in ("analyse", "reflect", "write"):
        assert ("Today is 2" in scripted.prompts(step)[0].messages[-1].content) is (dated == "true")


def test_number_without_a_source_is_reported(ask: Any, model: Any) -> None:
    answer, _, _ = ask(model(write="Its timers have a precision of 1 millisecond [9]. See `a[1]` [2]."))
    assert "[9]" in answer.text
    assert (answer.out_of_range, answer.cited) == ((9,), (2,))


def test_uncited_sentence_gets_the_source_that_supports_it(ask: Any, model: Any) -> None:
    answer, _, written = ask(model(write="Tokio is the most used runtime for Rust. Bananas are yellow fruit."))
    assert "[1+]" not in written
    assert answer.text.strip() == "Tokio is the most used runtime for Rust [1+]. Bananas are yellow fruit."
    assert answer.checks[0].support in (QUOTED, SUPPORTED)


def test_json_form_is_complete(ask: Any, model: Any) -> None:
    document = json.loads(json.dumps(answer_as_json(ask(model()).answer)))
    assert document["citations"][0]["evidence"]["text"] == "Its timers have a precision of 1 millisecond"
    assert [source["citation"] for source in document["references"]] == [1]
    assert document["rounds"][0]["outcome"] == "success"
    assert document["usage"]["calls"] == 5


def test_control_characters_are_removed(ask: Any, model: Any) -> None:
    answer, _, written = ask(model(write="One\x1b[31m red \u202e [1].\n\n```\n  code\n```"))
    assert "\x1b" not in written + answer.text
    assert "\u202e" not in written + answer.text
    assert "\n  code\n" in answer.text


@pytest.mark.parametrize("size", [1, 2, 4, 13])
@pytest.mark.parametrize(
    "text",
    [
        "\u26a0\ufe0f Do not store passwords in the file.",
        "\U0001f469\u200d\U0001f4bb writes \u2714\ufe0f and \u2139\ufe0f in the file.",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0628\u062e\u0648\u0627\u0646\u0645 1 2 3.",
    ],
)
def test_signs_of_several_characters_may_be_streamed_in_parts(ask: Any, model: Any, text: str, size: int) -> None:
    answer, _, written = ask(model(write=text, piece_size=size))
    assert (written, answer.text) == (text, text)


def test_empty_question_is_an_error(ask: Any, model: Any) -> None:
    with pytest.raises(RequestError):
        ask(model(), "  \n")


def test_search_timeout_is_three_seconds_by_default(runtime: Any, model: Any, monkeypatch: Any, ask: Any) -> None:
    limits: list[tuple[float | None, float | None]] = []
    search = runtime.searcher.search

    def spy(request: SearchRequest) -> Outcome:
        limits.append((request.timeout, request.provider_timeout))
        return search(request)

    monkeypatch.setattr(runtime.searcher, "search", spy)
    ask(model())
    ask(model(), timeout=7.5)
    runtime.settings.environ["SLEUTH_WEBSEARCH_TIMEOUT"] = "20"
    ask(model())
    assert limits == [(None, 3.0), (7.5, 3.0), (None, None)]


def test_interrupt_is_not_caught(ask: Any, model: Any) -> None:
    for step in ("analyse", "write"):
        with pytest.raises(KeyboardInterrupt):
            ask(model(**{step: KeyboardInterrupt()}))


def test_extractive_answer_uses_no_model(ask: Any, model: Any, web: Any) -> None:
    scripted = model()
    answer, _, _ = ask(scripted, extractive=True)
    assert (scripted.steps, answer.method, answer.warnings) == ([], "extractive", ())
    with pytest.raises(RequestError):
        ask(scripted, extractive=True, search="off")


def test_search_off_without_a_model_is_an_error(ask: Any) -> None:
    with pytest.raises(WritingError) as caught:
        ask(None, search="off")
    assert caught.value.exit == 4


def test_long_query_of_the_model_is_sent_without_an_ellipsis(ask: Any, model: Any, web: Any) -> None:
    ask(model(analyse={"search": True, "query": "tokio " * 50}))
    [query] = web.queries
    assert 150 < len(query) <= 200
    assert query.endswith("tokio")


def test_long_question_is_truncated(ask: Any, model: Any) -> None:
    scripted = model()
    answer, _, _ = ask(scripted, "why " * 10_000)
    assert "too long" in answer.warnings[0]
    assert len(scripted.asked[0][1].messages[-1].content) < 12_000
