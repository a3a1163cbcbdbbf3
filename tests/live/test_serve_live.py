"""`sleuth serve` with requests generated from its OpenAPI document, and with a real SearXNG behind it."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

pytestmark = [pytest.mark.live, pytest.mark.slow]

TOKEN = "token-of-the-tests-0123456789"
# No other machine can be reached, whatever schemathesis generates.
OFFLINE = {"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1"}
SHORT_TIMEOUTS = {
    "SLEUTH_WEBSEARCH_TIMEOUT": "2",
    "SLEUTH_WEBSEARCH_RETRIES": "1",
    "SLEUTH_FETCH_TIMEOUT": "1",
    "SLEUTH_FETCH_JINA": "false",
    "SLEUTH_FETCH_ARCHIVE": "false",
}


@contextmanager
def served(sleuth: Any, searxng: str) -> Iterator[str]:
    """Run the server and yield its address."""
    environ = sleuth.environ | OFFLINE | SHORT_TIMEOUTS | {"SEARXNG_URL": searxng, "SLEUTH_SERVE_TOKEN": TOKEN}
    words = [sys.executable, "-m", "sleuth", "serve", "--port", "0"]
    with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = re.search(r"http://\S+:\d+", process.stderr.readline())
        assert address
        try:
            yield address[0]
        finally:
            process.terminate()
            assert process.communicate(timeout=300) == ("", "")
        assert process.returncode == 0


def test_generated_requests_are_answered_as_documented(
    schemathesis_program: str, httpserver: HTTPServer, sleuth: Any, tmp_path: Path
) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    # A schema cannot say that a URL needs a host and a query some letter, so valid data may be refused.
    words = [schemathesis_program, "run", "--no-color", "--generation-deterministic", "--max-examples", "3"]
    words += [
        "--exclude-checks",
        "not_a_server_error,positive_data_acceptance",
        "--continue-on-failure",
        "--workers",
        "2",
    ]
    words += ["--header", f"Authorization: Bearer {TOKEN}", "--report-har-path", str(tmp_path / "calls.har")]
    with served(sleuth, httpserver.url_for("")) as address:
        done = subprocess.run(
            [*words, f"{address}/openapi.json"],
            env=sleuth.environ | OFFLINE,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    entries = json.loads((tmp_path / "calls.har").read_text())["log"]["entries"]
    statuses = Counter(entry["response"]["status"] for entry in entries)
    assert len(entries) > 400
    assert {200, 400, 401, 404, 405, 415} <= statuses.keys()
    failed = [entry for entry in entries if entry["response"]["status"] >= 500]
    assert {(entry["response"]["status"], path(entry)) for entry in failed} <= {
        (500, "/websearch/search"),
        (500, "/ask"),
    }
    codes = {json.loads(entry["response"]["content"]["text"])["error"]["code"] for entry in failed}
    assert "INTERNAL_ERROR" not in codes
    assert "unexpected" not in (sleuth.home / "state" / "sleuth.log").read_text()


def path(entry: dict[str, Any]) -> str:
    return str(re.sub(r"^https?://[^/]+|\?.*$", "", entry["request"]["url"]))


def test_search_reaches_a_real_searxng(healthy_searxng: Any, sleuth: Any) -> None:
    with served(sleuth, healthy_searxng.url) as address:

        def post(place: str, body: dict[str, Any]) -> str:
            words = ["curl", "-sS", "--oauth2-bearer", TOKEN, "--json", json.dumps(body), f"{address}{place}"]
            return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout

        found = json.loads(post("/websearch/search", {"providerId": "searxng", "questions": ["tokio"]}))
        assert found["outcome"] == "success"
        assert {engine for hit in found["results"] for engine in hit["engines"]} == {"alpha", "beta"}
        assert json.loads(post("/websearch-providers/searxng/test", {}))["success"] is True
        said = post("/ask", {"question": "tokio", "providerId": "searxng", "search": "on"})
        assert json.loads(said)["method"] == "extractive"
