"""HTML pages as text and as a tree, and their links as URLs."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.html.limits import is_costly, limit_markup
from sleuth_providers.net.urls import site_of

Node = Any  # a selectolax node or None
URL_LIKE = re.compile(r"(https?://|www\.)?[\w-]+(\.[\w-]+)+(:\d+)?(\s?[/›»>].*)?|https?:.*", re.IGNORECASE)
INLINE_TAGS = frozenset(
    ["a", "abbr", "b", "code", "em", "font", "i", "mark", "q", "small", "strong", "sub", "sup", "u", "wbr", "-text"]
)
HIDDEN_TAGS = frozenset(["script", "style", "noscript", "template", "cite", "button", "select", "svg"])
REDIRECT_PARAMETERS = ("uddg", "url", "u", "target", "dest", "to", "redirect", "link")
MAX_BLOCK_NODES = 400
MAX_DEPTH = 40  # of ancestors that are looked at
MAX_TEXT_NODES = 20_000
MAX_SNIPPET_CHARS = 1000
# Links of fewer words and characters next to a result are buttons such as "Cached" or "Translate".
MIN_LINK_WIDTH, MIN_LINK_WORDS = 40, 5


def page_text(response: Response) -> str:
    """Return the page as text, in the charset of the HTTP header or of a meta tag."""
    named = re.search(rb"<meta[^>]{1,80}charset=[\"']?([\w-]{2,20})", response.body[:4096], re.IGNORECASE)
    if named and "charset=" not in response.headers.get("content-type", ""):
        return response._replace(headers={"content-type": f"text/html; charset={named[1].decode()}"}).text()
    return response.text()


def read_html(response: Response) -> Any:
    """Return the parsed page; raise BadResponseError for one that would take too long to parse."""
    page = page_text(response)
    if len(limit_markup(page)) < len(page):
        raise BadResponseError("too much markup", status=response.status)
    if is_costly(page):
        raise BadResponseError("nested too deeply", status=response.status)
    return LexborHTMLParser(page)


def text_of(node: Node) -> str:
    """Return the text of a node on one line, empty for None."""
    return " ".join(node.text().split()) if node else ""


def shown_text(tree: Any) -> str:
    """Return the visible text of a page, or the beginning of it."""
    nodes = islice(tree.body.traverse(include_text=True), MAX_TEXT_NODES) if tree.body else ()
    return " ".join(node.text() for node in nodes if node.tag == "-text" and node.parent.tag not in HIDDEN_TAGS)


def segments(block: Node, title: Node, link: Node) -> list[str]:
    """Return the visible texts of a block, one per block element, without the title and the labels of buttons."""
    parts: list[tuple[int, str]] = []
    for number, node in enumerate(block.traverse(include_text=True)):
        if number > MAX_BLOCK_NODES:
            break
        if node.tag != "-text" or not node.text():
            continue
        part, hidden, in_other_link = 0, False, False
        for level in ancestors(node):
            hidden = hidden or level.mem_id == title.mem_id or level.tag in HIDDEN_TAGS
            in_other_link = in_other_link or (level.tag == "a" and level.mem_id != link.mem_id)
            part = part or (0 if level.tag in INLINE_TAGS else level.mem_id)
            if level.mem_id == block.mem_id:
                break
        text = node.text()
        is_short = width(text) < MIN_LINK_WIDTH and len(text.split()) < MIN_LINK_WORDS
        if hidden or (in_other_link and is_short and node.parent.tag == "a"):
            continue
        if parts and parts[-1][0] == part:
            parts[-1] = part, parts[-1][1] + text
        else:
            parts.append((part, text))
    return [text for _, words in parts if (text := " ".join(words.split()))]


def prose(texts: Iterable[str]) -> str:
    """Join texts, without URLs and those that have no letters."""
    kept = (text for text in texts if re.search(r"[^\W\d_]{2}", text) and not URL_LIKE.fullmatch(text))
    return " ".join(kept)[:MAX_SNIPPET_CHARS]


def ancestors(node: Node) -> Iterator[Node]:
    """Yield a node and its ancestors, the body last."""
    for _ in range(MAX_DEPTH):
        if node is None or node.tag == "html":
            return
        yield node
        node = node.parent


def words_in(text: str) -> set[str]:
    """Return the words of a text; for scripts without spaces, each pair of characters."""
    words: set[str] = set()
    for word in re.findall(r"\w{2,}", text.lower()):
        wide = width(word) > len(word)
        words |= {word[at : at + 2] for at in range(len(word) - 1)} if wide else {word}
    return words


def width(text: str) -> int:
    """Return the length of a text, counting Chinese, Japanese and Korean characters twice."""
    return sum(2 if character >= "⺀" else 1 for character in text[:1000])


def join(base: str, href: str) -> str:
    """Return the absolute URL of a link, empty for an invalid one."""
    try:
        return urljoin(base, href.strip())
    except ValueError:
        return ""


def unwrap(url: str, page: str) -> str:
    """Return the target of a search engine's redirect link; other URLs are returned unchanged."""
    for _ in range(3):
        parts = urlsplit(url)
        fields = parse_qs(parts.query)
        target = ""
        if parts.path == "/ck/a":
            target = _decode(fields.get("u", [""])[0][2:])
        elif yahoo := re.search(r"/RU=([^/]+)/", parts.path):
            target = unquote(yahoo[1])
        elif parts.path == "/url" and is_web(fields.get("q", [""])[0]):
            target = fields["q"][0]
        elif parts.path == "/l/" or site_of(url) == site_of(page):
            target = next(filter(is_web, (fields[name][0] for name in REDIRECT_PARAMETERS if name in fields)), "")
        if not is_web(target):
            return url
        url = target
    return url


def is_web(url: str) -> bool:
    """Tell whether a URL is http(s) and has a host."""
    return url.startswith(("http://", "https://")) and bool(site_of(url))


def _decode(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return ""
