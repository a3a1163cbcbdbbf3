"""The one Markdown parser, on markdown-it-py: blocks as text or source, prose, links. Import it only to parse."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import groupby, pairwise

from markdown_it import MarkdownIt  # a dependency of rich
from markdown_it.token import Token

MAX_INLINE_CHARS = 20_000  # a longer paragraph is read as plain text: 300 kB of `![` take markdown-it 5 s
LINE = re.compile(r"[^\n]*\n|[^\n]+")
# A comment must not contain `<!--`, or each of a thousand openings would be scanned to the end of the text.
HTML_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,2000}+-->")


@cache
def parser() -> MarkdownIt:
    """Return a parser that takes HTML for text and ignores link definitions, which would change what [1] means."""
    return _new_parser("html_block", "html_inline", "reference")


@cache
def _block_parser() -> MarkdownIt:
    return _new_parser("html_block", "reference", "inline")


@cache
def _reader() -> MarkdownIt:
    # Indented text is rarely code in Markdown that services convert from HTML. Tags inside a line are left to HTML_TAG:
    # markdown-it copies the rest of the text at each `<`. Inline markup is parsed block by block, see `_words`.
    return _new_parser("code", "html_inline", "inline")


def _new_parser(*disabled: str) -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable(list(disabled))
    # A quote ends at the first line without `>`. markdown-it looks for its end in the whole rest of the text, which
    # takes quadratic time: 28 s for 2,000 quotes of which none continues.
    made.block.ruler.push("quote_end", lambda state, *_: state.parentType == "blockquote", {"alt": ["blockquote"]})
    return made


def read_blocks(source: str, *, alt_text: bool = False) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, text and level of each block.

    Kinds are heading (level 1 to 6), paragraph, item (level 0 in the outermost list), quote, code, and table with its
    rows on lines and its cells between tabs. Links become their text, images their alternative text or nothing; HTML
    tags and comments are removed, and code spans keep their backticks.
    """
    heading, depth, quotes, starts_item = 0, -1, 0, False
    rows: list[list[str]] = []
    references: dict[str, object] = {}
    for token in _reader().parse(source, references):
        if token.type == "inline":
            text = "".join(_words(token.content, references, alt_text))
            if rows:
                rows[-1].append(" ".join(text.split()))
            elif heading:
                yield "heading", text, heading
            elif starts_item:
                yield "item", text, depth
                starts_item = False
            else:
                yield "quote" if quotes else "paragraph", text, 0
        elif token.type == "fence":
            yield "code", token.content, 0
        elif token.type == "html_block":
            yield "paragraph", "".join(_words(_outside_comment(token.content), references, alt_text)), 0
        elif token.type in ("heading_open", "heading_close"):
            heading = int(token.tag[1]) if token.nesting > 0 else 0
        elif token.tag in ("ul", "ol"):
            depth += token.nesting
        elif token.tag == "li":
            starts_item = token.nesting > 0
        elif token.tag == "blockquote":
            quotes += token.nesting
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            yield "table", "\n".join("\t".join(row) for row in rows), 0
            rows = []


def _words(content: str, references: dict[str, object], alt_text: bool) -> Iterator[str]:
    tokens: list[Token] = []
    if len(content) > MAX_INLINE_CHARS:
        yield HTML_TAG.sub("", content)
    else:
        _reader().inline.parse(content, _reader(), references, tokens)
    for is_code, group in groupby(tokens, key=lambda token: token.type == "code_inline"):
        if is_code:
            yield from (token.content if "`" in token.content else f"`{token.content}`" for token in group)
        else:
            yield HTML_TAG.sub("", "".join(_text(token, alt_text) for token in group))


def _text(token: Token, alt_text: bool) -> str:
    if token.type == "image" and not alt_text:
        return ""
    return "\n" if token.type in ("softbreak", "hardbreak") else token.content


def _outside_comment(html: str) -> str:
    """Return a block of HTML, or what follows it if it is a comment; drop scripts and styles."""
    if re.match(r"\s*<(script|style)\b", html, re.IGNORECASE):
        return ""
    comment, end, rest = html.partition("-->")
    return rest if end and comment.lstrip().startswith("<!--") else html


def split_blocks(text: str) -> list[str]:
    """Return the source of each block with the blank lines that follow it; joined, they are the text."""
    lines = LINE.findall(text)
    starts = [token.map[0] for token in _block_parser().parse(text) if token.level == 0 and token.map][1:]
    places = [0, *starts, len(lines)]
    return ["".join(lines[start:end]) for start, end in pairwise(places)] if text else []


def prose_lines(text: str) -> set[int]:
    """Return the numbers of the lines that are neither blank nor code."""
    tokens = (token for token in _block_parser().parse(text) if token.type == "inline")
    return {line for token in tokens for line in range(*(token.map or (0, 0)))}


def to_html(text: str) -> str:
    """Return Markdown as HTML, which is as untrusted as the text."""
    return str(_new_parser().render(text))


@lru_cache(1000)  # an answer has few sources, and each of its blocks is compared with all of them
def normalise_target(target: str) -> str:
    """Return a link target as the parser writes it."""
    return parser().normalizeLink(target)
