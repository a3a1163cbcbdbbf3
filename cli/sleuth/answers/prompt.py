"""Prompts from the files in prompts/, filled with as many findings and earlier messages as fit."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Template

from sleuth.answers.citations import drop_citations
from sleuth.answers.llm.chat import Message
from sleuth.answers.research import FoundSource, Research
from sleuth.answers.sanitize import fenced, without_citations, without_fences
from sleuth.base.text import shorten
from sleuth.relevance.compress import compress
from sleuth.store.settings import SNIPPET_LENGTH

FOLDER = os.path.join(os.path.dirname(__file__), "prompts")
ROLE = re.compile(r"^## (system|user)\n+", re.MULTILINE)
FENCED_PLACES = ("untrusted", "found", "page", "pages")  # their values contain fences on purpose
MAX_TITLE_CHARS, MAX_SITE_CHARS = 150, 100
PASSAGES = "\nFrom the page:\n"
MIN_PASSAGE_CHARS = 200  # for all passages together; fewer say nothing useful
GAP = "\n\n"


def fill(name: str, code: str = "", **values: str) -> tuple[Message, ...]:
    """Return a prompt with its places filled in; paragraphs with an empty place are left out."""
    safe = {key: value if key in FENCED_PLACES else without_fences(value) for key, value in values.items()}
    if code:
        safe["untrusted"] = Template(_file("untrusted")).substitute(code=code).strip()
    return tuple(Message(role, _filled(text, safe)) for role, text in _parts(name))


def left_for(place: str, name: str, room: int, code: str = "", **values: str) -> int:
    """Return how many of a prompt's characters are left for one of its places."""
    sample = "…"
    return room - size(fill(name, code, **values | {place: sample})) + len(sample)


def size(messages: Iterable[Message]) -> int:
    """Return the characters of all messages."""
    return sum(len(message.content) for message in messages)


def earlier_turns(history: Sequence[Message], room: int) -> tuple[Message, ...]:
    """Return the newest messages that fit, without citations: their numbers belong to other sources."""
    kept: list[Message] = []
    for turn in reversed(history):
        if turn.role in ("user", "assistant"):
            turn = turn._replace(content=without_fences(drop_citations(turn.content)))
            room -= len(turn.content) + len(turn.role) + len(": \n")
            if room < 0:
                break
            kept.append(turn)
    return tuple(reversed(kept))


def as_list(lines: Iterable[str]) -> str:
    """Return a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


@cache
def _file(name: str) -> str:
    with open(os.path.join(FOLDER, f"{name}.md"), encoding="utf-8") as stream:
        return stream.read()


@cache
def _parts(name: str) -> tuple[tuple[str, str], ...]:
    _, *parts = ROLE.split(_file(name))
    return tuple(zip(parts[::2], parts[1::2], strict=True))


def _filled(text: str, values: Mapping[str, str]) -> str:
    paragraphs = [Template(paragraph) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join(
        paragraph.substitute(values)
        for paragraph in paragraphs
        if all(values[name] for name in paragraph.get_identifiers())
    )


def show(research: Research, found: Sequence[FoundSource], room: int, query: str | None = None) -> str:
    """Return as many sources as fit, inside a fence; with a query, passages of their pages fill the rest."""
    left = room - len(fenced("", research.provider, research.fence_code))
    briefs: dict[int, str] = {}
    for one in found:
        if brief := next((text for text in _briefs(research, one) if len(text) + len(GAP) <= left), ""):
            briefs[one.citation] = brief
            left -= len(brief) + len(GAP)
    pages = [one for one in found if one.text and one.citation in briefs]
    passages = {} if query is None else _passages(pages, query, left)
    texts = [brief + passages.get(number, "") for number, brief in briefs.items()]
    return fenced(GAP.join(texts), research.provider, research.fence_code) if texts else ""


def show_page(research: Research, page: FoundSource, room: int) -> str:
    """Return one page inside a fence, compressed to what matches the current query."""
    fence, heading = len(fenced("", research.provider, research.fence_code)), _heading(page)
    left = room - fence - len(heading) - len("\n")
    (kept,) = compress(research.rounds[-1].query, [page.text], "rag", limit=max(left, 1)).pages
    return fenced(_joined(heading, kept.content)[: room - fence], research.provider, research.fence_code)


def _briefs(research: Research, found: FoundSource) -> Iterator[str]:
    """Yield ways to show a source, longest first: with notes, with its snippet or only its heading."""
    if found.note and (noted := "\n".join(filter(None, (found.note.summary, as_list(found.note.key_points))))):
        yield f"[{found.citation}] {_joined(_heading(found), noted)}"
    yield f"[{found.citation}] {_joined(_heading(found), shorten(found.snippet, research.settings[SNIPPET_LENGTH]))}"


def _joined(heading: str, text: str) -> str:
    """Return a heading and the text below it; both together may look like a citation that neither of them has."""
    return without_citations(f"{heading}\n{text}" if text else heading)


def _heading(found: FoundSource) -> str:
    title = found.title or (found.note.title if found.note else "")
    archived = f"copy archived on {found.archived}" if found.archived else ""
    about = ", ".join(filter(None, (shorten(found.site, MAX_SITE_CHARS), found.published, archived)))
    return " — ".join(filter(None, (shorten(title, MAX_TITLE_CHARS), about)))


def _passages(pages: Sequence[FoundSource], query: str, room: int) -> dict[int, str]:
    """Return the passages that match the query best, by source, all together within the room."""
    limit = room - len(PASSAGES) * len(pages)
    if limit < MIN_PASSAGE_CHARS:
        return {}
    kept = compress(query, [page.text for page in pages], "rag", limit=limit).pages
    return {page.citation: PASSAGES + cut.content for page, cut in zip(pages, kept, strict=True) if cut.content.strip()}
