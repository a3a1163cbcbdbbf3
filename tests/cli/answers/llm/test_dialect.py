"""Request bodies contain the fields that each server understands."""

from typing import Any

import pytest

from sleuth.answers.llm.chat import Message, Prompt
from sleuth.answers.llm.dialect import dialect_of, make_body, rejected_field

HELLO = Prompt((Message("user", "hello"),))


def body(base: str = "https://api.example.org/v1", model: str = "m", streamed: bool = False, **more: Any) -> Any:
    return make_body(HELLO._replace(**more), model, dialect_of(base, model), streamed)


def test_plain_request_has_only_model_and_messages() -> None:
    assert body() == {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def test_stream_requests_usage() -> None:
    found = body(streamed=True)
    assert (found["stream"], found["stream_options"]) == (True, {"include_usage": True})


def test_options_are_sent_when_set() -> None:
    found = body(temperature=0.0, json=True, max_tokens=7)
    assert (found["temperature"], found["response_format"], found["max_tokens"]) == (0.0, {"type": "json_object"}, 7)


@pytest.mark.parametrize(
    ("base", "model", "field"),
    [
        ("https://api.deepseek.com", "deepseek-flash", "thinking"),
        ("https://gateway.example/v1", "deepseek-v4-pro", "thinking"),
        ("https://open.bigmodel.cn/api/paas/v4", "glm-4.7", "thinking"),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen3-32b", "enable_thinking"),
        ("http://localhost:11434", "deepseek-r1:7b", ""),
        ("https://api.siliconflow.cn/v1", "deepseek-ai/DeepSeek-V3", ""),
        ("https://api.openai.com/v1", "gpt-4.1", ""),
        ("https://notdeepseek.com/v1", "m", ""),
    ],
)
def test_thinking_field_depends_on_the_server(base: str, model: str, field: str) -> None:
    found = body(base, model)
    assert [name for name in ("thinking", "enable_thinking") if name in found] == ([field] if field else [])


def test_thinking_is_off_by_default() -> None:
    deepseek = ("https://api.deepseek.com", "deepseek-flash")
    assert body(*deepseek)["thinking"] == {"type": "disabled"}
    assert body(*deepseek, thinking=True)["thinking"] == {"type": "enabled"}
    assert "temperature" not in body(*deepseek, thinking=True, temperature=0.5)


def test_enable_thinking_is_true_only_in_streams() -> None:
    qwen = ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen3-32b")
    assert [body(*qwen, streamed, thinking=True)["enable_thinking"] for streamed in (False, True)] == [False, True]


@pytest.mark.parametrize("model", ["o3-mini", "gpt-5", "gpt-5.2-mini", "openai/o4-mini"])
def test_reasoning_models_get_no_temperature_and_another_limit_field(model: str) -> None:
    found = body("https://gateway.example/v1", model, temperature=0.3, max_tokens=9)
    assert ("temperature" in found, "max_tokens" in found, found["max_completion_tokens"]) == (False, False, 9)


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5-chat-latest", "olmo-3", "orca"])
def test_other_models_get_a_temperature(model: str) -> None:
    assert body("http://localhost:11434/v1", model, thinking=True, temperature=0.3)["temperature"] == 0.3
    assert body("https://api.openai.com/v1", model, temperature=0.3)["temperature"] == 0.3


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Unsupported parameter: 'response_format' is not supported with this model.", "response_format"),
        ("'response_format.type' must be 'json_schema' or 'text'", "response_format"),
        ("body.stream_options: Extra inputs are not permitted", "stream_options"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("max_tokens must be less than 4096", "max_tokens"),
        ("messages: field required", ""),
        ("temperatures", ""),
        ("enable_thinking is not supported", ""),
    ],
)
def test_rejected_field_is_found_in_the_error_message(message: str, field: str) -> None:
    assert rejected_field(message, body(streamed=True, temperature=1.0, json=True, max_tokens=9)) == field
