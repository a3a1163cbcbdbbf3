"""The main text of an HTML page. Imports trafilatura, which is slow: import this module only for HTML pages."""

import logging
import re
from collections.abc import Iterator, Sequence
from typing import Any

from trafilatura import bare_extraction, load_html

from sleuth.base import logs
from sleuth.pages.blocks import Block, as_text, block, without_title
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import ExtractedPage
from sleuth_providers.html import limits

MAX_MARKUP_CHARS = 2_000_000
MAX_ELEMENTS = 20_000  # with more, trafilatura takes seconds and hundreds of megabytes; every paragraph is taken then
SHELL_CHARS = 250  # a page with scripts and less text may be an empty shell
EMPTY_CHARS = 30  # with less text it is one
LAYOUT_CELL_CHARS = 300  # a table with a longer cell is a layout; its cells are paragraphs
MAX_LINK_SHARE = 0.7  # of the text of a paragraph; with more it is a menu

NEEDS_SCRIPTS = re.compile(
    r"java ?script.{0,40}(?:enable|disabled|required|activ|turn|available|necessary|blocked)|"
    r"(?:enable|require|activ|turn on|without|need|allow).{0,40}java ?script|"
    r"(?:启用|啟用|开启|打开|支持).{0,10}java ?script|java ?script.{0,10}(?:启用|啟用|有効|사용|활성)|"
    r"^(?:please wait|loading)",
    re.IGNORECASE,
)
# Ids of the elements that JavaScript frameworks fill.
MOUNT_IDS = frozenset(
    ("root", "app", "__next", "__nuxt", "svelte", "application", "main-app", "app-root", "gatsby-focus-wrapper")
)
BOILERPLATE_TAGS = frozenset(
    ("script", "style", "noscript", "template", "svg", "nav", "header", "footer", "aside", "form", "head")
)
# `fast` finds as much as the slow modes. A date that occurs only in running text is a guess, and looking for one takes
# four times as long as everything else.
EXTRACTION: dict[str, Any] = {
    "fast": True,
    "include_comments": False,
    "date_extraction_params": {"extensive_search": False, "original_date": True},
}
KINDS = {"p": "paragraph", "li": "item", "pre": "code", "blockquote": "quote", "td": "paragraph"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LINE_TAGS = frozenset(("p", "head", "quote", "item", "list", "table", "row", "cell", "div"))

Node = Any  # an lxml element
Part = tuple[str, str, int] | tuple[str, str, int, str]  # kind, text, level and mark of a block

for _name in ("trafilatura", "htmldate", "courlan", "justext", "charset_normalizer", "dateparser"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # otherwise their warnings go to stderr


def from_html(markup: str, url: str = "") -> ExtractedPage:
    """Return the main text of a web page with its metadata."""
    markup = limits.limit_markup(markup[:MAX_MARKUP_CHARS].replace("\0", ""))
    trees: Iterator[Any] = map(load_html, (markup, f"<html>{markup}"))  # of a fragment, the first may be one element
    tree = next((tree for tree in trees if tree is not None and tree.tag == "html"), None) if markup.strip() else None
    if tree is None:
        raise EmptyPageError
    content = _main_text(tree, url) if _is_small(tree) else ExtractedPage()
    blocks = without_title(content.blocks, content.title, is_site=True) or content.blocks or _paragraphs(tree)
    if _is_shell(tree, as_text(blocks)):
        blocks = _noscript(tree)
        if not blocks:
            raise EmptyPageError(message="{provider} sent a page that needs JavaScript")
    title = content.title or _text(tree.find(".//title")) or _text(tree.find(".//h1"))
    language = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or tree.get("xml:lang") or ""
    return content._replace(title=title, language=language, blocks=blocks)


def article(markup: str) -> Sequence[Block]:
    """Return the blocks of the article in an HTML page, without looking for metadata; none if there is no article."""
    tree: Any = load_html(markup)
    return () if tree is None or not _is_small(tree) else _main_text(tree, "", metadata=False).blocks


def _is_small(tree: Node) -> bool:
    return sum(1 for _ in tree.iter()) <= MAX_ELEMENTS


def _main_text(tree: Node, url: str, metadata: bool = True) -> ExtractedPage:
    for numbered in tree.iter("ol"):
        if numbered.get("start", "1") != "1":  # which trafilatura drops
            numbered.tag = "ul"
    try:
        found: Any = bare_extraction(tree, url=url or None, with_metadata=metadata, **EXTRACTION)
    except Exception as problem:  # on some pages it fails; then all paragraphs are taken
        logs.log("pages: trafilatura failed: %r", problem)
        return ExtractedPage()
    if found is None:
        return ExtractedPage()
    return ExtractedPage(found.title or "", found.author or "", found.date or "", blocks=from_tree(found.body))


def _paragraphs(tree: Node) -> list[Block]:
    """Return every paragraph that is not mostly links: crude, fast, and almost never empty."""
    blocks = []
    taken: Node = None
    for element in tree.iter(*KINDS, *HEADINGS):
        above = list(element.iterancestors())
        if taken in above or any(parent.tag in BOILERPLATE_TAGS for parent in above):
            continue
        text = element.text_content()
        if text.strip() and sum(len(link.text_content()) for link in element.iter("a")) < MAX_LINK_SHARE * len(text):
            taken = element
            tag = element.tag
            text = text if tag == "pre" else " ".join(text.split())
            blocks.append(block("heading", text, int(tag[1])) if tag in HEADINGS else block(KINDS[tag], text))
    return [one for one in blocks if one.text]


def _is_shell(tree: Node, text: str) -> bool:
    """Tell whether scripts are to fill the page: hardly any text, and a sign that there should be some."""
    if not text:
        return True
    if len(text) > SHELL_CHARS or tree.find(".//script") is None:
        return False
    if len(text) < EMPTY_CHARS or NEEDS_SCRIPTS.search(text):
        return True
    return any(  # an element for a script to fill is still empty
        len(_text(element)) < EMPTY_CHARS
        for element in tree.iter("div", "main", "app-root")
        if element.tag == "app-root" or (element.get("id") or "").lower() in MOUNT_IDS
    )


def _noscript(tree: Node) -> list[Block]:
    """Return the text for browsers without scripts, unless it just asks to enable them."""
    texts = (_text(element) for element in tree.iter("noscript"))
    return [block("paragraph", text) for text in texts if len(text) > SHELL_CHARS]


def _text(element: Node) -> str:
    return " ".join(element.text_content().split()) if element is not None else ""


# trafilatura returns the main text as a tree of a few tags: p, head, list, item, table, row, cell, quote, code, lb.


def from_tree(body: Node) -> list[Block]:
    """Return the blocks of trafilatura's tree in reading order."""
    return [one for part in _container(body) if (one := block(*part)).text]


def _container(element: Node) -> Iterator[Part]:
    yield "paragraph", _folded(element.text), 0
    for child in element:
        yield from _parts(child)
        yield "paragraph", _folded(child.tail), 0


def _parts(element: Node) -> Iterator[Part]:
    tag = element.tag
    if tag in ("body", "div"):
        yield from _container(element)
    elif tag == "list":
        yield from _items(element, 0)
    elif tag == "table":
        yield from _table(element)
    elif tag == "head":
        level = (element.get("rend") or "h2")[1:2]
        yield "heading", _inline(element), int(level) if level.isdigit() else 2
    elif tag == "code":
        yield "code", _raw(element), 0
    elif tag == "quote":
        is_pre = len(element) == 0 and "\n" in (element.text or "").strip()  # <pre> without code becomes a quote
        yield "quote", element.text if is_pre else _inline(element), 0
    else:
        yield "paragraph", _inline(element), 0


def _items(element: Node, level: int) -> Iterator[Part]:
    number = 0
    for child in element:
        if child.tag == "list":
            yield from _items(child, level + 1)
            continue
        number += 1
        yield "item", _inline(child, lists=False), level, f"{number}." if element.get("rend") == "ol" else ""
        for inner in child.iter("list"):
            if inner.getparent() is child:
                yield from _items(inner, level + 1)


def _table(element: Node) -> Iterator[Part]:
    rows = [[" ".join(_inline(cell).split()) for cell in row.iter("cell")] for row in element.iter("row")]
    rows = [row for row in rows if any(row)]
    cells = [cell for row in rows for cell in row]
    if len(rows) < 2 or max(map(len, rows)) < 2 or max(map(len, cells)) > LAYOUT_CELL_CHARS:
        yield from (("paragraph", cell, 0) for cell in cells)
    else:
        yield "table", "\n".join("\t".join(row) for row in rows), 0


def _inline(element: Node, lists: bool = True) -> str:
    """Return the text of an element; line breaks and nested blocks start a new line."""
    parts = [_folded(element.text)]
    for child in element:
        if child.tag == "lb":
            parts.append("\n")
        elif child.tag == "code":
            parts.append(_code_span(_raw(child)))
        elif child.tag in LINE_TAGS:
            parts.append(f"\n{_inline(child)}\n" if lists or child.tag != "list" else "")
        else:
            parts.append(_inline(child))
        parts.append(_folded(child.tail))
    return "".join(parts)


def _code_span(code: str) -> str:
    bare = code.strip()
    return f"`{bare}`" if bare and "\n" not in bare and "`" not in bare else code


def _raw(element: Node) -> str:
    parts = [element.text or ""]
    for child in element:
        parts += ["\n" if child.tag == "lb" else _raw(child), child.tail or ""]
    return "".join(parts)


def _folded(text: str | None) -> str:
    """Reduce each run of white space to one space, as HTML does; spaces at the ends stay."""
    return re.sub(r"\s+", " ", text or "")
