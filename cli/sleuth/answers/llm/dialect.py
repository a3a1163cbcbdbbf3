"""The request body for a model, and the few fields in which servers differ."""

import re
from typing import Any

from sleuth.answers.llm.chat import Prompt
from sleuth.answers.llm.endpoint import is_private
from sleuth.base.urls import host as host_of
from sleuth_providers.records import Record

# The field that turns thinking on and off: {"type": "disabled"} in one, false in the other.
TYPED, FLAG = "thinking", "enable_thinking"
THINKING_FIELDS = {"deepseek.com": TYPED, "bigmodel.cn": TYPED, "z.ai": TYPED, "aliyuncs.com": FLAG}
# OpenAI's reasoning models take no temperature and name the token limit differently.
REASONING = re.compile(r"o\d|gpt-5(?!.*chat)")
# Fields to leave out if a server rejects them.
OPTIONAL = ("response_format", "temperature", "stream_options", TYPED, FLAG, "max_tokens", "max_completion_tokens")


class Dialect(Record):
    """How a server expects requests for a model."""

    thinking: str = ""  # the field that turns thinking on and off; servers that have it think by default
    temperature: bool = True
    limit: str = "max_tokens"


def dialect_of(base: str, model: str) -> Dialect:
    """Return the dialect for a host and a model name."""
    host, name = host_of(base), model.rpartition("/")[2].lower()
    reasons = REASONING.match(name) is not None
    thinking = next((field for domain, field in THINKING_FIELDS.items() if f".{host}".endswith(f".{domain}")), "")
    if not thinking and name == model.lower() and name.startswith("deepseek-") and not is_private(base):
        thinking = TYPED  # DeepSeek's own model names behind a gateway
    limit = "max_completion_tokens" if reasons or host == "api.openai.com" else "max_tokens"
    return Dialect(thinking, not reasons, limit)


def make_body(prompt: Prompt, model: str, dialect: Dialect, streamed: bool) -> dict[str, Any]:
    """Return the JSON body of a request."""
    body: dict[str, Any] = {"model": model, "messages": [message._asdict() for message in prompt.messages]}
    if streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    thinks = prompt.thinking and dialect.thinking  # a thinking model takes no temperature
    if prompt.temperature is not None and dialect.temperature and not thinks:
        body["temperature"] = prompt.temperature
    if prompt.max_tokens:
        body[dialect.limit] = prompt.max_tokens
    if prompt.json:
        body["response_format"] = {"type": "json_object"}
    if dialect.thinking == TYPED:
        body[TYPED] = {"type": "enabled" if prompt.thinking else "disabled"}
    elif dialect.thinking == FLAG:
        body[FLAG] = prompt.thinking and streamed  # servers accept true only for streams
    return body


def rejected_field(message: str, body: dict[str, Any]) -> str:
    """Return the optional field that an error message complains about, if any."""
    return next((field for field in OPTIONAL if field in body and re.search(rf"\b{field}\b", message)), "")
