"""`sleuth chat`: a conversation through a pipe and in a real terminal."""

import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from pytest_httpserver import HTTPServer

PROMPT = r"chat \(/help\) "


def talk(answered: Any, *lines: str, options: tuple[str, ...] = ()) -> Any:
    return answered("chat", *options, stdin="".join(f"{line}\n" for line in lines))


def test_questions_come_with_the_history(answered: Any, answerer: Any) -> None:
    done = talk(answered, "what is tokio", "", "and smol?", "最小的是哪个？")
    assert done.exit == 0
    assert done.out.count("Tokio is a fast runtime [1].") == 3
    assert [len(question.history) for question in answerer.asked] == [0, 2, 4]
    assert [message.content for message in answerer.asked[2].history[::2]] == ["what is tokio", "and smol?"]
    assert answerer.asked[2].text == "最小的是哪个？"


def test_switch_and_mode_reach_the_question(answered: Any, answerer: Any) -> None:
    done = talk(
        answered,
        *("a", "/search on", "b", "/mode chat", "c", "/search on", "d", "/search auto", "e", "/mode chat", "f"),
    )
    assert [question.search for question in answerer.asked] == ["auto", "auto", "off", "on", "auto", "on"]
    assert "error: in agent mode the model decides whether to search\nhint: to decide: /mode chat\n" in done.err
    ways = ["/mode chat, /search off" if question.search == "auto" else "/search off" for question in answerer.asked]
    assert [question.search_off for question in answerer.asked] == ways
    talk(answered, "x", options=("--search", "off"))
    assert answerer.asked[-1].search == "off"


def test_settings_show_the_switch_and_why_it_is_disabled(answered: Any) -> None:
    done = talk(answered, "/settings", "/mode chat", "/settings", options=("--rounds", "2"))
    first, second = done.out.split("Turns: 0  (/clear)\n")[:2]
    assert "Mode: agent  (/mode chat|agent)\nSearch: off (in agent mode the model decides)  (/search" in first
    assert "Model: none; answers quote the pages  (llm.model)\nRounds: 2  (ask.max_iterations)\n" in first
    assert "Mode: chat  (/mode chat|agent)\nSearch: off  (/search on|off|auto)\nProvider: auto  (/provider" in second


def test_every_answer_warns_of_a_citation_without_source(answered: Any, answerer: Any) -> None:
    answerer.more = {"out_of_range": (9,)}
    assert talk(answered, "a", "b").err.count("warning: there is no source for [9]") == 2


def test_missing_model_is_reported_once(sleuth: Any, httpserver: HTTPServer) -> None:
    found = [{"url": httpserver.url_for("/page"), "title": "Tokio", "content": "Tokio is a runtime."}]
    httpserver.expect_request("/search").respond_with_json({"results": found})
    done = sleuth("chat", stdin="what is tokio\nwhat is a runtime\n", SEARXNG_URL=httpserver.url_for(""))
    assert done.out.count("Extractive: ") == 2
    assert done.err.count("no model is configured") == 1
    assert done.err.count("sleuth config set llm.api_key -") == 1
    assert "model" not in sleuth("ask", "--extractive", "tokio", SEARXNG_URL=httpserver.url_for("")).err


def test_library_never_answers_a_web_question(sleuth: Any) -> None:
    sleuth.environ |= {"SEARXNG_URL": "http://127.0.0.1:1", "SLEUTH_WEBSEARCH_FALLBACK": "searxng,library"}
    asked, chatted = sleuth("ask", "searxng json format"), sleuth("chat", stdin="searxng json format\n")
    assert (asked.exit, "file:" in asked.out) == (6, False)
    assert "hint: " in asked.err
    assert "file:" not in chatted.out
    assert "SearXNG" in chatted.err


def test_provider_can_be_changed(answered: Any, answerer: Any) -> None:
    done = talk(
        answered,
        *("/provider nobody", "a", "/provider wikipedia, searxng", "b", "/provider ALL", "c"),
        *("/provider AUTO", "d", "/provider"),
    )
    chosen = [question.providers for question in answerer.asked]
    assert chosen == [(), ("wikipedia", "searxng"), ("all",), ("auto",)]
    assert "error: unknown provider 'nobody'" in done.err
    assert done.err.endswith("provider: auto\n")


def test_sources_are_those_of_the_last_answer(answered: Any, answerer: Any) -> None:
    done = talk(answered, "/sources", "a", "/sources", "/sources 1", "/sources 9", "/sources x\x1b[2J")
    assert done.err.startswith("error: there is no answer yet\nhint: ask a question first\n")
    listed = "Round 1\n[1] Tokio — tokio.rs\n    https://tokio.rs/a\n\nRound 2\n[2] Smol — smol.org\n"
    assert done.out.count(listed) == 2  # below the answer, and alone
    passage = "Tokio is a fast runtime\n…\nIts timers have a precision of 1 millisecond.\n"
    assert f"Tokio\nhttps://tokio.rs/a\n\n{passage}" in done.out
    assert "error: there is no source 9\n" in done.err
    assert "\x1b" not in done.err
    answerer.sources = (answerer.sources[0]._replace(url="file:///notes.md"),)
    assert "Tokio\nfile:///notes.md\n\n" in talk(answered, "a", "/sources 1").out
    answerer.sources = ()
    done = talk(answered, "a", "/sources", "/mode chat", "/sources")
    hint = "error: the last answer has no sources\nhint: to always search: {}/search on\n"
    assert hint.format("/mode chat, ") in done.err
    assert hint.format("") in done.err


def test_saving_does_not_overwrite_unless_forced(answered: Any, tmp_path: Path) -> None:
    file = tmp_path / "talk.md"
    done = talk(answered, f"/save {file}", "first", f"/save {file}", "a later one", f"/save {file}", "/save")
    assert "error: there is no answer yet" in done.err
    assert f"error: {file} exists already\nhint: to overwrite it: /save! {file}\n" in done.err
    assert "error: the file name is missing" in done.err
    text = file.read_text(encoding="utf-8")
    assert text.startswith("## first\n\nTokio is a fast runtime [[1]](https://tokio.rs/a).")
    assert "### References" in text
    assert "a later one" not in text
    talk(answered, "one", "two", f"/save! {file}")
    assert file.read_text(encoding="utf-8").count("\n## ") == 1
    assert file.stat().st_mode & 0o777 == 0o600
    assert "cannot write" in talk(answered, "one", f"/save {tmp_path / 'missing' / 'x.md'}").err


def test_clear_and_quit(answered: Any, answerer: Any) -> None:
    talk(answered, "a", "/clear", "b", "/quit", "never")
    assert [(question.text, question.history) for question in answerer.asked] == [("a", ()), ("b", ())]


def test_unknown_command_suggests_the_nearest_and_a_path_is_a_question(answered: Any, answerer: Any) -> None:
    done = talk(answered, "/sorces", "/xyzzy", "/etc/fstab what is it", "/help")
    assert "error: unknown command /sorces\nhint: did you mean /sources? For all commands: /help\n" in done.err
    assert "error: unknown command /xyzzy\nhint: for all commands: /help\n" in done.err
    assert [question.text for question in answerer.asked] == ["/etc/fstab what is it"]
    assert "/save! FILE overwrites" in done.out


def test_failed_question_does_not_end_the_conversation(answered: Any, answerer: Any) -> None:
    from sleuth.base.errors import SearchError

    answerer.raises = SearchError("nobody answered", "try again later")
    done = talk(answered, "a", "/settings")
    assert (done.exit, done.err) == (0, "error: nobody answered\nhint: try again later\n")
    assert "Turns: 0" in done.out


def test_searches_of_a_session_are_kept_in_memory(sleuth: Any, model: Any) -> None:
    sleuth.environ |= model.environ
    (sleuth.home / "cache").mkdir(parents=True)
    (sleuth.home / "cache" / "answers").write_text("no folder: nothing can be kept on disk")
    done = sleuth("chat", stdin="how small is smol\nhow small is smol really\n")
    assert done.out.count("References") == 2
    searches = [request for request, _ in model.server.log if request.path == "/search"]
    assert len(searches) == 1
    assert any("how small is smol" in message["content"] for message in model.prompts[-1][1:-1])


@pytest.fixture
def terminal(sleuth: Any, model: Any) -> Any:
    environ = sleuth.environ | model.environ | {"COLUMNS": "80", "LANG": "C.UTF-8"}
    child = pexpect.spawn(
        sys.executable, ["-m", "sleuth", "chat"], env=environ, encoding="utf-8", timeout=30, dimensions=(40, 80)
    )
    child.expect(PROMPT)
    yield child
    child.close(force=True)


def test_terminal_session_survives_an_interrupt(terminal: Any, model: Any, sleuth: Any, interrupt: Any) -> None:
    terminal.send("half a line")
    terminal.expect("half a line")
    interrupt(terminal)
    terminal.expect(PROMPT)
    model.pause.clear()
    model.text = "Smol is a small runtime [1].\n\nThis answer takes for ever."
    terminal.sendline("how small is smol")
    terminal.expect("small runtime")
    terminal.sendintr()
    terminal.expect("References")
    terminal.expect("stopped")
    terminal.expect(PROMPT)
    model.pause.set()
    terminal.sendline("最小的是哪个")
    terminal.expect("References")
    terminal.expect("scripted · 1 round")
    terminal.expect(PROMPT)
    terminal.sendline("/settings")
    terminal.expect("in agent mode the model decides")
    terminal.expect(r"Turns[^\r\n]*? 1 ")
    terminal.expect(PROMPT)
    terminal.sendeof()
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    history = sleuth.home / "state" / "chat_history"
    assert history.read_text(encoding="utf-8").splitlines() == ["how small is smol", "最小的是哪个", "/settings"]
    assert history.stat().st_mode & 0o777 == 0o600
