"""Brave Search: an independent index, with extracted passages when page text is wanted."""

import re

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, KeyInvalidError, ProviderError, QuotaError, RateLimitError
from sleuth_providers.json import as_dict, as_list, as_text, document, items, strip_tags, web_results

# HTTP 422 for any other country or language.
COUNTRIES = re.findall(
    "[A-Z]+",
    "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US",
)
LANGUAGES = re.findall(
    "[a-z-]+",
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it jp kn ko lv lt ms ml mr nb"
    " pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi",
)
OTHER_NAMES = {"ja": "jp", "no": "nb", "nn": "nb", "pt": "pt-pt"}
PATHS = (("web", "results"), ("results",), ("grounding", "generic"))  # of the list: web, other kinds, page text


class Brave(Provider):
    """One endpoint per kind of result; page text comes from the endpoint for language models."""

    id = "brave"
    name = "Brave Search"
    homepage = "https://brave.com/search/api/"
    key_page = "https://api-dashboard.search.brave.com/app/keys"
    notes = "$5 of requests are free each month; a credit card is required."
    env = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    host = "https://api.search.brave.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page", "content"})
    operators = True
    categories = ("general", "news", "images", "videos")
    max_results = 20
    max_words = 50
    price = "$5 (2026-09)"
    cost = 0.005
    options = {"content": "source of page text: context (default), or snippets for plans without LLM context"}
    option_choices = {"content": ("context", "snippets")}

    error_rules = (
        ErrorRule(422, KeyInvalidError, rb"SUBSCRIPTION_TOKEN_INVALID|x-subscription-token"),
        ErrorRule(
            400,
            BadRequestError,
            rb"OPTION_NOT_IN_PLAN",
            "not included in your plan",
            hint="to use snippets as page text: sleuth providers set {id} --option content=snippets",
        ),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Use the endpoint of the category; the one for page text has no dates, pages or safe search."""
        kind = query.category if query.category in ("news", "images", "videos") else "web"
        params = {
            "q": query.with_operators(),
            "count": min(query.count, self.max_results),
            "search_lang": _language(query.lang),
            "country": query.region if query.region in COUNTRIES else None,
        }
        headers = {"X-Subscription-Token": account.key}
        simple = kind == "web" and query.page == 1 and not query.freshness and query.safe == "moderate"
        if query.content and simple and account.options.get("content") != "snippets":
            return self.get(account, "/res/v1/llm/context", params, headers)
        params["safesearch"] = "strict" if kind == "images" and query.safe == "moderate" else query.safe
        if kind == "web":
            params |= {"text_decorations": "false", "result_filter": "web,query"}
            params["extra_snippets"] = "true" if query.content else None
        if kind != "images":
            params["offset"] = query.page - 1 or None
            is_range = query.freshness == "range"
            period = f"p{query.freshness[0]}" if query.freshness else None
            params["freshness"] = f"{query.since}to{query.until}" if is_range else period
        return self.get(account, f"/res/v1/{kind}/search", params, headers)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add unsupported countries and languages, and pages and dates for images."""
        ignored = super().not_applied(query)
        ignored += ("region",) if query.region and query.region not in COUNTRIES else ()
        ignored += ("lang",) if query.lang and not _language(query.lang) else ()
        if query.category == "images":
            span = "range" if query.freshness == "range" else "freshness"
            ignored += ("page",) * (query.page > 1) + (span,) * bool(query.freshness)
        return ignored

    def detect_error(self, response: Response) -> ProviderError | None:
        """Tell an exhausted month from too many requests."""
        if response.status != 429:
            return super().detect_error(response)
        quota = dict(re.findall(rb'"quota_(limit|current)"\s*:\s*(\d{1,12})', response.body))
        if 0 < int(quota.get(b"limit", 0)) <= int(quota.get(b"current", 0)):
            return QuotaError(status=429)
        from sleuth_providers.net.client import retry_after  # loaded already; a cached answer does not need it

        reset = re.match(r"\d{1,9}", response.headers.get("x-ratelimit-reset", ""))
        pause = retry_after(response)
        return RateLimitError(status=429, retry_after=float(reset[0]) if reset and pause is None else pause)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; an empty reply of the web search has no list."""
        reply = document(response)
        path = next((path for path in PATHS if path[0] in reply), PATHS[0])
        hits = items(response, *path, envelope="query" if "query" in reply else path[0])
        altered = as_text(as_dict(reply.get("query")).get("altered"))
        return Found(web_results(map(_result, hits)), corrections=(altered,) if altered else ())

    sample_plain = Sample(
        Query("wal"),
        "GET https://api.search.brave.com/res/v1/web/search?q=wal&count=10&safesearch=moderate"
        "&text_decorations=false&result_filter=web%2Cquery",
        '{"type": "search", "query": {"original": "wal", "more_results_available": false}}',
        (),
        account=Account(key="BSA-sample"),
    )
    samples = (
        Sample(
            Query(
                "sqlite wal",
                count=30,
                page=2,
                lang="zh-TW",
                region="TW",
                freshness="range",
                since="2026-01-01",
                until="2026-03-31",
                safe="off",
                include=("sqlite.org", "example.org"),
                exclude=("spam.example",),
                content=True,
            ),
            "GET https://api.search.brave.com/res/v1/web/search"
            "?q=sqlite+wal+%28site%3Asqlite.org+OR+site%3Aexample.org%29+-site%3Aspam.example&count=20&search_lang=zh-hant&country=TW&safesearch=off&text_decorations=false"
            "&result_filter=web%2Cquery&extra_snippets=true&offset=1&freshness=2026-01-01to2026-03-31",
            """{"type": "search", "query": {"original": "sqlite wal", "altered": "sqlite WAL",
             "more_results_available": true}, "web": {"type": "search", "family_friendly": true,
             "results": [{"title": "Write-Ahead Logging", "url": "https://sqlite.org/wal.html",
             "page_age": "2026-03-01T00:00:00", "description": "The <strong>WAL</strong> file &amp; its index",
             "age": "March 1, 2026", "language": "en", "profile": {"name": "SQLite", "long_name": "sqlite.org",
             "img": "https://imgs.search.brave.com/a"}, "meta_url": {"hostname": "sqlite.org",
             "path": "› wal.html"}, "thumbnail": {"src": "https://i/x", "logo": true},
             "extra_snippets": ["Readers do not block <strong>writers</strong>.", null, 7]}, {"title": null,
             "url": "https://example.org/wal", "description": null, "age": "3 days ago", "profile": null},
             {"title": "No address"}, "not an object"]}}""",
            ("https://sqlite.org/wal.html", "https://example.org/wal"),
            account=sample_plain.account,
        ),
        Sample(
            Query("sqlite wal", lang="ja", region="EE", content=True),
            "GET https://api.search.brave.com/res/v1/llm/context?q=sqlite+wal&count=10&search_lang=jp",
            """{"grounding": {"generic": [{"url": "https://sqlite.org/wal.html", "title": "Write-Ahead Logging",
             "snippets": ["WAL mode is <fast>.", "Checkpoints move pages."]}], "map": []}, "sources": {}}""",
            ("https://sqlite.org/wal.html",),
            account=sample_plain.account,
        ),
        Sample(
            Query("sqlite wal", content=True),
            "GET https://api.search.brave.com/res/v1/llm/context?q=sqlite+wal&count=10",
            '{"grounding": {}, "sources": {}}',
            (),
            account=sample_plain.account,
        ),
        Sample(
            Query("red panda", category="images", page=3, freshness="week", since="2026-11-09"),
            "GET https://api.search.brave.com/res/v1/images/search?q=red+panda&count=10&safesearch=strict",
            """{"type": "images", "results": [{"title": "Red panda", "url": "https://zoo.example/panda",
             "source": "zoo.example", "thumbnail": {"src": "https://imgs.search.brave.com/t"},
             "properties": {"url": "https://zoo.example/p.jpg"}}]}""",
            ("https://zoo.example/panda",),
            account=sample_plain.account,
        ),
        Sample(
            Query("strike", category="news", freshness="day", since="2026-11-15"),
            "GET https://api.search.brave.com/res/v1/news/search?q=strike&count=10&safesearch=moderate&freshness=pd",
            """{"type": "news", "results": [{"title": "Strike ends", "url": "https://news.example/1",
             "age": "2 hours ago", "description": "Trains run.", "breaking": true,
             "meta_url": {"hostname": "news.example"}, "thumbnail": null}]}""",
            ("https://news.example/1",),
            account=sample_plain.account,
        ),
        sample_plain._replace(
            body="""{"type": "ErrorResponse", "error": {"id": "1", "status": 422,
             "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The provided subscription token is invalid.",
             "meta": {"component": "authentication"}}}""",
            status=422,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body="""{"type": "ErrorResponse", "errors": [{"status": 422, "code": "VALIDATION",
             "meta": {"errors": [{"type": "missing", "loc": ["header", "x-subscription-token"],
             "msg": "Field required", "input": null}]}}]}""",
            status=422,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body="""{"type": "ErrorResponse", "error": {"status": 422, "code": "VALIDATION",
             "meta": {"errors": [{"type": "enum", "loc": ["query", "search_lang"],
             "msg": "Input should be 'ar', …", "input": "xx"}]}}}""",
            status=422,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"type": "ErrorResponse", "error": {"status": 400, "code": "OPTION_NOT_IN_PLAN"}}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body="""{"type": "ErrorResponse", "error": {"status": 429, "code": "RATE_LIMITED",
             "meta": {"plan": "Search", "rate_limit": 50, "rate_current": 51, "quota_limit": 0,
             "quota_current": 812, "component": "rate_limiter"}}}""",
            status=429,
            headers={"content-type": "application/json", "x-ratelimit-reset": "1, 1419704"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body="""{"type": "ErrorResponse", "error": {"status": 429, "code": "RATE_LIMITED",
             "meta": {"plan": "Free", "rate_limit": 1, "rate_current": 0, "quota_limit": 2000,
             "quota_current": 2000}}}""",
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body="{}", status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body="{}", status=403, error="API_KEY_INVALID"),
        sample_plain._replace(
            body="<html><title>502 Bad Gateway</title></html>",
            status=502,
            headers={"content-type": "text/html"},
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain,
    )


def _language(lang: str) -> str:
    """Return Brave's code for a language, empty for one that it does not have."""
    code, primary = lang.lower(), lang.lower().split("-")[0]
    if primary == "zh":
        return "zh-hant" if code.endswith(("tw", "hk", "mo", "hant")) else "zh-hans"
    return next((name for name in (code, OTHER_NAMES.get(primary, primary)) if name in LANGUAGES), "")


def _result(item: dict[str, object]) -> Result:
    thumbnail, video = as_dict(item.get("thumbnail")), as_dict(item.get("video"))
    passages = [strip_tags(text) for text in as_list(item.get("extra_snippets"))]
    passages += [as_text(text) for text in as_list(item.get("snippets"))]
    content = "\n\n".join(text for text in passages if text)
    hostname = as_text(as_dict(item.get("meta_url")).get("hostname"))
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("url")),
        snippet=strip_tags(item.get("description")) or content[:300],
        content=content,
        published=as_text(item.get("page_age")) or as_text(item.get("age")),
        site=as_text(as_dict(item.get("profile")).get("name")) or hostname or as_text(item.get("source")),
        thumbnail="" if thumbnail.get("logo") else as_text(thumbnail.get("src")),
        author=as_text(video.get("creator")),
        length=as_text(video.get("duration")),
        image=as_text(as_dict(item.get("properties")).get("url")),
    )
