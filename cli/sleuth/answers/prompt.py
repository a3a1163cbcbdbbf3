"""Prompts from the files in prompts/: filled in, with as much of the conversation before as there is room for."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from string import Template

from sleuth.answers.citations import remap
from sleuth.answers.fence import unfenced
from sleuth.answers.llm.chat import Message

FOLDER = os.path.join(os.path.dirname(__file__), "prompts")
PART = re.compile(r"^## (system|user)\n+", re.MULTILINE)
FENCED = ("outside", "found", "page", "pages")  # values that bring a fence of their own, or speak of it


def fill(name: str, code: str = "", **values: str) -> tuple[Message, ...]:
    """Return a prompt with its places filled in; paragraphs with an empty place are left out."""
    safe = {key: value if key in FENCED else unfenced(value) for key, value in values.items()}
    if code:
        safe["outside"] = Template(_file("outside")).substitute(code=code).strip()
    return tuple(Message(role, _filled(text, safe)) for role, text in _parts(name))


def left_for(place: str, name: str, room: int, code: str = "", **values: str) -> int:
    """Return how many characters of a prompt's room are left for one of its places."""
    sample = "…"
    return room - size(fill(name, code, **values | {place: sample})) + len(sample)


def size(messages: Iterable[Message]) -> int:
    """Return how many characters messages have together."""
    return sum(len(message.content) for message in messages)


def earlier_turns(history: Sequence[Message], room: int) -> tuple[Message, ...]:
    """Return the newest turns that fit, without their citations: the numbers of another answer would mislead."""
    kept: list[Message] = []
    for turn in reversed(history):
        if turn.role in ("user", "assistant"):
            turn = turn._replace(content=unfenced(remap(turn.content, {})))
            room -= len(turn.content) + len(turn.role) + len(": \n")
            if room < 0:
                break
            kept.append(turn)
    return tuple(reversed(kept))


def as_list(lines: Iterable[str]) -> str:
    """Return lines as the items of a list."""
    return "\n".join(f"- {line}" for line in lines)


@cache
def _file(name: str) -> str:
    with open(os.path.join(FOLDER, f"{name}.md"), encoding="utf-8") as stream:
        return stream.read()


@cache
def _parts(name: str) -> tuple[tuple[str, str], ...]:
    _, *parts = PART.split(_file(name))
    return tuple(zip(parts[::2], parts[1::2], strict=True))


def _filled(text: str, values: Mapping[str, str]) -> str:
    paragraphs = [Template(paragraph) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join(
        paragraph.substitute(values)
        for paragraph in paragraphs
        if all(values[name] for name in paragraph.get_identifiers())
    )
