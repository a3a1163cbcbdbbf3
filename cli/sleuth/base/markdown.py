"""The one Markdown parser, on markdown-it-py: blocks as text or source, prose, links. Import it only to parse."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby, pairwise

from markdown_it import MarkdownIt  # a dependency of rich
from markdown_it.token import Token

MAX_INLINE_CHARS = 20_000  # a longer paragraph is read as plain text: 300 kB of `![` take markdown-it 5 s
LINE = re.compile(r"[^\n]*\n|[^\n]+")
# A comment must not contain `<!--`, or each of a thousand openings would be scanned to the end of the text.
HTML_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,2000}+-->")
URL_START = r"(?i:(?:https?|ftp)://|(?<![^\W_])www\.)"  # of a bare URL, which most viewers make a link
BARE_LINK = re.compile(URL_START)
# Text without any of these, which `[1]` alone is not, has no link, image, HTML or definition and need not be parsed.
MAY_BE_MARKUP = re.compile(r"(?i)\[(?!\d{1,3}[+?]{0,2}\](?![(\[:]))|[<&\\]|://|www\.")
# The line below the head of a table; in a paragraph, a table to viewers that are less strict than markdown-it.
DELIMITER_ROW = re.compile(r"\n[ \t]*+[|:-][|: \t-]*+$", re.MULTILINE)


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


@cache
def _viewer(*, only_prose: bool = False) -> MarkdownIt:
    """Return a parser as lenient as any viewer may be: it takes `javascript:` for a link.

    With `only_prose`, tables and indented code are paragraphs, as they are in some places to some viewers.
    """
    viewer = _new_parser()
    if only_prose:
        viewer.disable("table").block.ruler.at("code", lambda *_: False)  # if disabled, any indentation starts a list
    viewer.validateLink = lambda url: True  # type: ignore[method-assign]  # the documented way to change it
    return viewer


def _new_parser(*disabled: str) -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable(list(disabled))


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
    return str(_viewer().render(text))


def links(text: str) -> list[tuple[str, str]] | None:
    """Return the label and target of each link in a text; None if viewers find images, HTML or definitions in it.

    None also if they could: viewers disagree where tables and indented code end, so both must be safe as prose, too.
    A bare URL ends at the next space or `<` and takes in a backslash or backtick before that. Behind a backtick without
    a partner GitHub's parser misses code spans.
    """
    found: list[tuple[str, str]] = []
    if not MAY_BE_MARKUP.search(text):
        return found
    target, label = "", list[str]()
    definitions: dict[str, object] = {}
    blocks = _viewer().parse(text, definitions)
    count = len(blocks)
    if any(block.type in ("table_open", "code_block") for block in blocks):
        blocks += _viewer(only_prose=True).parse(text, definitions)
    if _is_row(blocks) or definitions.get("references"):  # they would change what [1] means in any other text
        return None
    for index, block in enumerate(blocks):
        inner = block.children or ()
        has_tick = any(token.type == "text" and "`" in token.content for token in inner)
        has_code = any(token.type == "code_inline" and MAY_BE_MARKUP.search(token.content) for token in inner)
        if has_code and (has_tick or (index < count and DELIMITER_ROW.search(block.content))):
            return None
        for token in (block, *inner):
            if token.type in ("image", "html_block", "html_inline"):
                return None
            if token.type == "link_open":
                target, label = str(token.attrs["href"]), []
            elif token.type == "link_close":
                found.append(("".join(label), target))
                target = ""
            elif not target and token.type == "text" and BARE_LINK.search(token.content):
                return None
            else:
                label.append(token.content)
    return found


def _is_row(blocks: Sequence[Token]) -> bool:
    """Tell whether marked takes a list for rows of the table above: one that starts at 7 or with an empty item."""
    ends = {block.map[1] for block in blocks if block.map and block.type == "table_open"}
    clear = {block.map[0] for block in blocks if block.map and block.type in ("inline", "fence", "hr")}
    return any(one.map and one.map[0] in ends and (one.attrs or one.map[0] not in clear) for one in blocks)


@lru_cache(1000)  # an answer has few sources, and each of its blocks is compared with all of them
def normalise_target(target: str) -> str:
    """Return a link target as the parser writes it."""
    return parser().normalizeLink(target)
