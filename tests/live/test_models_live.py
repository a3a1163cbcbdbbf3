"""The model client against a real llama.cpp, and against llmock, which fails on demand and rates its clients."""

import json
import time
from typing import Any
from urllib.request import Request, urlopen

import pytest

from sleuth.answers.llm.chat import Message, Prompt
from sleuth.answers.llm.client import ChatModel, ModelEndpoint
from sleuth.answers.llm.errors import (
    ContextTooLongError,
    ModelBrokenOffError,
    ModelError,
    ModelLimitError,
    ModelResponseError,
    ModelTimeoutError,
)
from sleuth.answers.llm.json_reply import ask_json

pytestmark = pytest.mark.live

TIMEOUT_S = 100.0  # the machine may be busy


def ask(text: str = "Name three colours.", **more: Any) -> Prompt:
    return Prompt((Message("user", text),), **{"temperature": 0.0, "max_tokens": 8, "timeout": TIMEOUT_S, **more})


def model(base: str, name: str = "smollm2") -> ChatModel:
    return ChatModel(ModelEndpoint(base, name))


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions"])
def test_reply_is_complete(ending: str, model_server: str) -> None:
    found = model(model_server + ending).complete(ask())
    assert found.text
    assert found.finish == "length"
    assert (found.usage.completion_tokens, found.usage.estimated, found.usage.cost) == (8, False, 0.0)


def test_reply_streams_word_by_word(model_server: str) -> None:
    client = model(model_server)
    pieces = list(client.stream(ask()))
    assert len(pieces) >= 8
    assert "".join(piece.text for piece in pieces) == client.complete(ask()).text
    assert pieces[-1].finish == "length"
    assert pieces[-1].usage
    assert pieces[-1].usage.completion_tokens == 8


def test_reply_in_json_mode_is_an_object(model_server: str) -> None:
    question = "Describe a city in JSON with the keys name and country."
    found, usage = ask_json(model(model_server), ask(question, max_tokens=60))
    assert isinstance(found, dict)
    assert usage.calls in (1, 2)


def test_server_stops_when_the_stream_is_closed(model_server: str) -> None:
    pieces = model(model_server).stream(ask("Tell a long story.", max_tokens=3000))
    next(pieces)
    assert is_busy(model_server)
    pieces.close()  # type: ignore[attr-defined]  # a generator, as every stream is
    while is_busy(model_server):  # until the test times out
        time.sleep(0.05)


def is_busy(server: str) -> bool:
    return any(place["is_processing"] for place in _call(f"{server.removesuffix('/v1')}/slots"))


def test_slow_reply_times_out(model_server: str) -> None:
    with pytest.raises(ModelTimeoutError):
        model(model_server).complete(ask("Tell a long story.", max_tokens=2000, timeout=0.4))


def test_prompt_beyond_the_context_has_its_own_error(model_server: str) -> None:
    with pytest.raises(ContextTooLongError, match="context size"):
        model(model_server).complete(ask("word " * 9000))


def test_doctor_finds_the_model(model_server: str, sleuth: Any) -> None:
    done = sleuth("doctor", "--only", "model", "--json", SLEUTH_LLM_BASE_URL=model_server, SLEUTH_LLM_MODEL="nobody")
    (check,) = done.json["checks"]
    assert check["state"] == "warn"
    assert "nobody" in check["cause"]


# Against llmock


def script(server: str, **behaviour: Any) -> None:
    _call(f"{server}/_llmock/reset", {})
    _call(f"{server}/_llmock/scenario", {"behaviors": [behaviour]})


def _call(address: str, document: Any = None) -> Any:
    data = None if document is None else json.dumps(document).encode()
    with urlopen(Request(address, data, {"Content-Type": "application/json"}), timeout=10) as reply:
        return json.load(reply)


def verdict(server: str) -> list[str]:
    """Return the faults that the server found in the client."""
    return [finding["code"] for finding in _call(f"{server}/_llmock/verdict")["findings"]]


def test_llmock_finds_no_fault_with_the_client(mock_model: str) -> None:
    client = model(f"{mock_model}/v1", "gpt-4o")
    script(mock_model, type="fail", status=429, retry_after=1, times=2)
    assert client.complete(ask()).text
    assert verdict(mock_model) == []
    script(mock_model, type="fail", status=503, times=2)
    assert "".join(piece.text for piece in client.stream(ask()))
    assert verdict(mock_model) == []


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ({"type": "fail", "status": 401}, ModelError),
        ({"type": "fail", "status": 429, "times": None}, ModelLimitError),
        ({"type": "stream_fault", "kind": "disconnect", "after_chunks": 3}, ModelBrokenOffError),
        ({"type": "stream_fault", "kind": "truncate", "after_chunks": 3}, ModelBrokenOffError),
        ({"type": "stream_fault", "kind": "malformed", "after_chunks": 3}, ModelResponseError),
        ({"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 20}, ModelTimeoutError),
    ],
    ids=lambda value: value.get("kind") or str(value.get("status")) if isinstance(value, dict) else "",
)
def test_stream_fault_becomes_its_error(behaviour: dict[str, Any], kind: type[ModelError], mock_model: str) -> None:
    script(mock_model, **behaviour)
    with pytest.raises(kind):
        list(model(f"{mock_model}/v1", "gpt-4o").stream(ask(timeout=2)))
