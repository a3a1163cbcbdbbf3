"""The little XML that trafilatura leaves of a page, as blocks."""

from collections.abc import Iterator
from typing import Any

from sleuth.pages.blocks import Block, block

Node = Any  # an lxml element
OWN_LINES = frozenset(("p", "head", "quote", "item", "list", "table", "row", "cell", "div"))
LONG_CELL = 300  # characters; a table with such cells is a layout, and its cells are paragraphs


def from_tree(body: Node) -> list[Block]:
    """Return the blocks of an extracted body in reading order."""
    return [one for kind, text, level in _container(body) if (one := block(kind, text, level)).text]


def _container(element: Node) -> Iterator[tuple[str, str, int]]:
    yield "paragraph", _folded(element.text), 0
    for child in element:
        yield from _block(child)
        yield "paragraph", _folded(child.tail), 0


def _block(element: Node) -> Iterator[tuple[str, str, int]]:
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
        preformatted = (
            len(element) == 0 and "\n" in (element.text or "").strip()
        )  # what <pre> becomes when it is no code
        yield "quote", element.text if preformatted else _inline(element), 0
    else:
        yield "paragraph", _inline(element), 0


def _items(element: Node, level: int) -> Iterator[tuple[str, str, int]]:
    for child in element:
        if child.tag == "list":
            yield from _items(child, level + 1)
            continue
        yield "item", _inline(child, lists=False), level
        for inner in child.iter("list"):
            if inner.getparent() is child:
                yield from _items(inner, level + 1)


def _table(element: Node) -> Iterator[tuple[str, str, int]]:
    rows = [[" ".join(_inline(cell).split()) for cell in row.iter("cell")] for row in element.iter("row")]
    rows = [row for row in rows if any(row)]
    is_layout = len(rows) < 2 or max(map(len, rows)) < 2 or any(len(cell) > LONG_CELL for row in rows for cell in row)
    if is_layout:
        yield from (("paragraph", cell, 0) for row in rows for cell in row)
    else:
        yield "table", "\n".join("\t".join(row) for row in rows), 0


def _inline(element: Node, lists: bool = True) -> str:
    """Return the text within an element; only a line break and a block inside begin a new line."""
    parts = [_folded(element.text)]
    for child in element:
        if child.tag == "lb":
            parts.append("\n")
        elif child.tag == "code":
            parts.append(_span(_raw(child)))
        elif child.tag in OWN_LINES:
            parts.append(f"\n{_inline(child)}\n" if lists or child.tag != "list" else "")
        else:
            parts.append(_inline(child))
        parts.append(_folded(child.tail))
    return "".join(parts)


def _span(code: str) -> str:
    bare = code.strip()
    return f"`{bare}`" if bare and "\n" not in bare and "`" not in bare else code


def _raw(element: Node) -> str:
    parts = [element.text or ""]
    for child in element:
        parts.append("\n" if child.tag == "lb" else _raw(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _folded(text: str | None) -> str:
    """Return text with every run of white space as one blank, as HTML means it."""
    if not text:
        return ""
    folded = " ".join(text.split())
    if not folded:
        return " "
    return f"{' ' if text[0].isspace() else ''}{folded}{' ' if text[-1].isspace() else ''}"
