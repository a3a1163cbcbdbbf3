"""docs/agents.md is correct: every snippet starts a server that lists its tools, and the tables match the code."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sleuth.serving.tool_definitions import TOOLS

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
CLIENTS = ("Claude Desktop", "Claude Code", "Cursor", "VS Code", "Windsurf", "Zed", "Cherry Studio")
LINES = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"test","version":"1"}}}\n'
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
)


def servers(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the parts of a snippet that name a command."""
    if isinstance(value, dict):
        if "command" in value:
            yield value
        for inner in value.values():
            yield from servers(inner)


SNIPPETS = [
    server for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL) for server in servers(json.loads(block))
]
STARTS = sorted({json.dumps([server["command"], server["args"], server.get("env", {})]) for server in SNIPPETS})


def answers(words: list[str], environ: dict[str, str], lines: str) -> Any:
    """Start the installed program, write lines to it, and return the second response."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(["env", *words], env=environ | {"PATH": path}, **pipes) as process:
        process.stdin.write(lines)
        process.stdin.flush()
        found = [process.stdout.readline() for _ in range(2)][1]
        assert process.communicate(timeout=300) == ("", "")
    return json.loads(found)


@pytest.mark.parametrize("start", STARTS)
def test_snippet_starts_a_server_that_lists_its_tools(sleuth: Any, start: str) -> None:
    command, arguments, more = json.loads(start)
    listed = answers([command, *arguments], sleuth.environ | more, LINES)
    assert [tool["name"] for tool in listed["result"]["tools"]] == [name for name in TOOLS if name != "ask"]


@pytest.mark.parametrize("client", CLIENTS)
def test_client_has_a_section_with_a_snippet(client: str) -> None:
    section = re.search(rf"^## Set up {client}.*?(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
    assert section
    assert list(servers(json.loads(re.findall(r"```json\n(.*?)```", section[0], re.DOTALL)[0])))


def test_tables_name_every_tool_and_argument() -> None:
    for tool in TOOLS.values():
        row = re.search(rf"^\| `{tool.name}` \|([^|]*)\|", PAGE, re.MULTILINE)
        assert row
        assert re.findall(r"`(\w+)`(?! *\))", re.sub(r"\([^)]*\)", "", row[1])) == list(tool.input["properties"])


def test_messages_of_the_shell_example_are_answered(sleuth: Any) -> None:
    lines = re.findall(r"echo '(\{.*\})'", PAGE)
    assert len(lines) == 3
    offline = {"SLEUTH_WEBSEARCH_DEFAULT_PROVIDER": "library", "SLEUTH_WEBSEARCH_FALLBACK": "[]"}
    found = answers(["sleuth", "mcp"], sleuth.environ | offline, "\n".join(lines) + "\n")
    assert found["result"]["structuredContent"]["provider"] == "library"
