"""HTML files as title and text: quick enough for folders of thousands, and at peace with broken and hostile ones.

Where there is an article, its text is the same as that of a web page (`article`); else it is all that can be read.
What a page says of itself is taken from where it should stand: looking for it everywhere takes longer than the rest.
"""

import re
from html import unescape
from typing import Any

from sleuth.library.markdown import tidy
from sleuth.pages.blocks import as_text
from sleuth_providers.records import Record

MAX_DEPTH = 1_000  # elements inside one another; browsers stop at 512, and parsers take for ever beyond
MAX_ARTICLE = 200_000  # characters of HTML; what is longer is a manual or a table, and wanted whole
ARTICLE = 250  # characters that make an article
PART = 0.3  # of all that can be read, which the main part must be
FURNITURE = frozenset(("script", "style", "noscript", "template", "nav", "footer", "aside", "svg", "iframe", "button"))
INLINE = re.compile(
    r"a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|r[bpt]|ruby|s|samp|small|span|strong"
    r"|su[bp]|time|tt|u|var|wbr"
)
# Elements that hold others and end: not those without an end, or whose end is often left out.
NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    r"|p|li|dt|dd|tr|td|th|option|thead|tbody|tfoot)\b)[a-z]",
    re.IGNORECASE,
)
# What nobody reads, and some of which parsers choke on: code, choices, and tags longer than a screen.
UNREAD = re.compile(r"<(script|style|select)\b[^<]*+(?:<(?!/\1\b)[^<]*+)*+|<[a-z][^<>]{10000,}+>", re.IGNORECASE)


class HtmlDocument(Record):
    """What an HTML file says."""

    title: str
    text: str
    published: str = ""
    language: str = ""


def read_markup(markup: str) -> HtmlDocument:
    """Return the title and the text of an HTML file."""
    markup = UNREAD.sub("", markup)
    if is_deep(markup):
        said = re.search(r"<title[^<>]*>([^<]{1,500})", markup, re.IGNORECASE)
        text = re.sub(r"<[^<>]*>", " ", markup)
        return HtmlDocument(unescape(said[1]) if said else "", tidy(unescape(text)))
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    title = tree.css_first("title") or tree.css_first("h1")
    return HtmlDocument(
        title.text() if title else "",
        _main_text(tree, markup),
        _attribute(tree.css_first('meta[property="article:published_time"], meta[name="date"]'), "content")
        or _attribute(tree.css_first("time[datetime]"), "datetime"),
        _attribute(tree.css_first("html[lang]"), "lang"),
    )


def is_deep(markup: str) -> bool:
    """Tell whether elements are inside one another deeper than anybody writes."""
    depth = 0
    for tag in NESTING.finditer(markup):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def _main_text(tree: Any, markup: str) -> str:
    whole = _text(tree.body)
    if len(whole) >= ARTICLE and len(markup) <= MAX_ARTICLE:
        from sleuth.pages.article import article

        found = as_text(article(markup))
        if len(found) >= max(ARTICLE, PART * len(whole)):
            return found
    main = _text(tree.css_first("main, [role=main], article"))
    return main if len(main) > PART * len(whole) else whole


def _text(root: Any) -> str:
    """Return what can be read in an element: lines end where blocks do, words stay whole across inline elements."""
    parts: list[str] = []
    ends: list[Any] = []  # elements that we are inside of
    node = root.child if root else None
    while node or ends:
        if node is None:
            node = ends.pop()
            if not INLINE.fullmatch(node.tag or ""):
                parts.append("\n")
            node = node.next
        elif node.tag == "-text":
            parts.append(node.text_content or "")
            node = node.next
        elif node.tag in FURNITURE:
            node = node.next
        else:
            if not INLINE.fullmatch(node.tag or ""):
                parts.append("\n")
            ends.append(node)
            node = node.child
    return tidy("".join(parts))


def _attribute(node: object, name: str) -> str:
    attributes = getattr(node, "attributes", None) or {}
    return str(attributes.get(name) or "")
