"""Finds the results on a page of an unknown site by the structure of its links.

Links that are built alike (same tags and classes around them) form groups. Each group gets a score for how much it
looks like a list of results: headings, text next to the links, words of the query, many different sites. The best group
wins. The weights are heuristic; `tests/providers/html/test_results_page.py` holds the pages they must get right.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from sleuth_providers.base import Query, Result
from sleuth_providers.html.tree import (
    HIDDEN_TAGS,
    URL_LIKE,
    Node,
    ancestors,
    is_web,
    join,
    prose,
    segments,
    shown_text,
    text_of,
    unwrap,
    width,
    words_in,
)
from sleuth_providers.net.urls import site_of
from sleuth_providers.records import Record

NO_RESULTS = re.compile(
    r"\b(no|0|zero) (\w+ )?(results|matches|hits|documents)\b|did not match any|nothing (was )?found|couldn.t find any"
    r"|keine (ergebnisse|treffer)|aucun résultat|sin resultados|nessun risultato|nenhum resultado|ничего не найдено"
    r"|没有找到|未找到|找不到|沒有找到|見つかりません|一致する.{0,20}ありません|검색 ?결과가 없",
    re.IGNORECASE,
)
AD_LINK = re.compile(
    r"/aclk\?|/aclick\?|/y\.js\?|/pagead/|/adclick|/baidu\.php\?|//(www\.)?googleadservices\.|doubleclick\.net/|//ads?\.",
    re.IGNORECASE,
)
AD_CLASS = re.compile(
    r"(?<!no[-_])(?<!has[-_])(?<!with[-_])(?<![a-z0-9])(ads?|adv|advert\w*|adtop|sponsor\w*|promoted|tads)(?![a-z0-9])",
    re.IGNORECASE,
)
AD_LABEL = re.compile(
    r"ads?|advert(isement)?|sponsored|promoted|anzeigen?|gesponsert|annonce|publicité|sponsorisé|anuncio|patrocinado"
    r"|реклама|广告|推广|廣告|広告|광고",
    re.IGNORECASE,
)
SIDEBAR_CLASS = re.compile(
    r"(?<![a-z0-9])(nav|navbar|menu|footer|sidebar|breadcrumbs?|pagination|pager|cookies?|consent)(?![a-z0-9])",
    re.IGNORECASE,
)
LEADING_DATE = re.compile(
    r"([A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?|\d{1,2} [a-z]{3,7} ago"
    r"|\d{1,2} ?(?:分钟|小时|天)前) ?[·—–-] ?(?=\S)"
)
HEADINGS = "h1, h2, h3, h4, h5, h6"
LIST_TAGS = frozenset(["body", "main", "ol", "ul", "dl", "table", "tbody"])
MAX_LINKS, MAX_GROUPS = 1500, 30
MAX_TITLE_CHARS = 300
CARD_WIDTH = 160  # a link with more text is a whole result; its first words are the title
SIGNATURE_DEPTH = 3  # elements around a link that must be the same in a list
HEADING_DEPTH = 4  # a link counts as a heading if one of so many elements around it is one
MAX_SINGLE_DEPTH = 4  # how far around a single link its text is searched: no second result marks the border
MAX_SIBLINGS = 3  # rows after a result that may hold its text, in tables and definition lists

# Scores of a group. Headings, snippets and relation to the query each count from 0 to 1.
FULL_SNIPPET_WIDTH = 60  # a snippet of this width counts fully
MIN_SIGNS = 1.0  # sum of the three that a group needs to be a list of results
MIN_SIGNS_SINGLE = 1.5  # the same for a single result, where chance is more likely
MIN_STRUCTURE = 0.6  # headings and snippets together; without them only a plain list of related titles will do
PLAIN_LIST_RELATED = 0.4  # share of titles in a plain list that contain a word of the query
PLAIN_LIST_TITLE_WIDTH = 15  # mean width of titles in a plain list: menus are shorter
ENOUGH_RESULTS = 10  # more results do not raise the score: link collections are longer than results pages
TITLE_WIDTHS = range(6, 201)  # of a real title
BAD_TITLE = 0.2  # factor for a title of another width, or that is a URL
ONE_SITE = 0.4  # factor for a group whose links all lead to one site; 1.0 if each leads to another
MIXED_STRUCTURE = 0.7  # factor for a group in which no two links are built alike; 1.0 if all are
IN_SIDEBAR = 0.1  # factor for a group in a menu or sidebar


class _Link(Record):
    """A link that may be a result."""

    node: Node
    title: Node
    text: str
    url: str
    blocks: tuple[Node, ...]  # the link and its ancestors, nearest first
    has_heading: bool
    in_sidebar: bool

    def signature(self) -> tuple[Any, ...]:
        """Return what links of one list have in common: sidebar or not, tags, and classes without digits.

        Classes with digits differ from result to result. Only the nearest elements count, because the first result
        of a list is often wrapped in one more.
        """
        near = self.blocks[:SIGNATURE_DEPTH]
        names = ((node.attributes.get("class") or "").split() for node in near)
        classes = ([name for name in some if not re.search(r"\d", name)] for some in names)
        return self.in_sidebar, *(node.tag for node in near), *(" ".join(sorted(names)) for names in classes)


def find_results(tree: Any, address: str, query: Query, own_site: bool = False) -> list[Result]:
    """Return the results on a page: the best group of links that are built alike."""
    groups: dict[tuple[Any, ...], dict[str, _Link]] = defaultdict(dict)
    for link in _links(tree, address, own_site):
        signature = link.signature()
        groups[signature].setdefault(link.url, link)
        groups[signature[: 1 + SIGNATURE_DEPTH]].setdefault(link.url, link)  # each result may have its own classes
    words = words_in(query.text)
    largest = sorted(groups.values(), key=len, reverse=True)[:MAX_GROUPS]
    scores = (_score(list(group.values()), words) for group in largest)
    score, results = max(scores, key=lambda scored: scored[0], default=(0.0, []))
    related = any(is_related(result, words) for result in results)
    return results if score > 0 and (related or not NO_RESULTS.search(shown_text(tree))) else []


def dated(result: Result) -> Result:
    """Move a date at the start of the snippet to `published`."""
    date = LEADING_DATE.match(result.snippet)
    return result._replace(published=date[1], snippet=result.snippet[date.end() :]) if date else result


def _links(tree: Any, address: str, own_site: bool) -> Iterator[_Link]:
    """Yield links that may be results: to other sites, with text, outside of navigation and advertisements."""
    areas: dict[int, str] = {}
    for node in tree.css("a[href]")[:MAX_LINKS]:
        full = join(address, node.attributes.get("href") or "")
        url = unwrap(full, address)
        if not is_web(url) or AD_LINK.search(full) or "sponsored" in (node.attributes.get("rel") or ""):
            continue
        same_site = site_of(url) == site_of(address)
        if same_site and (not own_site or urlsplit(url).path == urlsplit(address).path):
            continue
        blocks = tuple(ancestors(node))
        for block in blocks:
            areas[block.mem_id] = areas.get(block.mem_id) or _area(block)
        around = {areas[block.mem_id] for block in blocks}
        title = _title(node)
        text = text_of(title)
        if text and "excluded" not in around:
            in_heading = any(re.fullmatch("h[1-6]", block.tag) for block in blocks[:HEADING_DEPTH])
            has_heading = title.mem_id != node.mem_id or in_heading
            yield _Link(node, title, text[:MAX_TITLE_CHARS], url, blocks, has_heading, "sidebar" in around)


def _area(node: Node) -> str:
    if node.tag == "body":
        return "main"  # its classes describe the whole page
    names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    role = node.attributes.get("role") or ""
    if AD_CLASS.search(names) or node.tag in ("nav", "footer") or role in ("navigation", "contentinfo"):
        return "excluded"
    return "sidebar" if node.tag == "aside" or SIDEBAR_CLASS.search(names) else "main"


def _title(link: Node) -> Node:
    """Return the title node: a heading in the link, or the first text of a card that is one large link."""
    if heading := link.css_first(HEADINGS):
        return heading
    if width(text_of(link)) > CARD_WIDTH:
        for node in link.traverse(include_text=True):
            if node.tag == "-text" and node.text().strip() and node.parent.tag not in HIDDEN_TAGS:
                return node.parent
    return link


def _score(links: list[_Link], words: set[str]) -> tuple[float, list[Result]]:
    """Return the score of a group and its results; 0 means that it is not a list of results."""
    results = _results(links)
    if not results:
        return 0.0, []
    headings = _mean(link.has_heading for link in links)
    snippets = _mean(min(1.0, width(result.snippet) / FULL_SNIPPET_WIDTH) for result in results)
    related = _mean(is_related(result, words) for result in results)
    signs = headings + snippets + related
    plain_list = (
        len(results) > 2
        and related > PLAIN_LIST_RELATED
        and _mean(width(result.title) for result in results) > PLAIN_LIST_TITLE_WIDTH
    )
    enough = signs >= (MIN_SIGNS if len(results) > 1 else MIN_SIGNS_SINGLE)
    if not enough or (headings + snippets < MIN_STRUCTURE and not plain_list):
        return 0.0, []
    score = min(len(results), ENOUGH_RESULTS) * signs
    score *= _mean(_title_quality(result.title) for result in results)
    score *= ONE_SITE + (1 - ONE_SITE) * len({site_of(result.url) for result in results}) / len(results)
    alike = Counter(link.signature() for link in links).most_common(1)[0][1] / len(links)
    score *= MIXED_STRUCTURE + (1 - MIXED_STRUCTURE) * alike
    return score * (IN_SIDEBAR if links[0].in_sidebar else 1.0), results


def _results(links: list[_Link]) -> list[Result]:
    """Return the links of a group as results, without those that are labelled as advertisements."""
    shared = Counter(block.mem_id for link in links for block in link.blocks)
    distinct = len({link.text for link in links}) * 2 > len(links)  # else all say "Read more": headings are the titles
    results = []
    for link in links:
        block = _block(link, shared, len(links))
        texts = _text_beside(link, block, shared)
        if not any(AD_LABEL.fullmatch(text) for text in texts):
            title = link.text if distinct else text_of(block.css_first(HEADINGS))
            results.append(dated(Result(title or link.text, link.url, prose(texts))))
    return results


def _block(link: _Link, shared: Counter[int], count: int) -> Node:
    """Return the largest element that contains this link and no other of its group."""
    block = link.node
    for level, node in enumerate(link.blocks):
        alone = shared[node.mem_id] == 1
        if not alone or (count == 1 and (level > MAX_SINGLE_DEPTH or node.tag in LIST_TAGS)):
            break
        block = node
    return block


def _text_beside(link: _Link, block: Node, shared: Counter[int]) -> list[str]:
    """Return the texts of a result; in tables and definition lists they follow in the next elements."""
    texts = segments(block, link.title, link.node)
    node, parts = block.next, 0
    while node is not None and not prose(texts) and node.mem_id not in shared and parts < MAX_SIBLINGS:
        if node.tag not in ("-text", "-comment", "hr", "br"):
            texts += segments(node, link.title, link.node)
            parts += 1
        node = node.next
    return texts


def is_related(result: Result, words: set[str]) -> bool:
    """Return whether a result contains one of the words."""
    text = f"{result.title} {result.snippet} {result.url}".lower()
    return any(word in text for word in words)


def _title_quality(title: str) -> float:
    return 1.0 if width(title) in TITLE_WIDTHS and not URL_LIKE.fullmatch(title) else BAD_TITLE


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
