"""Results pages made for people, read from any URL template with %s: no code is needed for a new site."""

import re
import time
from base64 import urlsafe_b64decode
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from sleuth_providers.base import Account, Found, Provider, Query, Reply, Request, Result, Sender, as_text, web_results
from sleuth_providers.errors import BadRequestError, BadResponseError, BlockedError, ProviderError, RateLimitError

Node = Any  # selectolax gives no node, or one

USE_BROWSER = "let a browser read the page: sleuth providers set {id} --using-browser"
HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-User": "?1",
}
WALL_WORDS = re.compile(
    r"captcha|challenge|/sorry|verif|denied|robot|<title>\W*(just|attention|security|one|bot|unusual)|验证|驗證",
    re.IGNORECASE,
)
WALL_TITLE = re.compile(
    r"\W*(just a moment|attention required|access (to this page has been )?denied|(are you a |not a )?robot"
    r"|security check|verif(y|ying) (that )?you are|human verification|one last step|captcha|bot (check|verification)"
    r"|ddos-guard|unusual traffic|(百度)?安全验证|人机验证|访问验证|安全驗證)",
    re.IGNORECASE,
)
WALL_PARTS = (
    ".g-recaptcha, .h-captcha, .cf-turnstile, #challenge-form, #challenge-running, #captcha-form, #captcha, "
    "form[action*=captcha], form[action*='/sorry'], form[id*=captcha], iframe[src*=captcha], script[src*=captcha], "
    "script[src*='challenges.cloudflare.com'], script[src*='challenge-platform'], img[src*=captcha]"
)
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
ADDRESS_LIKE = re.compile(r"(https?://|www\.)?[\w-]+(\.[\w-]+)+(:\d+)?(\s?[/›»>].*)?|https?:.*", re.IGNORECASE)
DATED = re.compile(
    r"([A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{4}[-/年]\d{1,2}[-/月]\d{1,2}日?|\d{1,2} [a-z]{3,7} ago"
    r"|\d{1,2} ?(?:分钟|小时|天)前) ?[·—–-] ?(?=\S)"
)
HEADINGS = "h1, h2, h3, h4, h5, h6"
INLINE = frozenset(
    ["a", "abbr", "b", "code", "em", "font", "i", "mark", "q", "small", "strong", "sub", "sup", "u", "wbr", "-text"]
)
LISTS = frozenset(["body", "main", "ol", "ul", "dl", "table", "tbody"])
UNSEEN = frozenset(["script", "style", "noscript", "template", "cite", "button", "select", "svg"])
WRAPPERS = ("uddg", "url", "u", "target", "dest", "to", "redirect", "link")
MOST_LINKS, MOST_GROUPS, MOST_NODES, MOST_LEVELS = 1500, 30, 400, 40
MOST_WORK = 200_000_000  # tags times depth: the parser needs about a second for as much


class Selectors(NamedTuple):
    """Where one site keeps its results, in CSS."""

    item: str
    link: str = "a[href]"
    title: str = ""  # the link's own text where empty
    snippet: str = ""  # all other text of the item where empty


class LocalPage(Provider):
    """Own selectors first, then whatever on the page looks like a list of results."""

    id = "local"
    name = "Results page"
    type = "local"
    notes = "Any site with a results page: its address with %s where the query goes."
    needs_host = True
    max_results = 30
    price = "free"
    per_minute = 10
    scraped = True
    options = {
        "item": "CSS selector of one result; without it results are recognised by their looks",
        "link": "CSS selector of the link in a result",
        "title": "CSS selector of the title in a result",
        "snippet": "CSS selector of the snippet in a result",
        "own_site": "on keeps links to the page's own site: for the search of a single site",
    }
    page: ClassVar[str] = ""  # the template for a browser, where it differs from `host`
    selectors: ClassVar[tuple[Selectors, ...]] = ()
    walls: ClassVar[tuple[str, ...]] = ()  # hosts of bot checks and consent pages that one is redirected to
    patience: ClassVar[float] = 60.0  # seconds to stay away after a 429 that names no time

    def request(self, query: Query, account: Account) -> Request:
        """Put the words into the template."""
        language = {"Accept-Language": query.lang} if query.lang else {}
        return Request(self.fill(query.text, account), headers=HEADERS | language)

    def fill(self, words: str, account: Account) -> str:
        """Return the address of the results page for these words."""
        template = account.host or self.host
        if account.browser and self.page and template == self.host:
            template = self.page
        if "%s" not in template:
            hint = "sleuth providers set {id} --api-host 'https://example.org/search?q=%s'"
            raise BadRequestError("the address has no %s for the query", hint=hint)
        return template.replace("%s", quote(words, safe=""))

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Get the page over HTTP or in a browser, and read it."""
        request = self.request(query, account)
        try:
            reply = self._browse(request, http) if account.browser else http.send(request, self.refusal)
        except BadResponseError as error:
            if any(host in error.detail for host in self.walls):
                raise BlockedError(error.detail, status=error.status, hint=USE_BROWSER) from error
            raise
        return self.read(reply, query, account.options)

    def _browse(self, request: Request, http: Sender) -> Reply:
        from sleuth_providers.browser import read_page
        from sleuth_providers.http import Http, status_error

        left = http.deadline - time.monotonic() if isinstance(http, Http) else 15.0
        reply = read_page(request.address, timeout=left, user_agent="")
        if error := self.refusal(reply) or status_error(reply):
            raise error
        return reply

    def refusal(self, reply: Reply) -> ProviderError | None:
        """See through a bot check, whatever its status; a page of results may speak of captchas all the same."""
        if reply.status in (202, 403) or (urlsplit(reply.url).hostname or "").endswith(self.walls):
            return BlockedError(f"HTTP {reply.status}", status=reply.status)
        if reply.status in (200, 429, 503) and self.walled(reply):
            return BlockedError("challenge page", status=reply.status)
        if reply.status == 429:
            from sleuth_providers.http import retry_after  # loaded by now, and not needed for a cached answer

            pause = retry_after(reply)
            return RateLimitError("HTTP 429", status=429, retry_after=self.patience if pause is None else pause)
        return None

    def walled(self, reply: Reply) -> bool:
        """Tell whether the page is a challenge: built like one and without a list of results."""
        if not WALL_WORDS.search(page_text(reply)):
            return False
        tree = read_html(reply)
        wall = WALL_TITLE.match(_text(tree.css_first("title"))) or tree.css_first(WALL_PARTS)
        return bool(wall) and len(self.results(tree, reply.url, Query(""), {})) < 3

    def parse(self, reply: Reply, query: Query) -> Found:
        """Read the page without options of an account."""
        return self.read(reply, query, {})

    def read(self, reply: Reply, query: Query, options: Mapping[str, Any]) -> Found:
        """Read the page; one that neither has results nor repeats the query cannot be told from a broken one."""
        tree = read_html(reply)
        results = self.results(tree, reply.url, query, options)
        if not results and not _echoes(tree, query):
            raise BadResponseError("no results recognised on the page", status=reply.status, hint=USE_BROWSER)
        return Found(results)

    def results(self, tree: Any, address: str, query: Query, options: Mapping[str, Any]) -> tuple[Result, ...]:
        """Try the account's selectors, then the site's, then the looks of the page."""
        names = [as_text(options.get(name)) for name in Selectors._fields]
        own = (Selectors(names[0], names[1] or "a[href]", *names[2:]),) if names[0] else ()
        for selectors in own + self.selectors:
            try:
                if found := web_results(self.select(tree, address, selectors)):
                    return found
            except SelectolaxError as problem:
                raise BadRequestError(
                    "an option is no CSS selector", hint="see: sleuth providers show {id}"
                ) from problem
        return web_results(find_results(tree, address, query, own_site=options.get("own_site") == "on"))

    def select(self, tree: Any, address: str, selectors: Selectors) -> Iterator[Result]:
        """Yield the results that the selectors find, without advertisements."""
        for item in {node.mem_id: node for node in tree.css(selectors.item)}.values():  # one may match twice
            link = item.css_first(selectors.link)
            title = item.css_first(selectors.title) if selectors.title else link
            href = self.href(item, link) if link else ""
            if not href or not title or ADVERT_LINK.search(href):
                continue
            snippets = item.css(selectors.snippet) if selectors.snippet else []
            snippet = next((text for node in snippets if (text := self.words(node))), "")
            text = snippet or _prose(_segments(item, title, link))
            yield dated(Result(_text(title), unwrap(_join(address, href), address), text))

    def href(self, item: Any, link: Any) -> str:
        """Return where a result leads to, as written on the page."""
        return link.attributes.get("href") or ""

    def words(self, node: Any) -> str:
        """Return the text of a snippet."""
        return _text(node)


def page_text(reply: Reply) -> str:
    """Return the page as text, in the charset of its header or else of its own head."""
    named = re.search(rb"<meta[^>]{1,80}charset=[\"']?([\w-]{2,20})", reply.body[:4096], re.IGNORECASE)
    if named and "charset=" not in reply.headers.get("content-type", ""):
        return reply._replace(headers={"content-type": f"text/html; charset={named[1].decode()}"}).text()
    return reply.text()


def read_html(reply: Reply) -> Any:
    """Return the parsed page; one nested so deep that parsing would take for ever is refused."""
    page = page_text(reply)
    depth = work = 0
    for tag in re.finditer(
        r"<(/?)(?!(?:br|img|hr|input|meta|link|li|p|td|tr|th|dt|dd|option|path)\b)[a-z]", page, re.IGNORECASE
    ):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        work += depth
    # What is left open makes every paragraph after it dearer.
    if work + depth * page.count("<p") > MOST_WORK:
        raise BadResponseError("nested too deeply", status=reply.status)
    return LexborHTMLParser(page)


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
        elif parts.path == "/url" and _is_web(fields.get("q", [""])[0]):
            target = fields["q"][0]
        elif parts.path == "/l/" or _site(url) == _site(page):
            target = next((fields[name][0] for name in WRAPPERS if name in fields and _is_web(fields[name][0])), "")
        if not _is_web(target):
            return url
        url = target
    return url


def dated(result: Result) -> Result:
    """Move a date that a snippet begins with to where it belongs."""
    date = DATED.match(result.snippet)
    return result._replace(published=date[1], snippet=result.snippet[date.end() :]) if date else result


class _Link(NamedTuple):
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


class _Group(NamedTuple):
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
    if not any(_related(result, words) for result in best.results) and NOTHING.search(_said(tree)):
        return []
    whole = _with_strays(best.links, links)
    return best.results if len(whole) == len(best.links) else _weigh(whole, words).results


def _links(tree: Any, address: str, own_site: bool) -> Iterator[_Link]:
    """Yield the links that may be results: to other sites, with a text, outside navigation and advertisements."""
    kinds: dict[int, str] = {}
    for node in tree.css("a[href]")[:MOST_LINKS]:
        full = _join(address, node.attributes.get("href") or "")
        url = unwrap(full, address)
        if not _is_web(url) or ADVERT_LINK.search(full) or "sponsored" in (node.attributes.get("rel") or ""):
            continue
        at_home = _site(url) == _site(address)
        if at_home and (not own_site or urlsplit(url).path == urlsplit(address).path):
            continue
        blocks = tuple(_ancestors(node))
        path = tuple(block.mem_id for block in blocks)
        for block, identity in zip(blocks, path, strict=True):
            kinds[identity] = kinds.get(identity) or _kind(block)
        places = {kinds[identity] for identity in path}
        title = _title(node)
        text = _text(title)
        if text and "outside" not in places:
            headed = title.mem_id != node.mem_id or any(re.fullmatch("h[1-6]", block.tag) for block in blocks[:4])
            yield _Link(node, title, text[:300], url, path, blocks, headed, "aside" in places)


def _ancestors(node: Node) -> Iterator[Node]:
    """Yield a node and what it is in, the body last."""
    for _ in range(MOST_LEVELS):
        if node is None or node.tag == "html":
            return
        yield node
        node = node.parent


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
    if _width(_text(link)) > 160:
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
        link.text if named else _text(block.css_first(HEADINGS)) for link, block in zip(links, blocks, strict=True)
    ]
    title_of = {link.url: title for link, title in zip(links, titles, strict=True)}
    results = [dated(Result(title_of[link.url] or link.text, link.url, _prose(texts))) for link, texts in kept]
    if not results:
        return _Group(links, [], 0.0)
    headed = _mean(link.headed for link in links)
    beside = _mean(min(1.0, _width(result.snippet) / 60) for result in results)
    related = _mean(_related(result, words) for result in results)
    titled = _mean(_titled(result.title) for result in results)
    hosts = len({_site(result.url) for result in results}) / len(results)
    listed = len(results) > 2 and related > 0.4 and _mean(_width(result.title) for result in results) > 15
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
    texts = _segments(block, link.title, link.node)
    node, parts = block.next, 0
    while node is not None and not _prose(texts) and node.mem_id not in shared and parts < 3:
        if node.tag not in ("-text", "-comment", "hr", "br"):
            texts += _segments(node, None, None)
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


def _segments(block: Node, title: Node, link: Node) -> list[str]:
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
        for level in _ancestors(node):
            offside = offside or level.mem_id in hidden or level.tag in UNSEEN
            other = other or (level.tag == "a" and level.mem_id != own)
            part = part or (0 if level.tag in INLINE else level.mem_id)
            if level.mem_id == block.mem_id:
                break
        text = node.text()
        if offside or (other and _width(text) < 40 and len(text.split()) < 5 and node.parent.tag == "a"):
            continue
        if parts and parts[-1][0] == part:
            parts[-1] = part, parts[-1][1] + text
        else:
            parts.append((part, text))
    return [text for _, words in parts if (text := " ".join(words.split()))]


def _prose(texts: Iterable[str]) -> str:
    """Join what is worth reading: neither addresses nor bare numbers and signs."""
    kept = (text for text in texts if re.search(r"[^\W\d_]{2}", text) and not ADDRESS_LIKE.fullmatch(text))
    return " ".join(kept)[:1000]


def _echoes(tree: Any, query: Query) -> bool:
    values = [field.attributes.get("value") or "" for field in tree.css("input")]
    said = " ".join([_said(tree), *values]).lower()
    return bool(said.strip()) and all(word in said for word in re.findall(r"\w+", query.text.lower()))


def _said(tree: Any) -> str:
    """Return the text that the page shows, or the beginning of it."""
    nodes = islice(tree.body.traverse(include_text=True), 20_000) if tree.body else ()
    return " ".join(node.text() for node in nodes if node.tag == "-text" and node.parent.tag not in UNSEEN)


def words_in(text: str) -> set[str]:
    """Return the words of a query; of scripts without blanks, each two characters."""
    words: set[str] = set()
    for word in re.findall(r"\w{2,}", text.lower()):
        wide = _width(word) > len(word)
        words |= {word[at : at + 2] for at in range(len(word) - 1)} if wide else {word}
    return words


def _related(result: Result, words: set[str]) -> bool:
    said = f"{result.title} {result.snippet} {result.url}".lower()
    return any(word in said for word in words)


def _titled(title: str) -> float:
    return 1.0 if 6 <= _width(title) <= 200 and not ADDRESS_LIKE.fullmatch(title) else 0.2


def _width(text: str) -> int:
    """Return the length of a text, where a Chinese, Japanese or Korean character says as much as two others."""
    return sum(2 if character >= "⺀" else 1 for character in text[:1000])


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def _text(node: Node) -> str:
    return " ".join(node.text().split()) if node else ""


def _join(base: str, href: str) -> str:
    try:
        return urljoin(base, href.strip())
    except ValueError:
        return ""


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://")) and bool(_site(url))


def _site(url: str) -> str:
    """Return the part of a host name that has one owner, near enough."""
    try:
        labels = (urlsplit(url).hostname or "").split(".")
    except ValueError:
        return ""
    if labels[-1].isdigit():
        return ".".join(labels)
    second = (
        len(labels) > 2
        and len(labels[-1]) == 2
        and labels[-2] in ("co", "com", "net", "org", "ac", "edu", "gov", "or", "ne")
    )
    return ".".join(labels[-3:] if second else labels[-2:])


def _decode(text: str) -> str:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return ""
