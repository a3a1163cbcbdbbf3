"""The one Markdown parser, on markdown-it-py: blocks as text or source, prose, links. Import it only to parse."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import groupby, pairwise

from markdown_it import MarkdownIt  # a dependency of rich
from markdown_it.token import Token

MAX_INLINE_CHARS = 20_000  # a longer paragraph is read as plain text: 300 kB of `![` take markdown-it 5 s
BREAKS = ("softbreak", "hardbreak")
SPECIAL_SIGNS = {0xE000: "<", 0xE001: ">"}
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


def read_blocks(source: str) -> Iterator[tuple[str, str, int, str, str]]:
    """Yield the kind, text, level, mark and linked text of each block.

    Kinds are heading (level 1 to 6), paragraph, item (level 0 in the outermost list), quote, code, and table with its
    rows on lines and its cells between tabs. The mark is the number of an item or the language of code. Links become
    their text, followed by the URL in the linked text. Images become their alternative text; HTML tags and comments are
    removed, and code spans keep their backticks.
    """
    heading, depth, quotes, number = 0, -1, 0, None
    rows: list[list[tuple[str, str]]] = []
    references: dict[str, object] = {}
    for token in _reader().parse(source, references):
        if token.type == "inline":
            text, linked = _words(token.content, references)
            if rows:
                rows[-1].append((" ".join(text.split()), " ".join(linked.split())))
            elif heading:
                yield "heading", text, heading, "", ""
            elif number is not None:
                yield "item", text, depth, number, linked
                number = None
            else:
                yield "quote" if quotes else "paragraph", text, 0, "", linked
        elif token.type == "fence":
            yield "code", token.content, 0, token.info.partition(" ")[0], ""
        elif token.type == "html_block":
            yield "paragraph", _words(_outside_comment(token.content), references)[0], 0, "", ""
        elif token.type in ("heading_open", "heading_close"):
            heading = int(token.tag[1]) if token.nesting > 0 else 0
        elif token.tag in ("ul", "ol"):
            depth += token.nesting
        elif token.tag == "li":
            number = f"{token.info}{token.markup}" * bool(token.info) if token.nesting > 0 else None
        elif token.tag == "blockquote":
            quotes += token.nesting
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            text, linked = ("\n".join("\t".join(cell[form] for cell in row) for row in rows) for form in (0, 1))
            yield "table", text, 0, "", linked
            rows = []


def _words(content: str, references: dict[str, object]) -> tuple[str, str]:
    """Return inline Markdown as text, and as text with the URLs of links."""
    if len(content) > MAX_INLINE_CHARS:
        return HTML_TAG.sub("", content), ""
    tokens: list[Token] = []
    _reader().inline.parse(content, _reader(), references, tokens)
    text, href = "".join(_pieces(tokens)), ""
    for place, token in enumerate(tokens):
        before = tokens[place - 1]
        if token.type == "link_open":
            href = str(token.attrs["href"])
        elif token.type == "link_close" and before.type not in ("link_open", "image") and before.content != href:
            token.content = "" if href.startswith("#") else f" ({href})"
    return text, "".join(_pieces(tokens))


def _pieces(tokens: Iterable[Token]) -> Iterator[str]:
    for is_code, group in groupby(tokens, key=lambda token: token.type == "code_inline"):
        if is_code:
            yield from (token.content if "`" in token.content else f"`{token.content}`" for token in group)
        else:
            text = "".join("\n" if token.type in BREAKS else _literal(token) for token in group)
            yield HTML_TAG.sub("", text).translate(SPECIAL_SIGNS)


def _literal(token: Token) -> str:
    """Return the text of a token; placeholders stand for signs written as escapes or entities, which begin no tag."""
    if token.type != "text_special":
        return token.content
    return token.content.replace("<", "\ue000").replace(">", "\ue001")


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
