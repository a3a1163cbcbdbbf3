"""Documentation for developers: MDN Web Docs and Microsoft Learn."""

from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.json import as_number, as_text, document, marked_result_of, objects, strip_tags, web_results

HOSTS = {"mdn": "https://developer.mozilla.org", "learn": "https://learn.microsoft.com"}
LOCALES = ("en-US", "de", "es", "fr", "ja", "ko", "pt-BR", "ru", "zh-CN", "zh-TW")  # of MDN
MAX_LEARN_RESULTS = 25
# Countries of Microsoft Learn for languages that are not named like one.
LEARN_COUNTRIES = {
    "ar": "SA",
    "cs": "CZ",
    "da": "DK",
    "el": "GR",
    "en": "US",
    "he": "IL",
    "hi": "IN",
    "ja": "JP",
    "ko": "KR",
    "pt": "BR",
    "sv": "SE",
    "uk": "UA",
    "vi": "VN",
    "zh": "CN",
}


class Mdn(Provider):
    """Two sites with their own search, as engines: mdn for the web platform, learn for Microsoft."""

    id = "mdn"
    name = "MDN Web Docs"
    homepage = "https://developer.mozilla.org/"
    notes = (
        "The search behind the website, without a published contract. Engines: mdn (default) and learn "
        "(Microsoft Learn). Texts of MDN are by MDN contributors, under CC BY-SA."
    )
    attribution = "MDN contributors, CC BY-SA"
    host = HOSTS["mdn"]
    supports = frozenset({"lang", "page", "engines"})
    categories = ("it",)
    known_engines = tuple(HOSTS)
    max_results = 50
    price = "free"
    per_minute = 60

    def request(self, query: Query, account: Account) -> Request:
        """Request the site of the engine."""
        engine = self.engine(query, account, "mdn")
        account = self.at_host_of(engine, account, HOSTS)
        if engine == "learn":
            count = min(query.count, MAX_LEARN_RESULTS)
            skip = (query.page - 1) * count or None
            params = {"search": query.text, "locale": _learn_locale(query), "$top": count, "$skip": skip}
            return self.get(account, "/api/search", params)
        locale, page = _mdn_locale(query.lang) or "en-US", query.page if query.page > 1 else None
        params = {"q": query.text, "locale": locale, "size": min(query.count, 50), "page": page}
        return self.get(account, "/api/v1/search", params)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add languages that MDN does not have."""
        unknown = query.lang and not _mdn_locale(query.lang) and query.engines[:1] != ("learn",)
        return super().not_applied(query) + ("lang",) * bool(unknown)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the reply of either site."""
        reply = document(response, "documents", "results")
        pages = [*map(_mdn_result, objects(reply.get("documents"))), *map(_learn_result, objects(reply.get("results")))]
        return Found(web_results(pages))

    sample_plain = Sample(
        Query("abort controller", category="it"),
        "GET https://developer.mozilla.org/api/v1/search?q=abort+controller&locale=en-US&size=10",
        '{"documents": [], "metadata": {"total": {"value": 0}}, "suggestions": []}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query("abort controller", page=2, lang="zh", category="it"),
            sends="GET https://developer.mozilla.org/api/v1/search?q=abort+controller&locale=zh-CN&size=10&page=2",
            body="""{"documents": [{"mdn_url": "/zh-CN/docs/Web/API/AbortController", "score": 83.1, "locale": "zh-cn",
             "title": "AbortController", "summary": "接口 …", "popularity": 0.02}, {"mdn_url": "//evil.example/"},
             {"mdn_url": null}, 7], "metadata": {"took_ms": 9}, "suggestions": []}""",
            finds=("https://developer.mozilla.org/zh-CN/docs/Web/API/AbortController",),
        ),
        sample_plain._replace(
            query=Query("sqlite", count=50, page=2, lang="de", category="it", engines=("learn",)),
            sends="GET https://learn.microsoft.com/api/search?search=sqlite&locale=de-de&%24top=25&%24skip=25",
            body="""{"facets": {}, "results": [{"title": "SqliteConnection &amp; Class",
             "url": "https://learn.microsoft.com/en-us/dotnet/api/x", "description": "Represents a connection …",
             "lastUpdatedDate": "2026-05-01T00:00:00+00:00"}, {"url": null}], "count": 1200}""",
            finds=("https://learn.microsoft.com/en-us/dotnet/api/x",),
        ),
        sample_plain._replace(
            query=Query("sqlite", lang="sv", category="it", engines=("learn",)),
            sends="GET https://learn.microsoft.com/api/search?search=sqlite&locale=sv-se&%24top=10",
            body='{"results": []}',
        ),
        sample_plain,
        sample_plain._replace(
            body='{"errors": {"q": [{"message": "…", "code": "required"}]}}', status=400, error="INVALID_REQUEST"
        ),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )


def _mdn_locale(lang: str) -> str:
    """Return MDN's locale for a language, or an empty text."""
    exact = [locale for locale in LOCALES if locale.lower() == lang.lower()]
    similar = [locale for locale in LOCALES if locale.split("-")[0] == lang.split("-")[0].lower()]
    return next(iter(exact + similar), "")


def _learn_locale(query: Query) -> str:
    lang, _, territory = (query.lang or "en-US").partition("-")
    country = territory or LEARN_COUNTRIES.get(lang, lang)
    return f"{lang}-{country}".lower()


def _mdn_result(item: dict[str, object]) -> Result:
    path = as_text(item.get("mdn_url"))
    return Result(
        title=strip_tags(item.get("title")),
        url=f"{HOSTS['mdn']}{path}" if path.startswith("/") and not path.startswith("//") else "",
        snippet=" ".join(as_text(item.get("summary")).split()),
        site="MDN",
        score=as_number(item.get("score")),
    )


def _learn_result(item: dict[str, object]) -> Result:
    result = marked_result_of(item, title="title", url="url", snippet="description", published="lastUpdatedDate")
    return result._replace(snippet=" ".join(result.snippet.split()), site="Microsoft Learn")
