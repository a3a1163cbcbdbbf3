"""Digests written by a model, with checked citations, and the fallback to quotes."""

import json
from typing import Any

import pytest

from sleuth.answers.evidence import NOT_FOUND, QUOTED
from sleuth.answers.llm.chat import Models, Prompt
from sleuth.answers.llm.errors import ModelKeyError, ModelTimeoutError, ModelUnavailableError
from sleuth.answers.presentation import digest_parts
from sleuth.answers.summary import Digest, digest, digest_as_json, write_digest
from sleuth.base import logs
from sleuth.pages.page import Page

TOKIO = (
    "Tokio is the most used runtime for Rust. Its timers have a precision of 1 millisecond [4]. It is free software."
)
SMOL = "Smol is a small runtime for Rust. Its code fits in one evening. It can run crates that were made for Tokio."
PAGES = [
    Page("https://tokio.example/", title="Tokio", text=TOKIO, layer="page"),
    Page("https://gone.example/"),
    Page("https://smol.example/", title="Smol [9]", text=SMOL, layer="page"),
]


def about(prompt: Prompt) -> str:
    text = prompt.messages[-1].content
    tokio, smol = "[1] Tokio" in text, "[2] Smol" in text
    if tokio and smol:
        return "Its timers have a precision of 1 millisecond [1]. Bananas are yellow [2]. See [3]."
    return "Tokio is the most used runtime [1]." if tokio else "Its code fits in one evening [2]."


def written(
    scripted: Any, runtime: Any, pages: list[Page], query: str = "", length: str | int = "medium"
) -> tuple[Digest, str]:
    pieces: list[str] = []
    found = digest(pages, query, "medium")
    models = Models(scripted, scripted)
    return write_digest(found, models, runtime.settings, pieces.append, length), "".join(pieces)


def test_each_page_and_all_are_summarised(model: Any, runtime: Any) -> None:
    found, streamed = written(model(summarise=about), runtime, PAGES)
    assert (found.method, found.model) == ("model", "scripted")
    assert found.text.strip() == streamed.strip()
    assert [source.text for source in found.sources] == [
        "Tokio is the most used runtime [1].",
        "",
        "Its code fits in one evening [2].",
    ]
    assert [(check.citation, check.support) for check in found.checks] == [(1, QUOTED), (2, NOT_FOUND)]
    assert [check.support for check in found.sources[2].checks] == [QUOTED]
    assert (found.out_of_range, found.usage.calls) == ((3,), 3)
    assert found.summary  # the pages' own sentences are there all the same


def test_model_is_told_that_a_page_is_an_archived_copy(model: Any, runtime: Any) -> None:
    scripted = model(summarise=about)
    found, _ = written(scripted, runtime, [PAGES[0]._replace(archived="2025-01-31")])
    assert "[1] Tokio — tokio.example, copy archived on 2025-01-31" in scripted.asked[0][1].messages[-1].content
    assert digest_as_json(found)["sources"][0]["archived"] == "2025-01-31"


def test_final_prompt_contains_the_summaries_of_single_pages(model: Any, runtime: Any) -> None:
    scripted = model(summarise=about)
    written(scripted, runtime, PAGES, "How precise are timers?", length="short")
    last = scripted.asked[-1][1].messages
    assert "two or three sentences" in last[0].content
    assert "(1)" in last[1].content
    assert "Smol (9)" in last[1].content
    assert "How precise are timers?" in last[1].content
    assert last[1].content.count("<untrusted-") == 1
    assert "The question" not in model_prompt(scripted, runtime)


def model_prompt(scripted: Any, runtime: Any) -> str:
    written(scripted, runtime, PAGES[:1])
    text: str = scripted.asked[-1][1].messages[-1].content
    return text


def test_one_page_is_summarised_once(model: Any, runtime: Any) -> None:
    scripted = model(summarise=about)
    found, _ = written(scripted, runtime, PAGES[:1], length=90)
    assert len(scripted.asked) == 1
    assert "at most 90 characters" in scripted.asked[0][1].messages[0].content
    assert (found.text.strip(), found.sources[0].text) == ("Tokio is the most used runtime [1].", "")


@pytest.mark.parametrize("pages", [PAGES, PAGES[:1]], ids=["several", "one"])
def test_digest_is_quoted_if_the_model_fails(model: Any, runtime: Any, pages: list[Page]) -> None:
    problem = ModelKeyError(server="llm.example", detail="wrong key")
    found, streamed = written(model(summarise=problem), runtime, pages)
    assert (found.method, found.text, streamed) == ("extractive", "", "")
    assert "quoting the pages" in found.warnings[-1]
    assert "llm.example" in found.warnings[-1]


def test_single_page_that_fails_gets_a_warning(model: Any, runtime: Any) -> None:
    def failing(prompt: Prompt) -> Any:
        text = prompt.messages[-1].content
        alone = "[2] Smol" in text and "[1] Tokio" not in text
        return RuntimeError("a fault") if alone else about(prompt)

    found, _ = written(model(summarise=failing), runtime, PAGES)
    assert found.method == "model"
    assert [bool(source.text) for source in found.sources] == [True, False, False]
    assert any("smol.example" in warning for warning in found.warnings)


def test_model_that_fails_for_every_page_gets_one_warning(model: Any, runtime: Any) -> None:
    late = [TimeoutError(), TimeoutError(), ModelTimeoutError(server="llm.example", seconds=1)]
    found, _ = written(model(summarise=late), runtime, PAGES)
    assert found.method == "extractive"
    assert [text.partition(":")[0] for text in found.warnings if "quoting" in text] == [
        "quoting the pages instead of writing a summary"
    ]


def test_private_question_of_a_summary_is_redacted_in_the_log(model: Any, runtime: Any) -> None:
    runtime.settings.environ["SLEUTH_HISTORY_ENABLED"] = "false"
    written(model(summarise=about), runtime, PAGES, "Is this runtime for me?")
    assert logs.safe("not valid: Is this runtime for me?") == "not valid: [hidden]"


def test_summary_that_is_cut_off_is_kept(model: Any, runtime: Any) -> None:
    problem = ModelUnavailableError(server="llm.example", detail="HTTP 503")
    found, _ = written(model(summarise="Tokio is BREAK quick", breaks=problem), runtime, PAGES[:1])
    assert (found.method, found.text.strip()) == ("model", "Tokio is")
    assert found.warnings[-1].startswith("the text is incomplete: ")


def test_json_form_has_text_and_quotes(model: Any, runtime: Any) -> None:
    found, _ = written(model(summarise=about), runtime, PAGES)
    document = json.loads(json.dumps(digest_as_json(found)))
    assert document["text"] == found.text
    assert document["citations"][0]["support"] == QUOTED
    assert document["sources"][2]["citations"][0]["evidence"]["text"] == "Its code fits in one evening"
    assert document["sources"][0]["summary"][0]["text"]
    plain = digest_as_json(digest(PAGES, "", "medium"))
    assert (plain["text"], plain["citations"], plain["method"]) == (None, [], "extractive")


def test_page_with_two_urls_is_summarised_once() -> None:
    page = PAGES[0]
    found = digest([page, page._replace(url=page.url.upper() + "#part")], "", "medium")
    assert [(source.citation, source.url) for source in found.sources] == [(1, page.url)]


def test_chinese_sentences_are_whole_and_joined_without_spaces() -> None:
    text = "评测共有约1.4万道选择题；随着模型变强，题目也越来越难。数据污染是指测试题出现在训练数据里。它会让分数虚高。"
    page = Page("https://a.cn/", text=text, markdown=text, layer="page")
    found = digest([page], "数据污染", 60)
    (overall,) = digest_parts(found, "plain")
    assert "。 " not in overall.replace("。 [", "")
    assert "选择题" not in overall or "越来越难" in overall
