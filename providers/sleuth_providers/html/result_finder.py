"""Finds the results on a page of an unknown site by the structure of its links.

Links that are built alike (same tags and classes around them) form groups. Each group gets a score for how much it
looks like a list of results: headings, text beside the links, words of the query, many different sites. The best group
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
    path: tuple[int, ...]  # ids of the link and its ancestors, nearest first
    blocks: tuple[Node, ...]  # the same as nodes
    has_heading: bool
    in_sidebar: bool

    def signature(self) -> tuple[Any, ...]:
        """Return what links of one list have in common; classes with digits differ from result to result."""
        classes = (
            re.sub(r"(?<!\S)[^\s\d]*+\d\S*+", "", node.attributes.get("class") or "").split()
            for node in self.blocks[:3]
        )
        return (
            self.in_sidebar,
            tuple(node.tag for node in self.blocks),
            tuple(" ".join(sorted(names)) for names in classes),
        )


class _Group(Record):
    links: list[_Link]
    results: list[Result]
    score: float


def find_results(tree: Any, address: str, query: Query, own_site: bool = False) -> list[Result]:
    """Return the results on a page: the best group of links that are built alike."""
    groups: dict[tuple[Any, ...], dict[str, _Link]] = defaultdict(dict)
    links = list(_links(tree, address, own_site))
    for link in links:
        signature = link.signature()
        groups[signature].setdefault(link.url, link)
        groups[signature[:2]].setdefault(link.url, link)  # for pages where each result has its own classes
    words = words_in(query.text)
    largest = sorted(groups.values(), key=len, reverse=True)[:MAX_GROUPS]
    best = max((_score(list(group.values()), words) for group in largest), key=lambda group: group.score, default=None)
    if best is None or best.score <= 0:
        return []
    if not any(_related(result, words) for result in best.results) and NO_RESULTS.search(shown_text(tree)):
        return []
    whole = _with_outliers(best.links, links)
    return best.results if len(whole) == len(best.links) else _score(whole, words).results


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
        path = tuple(block.mem_id for block in blocks)
        for block, identity in zip(blocks, path, strict=True):
            areas[identity] = areas.get(identity) or _area(block)
        around = {areas[identity] for identity in path}
        title = _title(node)
        text = text_of(title)
        if text and "excluded" not in around:
            in_heading = any(re.fullmatch("h[1-6]", block.tag) for block in blocks[:HEADING_DEPTH])
            has_heading = title.mem_id != node.mem_id or in_heading
            yield _Link(node, title, text[:MAX_TITLE_CHARS], url, path, blocks, has_heading, "sidebar" in around)


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


def _score(links: list[_Link], words: set[str]) -> _Group:
    """Return the results of a group and its score; 0 means that it is not a list of results."""
    results = _results(links)
    if not results:
        return _Group(links, [], 0.0)
    headings = _mean(link.has_heading for link in links)
    snippets = _mean(min(1.0, width(result.snippet) / FULL_SNIPPET_WIDTH) for result in results)
    related = _mean(_related(result, words) for result in results)
    signs = headings + snippets + related
    plain_list = (
        len(results) > 2
        and related > PLAIN_LIST_RELATED
        and _mean(width(result.title) for result in results) > PLAIN_LIST_TITLE_WIDTH
    )
    enough = signs >= (MIN_SIGNS if len(results) > 1 else MIN_SIGNS_SINGLE)
    if not enough or (headings + snippets < MIN_STRUCTURE and not plain_list):
        return _Group(links, results, 0.0)
    score = min(len(results), ENOUGH_RESULTS) * signs
    score *= _mean(_title_quality(result.title) for result in results)
    score *= ONE_SITE + (1 - ONE_SITE) * len({site_of(result.url) for result in results}) / len(results)
    alike = Counter(link.signature() for link in links).most_common(1)[0][1] / len(links)
    score *= MIXED_STRUCTURE + (1 - MIXED_STRUCTURE) * alike
    return _Group(links, results, score * (IN_SIDEBAR if links[0].in_sidebar else 1.0))


def _results(links: list[_Link]) -> list[Result]:
    """Return the links of a group as results, without those that are labelled as advertisements."""
    shared = Counter(identity for link in links for identity in link.path)
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
            texts += segments(node, None, None)
            parts += 1
        node = node.next
    return texts


def _with_outliers(group: list[_Link], links: list[_Link]) -> list[_Link]:
    """Add results of the same list that only differ in a class, such as the first one.

    The list is the element that directly contains most results of the group. A link in another child of it belongs to
    the list if it has the same kind of heading at about the same depth.
    """
    shared = Counter(identity for link in group for identity in link.path)
    parent, count = Counter(_block(link, shared, len(group)).parent.mem_id for link in group).most_common(1)[0]
    inside = [link for link in group if parent in link.path]
    if len(group) < 2 or count * 2 < len(group) or not inside:
        return group
    depth = inside[0].path.index(parent)
    taken = {link.path[link.path.index(parent) - 1] for link in inside}  # children of the list with a result
    known = {link.path[0] for link in group}
    whole = []
    for link in links:
        place = link.path.index(parent) if parent in link.path else 0
        like = (link.has_heading, link.in_sidebar) == (group[0].has_heading, group[0].in_sidebar)
        is_new = place and abs(place - depth) < 2 and link.path[place - 1] not in taken
        if link.path[0] in known:
            whole.append(link)
        elif is_new and like and _title_quality(link.text) == 1.0:
            whole.append(link)
            taken.add(link.path[place - 1])
    return whole


def _related(result: Result, words: set[str]) -> bool:
    text = f"{result.title} {result.snippet} {result.url}".lower()
    return any(word in text for word in words)


def _title_quality(title: str) -> float:
    return 1.0 if width(title) in TITLE_WIDTHS and not URL_LIKE.fullmatch(title) else BAD_TITLE


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
