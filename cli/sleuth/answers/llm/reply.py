"""What a model says, read from JSON that may lack or misplace anything: pieces of text and reasoning, and the count."""

import json
from typing import Any

from sleuth.answers.llm.chat import Piece, Usage
from sleuth_providers.json import as_dict, as_list, as_number, as_text

OPEN, CLOSE = "<think>", "</think>"
MOST_BLANKS = 1000  # before a tag; nobody waits for ever
MOST_TOKENS = 10**9  # no honest count is higher


class Thoughts:
    """Parts reasoning that a reply begins with, in <think> tags, from the text; tags may be cut anywhere."""

    def __init__(self) -> None:
        self._held = ""  # may be the beginning of a tag
        self._state = "before"  # the tag, then "inside", then "behind" it; "after" all of that

    def feed(self, text: str) -> Piece:
        """Return what is surely text and what is surely reasoning."""
        held, self._held = self._held + text, ""
        if self._state == "before":
            begun = held.lstrip()
            if len(begun) < len(OPEN) and OPEN.startswith(begun) and len(held) < MOST_BLANKS:
                self._held = held
                return Piece()
            self._state, held = ("inside", begun[len(OPEN) :]) if begun.startswith(OPEN) else ("after", held)
        reasoning = ""
        if self._state == "inside":
            reasoning, closed, held = held.partition(CLOSE)
            if not closed:
                kept = _overlap(reasoning)
                self._held, reasoning = reasoning[len(reasoning) - kept :], reasoning[: len(reasoning) - kept]
                return Piece(reasoning=reasoning)
            self._state = "behind"
        if self._state == "behind":
            held = held.lstrip()
            self._state = "after" if held else "behind"
        return Piece(held, reasoning)

    def finish(self) -> Piece:
        """Return what was held back, now that no tag can follow."""
        held, self._held = self._held, ""
        return Piece(reasoning=held) if self._state == "inside" else Piece(held)


def part_unopened(text: str) -> tuple[str, str]:
    """Return text and reasoning of a whole reply that only closes its tag: the opening one was in the prompt."""
    reasoning, closed, rest = text.partition(CLOSE)
    return (rest.lstrip(), reasoning) if closed and OPEN not in reasoning else (text, "")


def _overlap(text: str) -> int:
    """Return how many characters at the end of a text may begin a closing tag."""
    return next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)


def read_document(text: str) -> dict[str, Any]:
    """Return a JSON object; ValueError for anything else."""
    try:
        document = json.loads(text)
    except RecursionError as problem:
        raise ValueError("nested too deep") from problem
    if not isinstance(document, dict):
        raise ValueError("not an object")
    return document


def read_piece(document: dict[str, Any]) -> Piece:
    """Return what one document says, a whole reply or a part of one; much of it may be missing."""
    choice = as_dict(next(iter(as_list(document.get("choices"))), None))
    said = as_dict(choice.get("message")) or as_dict(choice.get("delta"))
    usage = document.get("usage") or choice.get("usage")
    return Piece(
        _text(said.get("content")) or _text(said.get("refusal")),
        _text(said.get("reasoning_content")) or _text(said.get("reasoning")),
        as_text(choice.get("finish_reason")),
        read_usage(as_dict(usage)) if usage else None,
    )


def _text(value: Any) -> str:
    """Return content, which is text, or a list of parts of which some are."""
    if isinstance(value, list):
        return "".join(as_text(as_dict(part).get("text")) for part in value)
    return value if isinstance(value, str) else ""


def read_usage(usage: dict[str, Any]) -> Usage:
    """Return the tokens a server counted, by OpenAI's names or DeepSeek's."""
    cached = usage.get("prompt_cache_hit_tokens") or as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")
    return Usage(
        1,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        _count(as_dict(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        _count(cached),
    )


def _count(value: Any) -> int:
    return int(min(max(as_number(value) or 0, 0), MOST_TOKENS))
