"""What a parser of Markdown sees in a text: its blocks, its links, and whether it holds anything but words."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt  # rich brings it along
from markdown_it.token import Token

from sleuth_providers.records import Record

LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Link(Record):
    """A link or a picture: its words and where it leads."""

    label: str
    target: str
    is_picture: bool = False


class MarkdownInfo(Record):
    """What there is in a text beside words."""

    has_html: bool
    links: tuple[Link, ...]


@cache
def parser() -> MarkdownIt:
    """Return a parser for which HTML is text, and which has no definitions that change what [1] means."""
    return _any_parser().disable(["html_block", "html_inline", "reference"])


def _any_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@cache
def _structure() -> MarkdownIt:
    """Return a parser that looks no further than at blocks."""
    return _any_parser().disable(["html_block", "reference", "inline"])


@cache
def _viewer() -> MarkdownIt:
    """Return a parser as lenient as a viewer may be."""
    return _any_parser()


def split(text: str) -> list[str]:
    """Return the blocks of a text, each with the blank lines that follow it: together they are the text."""
    lines = LINE.findall(text)
    starts = [token.map[0] for token in _structure().parse(text) if token.level == 0 and token.map][1:]
    places = [0, *starts, len(lines)]
    return ["".join(lines[start:end]) for start, end in pairwise(places)] if text else []


def look(text: str) -> MarkdownInfo:
    """Return what a viewer would see in a text beside its words."""
    tokens = list(_tokens(text))
    return MarkdownInfo(any(token.type in ("html_block", "html_inline") for token in tokens), tuple(_links(tokens)))


def _links(tokens: Iterable[Token]) -> Iterator[Link]:
    opened: list[tuple[str, list[str]]] = []
    for token in tokens:
        if token.type == "link_open":
            opened.append((str(token.attrs["href"]), []))
        elif token.type == "link_close":
            target, words = opened.pop()
            yield Link("".join(words), target)
        elif token.type == "image":
            yield Link(token.content, str(token.attrs["src"]), is_picture=True)
        elif opened:
            opened[-1][1].append(token.content)


def same_target(target: str) -> str:
    """Return an address as parsers write it."""
    return parser().normalizeLink(target)


def _tokens(text: str) -> Iterator[Token]:
    for token in _viewer().parse(text):
        yield token
        yield from token.children or ()
