"""`sleuth history`: past queries, and none where none are wanted."""

import io
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pexpect
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from sleuth.__main__ import run
from sleuth.base.files import locked
from sleuth.runtime import Runtime
from sleuth.store import journal_import

WORDS = "quetzalcoatl"


@pytest.fixture
def searxng(sleuth: Any, httpserver: HTTPServer) -> Any:
    """Sleuth with a SearXNG server that answers without saying the words again."""
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    httpserver.expect_request("/broken/search").respond_with_response(Response("<html>", content_type="text/html"))
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_DEFAULT_PROVIDER": "searxng"}
    return sleuth


class Person(io.StringIO):
    """Somebody at a terminal who types something."""

    def isatty(self) -> bool:
        return True


def ask(sleuth: Any, typed: str, *arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(Runtime(sleuth.environ, Person(typed), out, err), list(arguments))
    return int(code), out.getvalue(), err.getvalue()


def remains(home: Path, text: str = WORDS) -> list[str]:
    return [path.name for path in sorted(home.rglob("*")) if path.is_file() and text.encode() in path.read_bytes()]


def test_empty_history_is_a_note(sleuth: Any) -> None:
    done = sleuth("history")
    assert (done.exit, done.out) == (0, "")
    assert "the history is empty" in done.err
    assert sleuth("history", "--json").json == {"items": []}


@pytest.mark.parametrize("at", [1e300, -1e300])
def test_times_of_a_damaged_database_are_listed(searxng: Any, at: float) -> None:
    searxng("search", WORDS)
    searxng("history")
    with closing(sqlite3.connect(searxng.home / "data" / "sleuth.db")) as database, database:
        database.execute("UPDATE search SET at = ?", (at,))
    assert [item["query"] for item in searxng("history", "--json").json["items"]] == [WORDS]


def test_queries_are_listed_newest_first_one_per_line(searxng: Any) -> None:
    for words in ("rust async", "日本語 検索", "rust async"):
        searxng("search", words)
    searxng("search", "-q", "one", "-q", "two")
    assert searxng("history").out == "one | two\nrust async\n日本語 検索\nrust async\n"
    assert searxng("history", "-n", "1").out == "one | two\n"
    assert searxng("history", "ASYNC", "rust").out == "rust async\nrust async\n"
    done = searxng("history", "nothing", "like", "it")
    assert (done.exit, done.out) == (0, "")
    assert "no query contains all these words" in done.err


def test_json_has_the_result_of_each_search(searxng: Any) -> None:
    searxng("search", "rust")
    searxng("search", "rust")
    searxng("search", "-p", "searxng", "go", SEARXNG_URL="http://127.0.0.1:1")
    failed, cached, live = searxng("history", "--json").json["items"]
    assert (failed["query"], failed["outcome"], failed["results"]) == ("go", "failed", 0)
    assert (cached["cached"], live["cached"]) == (True, False)
    assert live["providers"] == ["searxng"]
    assert live["at"] <= cached["at"] <= failed["at"]
    assert set(live) == {"number", "at", "query", "providers", "outcome", "results", "elapsedMs", "cached"}


def test_terminal_shows_time_query_and_result(searxng: Any) -> None:
    searxng("search", "rust")
    searxng("search", "-p", "searxng", "go", SEARXNG_URL="http://127.0.0.1:1")
    done = searxng("history", terminal=True)
    first, second = done.out.splitlines()
    assert "go" in first
    assert "searxng · failed" in first
    assert "searxng · 1 result" in second


def test_batches_prompts_and_the_library_are_recorded_and_replays_are_not(searxng: Any, tmp_path: Path) -> None:
    searxng("search", "--batch", "-", "--ordered", "--jobs", "1", stdin="one\ntwo\n")
    searxng("search", "--offline", "three")
    searxng("search", "-i", "four", stdin="five\nq\n")
    searxng("search", "--record", str(tmp_path / "recording"), "six")
    searxng("search", "--replay", str(tmp_path / "recording"), "six")
    assert searxng("history").out.split() == ["six", "five", "four", "three", "two", "one"]


def test_control_characters_of_a_query_are_removed(sleuth: Any) -> None:
    sleuth("search", "--offline", "a\x1b[31mb\u202ec <script>")
    assert sleuth("history").out == "a[31mbc <script>\n"


# Forgetting


def test_clear_erases_queries_from_all_files_and_keeps_the_counts(searxng: Any) -> None:
    (searxng.home / "state").mkdir(parents=True)
    (searxng.home / "state" / "prompt_history").write_text(f"{WORDS}\n")
    for number in range(30):
        searxng("search", WORDS, str(number))
    searxng("usage")
    searxng("search", WORDS, "noted")
    searxng("search", WORDS, "noted")
    assert remains(searxng.home)
    done = searxng("history", "--clear", "--yes")
    assert (done.exit, done.out, done.err) == (0, "deleted 32 queries and 1 prompt line\n", "")
    assert remains(searxng.home) == []
    assert searxng("history", "--json").json == {"items": []}
    assert searxng("usage", "--json").json["searches"]["total"] == 32


def test_clear_with_words_deletes_only_those(searxng: Any) -> None:
    searxng("search", WORDS)
    searxng("search", "rust")
    done = searxng("history", "--clear", "--yes", "--json", WORDS[:5])
    assert done.json == {"queries": 1, "promptLines": 0}
    assert searxng("history").out == "rust\n"
    assert remains(searxng.home) == []


def test_clear_fails_on_a_damaged_database_and_says_how_to_repair_it(searxng: Any) -> None:
    searxng("search", WORDS)
    searxng("history")  # moves the query to the database
    database = searxng.home / "data" / "sleuth.db"
    database.write_bytes(damaged := b"SQLite format 3\0" + b"\xff" * 20_000)
    for words in ((), (WORDS,)):
        done = searxng("history", "--clear", "--yes", *words)
        assert (done.exit, done.out) == (2, "")
        assert "sleuth.db is damaged" in done.err
        assert "hint: see how to repair it: sleuth doctor" in done.err
    assert database.read_bytes() == damaged


def test_clear_erases_damaged_files(searxng: Any) -> None:
    searxng("search", WORDS)
    state = searxng.home / "state"
    (state / "last-results.json").write_text(f'[["{WORDS}", ')
    (state / "opened.json").write_text("{")
    (state / "prompt_history").write_bytes(b"\xff" + WORDS.encode())
    with (state / "searches.jsonl").open("a") as journal:
        journal.write(f'\n{{"at":1,"query":"{WORDS}')
    assert searxng("history", "--clear", "--yes").exit == 0
    assert remains(searxng.home) == []


def test_clear_asks_for_confirmation(searxng: Any) -> None:
    searxng("search", "rust")
    done = searxng("history", "--clear")
    assert done.exit == 2
    assert done.err == "error: not a terminal; nothing was changed\nhint: to confirm, add --yes\n"
    code, out, err = ask(searxng, "n\n", "history", "--clear")
    assert (code, out) == (2, "")
    assert "Delete 1 query and the prompt history?" in err
    assert searxng("history").out == "rust\n"
    code, out, _ = ask(searxng, "y\n", "history", "--clear")
    assert (code, out) == (0, "deleted 1 query and 0 prompt lines\n")
    assert searxng("history").out == ""


def test_clear_works_on_an_empty_history(sleuth: Any) -> None:
    assert sleuth("history", "--clear", "--yes").exit == 0


def test_clear_fails_while_the_journal_is_locked(searxng: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    searxng("search", "rust")
    monkeypatch.setattr(journal_import, "locked", lambda path, _: locked(path, 0))
    with locked(str(searxng.home / "state" / "searches.jsonl.lock")):
        done = searxng("history", "--clear", "--yes")
    assert done.exit == 2
    assert "locked" in done.err
    assert searxng("history").out == "rust\n"


def test_clear_warns_while_another_process_reads(searxng: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sleuth.store import database as module

    searxng("search", "rust")
    searxng("usage")
    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.02)
    with closing(sqlite3.connect(searxng.home / "data" / "sleuth.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM search").fetchone()
        done = searxng("history", "--clear", "--yes")
    assert done.exit == 0
    assert "clear again" in done.err


# Keeping none


def test_nothing_is_recorded_when_the_history_is_off(searxng: Any, httpserver: HTTPServer) -> None:
    environ = {"SLEUTH_HISTORY_ENABLED": "false"}
    for _ in range(2):
        assert searxng("search", "--json", WORDS, **environ).json["results"]
    searxng("search", "--debug", WORDS, "--no-cache", SEARXNG_URL=httpserver.url_for("/broken"), **environ)
    searxng("search", "--batch", "-", stdin=f"{WORDS} batch\n", **environ)
    searxng("search", "--offline", WORDS, **environ)
    assert remains(searxng.home) == []
    done = searxng("history", **environ)
    assert (done.out, done.err) == ("", "note: the history is off: history.enabled is false\n")
    assert searxng("usage", "--json").json["searches"]["total"] == 5
    assert remains(searxng.home) == []


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_prompt_history_follows_the_setting(searxng: Any, enabled: str) -> None:
    environ = searxng.environ | {"SLEUTH_HISTORY_ENABLED": enabled}
    child = pexpect.spawn(sys.executable, ["-m", "sleuth", "search", "-i", "rust"], env=environ, timeout=20)
    child.expect("for help")
    child.sendline(WORDS)
    child.expect("for help")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    kept = ["last-results.json", "prompt_history", "searches.jsonl"] if enabled == "true" else []
    assert remains(searxng.home) == kept


def test_log_has_no_queries_even_after_a_crash(searxng: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sleuth_providers.adapters.searxng import SearXNG

    def fail(self: Any, query: Any, *_: Any) -> None:
        raise ValueError(f"cannot read {query.text!r}")

    monkeypatch.setattr(SearXNG, "request", fail)
    searxng("search", WORDS, SLEUTH_HISTORY_ENABLED="false")
    assert remains(searxng.home, "cannot read '[hidden]'") == ["sleuth.log"]
    assert remains(searxng.home) == []
