"""JSON out of what a model wrote around it, in it and after it; asked for once more where there is none."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from sleuth.answers.llm.chat import Completion, Message, Model, Prompt, Usage
from sleuth.answers.llm.errors import ModelResponseError
from sleuth.answers.llm.lenient_json import LenientReader
from sleuth.answers.llm.reply import CLOSE, OPEN, read_document

LONGEST = 1_000_000  # characters of a reply
MAX_DEPTH = 50
MOST_STARTS = 10  # opening braces that are tried
MOST_FENCES = 3
MAX_QUOTE = 2000  # characters of a bad reply that are shown to the model again
LEAST_TIME = 0.5  # seconds that make a second question worth it
FENCE = re.compile(r"```[A-Za-z]*\s*\n?(.*?)(?:```|$)", re.DOTALL)
STRUCTURE = re.compile(r'[{}\[\]]|"(?:[^"\\]++|\\.)*+(?:"|$)', re.DOTALL)
CORRECTION = (
    "That was not one JSON object. Reply again with the JSON object alone:"
    " no explanation, no Markdown, every quotation mark inside of a text escaped."
)


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a model's reply, mended where it is broken; ValueError where there is none."""
    if len(text) > LONGEST:
        raise ValueError("too long")
    for part in _parts(text):
        start = part.find("{")
        for _ in range(MOST_STARTS):
            if start < 0:
                break
            end = _end(part, start)
            with suppress(ValueError):
                return read_document(part[start:end])
            with suppress(ValueError):
                return LenientReader(part, start, MAX_DEPTH).read()
            start = part.find("{", end or start + 1)  # never inside of an object that cannot be read
    raise ValueError("no JSON object")


def _parts(text: str) -> Iterator[str]:
    """Yield where an object may be, the likeliest first: the whole, a fenced block, what follows the reasoning."""
    begin = text.lstrip()[:3]
    if begin.startswith("{"):
        yield text
    elif begin == "```" and (first := FENCE.search(text)):
        yield first[1]
    spoken = text.rpartition(CLOSE)[2] if CLOSE in text else text.partition(OPEN)[0]
    yield from (found[1] for found in islice(FENCE.finditer(spoken), MOST_FENCES))
    yield spoken


def _end(text: str, start: int) -> int:
    """Return where the object that begins at a place ends, by its brackets outside of texts; 0 where it does not."""
    depth = 0
    for found in STRUCTURE.finditer(text, start):
        if found[0] in "{[":
            depth += 1
        elif found[0] in "}]":
            depth -= 1
        if depth > MAX_DEPTH:
            raise ValueError("nested too deep")
        if not depth:
            return found.end()
    return 0


def ask_json(model: Model, prompt: Prompt) -> tuple[dict[str, Any], Usage]:
    """Return the object a model replies with and what it took; a reply that is none is asked for once more."""
    until = time.monotonic() + prompt.timeout
    prompt = prompt._replace(json=True)
    reply = model.complete(prompt)
    try:
        return read_object(reply.text), reply.usage
    except ValueError:
        left = until - time.monotonic()
    usage = reply.usage
    if left > LEAST_TIME:
        reply = model.complete(_corrected(prompt, reply)._replace(timeout=left))
        usage = usage.plus(reply.usage)
        try:
            return read_object(reply.text), usage
        except ValueError:
            pass
    error = ModelResponseError(server=model.name, detail="not a JSON object")
    error.usage = usage
    raise error


def _corrected(prompt: Prompt, reply: Completion) -> Prompt:
    said = (Message("assistant", reply.text[:MAX_QUOTE]),) if reply.text.strip() else ()
    return prompt._replace(messages=(*prompt.messages, *said, Message("user", CORRECTION)))
