"""`sleuth mcp` under the MCP Inspector, the protocol's own test bench, from npm."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from tests.servers import environment

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
TOOL_FAILED = 5  # how it ends when a tool returns an error

Inspect = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def inspector() -> str:
    """Give the Inspector's program, installed once and kept in the cache."""
    home = environment("inspector")
    return str(home / "node_modules" / ".bin" / "mcp-inspector")


@pytest.fixture
def inspect(inspector: str, sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> Inspect:
    """Give a function that runs the Inspector on the installed sleuth."""
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


def test_inspector_finds_no_fault_in_the_tools(inspect: Inspect) -> None:
    done = inspect("--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "neither errors nor warnings"
    names = [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    assert names == ["web_search", "fetch_page", "summarize", "library_search"]


def test_inspector_calls_a_tool(inspect: Inspect) -> None:
    done = inspect("--method", "tools/call", "--tool-name", "web_search", "--tool-arg", "query=foxes", "count=3")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["structuredContent"]["results"][0]["title"] == "About foxes"
    assert "[1] About foxes\nhttps://a.example/" in result["content"][0]["text"]


def test_inspector_sees_a_clean_error(inspect: Inspect) -> None:
    done = inspect("--method", "tools/call", "--tool-name", "web_search", "--tool-arg", "query=foxes", "count=99")
    assert done.returncode == TOOL_FAILED
    result = json.loads(done.stdout)
    assert result["isError"]
    assert "code: INVALID_REQUEST" in result["content"][0]["text"]
