"""Text from outside in a prompt: behind a fence that it cannot climb, with nothing in it that passes for a citation."""

import re

from sleuth.answers.citations import MARK, find
from sleuth.base.text import clean

TAG = re.compile(r"<(?=\s*/?\s*untrusted)", re.IGNORECASE)
HEADING = re.compile(r"[\[【［](?=\s*search\s+results)", re.IGNORECASE)


def fenced(text: str, provider: str, code: str) -> str:
    """Return text between two marks with a code of this run, so that nobody outside can know them."""
    heading = f"[search results — from {unfenced(clean(provider, 200)) or 'the web'}]"
    return f"{heading}\n<untrusted-{code}>\n{text}\n</untrusted-{code}>"


def fence_length(provider: str, code: str) -> int:
    """Return how many characters a fence takes."""
    return len(fenced("", provider, code))


def unfenced(text: str) -> str:
    """Return text that holds neither the marks of a fence nor its heading."""
    return HEADING.sub("(", TAG.sub("‹", text))


def defused(text: str) -> str:
    """Return text of a page without any [n]: a citation is put in round brackets, code and links get two blanks.

    Code stays code that way: `argv[1]` becomes `argv[  1]`, which means the same and is no citation to anybody.
    """
    cited = {place for mark in find(text) for place in range(mark.start, mark.end)}

    def harmless(found: re.Match[str]) -> str:
        inside = found[0][1:-1]
        if found.start() in cited:
            return f"({inside})"
        return f"{found['opening']}  {inside.lstrip()}{found['closing']}"

    return unfenced(MARK.sub(harmless, text))
