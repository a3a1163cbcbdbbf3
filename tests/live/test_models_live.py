"""The model client against a real llama.cpp, and against a server that fails as models do and judges its callers."""

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

PATIENT = 100.0  # seconds: the machine may be busy


def ask(text: str = "Name three colours.", **more: Any) -> Prompt:
    return Prompt((Message("user", text),), **{"temperature": 0.0, "max_tokens": 8, "timeout": PATIENT, **more})


def model(base: str, name: str = "smollm2") -> ChatModel:
    return ChatModel(ModelEndpoint(base, name))


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions"])
def test_reply_is_whole(ending: str, model_server: str) -> None:
    found = model(model_server + ending).complete(ask())
    assert found.text
    assert found.finish == "length"
    assert (found.usage.completion_tokens, found.usage.estimated, found.usage.cost) == (8, False, 0.0)


def test_reply_streams_word_by_word(model_server: str) -> None:
    asked = model(model_server)
    pieces = list(asked.stream(ask()))
    assert len(pieces) >= 8
    assert "".join(piece.text for piece in pieces) == asked.complete(ask()).text
    assert pieces[-1].finish == "length"
    assert pieces[-1].usage
    assert pieces[-1].usage.completion_tokens == 8


def test_reply_in_json_mode_is_an_object(model_server: str) -> None:
    question = "Describe a city in JSON with the keys name and country."
    found, usage = ask_json(model(model_server), ask(question, max_tokens=60))
    assert isinstance(found, dict)
    assert usage.calls in (1, 2)


def test_server_stops_when_the_reader_leaves(model_server: str) -> None:
    pieces = model(model_server).stream(ask("Tell a long story.", max_tokens=3000))
    next(pieces)
    assert is_busy(model_server)
    pieces.close()  # type: ignore[attr-defined]  # a generator, as every stream is
    end = time.monotonic() + 10
    while is_busy(model_server) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_busy(model_server)


def is_busy(server: str) -> bool:
    return any(place["is_processing"] for place in _call(f"{server.removesuffix('/v1')}/slots"))


def test_reply_that_takes_too_long_ends_in_time(model_server: str) -> None:
    started = time.monotonic()
    with pytest.raises(ModelTimeoutError):
        model(model_server).complete(ask("Tell a long story.", max_tokens=2000, timeout=0.4))
    assert time.monotonic() - started < 5


def test_prompt_that_is_too_long_is_told_apart(model_server: str) -> None:
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
    """Return what the server holds against the client."""
    return [finding["code"] for finding in _call(f"{server}/_llmock/verdict")["findings"]]


def test_client_is_found_resilient(mock_model: str) -> None:
    asked = model(f"{mock_model}/v1", "gpt-4o")
    script(mock_model, type="fail", status=429, retry_after=1, times=2)
    assert asked.complete(ask()).text
    assert verdict(mock_model) == []
    script(mock_model, type="fail", status=503, times=2)
    assert "".join(piece.text for piece in asked.stream(ask()))
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
def test_fault_ends_in_its_error(behaviour: dict[str, Any], kind: type[ModelError], mock_model: str) -> None:
    script(mock_model, **behaviour)
    with pytest.raises(kind):
        list(model(f"{mock_model}/v1", "gpt-4o").stream(ask(timeout=2)))
