"""`sleuth.tools`: definitions for each API, calls that return text, and functions for frameworks."""

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

import sleuth
import sleuth.tools
from sleuth.base.errors import MissingExtraError, RequestError
from sleuth.serving.tool_definitions import TOOLS


@pytest.fixture
def conversation(make_sleuth: Any, httpserver: HTTPServer) -> Iterator[sleuth.tools.ToolSession]:
    hits = [{"url": f"https://{n}.example/", "title": f"Title {n}", "content": "Text."} for n in range(12)]
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    client = sleuth.Client(make_sleuth(SEARXNG_URL=httpserver.url_for("")).environ)
    yield sleuth.tools.ToolSession(client, providers=["searxng"], count=2)
    client.close()


def test_definitions_are_those_of_the_api(conversation: sleuth.tools.ToolSession) -> None:
    names = [name for name in TOOLS if name != "ask"]
    assert [tool["function"]["name"] for tool in conversation.schema()] == names
    assert [(tool["type"], tool["name"]) for tool in conversation.schema("responses")] == [
        ("function", name) for name in names
    ]
    assert [sorted(tool) for tool in conversation.schema("anthropic")] == [["description", "input_schema", "name"]] * 4
    with pytest.raises(RequestError, match="invalid style: 'foo'"):
        conversation.schema("foo")  # type: ignore[arg-type]  # what a program may pass


def test_call_returns_marked_text_and_numbers_on(conversation: sleuth.tools.ToolSession) -> None:
    first = conversation.call("web_search", '{"query": "fox"}')
    assert "[2] Title 1" in first
    assert "<untrusted-" in first
    assert "[3] Title 2" in conversation.web_search("fox", count=3)
    assert "[1] Title 0" in asyncio.run(conversation.acall("web_search", {"query": "fox"}))


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("rm", {}, "UNKNOWN_TOOL"),
        ("web_search", "{", "INVALID_REQUEST"),
        ("web_search", "[]", "INVALID_REQUEST"),
        ("web_search", {"query": "x", "count": 99}, "INVALID_REQUEST"),
    ],
)
def test_failure_is_text_for_the_model(
    conversation: sleuth.tools.ToolSession, name: str, arguments: Any, code: str
) -> None:
    assert f"code: {code}" in conversation.call(name, arguments)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_functions_have_the_arguments_and_description_of_the_tool(tool: Any) -> None:
    function = getattr(sleuth.tools, tool.name)
    assert list(inspect.signature(function).parameters) == list(tool.input["properties"])
    assert function.__doc__ == tool.description
    assert function.__name__ == tool.name


def test_module_is_found_on_first_use(sleuth: Any) -> None:
    script = "import sleuth, json; print(json.dumps([tool['name'] for tool in sleuth.tools.schema('mcp')]))"
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, env=sleuth.environ, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0] == "web_search"


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    monkeypatch.delitem(sys.modules, "sleuth.tools")
    with pytest.raises(MissingExtraError, match="mcp"):
        import sleuth.tools  # noqa: F401 - the import is the test
