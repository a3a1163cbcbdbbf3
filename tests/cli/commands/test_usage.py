"""`sleuth usage`: every request is counted, and the report is readable on any terminal."""

import io
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.render.usage import render
from sleuth.runtime import Runtime
from sleuth.store.database import open_database
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.usage import AnswerTotals, Day, Searches, Tally, UsageReport

ANSWER = {"results": [{"url": "https://a.example/", "title": "A"}]}


@pytest.fixture
def searxng(sleuth: Any, httpserver: HTTPServer) -> Any:
    """Sleuth with a SearXNG server that answers."""
    httpserver.expect_request("/search").respond_with_json(ANSWER)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return sleuth


def counted(sleuth: Any, *arguments: str) -> Any:
    done = sleuth("usage", "--json", *arguments)
    assert done.exit == 0, done.err
    return done.json


def tallies(sleuth: Any) -> dict[str, dict[str, int]]:
    return {entry["provider"]: entry["states"] for entry in counted(sleuth)["providers"]}


def test_no_usage_is_a_note(sleuth: Any) -> None:
    done = sleuth("usage")
    assert (done.exit, done.out) == (0, "")
    assert "sleuth search" in done.err
    assert counted(sleuth)["requests"]["total"] == 0


def test_live_and_cached_searches_are_counted(searxng: Any) -> None:
    for _ in range(3):
        searxng("search", "-p", "searxng", "rust")
    document = counted(searxng)
    assert document["searches"]["total"] == 3
    assert document["searches"]["cached"] == 2
    (entry,) = document["providers"]
    assert (entry["provider"], entry["total"], entry["answered"], entry["cacheHits"]) == ("searxng", 1, 1, 2)
    assert entry["cacheHitRate"] == pytest.approx(2 / 3, abs=1e-4)
    assert document["days"][-1]["requests"] == 1
    assert document["days"][-1]["cacheHits"] == 2
    assert len(document["days"]) == 30


def test_cached_search_does_not_write_to_the_database(searxng: Any) -> None:
    searxng("search", "-p", "searxng", "rust")
    database = searxng.home / "data" / "sleuth.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = database.read_bytes()
    assert searxng("search", "-p", "searxng", "--json", "rust").json["cached"]
    assert database.read_bytes() == before
    wal = database.with_name("sleuth.db-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_batch_failures_library_and_trials_are_counted(searxng: Any, httpserver: HTTPServer) -> None:
    searxng("search", "--batch", "-", "-p", "searxng", stdin="one\ntwo\none more\n")
    searxng("search", "--offline", "searxng")
    searxng("providers", "test", "searxng")
    searxng("search", "-p", "searxng", "lost", SEARXNG_URL="http://127.0.0.1:1")
    assert tallies(searxng) == {"searxng": {"ok": 4, "unreachable": 1}, "library": {"ok": 1}}
    assert counted(searxng)["searches"]["outcomes"] == {"success": 4, "partial": 0, "no_results": 0, "failed": 1}


def test_estimated_cost_is_counted(sleuth: Any, httpserver: HTTPServer) -> None:
    page = {"web": {"results": [{"url": "https://a.example/", "title": "A"}]}}
    httpserver.expect_request("/res/v1/web/search").respond_with_json(page)
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "env:BRAVE_API_KEY")
    sleuth("search", "-p", "brave", "rust", BRAVE_API_KEY="key-of-brave")
    document = counted(sleuth)
    assert document["currency"] == "USD"
    assert document["cost"] == document["providers"][0]["cost"] == document["days"][-1]["cost"] == 0.005
    assert "$0.0050" in sleuth("usage").out


def test_requests_with_rejected_keys_are_counted(sleuth: Any, httpserver: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        good = request.headers["X-Subscription-Token"] == "good-key-00"
        return Response('{"web": {"results": []}}' if good else "{}", 200 if good else 401)

    httpserver.expect_request("/res/v1/web/search").respond_with_handler(answer)
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "env:BRAVE_API_KEY")
    sleuth("search", "-p", "brave", "rust", BRAVE_API_KEY="bad-key-000,good-key-00")
    sleuth("search", "-p", "brave", "go", BRAVE_API_KEY="bad-key-001,bad-key-002")
    assert tallies(sleuth) == {"brave": {"empty": 1, "key_invalid": 3}}


def test_abandoned_request_is_counted(sleuth: Any, lone_server: HTTPServer) -> None:
    released = threading.Event()

    def late(_: Request) -> Response:
        released.wait()
        return Response('{"results": []}', content_type="application/json")

    lone_server.expect_request("/slow/search").respond_with_handler(late)
    lone_server.expect_request("/fast/search").respond_with_json(ANSWER)
    for name in ("slow", "fast"):
        sleuth("providers", "add", "--adapter", "searxng", "--id", name, "--api-host", lone_server.url_for(f"/{name}"))
    with closing(open_database(str(sleuth.home / "data" / "sleuth.db"), MIGRATIONS)) as connection:
        for _ in range(5):  # slow is known to be quick
            connection.execute("INSERT INTO request (provider, at, state, elapsed_ms) VALUES ('slow', 5, 'ok', 20)")
    done = sleuth("search", "--json", "rust", SLEUTH_WEBSEARCH_FALLBACK="slow,fast")
    released.set()
    assert done.json["provider"] == "fast"
    assert tallies(sleuth) == {"slow": {"skipped": 1}, "fast": {"ok": 1}}


def test_interrupted_request_is_counted(sleuth: Any, lone_server: HTTPServer) -> None:
    arrived, over = threading.Event(), threading.Event()

    def never(_: Request) -> Response:
        arrived.set()
        over.wait()
        return Response("{}")

    lone_server.expect_request("/search").respond_with_handler(never)
    environ = sleuth.environ | {"SEARXNG_URL": lone_server.url_for("")}
    command = [sys.executable, "-m", "sleuth", "search", "-p", "searxng", "--timeout", "30", "rust"]
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as process:
        assert arrived.wait(60)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    over.set()
    assert tallies(sleuth) == {"searxng": {"skipped": 1}}


def test_usage_of_one_provider(searxng: Any) -> None:
    searxng("search", "-p", "searxng", "rust")
    for name in ("searxng", "SearXNG"):
        assert counted(searxng, "--provider", name, "--days", "7")["requests"]["total"] == 1
    done = searxng("usage", "--provider", "brave")
    assert (done.exit, done.out) == (0, "")
    assert "brave was not used" in done.err
    done = searxng("usage", "--provider", "nobody")
    assert done.exit == 3
    assert "nobody" in done.err


def test_answers_are_counted(sleuth: Any) -> None:
    from sleuth.answers.answer import Answer, Round
    from sleuth.answers.llm.chat import Usage

    runtime = Runtime(sleuth.environ, io.StringIO(), io.StringIO(), io.StringIO())
    spent = Usage(3, 1200, 300, cost=0.0125)
    runtime.count_answer(Answer("why", "because", "model", rounds=(Round(1, "a"), Round(2, "b")), usage=spent))
    runtime.close()
    answers = counted(sleuth)["answers"]
    assert (answers["total"], answers["roundsPerAnswer"], answers["cost"]) == (1, 2.0, 0.0125)
    out = sleuth("usage").out
    assert "1 answer · 2.0 rounds per answer · 1,200 input and 300 output tokens · $0.0125" in out
    assert "|" not in out  # a chart of nothing


def test_unwritable_database_does_not_stop_an_answer(sleuth: Any) -> None:
    from sleuth.answers.answer import Answer

    runtime = Runtime(sleuth.environ | {"SLEUTH_HOME": "/proc/nowhere"}, io.StringIO(), io.StringIO(), io.StringIO())
    runtime.count_answer(Answer("why", "because", "model"))


def test_newer_and_damaged_databases_are_errors(searxng: Any) -> None:
    searxng("search", "-p", "searxng", "rust")
    path = searxng.home / "data" / "sleuth.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    done = searxng("usage")
    assert done.exit == 2
    assert f"{path} was written by a newer sleuth" in done.err
    path.write_bytes(b"this is no database" * 100)
    done = searxng("usage", "--json")
    assert done.exit == 2
    assert "is damaged" in done.err


def test_missing_table_is_an_error(searxng: Any) -> None:
    searxng("search", "-p", "searxng", "rust")
    with closing(sqlite3.connect(searxng.home / "data" / "sleuth.db")) as connection:
        connection.execute("DROP TABLE answer")
    done = searxng("usage")
    assert done.exit == 2
    assert "no such table" in done.err
    assert "no such column: answer." in searxng("doctor", "--only", "install").out
    assert "repaired" in searxng("doctor", "--repair").out
    assert searxng("usage").exit == 0


# On the terminal


def shown(report: UsageReport, columns: int = 80, color: str = "never") -> list[str]:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        render(report, out, color)
    return out.getvalue().splitlines()


def test_dates_are_not_broken_on_a_narrow_terminal() -> None:
    assert shown(example(), 24)[:2] == ["30 days, 2026-06-01 to", "2026-06-30"]


def example(days: int = 30, **changes: Any) -> UsageReport:
    tally = Tally(12, 9, 2, 4, 250, 12_000, 0.06, {"ok": 9})
    entries = tuple(Day(f"2026-06-{number:02}", 2, number % 10, 0, number) for number in range(1, days + 1))
    counts = {"success": 3, "partial": 1, "no_results": 0, "failed": 1}
    providers = {"searxng": tally._replace(cost=0.0), "a-provider-with-a-long-name": tally}
    spent = AnswerTotals(4, 2.25, 10_000, 900, 1234.5, 9000)
    report = UsageReport(
        entries, "", tally, providers, Searches(5, 2, 80, counts), spent, {"": AnswerTotals(1, 1.0), "m": spent}
    )
    return report._replace(**changes)


def test_report_has_totals_providers_and_a_chart() -> None:
    lines = shown(example(), 100)
    assert lines[0] == "30 days, 2026-06-01 to 2026-06-30"
    assert shown(example(1), 100)[0] == "1 day, 2026-06-01 to 2026-06-01"
    assert "5 searches · 4 with results · 0 without results · 1 failure · 2 from the cache" in lines
    assert "m: 4 answers · 2.2 rounds per answer · 10,000 input and 900 output tokens · $1,234.50" in lines
    assert "no model: 1 answer · 1.0 rounds per answer" in lines
    assert "about $1,234.56, estimated from list prices" in lines
    row = next(line for line in lines if line.startswith("a-provider"))
    assert row.split() == [
        "a-provider-with-a-long-name",
        *["12", "82", "%", "18", "%", "25", "%", "250", "ms", "12", "s", "$0.0600"],
    ]
    assert next(line for line in lines if line.startswith("searxng")).endswith("-")
    assert lines[-1].split("| ")[1].split() == ["2026-06-01", "2026-06-30"]
    assert len({len(line) for line in lines[-9:-7]}) == 1


@pytest.mark.parametrize("columns", [20, 30, 44, 60, 80, 200])
@pytest.mark.parametrize("days", [1, 2, 7, 30])
def test_report_fits_the_terminal(columns: int, days: int) -> None:
    lines = shown(example(days), columns)
    assert max(map(len, lines)) <= max(columns, 40)
    assert len([line for line in lines if "|" in line]) == 5


def test_narrow_terminal_puts_several_days_into_a_column() -> None:
    assert any("per 2 days" in line for line in shown(example(30), 24))


def test_bars_grow_with_the_count() -> None:
    days = tuple(Day(f"2026-06-0{number + 1}", requests=count) for number, count in enumerate((0, 1, 8, 16, 32)))
    lines = [line.partition("| ")[2] for line in shown(example()._replace(days=days)) if "|" in line][:-1]
    assert [line.ljust(10)[::2] for line in lines] == ["    █", "    █", "   ██", " ▁███"]


def test_bars_are_ascii_without_unicode() -> None:
    out = io.TextIOWrapper(io.BytesIO(), "latin-1", write_through=True)
    render(example(), out, "never")
    assert b"##" in out.buffer.getvalue()  # type: ignore[attr-defined]  # it is the buffer from above


def test_control_characters_of_names_are_removed() -> None:
    report = example()._replace(
        providers={"x\x1b[31m\u202e": Tally(1)}, models={"m\x07": AnswerTotals(1), "n": AnswerTotals(1)}
    )
    assert "\x1b" not in "".join(shown(report))
