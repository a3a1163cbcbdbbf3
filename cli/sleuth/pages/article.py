"""The main text of an HTML page. Imports trafilatura, which takes its time: only who has such a page imports this."""

import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any

from trafilatura import bare_extraction, load_html

from sleuth.base import logs
from sleuth.pages.blocks import Block, after_title, as_text, block
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import ExtractedPage
from sleuth.pages.xml_blocks import Node, from_tree
from sleuth_providers.html import limits

MAX_MARKUP = 2_000_000  # characters of HTML that are looked at
MAX_ELEMENTS = 20_000  # more, and trafilatura takes seconds and hundreds of megabytes: paragraphs have to do
SHELL = 250  # characters under which a page with scripts may be an empty shell
NOTHING = 30  # and under which it is one

NEEDS_SCRIPTS = re.compile(
    r"java ?script.{0,40}(?:enable|disabled|required|activ|turn|available|necessary|blocked)|"
    r"(?:enable|require|activ|turn on|without|need|allow).{0,40}java ?script|"
    r"(?:启用|啟用|开启|打开|支持).{0,10}java ?script|java ?script.{0,10}(?:启用|啟用|有効|사용|활성)|"
    r"^(?:please wait|loading)",
    re.IGNORECASE,
)
SHELLS = frozenset(
    ("root", "app", "__next", "__nuxt", "svelte", "application", "main-app", "app-root", "gatsby-focus-wrapper")
)
FURNITURE = frozenset(
    ("script", "style", "noscript", "template", "svg", "nav", "header", "footer", "aside", "form", "head")
)
# A date that only the running text could tell is a guess, and guessing takes four times as long as all the rest.
DATES = {"extensive_search": False, "original_date": True}
KINDS = {"p": "paragraph", "li": "item", "pre": "code", "blockquote": "quote", "td": "paragraph"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

for _name in ("trafilatura", "htmldate", "courlan", "justext", "charset_normalizer", "dateparser"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # or what they have to say ends up on stderr


def from_html(markup: str, url: str = "") -> ExtractedPage:
    """Return the main text of an HTML page."""
    markup = _bounded(markup)
    tree: Any = load_html(markup) if markup.strip() else None
    if tree is None:
        raise EmptyPageError
    content = _main_text(tree, url) if _is_small(tree) else ExtractedPage()
    blocks = after_title(content.blocks, content.title) or content.blocks or _paragraphs(tree)
    if _is_shell(tree, as_text(blocks)):
        blocks = _in_noscript(tree)
        if not blocks:
            raise EmptyPageError(message="{provider} sent a page that only scripts fill")
    title = content.title or _text(tree.find(".//title")) or _text(tree.find(".//h1"))
    language = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or tree.get("xml:lang") or ""
    return content._replace(title=title, language=language, blocks=blocks)


def article(markup: str) -> Sequence[Block]:
    """Return the blocks of the article in an HTML page, or none; of what it says of itself, nothing."""
    tree: Any = load_html(markup)
    if tree is None or not _is_small(tree):
        return ()
    return _main_text(tree, "", about=False).blocks


def _bounded(markup: str) -> str:
    """Cut hostile lengths: the size, the tags and their attributes decide what parsing costs."""
    return limits.limit_markup(markup[:MAX_MARKUP].replace("\0", ""))


def _is_small(tree: Node) -> bool:
    return sum(1 for _ in tree.iter()) <= MAX_ELEMENTS


def _main_text(tree: Node, url: str, about: bool = True) -> ExtractedPage:
    # `fast` scores as well as the slow ways; links, images and emphasis are furniture, so they are not asked for.
    options: dict[str, Any] = {
        "fast": True,
        "include_comments": False,
        "with_metadata": about,
        "date_extraction_params": DATES,
    }
    try:
        found: Any = bare_extraction(tree, url=url or None, **options)
    except Exception as problem:  # whatever a page does to it, there is a simpler way
        logs.log("pages: trafilatura failed: %r", problem)
        return ExtractedPage()
    if found is None:
        return ExtractedPage()
    return ExtractedPage(found.title or "", found.author or "", found.date or "", blocks=from_tree(found.body))


def _paragraphs(tree: Node) -> list[Block]:
    """Return every paragraph that is not mostly links: crude, quick, and hardly ever empty-handed."""
    blocks = []
    taken: Node = None
    for element in tree.iter(*KINDS, *HEADINGS):
        above = list(element.iterancestors())
        if taken in above or any(parent.tag in FURNITURE for parent in above):
            continue
        text = element.text_content()
        if text.strip() and sum(len(link.text_content()) for link in element.iter("a")) < 0.7 * len(text):
            taken = element
            blocks.append(_block(element.tag, text))
    return [one for one in blocks if one.text]


def _block(tag: str, text: str) -> Block:
    if tag == "pre":
        return block("code", text)
    folded = " ".join(text.split())
    return block("heading", folded, int(tag[1])) if tag in HEADINGS else block(KINDS[tag], folded)


def _is_shell(tree: Node, text: str) -> bool:
    """Tell whether scripts are to write the page: next to no text, and a sign that there should be some."""
    if not text:
        return True
    if len(text) > SHELL or tree.find(".//script") is None:
        return False
    return len(text) < NOTHING or _has_mount(tree.iter("div", "main", "app-root")) or bool(NEEDS_SCRIPTS.search(text))


def _has_mount(elements: Iterable[Node]) -> bool:
    """Tell whether there is a place that a script fills, and that is still empty."""
    named = (
        element for element in elements if element.tag == "app-root" or (element.get("id") or "").lower() in SHELLS
    )
    return any(len(_text(element)) < NOTHING for element in named)


def _in_noscript(tree: Node) -> list[Block]:
    """Return what a page keeps for those without scripts, unless it is just a request to turn them on."""
    texts = (" ".join(element.text_content().split()) for element in tree.iter("noscript"))
    return [block("paragraph", text) for text in texts if len(text) > SHELL]


def _text(element: Node) -> str:
    return " ".join(element.text_content().split()) if element is not None else ""
