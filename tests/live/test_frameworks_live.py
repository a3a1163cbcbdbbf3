"""The recipes of docs/agents.md run as they are with the real libraries, against model servers on loopback."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pytest_httpserver import HTTPServer
from tests.servers import environment
from werkzeug import Request, Response

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8").partition("\n## The tools in Python")[2]
RECIPES = {
    re.findall(r"^(?:import|from) (?!sleuth|asyncio)(\w+)", block, re.MULTILINE)[0]: block
    for block in re.findall(r"```python\n(.*?)```", SECTION.partition("\n## ")[0], re.DOTALL)
}
FINAL = "Rust has new things [1]."


class ModelServer:
    """A model that calls web_search once and then answers; it keeps the texts that the tool returned."""

    def __init__(self) -> None:
        self.tool_texts: list[str] = []
        self.offered: set[str] = set()

    def openai(self, request: Request) -> Response:
        body = request.get_json()
        self.offered |= {tool["function"]["name"] for tool in body["tools"]}
        texts = [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]
        self.tool_texts += texts
        call = {
            "id": "call_1",
            "type": "function",
            "function": {"name": "web_search", "arguments": '{"query": "rust"}'},
        }
        message: dict[str, Any] = {"role": "assistant", "content": FINAL if texts else None}
        if not texts:
            message["tool_calls"] = [call]
        finish = "stop" if texts else "tool_calls"
        common = {"id": "c1", "created": 1, "model": "gpt-4o-mini"}
        if body.get("stream"):
            calls = [call_ | {"index": 0} for call_ in message.get("tool_calls", [])]
            delta = message | ({"tool_calls": calls} if calls else {})
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = common | {"object": "chat.completion.chunk", "choices": [choice]}
            return Response(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", content_type="text/event-stream")
        choice = {"index": 0, "message": message, "finish_reason": finish}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = common | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return Response(json.dumps(reply), content_type="application/json")

    def anthropic(self, request: Request) -> Response:
        body = request.get_json()
        self.offered |= {tool["name"] for tool in body["tools"]}
        parts = [part for message in body["messages"] for part in message["content"] if isinstance(part, dict)]
        texts = [part["content"] for part in parts if part["type"] == "tool_result"]
        self.tool_texts += texts
        call = {"type": "tool_use", "id": "toolu_1", "name": "web_search", "input": {"query": "rust"}}
        content = [{"type": "text", "text": FINAL}] if texts else [call]
        stop = "end_turn" if texts else "tool_use"
        reply = {"id": "m1", "type": "message", "role": "assistant", "model": "x", "content": content}
        reply |= {"stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 1}}
        return Response(json.dumps(reply), content_type="application/json")


def test_every_framework_has_a_recipe() -> None:
    assert list(RECIPES) == ["openai", "anthropic", "langchain", "llama_index", "pydantic_ai"]


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_searches_and_answers(name: str, sleuth: Any, httpserver: HTTPServer) -> None:
    python = environment("frameworks") / "bin" / "python"
    model = ModelServer()
    hit = {"url": "https://blog.rust-lang.org/", "title": "Rust Blog", "content": "New things."}
    httpserver.expect_request("/search").respond_with_json({"results": [hit]})
    httpserver.expect_request("/v1/chat/completions").respond_with_handler(model.openai)
    httpserver.expect_request("/v1/messages").respond_with_handler(model.anthropic)
    address = httpserver.url_for("").rstrip("/")
    dependencies = str(Path(jsonschema.__file__).parents[1])
    own = [str(ROOT / "cli"), str(ROOT / "providers"), dependencies]  # behind those of the framework
    script = f"import sys; sys.path += {own!r}\n{RECIPES[name]}"
    keys = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test", "SEARXNG_URL": address}
    places = {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_BASE": f"{address}/v1", "ANTHROPIC_BASE_URL": address}
    run = subprocess.run(
        [str(python), "-c", script],
        env=sleuth.environ | {"PATH": os.environ["PATH"]} | keys | places,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert FINAL in run.stdout
    assert "web_search" in model.offered
    assert "[1] Rust Blog\nhttps://blog.rust-lang.org/" in model.tool_texts[0]
    assert "<untrusted-" in model.tool_texts[0]
