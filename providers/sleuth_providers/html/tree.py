"""A page of HTML as text and as a tree, and the links on it as addresses."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError
from sleuth_providers.html.limits import limit_markup
from sleuth_providers.net.urls import site_of

Node = Any  # selectolax gives no node, or one
ADDRESS_LIKE = re.compile(r"(https?://|www\.)?[\w-]+(\.[\w-]+)+(:\d+)?(\s?[/›»>].*)?|https?:.*", re.IGNORECASE)
INLINE = frozenset(
    ["a", "abbr", "b", "code", "em", "font", "i", "mark", "q", "small", "strong", "sub", "sup", "u", "wbr", "-text"]
)
UNSEEN = frozenset(["script", "style", "noscript", "template", "cite", "button", "select", "svg"])
NESTING_TAG = re.compile(
    r"<(/?)(?!(?:br|img|hr|input|meta|link|li|p|td|tr|th|dt|dd|option|path)\b)[a-z]", re.IGNORECASE
)
WRAPPERS = ("uddg", "url", "u", "target", "dest", "to", "redirect", "link")
MOST_NODES, MOST_LEVELS = 400, 40
MOST_WORK = 200_000_000  # tags times depth: the parser needs about a second for as much


def page_text(response: Response) -> str:
    """Return the page as text, in the charset of its header or else of its own head."""
    named = re.search(rb"<meta[^>]{1,80}charset=[\"']?([\w-]{2,20})", response.body[:4096], re.IGNORECASE)
    if named and "charset=" not in response.headers.get("content-type", ""):
        return response._replace(headers={"content-type": f"text/html; charset={named[1].decode()}"}).text()
    return response.text()


def read_html(response: Response) -> Any:
    """Return the parsed page; one so large or nested so deep that parsing would take for ever is refused."""
    page = page_text(response)
    if len(limit_markup(page)) < len(page):
        raise BadResponseError("more markup than a results page has", status=response.status)
    depth = work = 0
    for tag in NESTING_TAG.finditer(page):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        work += depth
    # What is left open makes every paragraph after it dearer.
    if work + depth * page.count("<p") > MOST_WORK:
        raise BadResponseError("nested too deeply", status=response.status)
    return LexborHTMLParser(page)


def text_of(node: Node) -> str:
    """Return the text of a node on one line, nothing where there is no node."""
    return " ".join(node.text().split()) if node else ""


def shown_text(tree: Any) -> str:
    """Return the text that the page shows, or the beginning of it."""
    nodes = islice(tree.body.traverse(include_text=True), 20_000) if tree.body else ()
    return " ".join(node.text() for node in nodes if node.tag == "-text" and node.parent.tag not in UNSEEN)


def segments(block: Node, title: Node, link: Node) -> list[str]:
    """Return the texts in a block, one for each of its visible parts, without the title and what only buttons say."""
    hidden = {title.mem_id} if title is not None else set()
    own = link.mem_id if link is not None else 0
    parts: list[tuple[int, str]] = []
    for number, node in enumerate(block.traverse(include_text=True)):
        if number > MOST_NODES:
            break
        if node.tag != "-text" or not node.text():
            continue
        part, offside, other = 0, False, False
        for level in ancestors(node):
            offside = offside or level.mem_id in hidden or level.tag in UNSEEN
            other = other or (level.tag == "a" and level.mem_id != own)
            part = part or (0 if level.tag in INLINE else level.mem_id)
            if level.mem_id == block.mem_id:
                break
        text = node.text()
        if offside or (other and width(text) < 40 and len(text.split()) < 5 and node.parent.tag == "a"):
            continue
        if parts and parts[-1][0] == part:
            parts[-1] = part, parts[-1][1] + text
        else:
            parts.append((part, text))
    return [text for _, words in parts if (text := " ".join(words.split()))]


def prose(texts: Iterable[str]) -> str:
    """Join what is worth reading: neither addresses nor bare numbers and signs."""
    kept = (text for text in texts if re.search(r"[^\W\d_]{2}", text) and not ADDRESS_LIKE.fullmatch(text))
    return " ".join(kept)[:1000]


def ancestors(node: Node) -> Iterator[Node]:
    """Yield a node and what it is in, the body last."""
    for _ in range(MOST_LEVELS):
        if node is None or node.tag == "html":
            return
        yield node
        node = node.parent


def words_in(text: str) -> set[str]:
    """Return the words of a query; of scripts without blanks, each two characters."""
    words: set[str] = set()
    for word in re.findall(r"\w{2,}", text.lower()):
        wide = width(word) > len(word)
        words |= {word[at : at + 2] for at in range(len(word) - 1)} if wide else {word}
    return words


def width(text: str) -> int:
    """Return the length of a text, where a Chinese, Japanese or Korean character says as much as two others."""
    return sum(2 if character >= "⺀" else 1 for character in text[:1000])


def join(base: str, href: str) -> str:
    """Return the whole address of a link, nothing for one that cannot be read."""
    try:
        return urljoin(base, href.strip())
    except ValueError:
        return ""


def unwrap(url: str, page: str) -> str:
    """Return where a redirect link of a search engine leads to; other addresses are returned as they are."""
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
            target = next((fields[name][0] for name in WRAPPERS if name in fields and is_web(fields[name][0])), "")
        if not is_web(target):
            return url
        url = target
    return url


def is_web(url: str) -> bool:
    """Tell whether an address can be visited."""
    return url.startswith(("http://", "https://")) and bool(site_of(url))


def _decode(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return ""
