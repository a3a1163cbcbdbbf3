"""Asks a model for a JSON object and finds it in the reply, whatever text surrounds it."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import accumulate, islice
from typing import Any

from sleuth.answers.llm.chat import Message, Model, Piece, Prompt, Usage
from sleuth.answers.llm.errors import ModelResponseError
from sleuth.answers.llm.stream import THINK_CLOSE, THINK_OPEN, parse_object
from sleuth.answers.sanitize import without_fences
from sleuth.base.text import clean, strip_controls
from sleuth_providers.translatable import Translatable

MAX_REPLY_CHARS = 100_000
MAX_DEPTH = 50
MAX_STARTS = 10  # opening braces to try
MAX_FENCES = 3  # fenced code blocks to try
MAX_QUOTED_CHARS = 2000  # of a bad reply, quoted in the second request
MIN_RETRY_S = 0.5  # with less time left there is no second request
FENCE = re.compile(r"```[A-Za-z]*\s*\n?(.*?)(?:```|$)", re.DOTALL)
OPENING = re.compile(r"\{")
DEPTH_CHANGES = {"{": 1, "[": 1, "}": -1, "]": -1}
CORRECTION = (
    "That was not a single JSON object. Reply again with only the JSON object:"
    " no explanation, no Markdown, and every quotation mark inside a string escaped."
)


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a model's reply, repaired if necessary; ValueError without one."""
    depth = max(accumulate(DEPTH_CHANGES.get(char, 0) for char in text), default=0)
    if len(text) > MAX_REPLY_CHARS or depth > MAX_DEPTH:
        raise ValueError("too long, or nested too deep")
    for part in _parts(text):
        for start in islice(OPENING.finditer(part), MAX_STARTS):
            with suppress(ValueError, RecursionError):
                found: dict[str, Any] = json.JSONDecoder().raw_decode(part, start.start())[0]
                return found
            with suppress(ValueError, RecursionError):
                return _repaired(part[start.start() :])
    raise ValueError("no JSON object")


def _repaired(text: str) -> dict[str, Any]:
    from json_repair import repair_json  # only for the few replies that need it

    found = parse_object(repair_json(text, skip_json_loads=True))  # parsing joins escaped surrogate pairs
    if not found:
        raise ValueError("an empty object")
    return found


def _parts(text: str) -> Iterator[str]:
    """Yield where the object may be, likeliest first: the whole reply, a fenced block, the text after reasoning."""
    begin = text.lstrip()[:3]
    if begin.startswith("{"):
        yield text
    elif begin == "```" and (first := FENCE.search(text)):
        yield first[1]
    spoken = text.rpartition(THINK_CLOSE)[2] if THINK_CLOSE in text else text.partition(THINK_OPEN)[0]
    yield from (found[1] for found in islice(FENCE.finditer(spoken), MAX_FENCES))
    yield spoken


def ask_json(model: Model, prompt: Prompt) -> tuple[dict[str, Any], Usage]:
    """Return the object a model replies with and the usage; a bad reply gets one more try in the time left."""
    deadline = time.monotonic() + prompt.timeout
    prompt = request = prompt._replace(json=True)
    usage = Usage()
    for is_last in (False, True):
        reply = model.complete(request)
        usage = usage.plus(reply.usage)
        with suppress(ValueError):
            return read_object(reply.text), usage
        left = deadline - time.monotonic()
        if is_last or left <= MIN_RETRY_S:
            break
        request = _corrected(prompt, reply)._replace(timeout=left)
    error = ModelResponseError(server=model.name, detail=Translatable("not a JSON object"))
    error.usage = usage
    raise error


def _corrected(prompt: Prompt, reply: Piece) -> Prompt:
    said = without_fences(strip_controls(reply.text[:MAX_QUOTED_CHARS]))
    quoted = (Message("assistant", said),) if said.strip() else ()
    return prompt._replace(messages=(*prompt.messages, *quoted, Message("user", CORRECTION)))


# Fields of a reply: a missing value or one of the wrong type becomes a default.


def text_field(reply: Mapping[str, Any], name: str, limit: int) -> str:
    """Return a text as one line without control characters."""
    value = reply.get(name)
    return clean(value, limit, entities=False) if isinstance(value, str) else ""


def texts_field(reply: Mapping[str, Any], name: str, max_items: int, limit: int) -> tuple[str, ...]:
    """Return a list of distinct texts; a single text counts as a list of one."""
    value = reply.get(name)
    values = value if isinstance(value, list) else [value]
    lines = (clean(one, limit, entities=False) for one in values if isinstance(one, str))
    return tuple(dict.fromkeys(line for line in lines if line))[:max_items]


def bool_field(reply: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """Return a boolean, also if it is spelled out."""
    value = reply.get(name)
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "1", "是")
    return bool(value) if isinstance(value, bool | int) else default


def share_field(reply: Mapping[str, Any], name: str, default: float) -> float:
    """Return a number from 0 to 1, also if it is given out of ten or a hundred."""
    text = str(reply.get(name)).strip()
    part, _, whole = text.rstrip("%％").partition("/")
    try:
        number = float(part)
        is_percentage = text.endswith(("%", "％")) or number > 10
        share = number / (float(whole) if whole else 100 if is_percentage else 1 if number <= 1 else 10)
    except (ValueError, ZeroDivisionError):
        return default
    return min(max(share, 0.0), 1.0) if math.isfinite(share) else default
