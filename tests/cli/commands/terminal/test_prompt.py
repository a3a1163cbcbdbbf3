"""`sleuth search -i` in a real terminal."""

import sys
import threading
import webbrowser
from pathlib import Path
from typing import Any

import pexpect
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

PROMPT = r"sleuth \(\? for help\) "


@pytest.fixture
def prompt(sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> Any:
    released = threading.Event()

    def answer(request: Request) -> Response:
        import json

        page, words = request.args.get("pageno", "1"), request.args["q"]
        if words == "endless":
            released.wait()
        hits = [{"url": f"https://a.example/{words}/{page}/{n}", "title": f"{words} p{page} r{n}"} for n in range(1, 7)]
        body = {"results": hits, "suggestions": ["first idea", "second idea"]}
        return Response(json.dumps(body), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    browser.chmod(0o755)
    environ = sleuth.environ | {"SEARXNG_URL": httpserver.url_for(""), "BROWSER": f"{browser} %s", "COLUMNS": "80"}
    environ |= {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    arguments = ["-m", "sleuth", "search", "-i", "-p", "searxng", "-n", "3", "rust"]
    child = pexpect.spawn(sys.executable, arguments, env=environ, encoding="utf-8", timeout=20, dimensions=(40, 80))
    child.opened = opened
    child.expect(PROMPT)
    yield child
    released.set()
    child.close(force=True)


def test_results_can_be_opened_after_the_prompt(sleuth: Any, prompt: Any) -> None:
    prompt.sendline("q")
    prompt.expect(pexpect.EOF)
    assert sleuth("open", "--print", "2").out == "https://a.example/rust/1/2\n"


def test_pages_are_not_fetched_offline(sleuth: Any, prompt: Any, httpserver: HTTPServer) -> None:
    prompt.sendline("q")
    prompt.expect(pexpect.EOF)
    words = ("search", "-i", "-p", "searxng", "-n", "3", "--offline", "rust")
    done = sleuth(*words, stdin="r 1\ns 1\nq\n", SEARXNG_URL=httpserver.url_for(""))
    assert done.err.count("offline, and the page is not in the cache") == 2


def test_a_range_opens_at_most_fifty_results(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = [{"url": f"https://a.example/{n}", "title": f"r{n}"} for n in range(1, 61)]
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    words = ("search", "-i", "-p", "searxng", "-n", "50", "rust")
    sleuth(*words, stdin="n\n1-60\nq\n", SEARXNG_URL=httpserver.url_for(""))
    assert opened == [f"https://a.example/{n}" for n in range(1, 51)]


def test_grammar_of_the_prompt(prompt: Any) -> None:
    assert "rust p1 r3" in prompt.before
    assert "rust p1 r4" not in prompt.before
    for line, expected in [
        ("p", "this is the first page"),
        ("n", "rust p1 r4"),
        ("n", "rust p2 r1"),
        ("p", "rust p1 r4"),
        ("c 5", "copied https://a.example/rust/1/5"),
        ("c 1", "copied https://a.example/rust/1/1"),
        ("x", "https://a.example/rust/1/4"),
        ("go generics", "go generics p1 r2"),
        ("+2", "second idea p1 r1"),
        ("+9", "there is no suggestion +9"),
        ("d n", "n p1 r1"),
        ("n", "n p1 r4"),
        ("f", "n p1 r1"),
        ("?", "next, previous, first page"),
        ("help", "next, previous, first page"),
        ("c", "for example: c 1"),
        ("9", "error: there is no result 9"),
        ("-3", "error: there is no result -3"),
        ("7-9999999999", "error: there is no result 7"),
        ("s 1", "could not read http"),
    ]:
        prompt.sendline(line)
        prompt.expect(PROMPT)
        assert expected in prompt.before.replace("\x1b[1m", "").replace("\x1b[0m", ""), line
    for line in ("1 2-3", "o 2", "3-2"):
        prompt.sendline(line)
        prompt.expect(PROMPT)
    assert prompt.opened.read_text().split() == [f"https://a.example/n/1/{n}" for n in (1, 2, 3, 2, 2, 3)]
    prompt.sendline("q")
    prompt.expect(pexpect.EOF)
    prompt.close()
    assert prompt.exitstatus == 0


def test_history_is_kept_private(prompt: Any, sleuth: Any) -> None:
    prompt.sendline("remember me")
    prompt.expect(PROMPT)
    prompt.sendeof()
    prompt.expect(pexpect.EOF)
    file = sleuth.home / "state" / "prompt_history"
    assert "remember me" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_interrupt_ends_the_prompt(prompt: Any, interrupt: Any) -> None:
    interrupt(prompt)
    prompt.expect(pexpect.EOF)
    assert "Traceback" not in prompt.before


def test_interrupt_discards_a_line_that_was_begun(prompt: Any, interrupt: Any) -> None:
    prompt.send("half a qu")
    prompt.expect("half a qu")
    interrupt(prompt)
    prompt.expect(PROMPT)
    prompt.sendline("whole")
    prompt.expect("whole p1 r1")


def test_end_of_the_results_is_said_without_a_request(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    environ = {"SEARXNG_URL": httpserver.url_for("")}
    done = sleuth("search", "-i", "-p", "searxng", "-n", "1", "x", stdin="n\nn\n", **environ)
    assert done.err.count("no more results") == 2


def test_url_is_copied_to_the_buffer_of_tmux(
    sleuth: Any, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    (tmp_path / "tmux").write_text(f"#!/bin/sh\n/bin/cat > {tmp_path}/copied\n")
    (tmp_path / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    environ = {"SEARXNG_URL": httpserver.url_for(""), "TMUX": "/tmp/tmux,1,0", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    sleuth("search", "-i", "-p", "searxng", "x", stdin="c 1\n", **environ)
    assert (tmp_path / "copied").read_text() == "https://a.example/"


def test_result_is_read_in_the_prompt(sleuth: Any, httpserver: HTTPServer) -> None:
    url = httpserver.url_for("/page")
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": url, "title": "A"}]})
    httpserver.expect_request("/page").respond_with_data(
        f"<title>A</title><body><p>{'The runtime polls its tasks. ' * 20}</p>", content_type="text/html"
    )
    environ = {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
    done = sleuth("search", "-i", "-p", "searxng", "x", stdin="r 1\n", **environ)
    assert "The runtime polls its tasks." in done.out


def test_interrupt_stops_a_search_and_not_the_prompt(prompt: Any) -> None:
    prompt.sendline("endless")
    prompt.expect("searxng … ")
    prompt.sendintr()
    prompt.expect("stopped")
    prompt.expect(PROMPT)
    prompt.sendline("other")
    prompt.expect("other p1 r1")
