"""Renders untrusted Markdown for a terminal, in lines without trailing spaces."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from markdown_it.tree import SyntaxTreeNode
from rich.style import Style
from rich.text import Text

from sleuth.base.i18n import tr
from sleuth.base.markdown import normalise_target, parser
from sleuth.base.text import clean, strip_controls
from sleuth.base.urls import ascii_url, clean_url, domain
from sleuth.render.wrap import wrap

if TYPE_CHECKING:
    from rich.console import Console

CITATION = re.compile(r"\[(\d{1,3})(\+|\?{0,2})\]")
EMPHASIS = {"strong": "bold", "em": "italic", "s": "strike"}
BULLET, BAR, RULE = "• ", "│ ", "─"
CODE_INDENT = "    "
MAX_INDENT_LEVELS = 8  # deeper lists and quotes would leave no room
MIN_WIDTH = 8
MIN_COLUMN_WIDTH = 6  # rich needs 4 and drops the text of narrower columns
MAX_TABLE_CELLS = 5_000  # rich takes a second for them; the rows of larger tables are printed as lines

Styles = Mapping[str, str]


class MarkdownRenderer:
    """Renders Markdown for a console."""

    def __init__(self, console: "Console", styles: Styles, width: int) -> None:
        self.console, self.styles, self.width = console, styles, width
        self._links: dict[int, str] | None = None

    def set_citation_targets(self, links: Mapping[int, str]) -> None:
        """Set where citations lead; from then on, links lead nowhere else."""
        self._links = {number: normalise_target(target) for number, target in links.items()}

    def lines(self, text: str) -> list[Text]:
        """Return the lines of a Markdown text, with blank lines between blocks."""
        return list(self._blocks(SyntaxTreeNode(parser().parse(strip_controls(text))).children, self.width))

    def _blocks(self, nodes: Iterable[SyntaxTreeNode], width: int, depth: int = 0) -> Iterator[Text]:
        before: SyntaxTreeNode | None = None
        for node in nodes:
            if before is not None and not _is_tight(before, node):
                yield Text()
            yield from self._block(node, max(width, MIN_WIDTH), depth)
            before = node

    def _block(self, node: SyntaxTreeNode, width: int, depth: int) -> Iterator[Text]:
        if node.type in ("fence", "code_block"):
            for code in strip_controls(node.content).rstrip("\n").expandtabs(4).split("\n"):
                yield Text(CODE_INDENT + code if code else "", self.styles["code"])
        elif node.type in ("bullet_list", "ordered_list"):
            yield from self._list(node, width, depth)
        elif node.type == "blockquote":
            inner = width - len(BAR) if depth < MAX_INDENT_LEVELS else width
            for line in self._blocks(node.children, inner, depth + 1):
                yield Text.assemble((BAR, self.styles["quiet"]), line) if depth < MAX_INDENT_LEVELS else line
        elif node.type == "table":
            yield from self._table(node, width)
        elif node.type == "hr":
            yield Text(RULE * min(width, 40), self.styles["quiet"])
        else:
            yield from wrap(self._inline(node), width)

    def _list(self, node: SyntaxTreeNode, width: int, depth: int) -> Iterator[Text]:
        numbers = iter(range(int(node.attrs.get("start", 1) or 0), 10**10))
        items = list(node.children)
        for place, item in enumerate(items):
            marker = BULLET if node.type == "bullet_list" else f"{next(numbers)}. "
            if place and not _is_tight(items[place - 1], item):
                yield Text()
            indent = " " * len(marker) if depth < MAX_INDENT_LEVELS else ""
            lines = list(self._blocks(item.children, width - len(indent), depth + 1)) or [Text()]
            yield Text.assemble((marker, self.styles["rank"]), lines[0])
            yield from (Text.assemble(indent, line) if line else line for line in lines[1:])

    def _table(self, node: SyntaxTreeNode, width: int) -> Iterator[Text]:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        rows = [[self._inline(cell) for cell in row.children] for part in node.children for row in part.children]
        if len(rows[0]) * MIN_COLUMN_WIDTH > width or len(rows[0]) * len(rows) > MAX_TABLE_CELLS:
            for row in rows:
                yield from wrap(Text(" | ").join(row), width)
            return
        table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style=self.styles["title"], border_style="dim")
        for cell in rows[0]:
            table.add_column(cell, overflow="fold")
        for row in rows[1:]:
            table.add_row(*row)
        for segments in self.console.render_lines(table, self.console.options.update(width=width), pad=False):
            line = Text.assemble(*((segment.text, segment.style or "") for segment in segments))
            line.rstrip()
            if line:
                yield line

    def _inline(self, node: SyntaxTreeNode) -> Text:
        text = Text(style=self.styles["title"] if node.type == "heading" else "")
        for child in node.children:
            self._append(text, child, Style())
        return text

    def _append(self, text: Text, node: SyntaxTreeNode, style: Style) -> None:
        if node.type in ("softbreak", "hardbreak"):
            text.append("\n")
        elif node.type == "code_inline":
            text.append(strip_controls(node.content), style + Style.parse(self.styles["code"]))
        elif node.type in ("link", "image"):
            self._append_link(text, node, style)
        elif node.children:
            for child in node.children:
                self._append(text, child, style + Style.parse(EMPHASIS.get(node.type, "")))
        else:
            text.append(strip_controls(node.content), style)

    def _append_link(self, text: Text, node: SyntaxTreeNode, style: Style) -> None:
        """Append a link; unless it is one of our citations, its domain is shown."""
        target = str(node.attrs.get("href", node.attrs.get("src", "")))
        label = _words(node) or (tr("image") if node.type == "image" else "")
        cited = CITATION.fullmatch(label)
        if cited and self._links and self._links.get(int(cited[1])) == target:
            text.append(label, Style.parse(self.styles["warning" if "?" in cited[2] else "rank"]) + Style(link=target))
            return
        address = ascii_url(clean_url(target))
        is_known = self._links is None or target in self._links.values()
        leads = bool(address) and is_known and not cited  # what looks like a citation leads nowhere else
        text.append(label, style + Style(underline=True, link=address) if leads else style)
        shown = domain(address) or clean(target, 80)
        if shown and label not in (shown, f"www.{shown}", target) and domain(label) != shown:
            text.append(f" ({shown})" if label else shown, self.styles["quiet"])


def _words(node: SyntaxTreeNode) -> str:
    if node.children:
        return "".join(map(_words, node.children))
    return " " if node.type in ("softbreak", "hardbreak") else strip_controls(node.content)


def _is_tight(before: SyntaxTreeNode, after: SyntaxTreeNode) -> bool:
    """Tell whether two blocks belong to a list without blank lines."""
    first = before.children[0] if before.type == "list_item" and before.children else before
    return first.type == "paragraph" and first.hidden
