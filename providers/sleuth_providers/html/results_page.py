"""Results pages of any site, from a URL template with %s: a new site needs no code."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from selectolax.lexbor import SelectolaxError

from sleuth_providers.base import ON_OFF, Account, Found, Provider, Query, Request, Response, Result, Sender
from sleuth_providers.errors import BadRequestError, BadResponseError, BlockedError, ProviderError, RateLimitError
from sleuth_providers.html.result_finder import AD_LINK, dated, find_results, is_related
from sleuth_providers.html.tree import (
    join,
    page_text,
    prose,
    read_html,
    segments,
    shown_text,
    text_of,
    unwrap,
    words_in,
)
from sleuth_providers.json import as_text, web_results
from sleuth_providers.net.identity import accept_language
from sleuth_providers.records import Record

USE_BROWSER_HINT = "read the page in a browser: sleuth providers set {id} --using-browser"
CHALLENGE_WORDS = re.compile(
    r"captcha|challenge|/sorry|verif|denied|robot|<title>\W*(just|attention|security|one|bot|unusual)|验证|驗證",
    re.IGNORECASE,
)
CHALLENGE_TITLE = re.compile(
    r"\W*(just a moment|attention required|access (to this page has been )?denied|(are you a |not a )?robot"
    r"|security check|verif(y|ying) (that )?you are|human verification|one last step|captcha|bot (check|verification)"
    r"|ddos-guard|unusual traffic|(百度)?安全验证|人机验证|访问验证|安全驗證)",
    re.IGNORECASE,
)
CHALLENGE_SELECTOR = (
    ".g-recaptcha, .h-captcha, .cf-turnstile, #challenge-form, #challenge-running, #captcha-form, #captcha, "
    "form[action*=captcha], form[action*='/sorry'], form[id*=captcha], iframe[src*=captcha], script[src*=captcha], "
    "script[src*='challenges.cloudflare.com'], script[src*='challenge-platform'], img[src*=captcha]"
)
MAX_RESULT_NODES = 200  # unclosed tags can nest each in the one before
MIN_RESULTS = 3  # a page with as many is no challenge page, whatever words it contains


class Selectors(Record):
    """CSS selectors for the results of a site."""

    item: str
    link: str = "a[href]"
    title: str = ""  # empty: the text of the link
    snippet: str = ""  # empty: all other text of the item


class ResultsPage(Provider):
    """Finds results by selectors, or else by the structure of the page."""

    id = "local"
    name = "Results page"
    type = "local"
    notes = "Any site with a results page: its URL, with %s for the query."
    needs_host = True
    max_results = 30
    price = "free"
    per_minute = 10
    kind = "page"
    options = {
        "item": "CSS selector of a result; without it, results are found by the structure of the page",
        "link": "CSS selector of the link in a result",
        "title": "CSS selector of the title in a result",
        "snippet": "CSS selector of the snippet in a result",
        "own_site": "links to the site itself: on keeps them, off drops them; by default the page decides",
    }
    option_choices = {"own_site": ON_OFF}
    page: ClassVar[str] = ""  # the template for a browser, if it differs from `host`
    selectors: ClassVar[tuple[Selectors, ...]] = ()
    walls: ClassVar[tuple[str, ...]] = ()  # hosts of bot checks and consent pages
    rate_limit_pause_s: ClassVar[float] = 60.0  # after a 429 without Retry-After

    def request(self, query: Query, account: Account) -> Request:
        """Fill the query into the template."""
        language = {"Accept-Language": accept_language(query.lang, query.region)}
        return Request(self.fill(query.text, account), headers=language)

    def fill(self, words: str, account: Account) -> str:
        """Return the URL of the results page for a query."""
        template = account.host or self.host
        if account.browser and self.page and template == self.host:
            template = self.page
        if "%s" not in template:
            hint = "sleuth providers set {id} --api-host 'https://example.org/search?q=%s'"
            raise BadRequestError("the URL has no %s for the query", hint=hint)
        return template.replace("%s", quote(words, safe=""))

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Fetch the page over HTTP or in a browser, and parse it."""
        request = self.request(query, account)
        try:
            response = self._browse(request, http) if account.browser else http.send(request, self.detect_error)
        except BadResponseError as error:
            if any(host in error.detail for host in self.walls):
                raise BlockedError(
                    error.detail.template, status=error.status, hint=USE_BROWSER_HINT, **error.values
                ) from error
            raise
        return self.read(response, query, account.options)

    def _browse(self, request: Request, http: Sender) -> Response:
        from sleuth_providers.browser.browser import read_page
        from sleuth_providers.net.client import status_error
        from sleuth_providers.net.guard import check
        from sleuth_providers.net.urls import host_of

        own_host = host_of(request.address)

        def guard(host: str, addresses: list[str]) -> None:
            """Let scripts reach the server of the page, which the user may have at home, and public ones."""
            if host != own_host:
                check(host, addresses)

        response = read_page(request.address, timeout=http.time_left(), guard=http.guard or guard)
        if error := self.detect_error(response) or status_error(response):
            raise error
        return response

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a bot check, whatever its status."""
        if error := super().detect_error(response):
            return error
        if response.status in (202, 403) or (urlsplit(response.url).hostname or "").endswith(self.walls):
            return BlockedError(status=response.status)
        if response.status in (200, 429, 503) and self.is_challenge(response):
            return BlockedError("challenge page", status=response.status)
        if response.status == 429:
            from sleuth_providers.net.client import retry_after  # loaded already; a cached answer does not need it

            pause = retry_after(response)
            return RateLimitError(status=429, retry_after=self.rate_limit_pause_s if pause is None else pause)
        return None

    def is_challenge(self, response: Response) -> bool:
        """Tell whether the page is a challenge page; results may mention captchas too."""
        if not CHALLENGE_WORDS.search(page_text(response)):
            return False
        tree = read_html(response)
        challenge = CHALLENGE_TITLE.match(text_of(tree.css_first("title"))) or tree.css_first(CHALLENGE_SELECTOR)
        return bool(challenge) and len(self.results(tree, response.url, Query(""), {})) < MIN_RESULTS

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the page without the options of an account."""
        return self.read(response, query, {})

    def read(self, response: Response, query: Query, options: Mapping[str, Any]) -> Found:
        """Parse the page; one without results must repeat the query, or it may be an error page."""
        tree = read_html(response)
        results = self.results(tree, response.url, query, options)
        if not results and not _repeats(tree, query):
            raise BadResponseError("no results found on the page", status=response.status, hint=USE_BROWSER_HINT)
        return Found(results)

    def results(self, tree: Any, address: str, query: Query, options: Mapping[str, Any]) -> tuple[Result, ...]:
        """Use the account's selectors, then those of the site, then the structure of the page."""
        names = [as_text(options.get(name)) for name in Selectors._fields]
        own = (Selectors(names[0], names[1] or "a[href]", *names[2:]),) if names[0] else ()
        for selectors in own + self.selectors:
            try:
                if found := web_results(self.select(tree, address, selectors)):
                    return found
            except SelectolaxError as problem:
                raise BadRequestError(
                    "an option is not a valid CSS selector", hint="see: sleuth providers show {id}"
                ) from problem
        own_site = options.get("own_site")
        if own_site or type(self) is not ResultsPage:
            return web_results(find_results(tree, address, query, own_site=own_site == "on"))
        # A page that a user added may be the search of one site: its results are links to the site itself.
        elsewhere, anywhere = (find_results(tree, address, query, own_site=own) for own in (False, True))
        words = words_in(query.text)
        related = [result for result in anywhere if is_related(result, words)]
        return web_results(anywhere if len(related) > len(elsewhere) else elsewhere)

    def select(self, tree: Any, address: str, selectors: Selectors) -> Iterator[Result]:
        """Yield the results that match the selectors, without advertisements."""
        items = tree.css(selectors.item)[:MAX_RESULT_NODES]
        for item in {node.mem_id: node for node in items}.values():  # an item may match twice
            link = item.css_first(selectors.link)
            title = item.css_first(selectors.title) if selectors.title else link
            href = self.href(item, link) if link else ""
            if not href or not title or AD_LINK.search(href):
                continue
            snippets = item.css(selectors.snippet) if selectors.snippet else []
            snippet = next((text for node in snippets if (text := self.words(node))), "")
            text = snippet or prose(segments(item, title, link))
            yield dated(Result(text_of(title), unwrap(join(address, href), address), text))

    def href(self, item: Any, link: Any) -> str:
        """Return the link of a result as it is on the page."""
        return link.attributes.get("href") or ""

    def words(self, node: Any) -> str:
        """Return the text of a snippet."""
        return text_of(node)


def _repeats(tree: Any, query: Query) -> bool:
    text = " ".join([shown_text(tree), *(field.attributes.get("value") or "" for field in tree.css("input"))]).lower()
    return bool(text.strip()) and all(word in text for word in re.findall(r"\w+", query.text.lower()))
