"""`sleuth mcp` with the MCP Inspector, the reference client of the protocol, from npm."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PACKAGE, VERSION = "@modelcontextprotocol/inspector", "2.12.0"
INTEGRITY = "sha512-ppfN5+HnVWo6dY7jz5RMFUFTfEYPnFUjN3XN2w6PI6nmB/AFFXPGPfLBRvCeSx+qIH6kpi7Nsz5HYRp49loHpA=="
TOOL_FAILED = 5  # exit status if a tool returns an error

Inspect = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def inspector() -> str:
    """Give the path of the Inspector, which is installed once and cached."""
    npm = shutil.which("npm") or pytest.skip("npm is not installed")
    cache = Path(os.environ.get("SLEUTH_TEST_CACHE") or ROOT / ".cache") / "inspector"
    cache.mkdir(parents=True, exist_ok=True)
    home = cache / VERSION
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "ready").exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            words = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home)]
            done = subprocess.run([*words, f"{PACKAGE}@{VERSION}"], capture_output=True, text=True, timeout=600)
            if done.returncode:
                pytest.skip(f"the Inspector cannot be installed: {done.stderr.strip()[-300:]}")
            installed = json.loads((home / "node_modules" / ".package-lock.json").read_text())["packages"]
            assert installed[f"node_modules/{PACKAGE}"]["integrity"] == INTEGRITY, "the package has changed"
            (home / "ready").touch()
    return str(home / "node_modules" / ".bin" / "mcp-inspector")


@pytest.fixture
def inspect(inspector: str, sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> Inspect:
    """Give a function that runs the Inspector against the installed sleuth."""
    hit = {"url": "https://a.example/", "title": "About foxes", "content": "Foxes sleep in dens."}
    httpserver.expect_request("/search").respond_with_json({"results": [hit]})
    program = Path(sys.executable).parent / "sleuth"
    given = {"SLEUTH_HOME": str(sleuth.home), "SEARXNG_URL": httpserver.url_for(""), "NO_PROXY": "*"}
    variables = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [inspector, "--cli", *variables, str(program), "mcp", *words],
            env=os.environ | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=100,
        )

    return run


def test_inspector_finds_no_errors_in_the_tools(inspect: Inspect) -> None:
    done = inspect("--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stderr
    assert "0 errors" in done.stderr
    names = [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    assert names == ["web_search", "fetch_page", "summarize", "library_search"]


def test_inspector_calls_a_tool(inspect: Inspect) -> None:
    done = inspect("--method", "tools/call", "--tool-name", "web_search", "--tool-arg", "query=foxes", "count=3")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["structuredContent"]["results"][0]["title"] == "About foxes"
    assert "[1] About foxes\nhttps://a.example/" in result["content"][0]["text"]


def test_inspector_gets_a_clean_error(inspect: Inspect) -> None:
    done = inspect("--method", "tools/call", "--tool-name", "web_search", "--tool-arg", "query=foxes", "count=99")
    assert done.returncode == TOOL_FAILED
    result = json.loads(done.stdout)
    assert result["isError"]
    assert "code: INVALID_REQUEST" in result["content"][0]["text"]
