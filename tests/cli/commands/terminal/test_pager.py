"""Long output in a pager, on a real terminal."""

import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from pytest_httpserver import HTTPServer


@pytest.fixture
def shown(sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> Any:
    """Run a search on a terminal of some rows; return the output and what the pager got."""
    hits = [{"url": f"https://a.example/{n}", "title": f"Result {n}", "content": "Text."} for n in range(1, 9)]
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    log = tmp_path / "paged"

    def run(*arguments: str, rows: int, **environ: str) -> tuple[str, str]:
        log.write_text("")
        environ = sleuth.environ | {"SEARXNG_URL": httpserver.url_for(""), "PAGER": f"tee {log}"} | environ
        words = ["-m", "sleuth", "search", "-p", "searxng", "-n", "8", *arguments, "rust"]
        child = pexpect.spawn(sys.executable, words, env=environ, encoding="utf-8", timeout=20, dimensions=(rows, 80))
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
        return str(child.before), log.read_text()

    return run


def test_output_taller_than_the_terminal_is_paged(shown: Any) -> None:
    for _ in range(3):  # live, cached, and saved as rendered output
        out, paged = shown(rows=20)
        assert "https://a.example/8" in out
        assert "Result 1" in paged
        assert "of 8 results" not in paged


def test_other_output_is_not_paged(shown: Any) -> None:
    assert shown(rows=60)[1] == ""
    assert shown("--no-pager", rows=20)[1] == ""
    assert shown("-o", "/dev/null", rows=20)[1] == ""
    assert "https://a.example/8" in shown(rows=20, PAGER="")[0]
    assert "https://a.example/8" in shown(rows=20, PAGER=" ")[0]
    assert "https://a.example/8" in shown(rows=20, PAGER="no-such-program")[0]
