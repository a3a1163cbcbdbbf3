"""What is sent to a model: one wire format, and the few words in which servers differ."""

import re
from typing import Any

from sleuth.answers.llm.address import endpoint_host, is_private
from sleuth.answers.llm.chat import Prompt
from sleuth_providers.records import Record

TYPED, FLAG = "thinking", "enable_thinking"  # how thinking is switched: {"type": "disabled"}, or false
SWITCHES = {
    "deepseek.com": TYPED,
    "bigmodel.cn": TYPED,
    "z.ai": TYPED,
    "aliyuncs.com": FLAG,
}
# They take no temperature, and name the limit of a reply otherwise.
REASONING = re.compile(r"o\d|gpt-5(?!.*chat)")
# What a server may refuse and a reply can do without.
OPTIONAL = (
    "response_format",
    "temperature",
    "stream_options",
    TYPED,
    FLAG,
    "max_tokens",
    "max_completion_tokens",
)


class Dialect(Record):
    """How one server wants one model to be asked."""

    switch: str = ""  # the field that turns thinking on and off; it is on by default where there is one
    temperature: bool = True
    limit: str = "max_tokens"


def dialect_of(base: str, model: str) -> Dialect:
    """Return what a server understands, by its host and the model's name."""
    host, name = endpoint_host(base), model.rpartition("/")[2].lower()
    reasons = REASONING.match(name) is not None
    switch = next((field for domain, field in SWITCHES.items() if f".{host}".endswith(f".{domain}")), "")
    if not switch and name == model.lower() and name.startswith("deepseek-") and not is_private(base):
        switch = TYPED  # DeepSeek's own names, asked through somebody's gateway
    limit = "max_completion_tokens" if reasons or host == "api.openai.com" else "max_tokens"
    return Dialect(switch, not reasons, limit)


def make_body(prompt: Prompt, model: str, dialect: Dialect, streamed: bool) -> dict[str, Any]:
    """Return the request as JSON: what the prompt needs and nothing else."""
    body: dict[str, Any] = {"model": model, "messages": [message._asdict() for message in prompt.messages]}
    if streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if prompt.temperature is not None and not prompt.thinking and dialect.temperature:
        body["temperature"] = prompt.temperature
    if prompt.max_tokens:
        body[dialect.limit] = prompt.max_tokens
    if prompt.json:
        body["response_format"] = {"type": "json_object"}
    if dialect.switch == TYPED:
        body[TYPED] = {"type": "enabled" if prompt.thinking else "disabled"}
    elif dialect.switch == FLAG:
        body[FLAG] = prompt.thinking and streamed  # with it on, whole replies are refused
    return body


def refused_field(words: str, body: dict[str, Any]) -> str:
    """Return the field of a request that a server's words complain about, if a reply can do without it."""
    return next((field for field in OPTIONAL if field in body and re.search(rf"\b{field}\b", words)), "")
