"""Results pages made for people, read from any URL template with %s: no code is needed for a new site."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from selectolax.lexbor import SelectolaxError

from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sender
from sleuth_providers.errors import BadRequestError, BadResponseError, BlockedError, ProviderError, RateLimitError
from sleuth_providers.html.result_finder import ADVERT_LINK, dated, find_results
from sleuth_providers.html.tree import join, page_text, prose, read_html, segments, shown_text, text_of, unwrap
from sleuth_providers.json import as_text, web_results
from sleuth_providers.records import Record

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
MOST_ITEMS = 200  # each may hold all that follow it


class Selectors(Record):
    """Where one site keeps its results, in CSS."""

    item: str
    link: str = "a[href]"
    title: str = ""  # the link's own text where empty
    snippet: str = ""  # all other text of the item where empty


class ResultsPage(Provider):
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
            response = self._browse(request, http) if account.browser else http.send(request, self.detect_error)
        except BadResponseError as error:
            if any(host in error.detail for host in self.walls):
                raise BlockedError(error.detail, status=error.status, hint=USE_BROWSER) from error
            raise
        return self.read(response, query, account.options)

    def _browse(self, request: Request, http: Sender) -> Response:
        from sleuth_providers.browser.browser import read_page
        from sleuth_providers.net.client import status_error

        response = read_page(request.address, timeout=http.time_left(), user_agent="")
        if error := self.detect_error(response) or status_error(response):
            raise error
        return response

    def detect_error(self, response: Response) -> ProviderError | None:
        """See through a bot check, whatever its status; a page of results may speak of captchas all the same."""
        if response.status in (202, 403) or (urlsplit(response.url).hostname or "").endswith(self.walls):
            return BlockedError(f"HTTP {response.status}", status=response.status)
        if response.status in (200, 429, 503) and self.walled(response):
            return BlockedError("challenge page", status=response.status)
        if response.status == 429:
            from sleuth_providers.net.client import retry_after  # loaded by now, and not needed for a cached answer

            pause = retry_after(response)
            return RateLimitError("HTTP 429", status=429, retry_after=self.patience if pause is None else pause)
        return None

    def walled(self, response: Response) -> bool:
        """Tell whether the page is a challenge: built like one and without a list of results."""
        if not WALL_WORDS.search(page_text(response)):
            return False
        tree = read_html(response)
        wall = WALL_TITLE.match(text_of(tree.css_first("title"))) or tree.css_first(WALL_PARTS)
        return bool(wall) and len(self.results(tree, response.url, Query(""), {})) < 3

    def parse(self, response: Response, query: Query) -> Found:
        """Read the page without options of an account."""
        return self.read(response, query, {})

    def read(self, response: Response, query: Query, options: Mapping[str, Any]) -> Found:
        """Read the page; one that neither has results nor repeats the query cannot be told from a broken one."""
        tree = read_html(response)
        results = self.results(tree, response.url, query, options)
        if not results and not _echoes(tree, query):
            raise BadResponseError("no results recognised on the page", status=response.status, hint=USE_BROWSER)
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
        items = tree.css(selectors.item)[:MOST_ITEMS]
        for item in {node.mem_id: node for node in items}.values():  # one may match twice
            link = item.css_first(selectors.link)
            title = item.css_first(selectors.title) if selectors.title else link
            href = self.href(item, link) if link else ""
            if not href or not title or ADVERT_LINK.search(href):
                continue
            snippets = item.css(selectors.snippet) if selectors.snippet else []
            snippet = next((text for node in snippets if (text := self.words(node))), "")
            text = snippet or prose(segments(item, title, link))
            yield dated(Result(text_of(title), unwrap(join(address, href), address), text))

    def href(self, item: Any, link: Any) -> str:
        """Return where a result leads to, as written on the page."""
        return link.attributes.get("href") or ""

    def words(self, node: Any) -> str:
        """Return the text of a snippet."""
        return text_of(node)


def _echoes(tree: Any, query: Query) -> bool:
    values = [field.attributes.get("value") or "" for field in tree.css("input")]
    said = " ".join([shown_text(tree), *values]).lower()
    return bool(said.strip()) and all(word in said for word in re.findall(r"\w+", query.text.lower()))
