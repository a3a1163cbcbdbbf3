"""`sleuth ask`: words in, an answer with citations out, in every format and whatever goes wrong."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from jsonschema import Draft202012Validator

from sleuth.answers.answer import Round
from sleuth.base.errors import SearchError
from sleuth.serving.schemas import ASK_ANSWER

PLAIN = (
    "Tokio is a fast runtime [1]. Its timers have a precision of 5 nanoseconds [1?]. Bananas are yellow fruit [2??].\n"
)
LIST = "\nReferences\nRound 1\n[1] Tokio — tokio.rs\n    https://tokio.rs/a\n\nRound 2\n[2] Smol — smol.org\n    https://smol.org/b\n"
TALLY = "note: citations: 1 quoted, 1 weak, 1 not found\n"


def test_words_form_one_question_and_the_answer_is_plain_in_a_pipe(answered: Any, answerer: Any) -> None:
    done = answered("ask", "which", "runtime", "is", "fast")
    assert (done.exit, done.out, done.err) == (0, PLAIN + LIST, TALLY)
    assert answerer.asked[0].text == "which runtime is fast"
    assert answerer.asked[0].search == "auto"


@pytest.mark.parametrize("words", [(), ("-",)])
def test_question_may_come_from_a_pipe(answered: Any, answerer: Any, words: tuple[str, ...]) -> None:
    answered("ask", *words, stdin="which runtime\nis fast?\n")
    assert answerer.asked[0].text == "which runtime\nis fast?"


def test_options_reach_the_question(answered: Any, answerer: Any) -> None:
    options = (
        "--search on -p searxng,brave --rounds 2 --pages 4 --lang de_ch --region ch --offline --timeout 9 --refresh"
    )
    answered("ask", *options.split(), "--extractive", "x")
    asked = answerer.asked[0]
    assert (asked.search, asked.providers, asked.rounds, asked.pages) == ("on", ("searxng", "brave"), 2, 4)
    assert (asked.lang, asked.region, asked.offline, asked.timeout) == ("de-CH", "CH", True, 9.0)
    assert (asked.cache, asked.extractive) == ("refresh", True)
    answered("ask", "--no-cache", "x")
    assert answerer.asked[1].cache == "off"


def test_json_follows_the_published_schema(answered: Any) -> None:
    done = answered("ask", "--json", "x")
    Draft202012Validator(ASK_ANSWER).validate(done.json)
    assert [one["support"] for one in done.json["citations"]] == ["quote_found", "weak", "not_found"]
    assert [one["citation"] for one in done.json["references"]] == [1, 2]
    assert done.err == ""


def test_sources_are_opened_by_the_numbers_of_the_answer(answered: Any, answerer: Any) -> None:
    answered("ask", "which runtime is fast")
    assert answered("open", "--print", "2").out == "https://smol.org/b\n"
    assert answered("again", "--json").json["query"] == "which runtime is fast"
    answerer.more = {"searched": False, "sources": ()}
    answered("ask", "--search", "off", "x")
    assert answered("open", "--print", "1").out == "https://tokio.rs/a\n"


@pytest.mark.parametrize(("options", "asked"), [("", ()), ("-p searxng,brave --offline", ("searxng,brave",))])
def test_question_of_an_answer_can_be_searched_for_but_its_sources_have_no_next_page(
    options: str, asked: tuple[str, ...], answered: Any, answerer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered("ask", "--lang", "de", *options.split(), "which runtime is fast")
    done = answered("again", "--page", "2")
    error = "the sources of an answer have no further pages", "to search for the question: sleuth again --refresh"
    assert (done.exit, done.err) == (2, "error: {}\nhint: {}\n".format(*error))
    searches: list[Any] = []
    monkeypatch.setattr("sleuth.commands.again.search", lambda _, given: searches.append(given) or 0)
    assert answered("again", "--refresh").exit == answered("again", "--page", "1").exit == 0
    assert [(one.providers, one.language, one.offline) for one in searches] == [
        (asked, "de", False),
        (asked, "de", bool(options)),
    ]


def test_schema_is_published(sleuth: Any) -> None:
    done = sleuth("tool-schema", "--tool", "ask", "--style", "json-schema")
    assert done.json["properties"] == ASK_ANSWER["properties"]


def test_markdown_has_links_and_goes_into_a_file(answered: Any, tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    done = answered("ask", "-f", "markdown", "-o", str(file), "x")
    assert (done.exit, done.out) == (0, "")
    text = file.read_text(encoding="utf-8")
    assert "runtime [[1]](https://tokio.rs/a)." in text
    assert "### Round 2\n\n- \\[2\\] [Smol](https://smol.org/b) — smol.org\n" in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_terminal_gets_hyperlinks_and_a_footer(answered: Any) -> None:
    done = answered("ask", "x", terminal=True)
    assert ";https://tokio.rs/a\x1b\\" in done.out
    assert "m-1 · 1 round · 2 pages · 1,200 tokens · $0.0012 · 1.2 s · citations: 1 quoted, 1 weak, 1 not found" in (
        " ".join(done.err.split())
    )
    done = answered("ask", "-f", "rich", "x")
    assert "\x1b" not in done.out
    assert done.out.startswith("Tokio is a fast runtime [1].")


def test_progress_is_a_line_on_a_terminal_or_json(answered: Any) -> None:
    line = answered("ask", "x", progress=True).err
    assert line.startswith("\r\x1b[KSearching\r\x1b[K")
    events = [json.loads(line) for line in answered("ask", "--progress", "json", "--json", "x").err.splitlines()]
    assert [event["event"] for event in events] == ["web_search_start", "web_search_complete"]
    assert events[1] == {
        "event": "web_search_complete",
        "iteration": 1,
        "query": "q",
        "counts": {"sources": 2},
        "message": "Found",
    }
    assert "Searching" not in answered("ask", "--progress", "none", "x", progress=True).err


def test_all_sources_are_listed_if_none_is_cited(answered: Any, answerer: Any) -> None:
    answerer.text = "No number."
    assert "\nSources\nRound 1\n[1] Tokio" in answered("ask", "x").out


def test_number_without_a_source_is_reported(answered: Any, answerer: Any) -> None:
    answerer.text, answerer.more = "Fast [1] [7].", {"out_of_range": (7,), "warnings": ("a page failed",)}
    done = answered("ask", "x")
    assert "[7]." in done.out
    assert done.err.startswith("warning: a page failed\nwarning: there is no source for [7]\n")


def test_extractive_answer_is_labelled(answered: Any, answerer: Any) -> None:
    answerer.more = {"method": "extractive", "model": ""}
    assert answered("ask", "x").out.startswith("Extractive: quoted from the pages\n\n")


def test_exit_status_is_7_if_nothing_was_found(answered: Any, answerer: Any) -> None:
    assert answered("ask", "--exit-status", "x").exit == 0
    answerer.sources = ()
    assert answered("ask", "--exit-status", "x").exit == 7
    answerer.more = {"rounds": (Round(1, "x", outcome="failed"),)}
    assert answered("ask", "--exit-status", "x").exit == 6, "the search did not find nothing, it failed"
    assert answered("ask", "x").exit == 0
    answerer.more = {"searched": False, "rounds": ()}
    assert answered("ask", "--exit-status", "x").exit == 0


def test_option_without_a_search_is_named_as_in_the_handbook(answered: Any) -> None:
    done = answered("ask", "--search", "off", "--lang", "de", "x")
    assert (done.exit, done.err) == (2, "error: --lang needs a search\nhint: omit --search off\n")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        ((), ""),
        (("-",), " \n"),
        (("--search", "maybe", "x"), ""),
        (("--rounds", "0", "x"), ""),
        (("--lang", "q", "x"), ""),
        (("--search", "off", "--timeout", "2", "x"), ""),
        (("--search", "off", "-p", "brave", "x"), ""),
        ((), "x" * 200_000),
    ],
)
def test_invalid_command_lines_are_errors(answered: Any, words: tuple[str, ...], stdin: str) -> None:
    done = answered("ask", *words, stdin=stdin)
    assert (done.exit, done.out) == (2, "")
    assert "hint: " in done.err


def test_error_goes_to_stderr_as_text_or_json(answered: Any, answerer: Any) -> None:
    answerer.raises = SearchError("nobody answered", "try again later", code="TIMEOUT")
    done = answered("ask", "x")
    assert (done.exit, done.out, done.err) == (6, "", "error: nobody answered\nhint: try again later\n")
    assert json.loads(answered("ask", "--json", "x").err)["error"]["code"] == "TIMEOUT"


def test_interrupt_keeps_the_text_so_far(answered: Any, answerer: Any) -> None:
    answerer.raises = KeyboardInterrupt()
    done = answered("ask", "x", terminal=True)
    assert done.exit == 130
    assert "Bananas are yellow fruit" in done.out[-1000:]
    assert done.err == "\nerror: interrupted\n"
    assert answered("ask", "x").out == ""


@pytest.mark.parametrize("format", ["rich", "plain", "markdown", "json"])
def test_hostile_answer_cannot_control_a_terminal(answered: Any, answerer: Any, format: str) -> None:
    answerer.text = "a\x1b[31m\x1b]52;c;aGk=\x07\u202e\x9b2J [/bar] [1]\n\n```\nendless \x1b[2J"
    out = answered("ask", "-f", format, "x").out
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)
    assert "[/bar]" in out


def test_real_answer_from_question_to_references(sleuth: Any, model: Any) -> None:
    sleuth.environ |= model.environ
    done = sleuth("ask", "--progress", "json", "how", "small", "is", "smol")
    assert done.out.startswith("Smol is a small runtime [1]. It has 9 lines [1?].\n\nReferences\n[1] Smol — ")
    names = [json.loads(line)["event"] for line in done.err.splitlines() if line.startswith("{")]
    assert names[:3] == ["web_search_analysing", "web_search_start", "web_search_iteration"]
    assert set(names) >= {"web_search_fetching", "web_search_extracting", "web_search_reflecting"}
    assert names[-1] == "web_search_complete"
    found = sleuth("ask", "--json", "--extractive", "how small is smol").json
    assert (found["method"], found["model"]) == ("extractive", None)


def test_ctrl_c_stops_an_answer_and_leaves_it_on_the_screen(sleuth: Any, model: Any) -> None:
    model.pause.clear()
    model.text = "Smol is a small runtime [1].\n\nIt never ends, this answer about it."
    environ = sleuth.environ | model.environ | {"COLUMNS": "80"}
    child = pexpect.spawn(sys.executable, ["-m", "sleuth", "ask", "smol"], env=environ, encoding="utf-8", timeout=30)
    child.expect("small runtime")
    child.sendintr()
    child.expect("interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_deep_check_has_the_model_judge_what_is_not_quoted(sleuth: Any, model: Any) -> None:
    sleuth.environ |= model.environ
    ask = ("ask", "--search", "on", "--rounds", "1", "--json", "smol")
    assert [one["support"] for one in sleuth(*ask).json["citations"]] == ["quote_found", "weak"]
    assert [one["support"] for one in sleuth(*ask, "--deep").json["citations"]] == ["quote_found", "supported"]
    model.support = "no"
    assert [one["support"] for one in sleuth(*ask, "--deep").json["citations"]] == ["quote_found", "not_found"]
