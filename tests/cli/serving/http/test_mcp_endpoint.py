"""MCP over streamable HTTP with the SDK's own client: the same tools, the same access rules, a conversation each."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.cli.serving.conftest import QUIET, call

from sleuth.serving.mcp import McpServer

TOOLS = ["web_search", "fetch_page", "summarize", "library_search"]

Work = Callable[[Client], Awaitable[Any]]


def with_client(url: str, token: str, work: Work, mode: str = "auto") -> Any:
    """Run something with a client that sends a token."""

    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            return await work(client)

    return asyncio.run(run())


async def search(client: Client, *queries: str) -> list[int]:
    """Return the numbers of all results."""
    found: list[int] = []
    for query in queries:
        result = await client.call_tool("web_search", {"query": query})
        assert result.structured_content, result.content
        found += [hit["citation"] for hit in result.structured_content["results"]]
    return found


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_are_listed_and_called(server: Any, mode: str) -> None:
    async def work(client: Client) -> tuple[list[str], list[tuple[float, str | None]], str]:
        steps: list[tuple[float, str | None]] = []

        async def report(done: float, total: float | None, message: str | None) -> None:
            steps.append((done, message))

        names = [tool.name for tool in (await client.list_tools()).tools]
        arguments = {"query": f"tokio {mode}"}
        result: Any = await client.call_tool("web_search", arguments, progress_callback=report)
        return names, steps, result.content[0].text

    names, steps, text = with_client(f"{server.url}/mcp", server.token, work, mode)
    assert (names, f"] tokio {mode} 0\nhttps://a.example/0" in text) == (TOOLS, True)
    assert steps == [(0, f"searching for tokio {mode}"), (1, "3 results")]


def test_each_session_is_a_conversation(server: Any) -> None:
    url, token = f"{server.url}/mcp", server.token

    async def work(client: Client) -> list[int]:
        return await search(client, "tokio one", "tokio two")

    # The upstream has the same three URLs for every query.
    assert with_client(url, token, work, "legacy") == [1, 2, 3, 1, 2, 3]
    assert with_client(url, token, work, "legacy") == [1, 2, 3, 1, 2, 3]


def test_token_host_and_origin_are_checked(server: Any) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    assert server.call("POST", "/mcp", body, token="wrong-token-0123456789", **accept).status == 401
    assert server.call("POST", "/mcp", body, Host="evil.example", **accept).code == "HOST_REFUSED"
    assert server.call("POST", "/mcp", body, Origin="https://evil.example", **accept).code == "ORIGIN_REFUSED"


def test_session_belongs_to_the_token_that_began_it(serve: Any, tmp_path: Path) -> None:
    alice, bob = "token-of-alice-0123", "token-of-bob-456789"
    (tmp_path / "tokens").write_text(f"alice {alice}\nbob {bob}\n")
    server = serve("--token-file", str(tmp_path / "tokens"))
    accept = "application/json, text/event-stream"
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    begun = call(server.port, "POST", "/mcp", message, alice, {"Accept": accept})
    own = {"Accept": accept, "Mcp-Session-Id": begun.headers["mcp-session-id"]}
    listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    statuses = [call(server.port, "POST", "/mcp", listed, token, own).status for token in (alice, bob, alice)]
    assert statuses == [200, 404, 200]


def test_session_id_finds_no_conversation_of_another_token() -> None:
    """In the stateless protocol a client may send any id, such as the name of another token."""
    server = McpServer(SimpleNamespace(client=None, offered=list, conversation=object))  # type: ignore[arg-type]  # of a Toolbox

    def conversation(token: str, session: str) -> object:
        request = SimpleNamespace(headers={"mcp-session-id": session} if session else {}, scope={"token_name": token})
        return server._conversation(SimpleNamespace(request=request))  # type: ignore[arg-type]  # of a context

    assert conversation("alice", "") is conversation("alice", "")
    assert conversation("bob", "alice") is not conversation("alice", "")
    assert conversation("bob", "1") is not conversation("alice", "1")


def test_body_over_the_limit_is_413(server: Any) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "x" * 1_100_000}}
    assert server.call("POST", "/mcp", body, Accept="application/json, text/event-stream").status == 413


@pytest.fixture
def alone(upstream: str, tmp_path: Any) -> Iterator[tuple[str, str, "subprocess.Popen[str]"]]:
    """Give the URL and token of `sleuth mcp --http`."""
    environ = QUIET | {"SLEUTH_HOME": str(tmp_path), "HOME": str(tmp_path), "SEARXNG_URL": upstream}
    words = [sys.executable, "-m", "sleuth", "mcp", "--http", "--port", "0", "--count", "2", "--provider", "searxng"]
    with subprocess.Popen(words, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.readline()
        found = re.search(r"http://\S+/mcp", said)
        assert found, said
        yield found[0], (tmp_path / "state" / "serve-token").read_text().strip(), process
        process.kill()


def test_mcp_alone_serves_over_http(alone: Any) -> None:
    url, token, process = alone

    async def work(client: Client) -> list[int]:
        return await search(client, "tokio")

    assert with_client(url, token, work) == [1, 2]
    assert json.loads(httpx2.get(url.replace("/mcp", "/healthz")).text)["status"] == "ok"
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx2.get(url.replace("/mcp", "/websearch-providers"), headers=headers).is_error
    process.terminate()
    assert process.wait(60) == 0
