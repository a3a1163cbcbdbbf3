"""SearXNG: a self-hosted metasearch server, over its JSON API."""

from sleuth_providers.adapters._searxng import details_of, is_bot_check
from sleuth_providers.base import (
    ON_OFF,
    UNKNOWN_ENGINE,
    Account,
    DirectAnswer,
    ErrorRule,
    Found,
    Provider,
    Query,
    Request,
    Response,
    Result,
    Sample,
    Sender,
)
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BlockedError,
    KeyInvalidError,
    NotFoundError,
    ProviderError,
    RateLimitError,
)
from sleuth_providers.json import as_dict, as_list, as_number, as_text, document, items, objects, result_of, web_results
from sleuth_providers.net.urls import split_url, url_for_display, without_login, without_scheme

SAFE = {"off": "0", "moderate": "1", "strict": "2"}
LIMITER_PAUSE_S = 30.0  # its limiter counts over 20 seconds, and a quick retry makes it worse
MAX_RESULTS = 200


class SearXNG(Provider):
    """Merges many engines itself and reports those that failed."""

    id = "searxng"
    name = "SearXNG"
    homepage = "https://docs.searxng.org/"
    notes = "Your own server, with JSON enabled in its settings. `sleuth searxng init` creates a working deployment."
    trouble_hint = "check the server: sleuth doctor"
    host = "http://localhost:8080"
    host_env = ("SEARXNG_URL", "SEARXNG_BASE_URL")
    several_hosts = True
    supports = frozenset({"freshness", "lang", "region", "safe", "page", "engines"})
    operators = True
    categories = ("general", "news", "images", "videos", "science", "it")
    several_engines = True
    max_results = 50
    price = "free"
    weight = 1.5  # merges several engines already
    options = {
        "timeout_limit": "seconds that SearXNG waits for its engines",
        "html": "on: read the results page of a server that does not allow JSON",
    }
    option_choices = {"html": ON_OFF}
    number_options = {"timeout_limit": (0.1, 600)}

    error_rules = (
        ErrorRule(
            401,
            KeyInvalidError,
            message="{provider} requires a user name and a password",
            hint="sleuth providers set {id} --basic-auth-username NAME --basic-auth-password -",
        ),
        ErrorRule(
            403,
            BadResponseError,
            message="{provider} does not allow JSON responses",
            hint="add `- json` under `search: formats:` in its settings.yml and restart it; "
            "to check the server: sleuth doctor",
        ),
        ErrorRule(404, NotFoundError, hint=trouble_hint),
        ErrorRule(
            429,
            RateLimitError,
            hint="on your own server set `server: limiter: false` or allow your address; see: sleuth doctor",
            min_pause_s=LIMITER_PAUSE_S,
        ),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Request /search; `locale` keeps error texts in English."""
        params = {
            "q": query.with_operators(),
            "format": "json",
            "locale": "en",
            "safesearch": SAFE[query.safe],
            "pageno": query.page if query.page > 1 else None,
            "language": _language(query),
            "time_range": query.freshness if query.freshness != "range" else None,
            "engines": ",".join(query.engines or account.engines),
            "categories": query.category if query.category != "general" else None,
            "timeout_limit": account.options.get("timeout_limit"),
        }
        headers = {"Authorization": f"Basic {account.basic_auth}"} if account.username else {}
        return self.get(account, "/search", params, headers)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Add a bot check in front of the server, which may come with any status."""
        if response.status != 401 and is_bot_check(response):
            return BlockedError(status=response.status, hint=self.trouble_hint)
        return super().detect_error(response)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add a region without a language, or with that of another region: SearXNG takes both in one code."""
        lost = query.region and not _language(query).endswith(f"-{query.region}")
        return super().not_applied(query) + ("region",) * bool(lost)

    def base_url(self, account: Account) -> str:
        """Return the address; raise BadRequestError for an invalid one, which the environment may hold."""
        url = super().base_url(account)
        bare = "" if "://" in url else without_scheme(without_login(url))
        try:
            split_url(f"http://{bare}" if bare else url)
        except BadRequestError as error:
            raise BadRequestError(
                message="the address of {provider} is invalid: {url}",
                hint="correct it in SEARXNG_URL, or with: sleuth providers set {id} --api-host URL",
                url=url_for_display(url),
            ) from error
        if bare:
            raise BadRequestError(
                message="the address of {provider} does not start with http:// or https://: {url}",
                hint="use http://{bare}, in SEARXNG_URL or with: sleuth providers set {id} --api-host http://{bare}",
                url=without_login(url),
                bare=bare,
            )
        return url

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Send the request; on a server without JSON read the page if the account allows it."""
        request = self.request(query, account)
        try:
            found = self.parse(http.send(request, self.detect_error), query)
        except BadResponseError as error:
            if "!!" in query.text and error.status in (302, 303):
                hint = "remove the `!!`, or write one `!` to choose an engine"
                raise BadRequestError("a bang with `!!` leads to another site", hint=hint) from error
            if account.options.get("html") != "on" or error.status not in (200, 403):
                raise
            params = {name: value for name, value in request.params.items() if name != "format"}
            return self._parse_page(http.send(request._replace(params=params), self.detect_error))
        wanted = query.engines or account.engines
        missing = set(wanted) - {name for result in found.results for name in result.engines} - set(found.engines)
        config = request._replace(url=f"{self.base_url(account)}/config", params={})
        unknown = _unknown_engines(missing, config, http) if missing else {}
        return found._replace(engines={**found.engines, **unknown}, not_applied=("engines",) if unknown else ())

    def _parse_page(self, response: Response) -> Found:
        """Parse the results page; it has no scores, answers and reasons of failed engines."""
        from sleuth_providers.html.tree import join, read_html, text_of

        tree = read_html(response)
        results = []
        for item in tree.css("article.result")[:MAX_RESULTS]:
            link = item.css_first("h3 a[href]") or item.css_first("a[href]")
            picture = item.css_first("img[src]")
            results.append(
                Result(
                    title=text_of(item.css_first("h3") or item.css_first(".title")),
                    url=join(response.url, link.attributes.get("href") or "") if link else "",
                    snippet=text_of(item.css_first(".content")),
                    published=text_of(item.css_first("time")),
                    engines=tuple(sorted(text_of(engine) for engine in item.css(".engines span"))),
                    thumbnail=join(response.url, picture.attributes.get("src") or "") if picture else "",
                )
            )
        if not results and not tree.css_first("#search, #results"):
            hint = "check that this address is a SearXNG server: sleuth doctor"
            raise BadResponseError("not a SearXNG results page", status=response.status, hint=hint)
        return Found(web_results(results), not_applied=("json",))

    def parse(self, response: Response, query: Query) -> Found:
        """Parse results, answers of old and new versions, and engines that failed."""
        hint = "check that this address is a SearXNG server: sleuth doctor"
        if "html" in response.headers.get("content-type", ""):
            raise BadResponseError("HTML instead of JSON", status=response.status, hint=hint)
        data = document(response)
        if not isinstance(data.get("results"), list):
            raise BadResponseError("no list of results", status=response.status, hint=hint)
        if data.get("error") and not data["results"]:
            raise BadResponseError("the API reports an error", status=response.status, hint=self.trouble_hint)
        engines = as_list(data.get("unresponsive_engines"))
        failed = (pair for pair in engines if isinstance(pair, list) and len(pair) > 1)
        answers = [_answer(entry) for entry in as_list(data.get("answers"))]
        answers += [_infobox(as_dict(box)) for box in as_list(data.get("infoboxes"))]
        return Found(
            results=web_results(_result(item) for item in objects(data["results"])),
            answers=tuple(answer for answer in answers if answer.text),
            suggestions=tuple(text for text in as_list(data.get("suggestions")) if isinstance(text, str)),
            corrections=tuple(text for text in as_list(data.get("corrections")) if isinstance(text, str)),
            engines={as_text(pair[0]): as_text(pair[1]) for pair in failed},
        )

    sample_refused = Sample(
        Query("json is off"),
        "GET http://localhost:8080/search?q=json+is+off&format=json&locale=en&safesearch=1",
        "<!doctype html><title>403 Forbidden</title>",
        (),
        status=403,
        headers={"content-type": "text/html; charset=utf-8"},
        error="BAD_RESPONSE",
    )
    samples = (
        Sample(
            Query("rust", freshness="month", safe="off", lang="de", region="CH"),
            "GET http://localhost:8080/search?q=rust&format=json&locale=en&safesearch=0&language=de-CH&time_range=month",
            """{"query": "rust async", "results": [
              {"url": "https://rust-lang.github.io/async-book/", "title": "Async programming in Rust",
               "content": "Futures &amp; executors.", "engine": "ddg", "engines": ["ddg", "brave"],
               "positions": [1, 3], "score": 2.66, "category": "general", "publishedDate": "2026-10-01T00:00:00",
               "thumbnail": "", "img_src": "", "template": "default.html"},
              {"url": null, "title": "key/value", "kvmap": {}, "template": "keyvalue.html"}],
             "answers": [{"answer": "42", "url": "https://example.org/"}, "old style"], "corrections": [],
             "infoboxes": [{"infobox": "Rust", "content": "A language.", "urls": [{"url": "https://rust-lang.org"}]}],
             "suggestions": ["rust tokio"], "unresponsive_engines": [["google", "CAPTCHA"]]}""",
            ("https://rust-lang.github.io/async-book/",),
        ),
        sample_refused,
        sample_refused._replace(body="Unauthorized", status=401, error="API_KEY_INVALID"),
        sample_refused._replace(body="<!doctype html><title>Welcome to nginx!</title>", status=200),
        sample_refused._replace(body="<title>Just a moment...</title><p>Enable JavaScript", error="BLOCKED"),
        sample_refused._replace(body="<title>Making sure you're not a bot!</title>", status=200, error="BLOCKED"),
        sample_refused._replace(body='{"status": "ok"}', status=200),
        sample_refused._replace(body='{"results": [], "error": "x"}', status=200, headers={}),
        sample_refused._replace(body='{"error": "No query"}', status=400, error="INVALID_REQUEST"),
        sample_refused._replace(body="Too Many Requests", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_refused._replace(body='{"error": "search error"}', status=500, error="PROVIDER_UNAVAILABLE"),
    )


def _language(query: Query) -> str:
    both = query.lang and query.region and "-" not in query.lang
    return f"{query.lang}-{query.region}" if both else query.lang


def _unknown_engines(engines: set[str], config: Request, http: Sender) -> dict[str, str]:
    """Return the engines that the server does not have: it ignores them, and searches with others."""
    try:
        known = items(http.send(config), "engines")
    except ProviderError:
        return {}
    names = {as_text(engine.get(field)) for engine in known for field in ("name", "shortcut")}
    return dict.fromkeys(sorted(engines - names), UNKNOWN_ENGINE) if names else {}


def _result(item: dict[str, object]) -> Result:
    names = {"published": "publishedDate", "site": "source", "author": "author", "length": "length", "image": "img_src"}
    return result_of(item, title="title", url="url", snippet="content", **names)._replace(
        score=as_number(item.get("score")),
        thumbnail=as_text(item.get("thumbnail") or item.get("thumbnail_src")),
        engines=tuple(sorted(as_text(name) for name in as_list(item.get("engines")))),
        details=details_of(item),
    )


def _answer(entry: object) -> DirectAnswer:
    """Return an answer, which is an object since 2025 and was a string before."""
    if isinstance(entry, str):
        return DirectAnswer(entry)
    return DirectAnswer(as_text(as_dict(entry).get("answer")), as_text(as_dict(entry).get("url")))


def _infobox(box: dict[str, object]) -> DirectAnswer:
    links = [as_text(as_dict(link).get("url")) for link in as_list(box.get("urls"))]
    return DirectAnswer(as_text(box.get("content")), next((link for link in links if link), ""))
