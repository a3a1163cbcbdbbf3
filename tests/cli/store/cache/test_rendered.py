"""Rendered answers are printed again as long as nothing they depend on has changed."""

import io
import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth.base.paths import find_paths
from sleuth.commands.fast import parser
from sleuth.store.cache import rendered

HITS = [
    {"url": f"https://example.org/{number}", "title": f"第{number} hit", "content": "About rust.", "engines": ["x"]}
    for number in range(1, 4)
]
SEARCH = ("search", "-p", "searxng", "--json", "rust", "async")


@pytest.fixture
def served(httpserver: HTTPServer, sleuth: Any) -> HTTPServer:
    httpserver.expect_request("/search").respond_with_json({"results": HITS, "unresponsive_engines": []})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return httpserver


@pytest.fixture
def print_rendered(sleuth: Any) -> Callable[..., tuple[str, str] | None]:
    """Return the rendered answer to a command line, or None."""

    def run(*arguments: str, **environ: str) -> tuple[str, str] | None:
        out, err = io.StringIO(), io.StringIO()
        found = parser.print_rendered(parser.CommandLine(list(arguments)), sleuth.environ | environ, out, err)
        return (out.getvalue(), err.getvalue()) if found else None

    return run


def search_twice(sleuth: Any, *arguments: str) -> Any:
    """Search twice: the second answer comes from the cache and is saved as rendered."""
    sleuth(*arguments)
    done = sleuth(*arguments)
    assert done.exit == 0
    return done


def without_times(text: str) -> str:
    return re.sub(r'"(elapsedMs|ageSeconds)": \d+|cached \d+ s ago', "", text)


FORMATS = ("json", "plain", "markdown", "csv", "urls", "ndjson", "rich")


@pytest.mark.parametrize("format", FORMATS)
def test_rendered_answer_is_the_output_of_a_cached_search(
    sleuth: Any, served: HTTPServer, print_rendered: Any, format: str
) -> None:
    line = ("search", "-p", "searxng", "-n", "2", "-f", format, "rust")
    assert print_rendered(*line) is None
    written = search_twice(sleuth, *line)
    out, err = map(without_times, print_rendered(*line))
    assert (out, err) == (without_times(written.out), without_times(written.err))
    assert len(served.log) == 1


def test_age_is_that_of_the_answer_now(
    sleuth: Any, served: HTTPServer, print_rendered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    search_twice(sleuth, *SEARCH)
    rich = ("search", "-p", "searxng", "-f", "rich", "rust", "async")
    search_twice(sleuth, *rich)
    monkeypatch.setattr(time, "time", lambda: now + 100)
    document = json.loads(print_rendered(*SEARCH)[0])
    assert (document["cached"], document["ageSeconds"]) == (True, 100)
    assert "cached 2 min ago" in print_rendered(*rich)[1]


def test_age_of_three_minutes_does_not_break_a_word(
    sleuth: Any, served: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    monkeypatch.setenv("COLUMNS", "27")
    line = ("search", "-p", "searxng", "-f", "rich", "rust")
    search_twice(sleuth, *line)
    monkeypatch.setattr(time, "time", lambda: now + 13 * 60)
    out, err = io.StringIO(), io.StringIO()
    command_line = parser.CommandLine(list(line))
    assert parser.print_rendered(command_line, sleuth.environ, out, err)
    assert max(map(len, err.getvalue().splitlines())) <= 27


def test_expired_answer_is_not_printed(
    sleuth: Any, served: HTTPServer, print_rendered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    search_twice(sleuth, *SEARCH)
    monkeypatch.setattr(time, "time", lambda: now + 15 * 60)
    assert print_rendered(*SEARCH) is None
    monkeypatch.setattr(time, "time", lambda: now - 60)  # the clock was set back
    assert print_rendered(*SEARCH) is None


CHANGES: dict[str, Callable[[Any, Path], object]] = {
    "setting": lambda sleuth, home: sleuth("config", "set", "websearch.max_results", "3"),
    "provider": lambda sleuth, home: sleuth("providers", "set", "searxng", "--engines", "bing"),
    "default": lambda sleuth, home: sleuth("providers", "use", "wikipedia"),
    "rules": lambda sleuth, home: (
        (home / "config").mkdir(exist_ok=True)
        or (home / "config" / "rules.txt").write_text("$discard,site=example.org\n")
    ),
    "cache cleared": lambda sleuth, home: sleuth("cache", "clear"),
    "refreshed": lambda sleuth, home: sleuth("search", "-p", "searxng", "--refresh", "rust", "async"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_answer_is_not_printed_after_a_change(
    sleuth: Any, served: HTTPServer, print_rendered: Any, change: str
) -> None:
    search_twice(sleuth, *SEARCH)
    assert print_rendered(*SEARCH)
    CHANGES[change](sleuth, sleuth.home)
    assert print_rendered(*SEARCH) is None


@pytest.mark.parametrize("format", ["json", "ndjson", "plain", "rich"])
def test_placeholder_in_a_result_is_not_taken_for_the_age(
    sleuth: Any, httpserver: HTTPServer, print_rendered: Any, format: str
) -> None:
    hit = {"url": "https://example.org/", "title": rendered.AGE, "content": f"{rendered.AGE} {rendered.AGE_IN_JSON}"}
    httpserver.expect_request("/search").respond_with_json({"results": [hit]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    line = ("search", "-p", "searxng", "-f", format, "rust")
    fetched = sleuth(*line)
    sleuth(*line)
    out, err = print_rendered(*line)
    times = r'"(elapsedMs|ageSeconds)": (\d+|null)|"cached": \w+'
    assert re.sub(times, "", out) == re.sub(times, "", fetched.out)
    assert rendered.AGE not in out + err


def test_another_environment_is_another_answer(sleuth: Any, served: HTTPServer, print_rendered: Any) -> None:
    search_twice(sleuth, *SEARCH)
    assert print_rendered(*SEARCH)
    for name, value in {
        "SEARXNG_URL": "http://127.0.0.1:2",
        "SLEUTH_WEBSEARCH_MAX_RESULTS": "2",
        "LC_ALL": "zh_CN.UTF-8",
        "BRAVE_API_KEY": "a-key-made-up",
        "NO_COLOR": "1",
    }.items():
        assert print_rendered(*SEARCH, **{name: value}) is None, name
    assert print_rendered(*SEARCH, EDITOR="vi")


@pytest.mark.parametrize(
    "option",
    ["--no-cache", "--refresh", "--offline", "--content", "--recent", "--freshness=day", "-o=x", "-j", "-i"],
)
def test_options_without_a_stable_answer_run_the_search(
    sleuth: Any, served: HTTPServer, print_rendered: Any, option: str
) -> None:
    search_twice(sleuth, *SEARCH)
    assert print_rendered(*SEARCH, *option.split("=")) is None


def test_answers_with_a_warning_or_without_results_are_not_saved(sleuth: Any, httpserver: HTTPServer) -> None:
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    folder = sleuth.home / "cache" / "rendered"
    httpserver.expect_ordered_request("/search").respond_with_json({"results": []})
    httpserver.expect_ordered_request("/search").respond_with_json({"results": HITS})
    search_twice(sleuth, "search", "-p", "searxng", "nothing")
    search_twice(sleuth, "search", "-p", "searxng", "something " * 100)
    assert not folder.exists()


def test_nothing_is_saved_without_history(sleuth: Any, served: HTTPServer) -> None:
    sleuth.environ["SLEUTH_HISTORY_ENABLED"] = "false"
    search_twice(sleuth, *SEARCH)
    assert not (sleuth.home / "cache" / "rendered").exists()


def test_secrets_of_the_environment_are_not_saved(sleuth: Any, served: HTTPServer) -> None:
    sleuth.environ |= {"TAVILY_API_KEY": "tvly-hush", "SLEUTH_LLM_API_KEY": "sk-hush"}
    search_twice(sleuth, *SEARCH)
    kept = [file.read_text() for file in (sleuth.home / "cache" / "rendered").iterdir()]
    assert kept
    assert not any("hush" in text for text in kept)
    sleuth.environ["SLEUTH_CACHE_URL"] = "redis://user:hush@127.0.0.1:1/0"
    assert rendered.make_key({"words": ("rust",)}, sleuth.environ, io.StringIO(), io.StringIO()) is None


def test_saved_answers_are_private_and_limited(
    sleuth: Any, served: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendered, "MAX_ANSWERS", 3)
    for word in "abcdef":
        search_twice(sleuth, "search", "-p", "searxng", word)
    folder = sleuth.home / "cache" / "rendered"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert len(files) == 3
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)


@pytest.mark.parametrize("place", [0, 30, 300, -1])
def test_damaged_file_is_ignored_and_replaced(sleuth: Any, served: HTTPServer, print_rendered: Any, place: int) -> None:
    search_twice(sleuth, *SEARCH)
    (file,) = (sleuth.home / "cache" / "rendered").iterdir()
    data = bytearray(file.read_bytes())
    data[place] ^= 0x15
    file.write_bytes(data)
    assert print_rendered(*SEARCH) is None
    file.write_bytes(b"\x00\xff" * 50)
    assert print_rendered(*SEARCH) is None
    assert sleuth(*SEARCH).json["cached"] is True
    assert print_rendered(*SEARCH)
    file.chmod(0o666)
    assert print_rendered(*SEARCH) is None
    file.unlink()
    os.mkfifo(file)
    assert print_rendered(*SEARCH) is None


def test_real_process_prints_it_without_importing_the_engine(sleuth: Any, served: HTTPServer) -> None:
    for _ in range(3):
        done = sleuth.process(*SEARCH)
    assert done.json["cached"] is True
    code = (
        "import sys; before = set(sys.modules); from sleuth.__main__ import main; code = main(); "
        "print(code, *set(sys.modules) - before, file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, *SEARCH], env=sleuth.environ, capture_output=True, text=True, timeout=60
    )
    assert json.loads(run.stdout)["results"] == done.json["results"]
    status, *imported = run.stderr.split()
    assert status == "0"
    assert not {"typing", "re", "json", "hashlib", "sqlite3", "typer", "sleuth.runtime"} & set(imported)
    assert len(served.log) == 1


def test_answers_of_another_home_are_not_printed(sleuth: Any, served: HTTPServer, print_rendered: Any) -> None:
    search_twice(sleuth, *SEARCH)
    assert find_paths(sleuth.environ).rendered.startswith(str(sleuth.home))
    assert print_rendered(*SEARCH, SLEUTH_HOME=os.path.join(str(sleuth.home), "other")) is None
