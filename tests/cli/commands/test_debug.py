"""`--debug` and the log: the exchange with providers, what was found, and no secrets."""

from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

Capsys = pytest.CaptureFixture[str]  # log lines go to the stderr of the process
KEY = "BSA-secret-key-0123456789"


def log_of(sleuth: Any) -> str:
    path: Path = sleuth.home / "state" / "sleuth.log"
    return path.read_text()


def test_debug_shows_the_exchange_of_a_successful_search(sleuth: Any, httpserver: HTTPServer, capsys: Capsys) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    # No other test searches for this: threads that outlive their test log their exchanges here, too.
    exchange = f"debug: GET {httpserver.url_for('/search')}?q=exchange"
    done = sleuth("--debug", "search", "-p", "searxng", "exchange")
    assert done.exit == 0
    printed = capsys.readouterr().err
    assert [line for line in printed.splitlines() if line.startswith(exchange) and ": 200, " in line]
    assert "debug: searxng: ok, 1 results" in printed
    sleuth("--debug", "search", "-p", "searxng", "--full-urls", "exchange")
    printed = capsys.readouterr().err
    assert "1 results from the cache" in printed
    assert exchange not in printed


def test_results_that_cannot_be_read_are_logged(sleuth: Any, httpserver: HTTPServer) -> None:
    results = [{"url": "https://a.example/", "title": "A"}, {"title": "no address"}, 42, {"url": "mailto:me"}]
    httpserver.expect_request("/search").respond_with_json({"results": results})
    done = sleuth("search", "-p", "searxng", "--json", "x", SEARXNG_URL=httpserver.url_for(""))
    assert len(done.json["results"]) == 1
    assert "searxng: skipped 3 results without a web address" in log_of(sleuth)


def test_debug_shows_what_a_server_says_about_a_refused_request(
    sleuth: Any, httpserver: HTTPServer, capsys: Capsys
) -> None:
    httpserver.expect_request("/search").respond_with_json({"error": "Query is too long."}, status=400)
    sleuth("--debug", "search", "-p", "searxng", "rust", SEARXNG_URL=httpserver.url_for(""))
    assert "Query is too long." in capsys.readouterr().err


def test_debug_and_log_have_no_keys(sleuth: Any, httpserver: HTTPServer, capsys: Capsys) -> None:
    httpserver.expect_request("/res/v1/web/search").respond_with_json({"error": f"no such key: {KEY}"}, status=400)
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "env:BRAVE_API_KEY")
    done = sleuth("--debug", "search", "-p", "brave", "rust", BRAVE_API_KEY=KEY)
    printed = capsys.readouterr().err
    assert "debug: GET" in printed
    assert KEY not in printed + done.err
    assert KEY not in log_of(sleuth)


def test_log_has_a_line_for_each_search_without_its_query(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": []})
    sleuth("--debug", "search", "-p", "searxng", "confidential words", SEARXNG_URL=httpserver.url_for(""))
    assert "search: no_results, 0 results from searxng" in log_of(sleuth)
    assert "confidential" not in log_of(sleuth)
