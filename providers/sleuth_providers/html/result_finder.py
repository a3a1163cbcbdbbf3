"""Results found on a page that nothing is known about, by the looks of its links."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from sleuth_providers.base import Query, Result
from sleuth_providers.html.tree import (
    ADDRESS_LIKE,
    UNSEEN,
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

NOTHING = re.compile(
    r"\b(no|0|zero) (\w+ )?(results|matches|hits|documents)\b|did not match any|nothing (was )?found|couldn.t find any"
    r"|keine (ergebnisse|treffer)|aucun résultat|sin resultados|nessun risultato|nenhum resultado|ничего не найдено"
    r"|没有找到|未找到|找不到|沒有找到|見つかりません|一致する.{0,20}ありません|검색 ?결과가 없",
    re.IGNORECASE,
)
ADVERT_LINK = re.compile(
    r"/aclk\?|/aclick\?|/y\.js\?|/pagead/|/adclick|/baidu\.php\?|//(www\.)?googleadservices\.|doubleclick\.net/|//ads?\.",
    re.IGNORECASE,
)
ADVERT_CLASS = re.compile(
    r"(?<!no[-_])(?<!has[-_])(?<!with[-_])(?<![a-z0-9])(ads?|adv|advert\w*|adtop|sponsor\w*|promoted|tads)(?![a-z0-9])",
    re.IGNORECASE,
)
ADVERT_LABEL = re.compile(
    r"ads?|advert(isement)?|sponsored|promoted|anzeigen?|gesponsert|annonce|publicité|sponsorisé|anuncio|patrocinado"
    r"|реклама|广告|推广|廣告|広告|광고",
    re.IGNORECASE,
)
ASIDE_CLASS = re.compile(
    r"(?<![a-z0-9])(nav|navbar|menu|footer|sidebar|breadcrumbs?|pagination|pager|cookies?|consent)(?![a-z0-9])",
    re.IGNORECASE,
)
DATED = re.compile(
    r"([A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?|\d{1,2} [a-z]{3,7} ago"
    r"|\d{1,2} ?(?:分钟|小时|天)前) ?[·—–-] ?(?=\S)"
)
HEADINGS = "h1, h2, h3, h4, h5, h6"
LISTS = frozenset(["body", "main", "ol", "ul", "dl", "table", "tbody"])
MOST_LINKS, MOST_GROUPS = 1500, 30


class _Link(Record):
    node: Node
    title: Node
    text: str
    url: str
    path: tuple[int, ...]  # the link and what it is in, nearest first
    blocks: tuple[Node, ...]  # the same as nodes
    headed: bool
    aside: bool

    def signature(self) -> tuple[Any, ...]:
        classes = (re.sub(r"\S*\d\S*", "", node.attributes.get("class") or "").split() for node in self.blocks[:3])
        return self.aside, tuple(node.tag for node in self.blocks), tuple(" ".join(sorted(names)) for names in classes)


class _Group(Record):
    links: list[_Link]
    results: list[Result]
    score: float


def find_results(tree: Any, address: str, query: Query, own_site: bool = False) -> list[Result]:
    """Return the results on a page that nothing is known about: the group of like-built links that looks most so."""
    alike: dict[tuple[Any, ...], dict[str, _Link]] = defaultdict(dict)
    links = list(_links(tree, address, own_site))
    for link in links:
        signature = link.signature()
        alike[signature].setdefault(link.url, link)
        alike[signature[:2]].setdefault(link.url, link)  # for pages where each result has classes of its own
    words = words_in(query.text)
    largest = sorted(alike.values(), key=len, reverse=True)[:MOST_GROUPS]
    best = max((_weigh(list(group.values()), words) for group in largest), key=lambda group: group.score, default=None)
    if best is None or best.score <= 0:
        return []
    if not any(_related(result, words) for result in best.results) and NOTHING.search(shown_text(tree)):
        return []
    whole = _with_strays(best.links, links)
    return best.results if len(whole) == len(best.links) else _weigh(whole, words).results


def dated(result: Result) -> Result:
    """Move a date that a snippet begins with to where it belongs."""
    date = DATED.match(result.snippet)
    return result._replace(published=date[1], snippet=result.snippet[date.end() :]) if date else result


def _links(tree: Any, address: str, own_site: bool) -> Iterator[_Link]:
    """Yield the links that may be results: to other sites, with a text, outside navigation and advertisements."""
    kinds: dict[int, str] = {}
    for node in tree.css("a[href]")[:MOST_LINKS]:
        full = join(address, node.attributes.get("href") or "")
        url = unwrap(full, address)
        if not is_web(url) or ADVERT_LINK.search(full) or "sponsored" in (node.attributes.get("rel") or ""):
            continue
        at_home = site_of(url) == site_of(address)
        if at_home and (not own_site or urlsplit(url).path == urlsplit(address).path):
            continue
        blocks = tuple(ancestors(node))
        path = tuple(block.mem_id for block in blocks)
        for block, identity in zip(blocks, path, strict=True):
            kinds[identity] = kinds.get(identity) or _kind(block)
        places = {kinds[identity] for identity in path}
        title = _title(node)
        text = text_of(title)
        if text and "outside" not in places:
            headed = title.mem_id != node.mem_id or any(re.fullmatch("h[1-6]", block.tag) for block in blocks[:4])
            yield _Link(node, title, text[:300], url, path, blocks, headed, "aside" in places)


def _kind(node: Node) -> str:
    if node.tag == "body":
        return "inside"  # its classes speak of the whole page
    names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    role = node.attributes.get("role") or ""
    if ADVERT_CLASS.search(names) or node.tag in ("nav", "footer") or role in ("navigation", "contentinfo"):
        return "outside"
    return "aside" if node.tag == "aside" or ASIDE_CLASS.search(names) else "inside"


def _title(link: Node) -> Node:
    """Return what names the result: a heading in the link, or the first words of a card that is one big link."""
    if heading := link.css_first(HEADINGS):
        return heading
    if width(text_of(link)) > 160:
        for node in link.traverse(include_text=True):
            if node.tag == "-text" and node.text().strip() and node.parent.tag not in UNSEEN:
                return node.parent
    return link


def _weigh(links: list[_Link], words: set[str]) -> _Group:
    """Return the results of a group and how much they look like some; nothing or less means not at all."""
    shared = Counter(identity for link in links for identity in link.path)
    blocks = [_block(link, shared, len(links)) for link in links]
    read = [(link, _text_beside(link, block, shared)) for link, block in zip(links, blocks, strict=True)]
    kept = [(link, texts) for link, texts in read if not any(ADVERT_LABEL.fullmatch(text) for text in texts)]
    named = len({link.text for link in links}) * 2 > len(links)
    titles = [
        link.text if named else text_of(block.css_first(HEADINGS)) for link, block in zip(links, blocks, strict=True)
    ]
    title_of = {link.url: title for link, title in zip(links, titles, strict=True)}
    results = [dated(Result(title_of[link.url] or link.text, link.url, prose(texts))) for link, texts in kept]
    if not results:
        return _Group(links, [], 0.0)
    headed = _mean(link.headed for link in links)
    beside = _mean(min(1.0, width(result.snippet) / 60) for result in results)
    related = _mean(_related(result, words) for result in results)
    titled = _mean(_titled(result.title) for result in results)
    hosts = len({site_of(result.url) for result in results}) / len(results)
    listed = len(results) > 2 and related > 0.4 and _mean(width(result.title) for result in results) > 15
    needed = 1.0 if len(results) > 1 else 1.5
    if headed + beside + related < needed or (headed + beside < 0.6 and not listed):
        return _Group(links, results, 0.0)
    uniform = Counter(link.signature() for link in links).most_common(1)[0][1] / len(links)
    weight = min(len(results), 10) * titled * (0.4 + 0.6 * hosts) * (0.7 + 0.3 * uniform) * (headed + beside + related)
    return _Group(links, results, weight * (0.1 if links[0].aside else 1.0))


def _block(link: _Link, shared: Counter[int], count: int) -> Node:
    """Return the largest part of the page that holds this link and no other of its group."""
    block = link.node
    for level, node in enumerate(link.blocks):
        alone = shared[node.mem_id] == 1
        if not alone or (count == 1 and (level > 4 or node.tag in LISTS)):
            break
        block = node
    return block


def _text_beside(link: _Link, block: Node, shared: Counter[int]) -> list[str]:
    """Return the texts of a result; in tables and definition lists they are in the parts that follow its own."""
    texts = segments(block, link.title, link.node)
    node, parts = block.next, 0
    while node is not None and not prose(texts) and node.mem_id not in shared and parts < 3:
        if node.tag not in ("-text", "-comment", "hr", "br"):
            texts += segments(node, None, None)
            parts += 1
        node = node.next
    return texts


def _with_strays(group: list[_Link], links: list[_Link]) -> list[_Link]:
    """Add the results that differ from the rest in a class only, such as the first one: they are in the same list."""
    shared = Counter(identity for link in group for identity in link.path)
    home, count = Counter(_block(link, shared, len(group)).parent.mem_id for link in group).most_common(1)[0]
    places = [link.path.index(home) for link in group if home in link.path]
    if len(group) < 2 or count * 2 < len(group) or not places:
        return group
    taken = {link.path[link.path.index(home) - 1] for link in group if home in link.path}
    known = {link.path[0] for link in group}
    whole = []
    for link in links:
        place = link.path.index(home) if home in link.path else 0
        like = (link.headed, link.aside) == (group[0].headed, group[0].aside) and _titled(link.text) == 1.0
        if link.path[0] in known:
            whole.append(link)
        elif place and like and abs(place - places[0]) < 2 and link.path[place - 1] not in taken:
            whole.append(link)
            taken.add(link.path[place - 1])
    return whole


def _related(result: Result, words: set[str]) -> bool:
    said = f"{result.title} {result.snippet} {result.url}".lower()
    return any(word in said for word in words)


def _titled(title: str) -> float:
    return 1.0 if 6 <= width(title) <= 200 and not ADDRESS_LIKE.fullmatch(title) else 0.2


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
