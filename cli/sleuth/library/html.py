"""HTML files as title and text, fast enough for folders of thousands and safe on hostile ones.

Web pages have another reader, `pages.article.from_html`, which looks for the article alone, with author and date. Files
are to be found by any of their words: a manual, a table or an index page is read whole, and only a page that is mostly
an article is reduced to it (by the same code, `pages.article.article`). On 300 HTML manuals (11 MB) both give the same
text for 296; this one takes 2.9 s and the other 4.8 s, most of it spent on author and date.
"""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from sleuth.pages.blocks import Block, as_text, from_plain
from sleuth.pages.extract import ExtractedPage
from sleuth_providers.html.limits import is_costly

MAX_ARTICLE_CHARS = 200_000  # of HTML; a longer file is a manual or a table
MIN_ARTICLE_CHARS = 250  # of text
MIN_ARTICLE_SHARE = 0.3  # of the whole text; with less, the rest of the page matters more than its article
SKIPPED_TAGS = ["script", "style", "noscript", "template", "nav", "footer", "aside", "svg", "iframe", "button"]
INLINE_TAGS = re.findall(
    r"\w+",
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q rb rp rt ruby s samp small span strong sub sup"
    " time tt u var wbr",
)
# Scripts, styles, choices and tags of 10,000 characters: never text, and some make parsers slow.
UNREADABLE = re.compile(r"<(script|style|select)\b[^<]*+(?:<(?!/\1\b)[^<]*+)*+|<[a-z][^<>]{10000,}+>", re.IGNORECASE)


def read_markup(markup: str) -> ExtractedPage:
    """Read an HTML file."""
    markup = UNREADABLE.sub("", markup)
    if is_costly(markup):
        found = re.search(r"<title[^<>]*>([^<]{1,500})", markup, re.IGNORECASE)
        text = unescape(re.sub(r"<[^<>]*>", " ", markup))
        return ExtractedPage(unescape(found[1]) if found else "", blocks=from_plain(text))
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    title = tree.css_first("title") or tree.css_first("h1")
    dated = tree.css_first('meta[property="article:published_time"], meta[name="date"]')
    published = _attribute(dated, "content") or _attribute(tree.css_first("time[datetime]"), "datetime")
    language = _attribute(tree.css_first("html[lang]"), "lang")
    return ExtractedPage(title.text() if title else "", "", published, language, _main_text(tree, markup))


def _main_text(tree: Any, markup: str) -> Sequence[Block]:
    tree.strip_tags(SKIPPED_TAGS)
    tree.unwrap_tags(INLINE_TAGS)  # every tag that is left begins a line
    tree.merge_text_nodes()
    whole = _text(tree.body)
    if len(whole) >= MIN_ARTICLE_CHARS and len(markup) <= MAX_ARTICLE_CHARS:
        from sleuth.pages.article import article

        found = article(markup)
        if len(as_text(found)) >= max(MIN_ARTICLE_CHARS, MIN_ARTICLE_SHARE * len(whole)):
            return found
    main = _text(tree.css_first("main, [role=main], article"))
    return from_plain(main if len(main) > MIN_ARTICLE_SHARE * len(whole) else whole)


def _text(root: Any) -> str:
    lines = root.text(separator="\n").split("\n") if root else []
    return "\n".join(filter(None, map(str.strip, lines)))


def _attribute(node: Any, name: str) -> str:
    return str(node.attributes.get(name) or "") if node else ""
