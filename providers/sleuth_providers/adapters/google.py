"""Google Custom Search: the official JSON API, which ends on 2027-01-01."""

from sleuth_providers.adapters._google import language
from sleuth_providers.adapters._media import picture_size
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import KeyInvalidError, KeyMissingError, NotFoundError, QuotaError, RateLimitError
from sleuth_providers.json import as_dict, as_list, as_text, items, web_results


class Google(Provider):
    """Needs a key and the id of a search engine, `cx`; both are part of the URL."""

    id = "google"
    name = "Google Custom Search"
    homepage = "https://developers.google.com/custom-search/v1/overview"
    key_page = "https://console.cloud.google.com/apis/credentials"
    notes = (
        "Google ends this API on 2027-01-01 and accepts no new customers. Besides the key it needs --option cx=ID. "
        "100 requests a day are free, and sleuth stops there; --option per_day=N allows more."
    )
    env = ("GOOGLE_API_KEY", "GOOGLE_PSE_API_KEY")
    host = "https://www.googleapis.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page"})
    operators = True
    categories = ("general", "images")
    max_results = 10
    price = "$5, the first 100 a day free (2026-11)"
    cost = 0.005
    per_day = 100
    weight = 1.2  # one of the largest indexes
    options = {
        "cx": "id of the Programmable Search Engine",
        "referer": "URL to send as Referer, for keys restricted to a site",
    }
    required_options = ("cx",)
    option_env = {"cx": ("GOOGLE_CSE_ID", "GOOGLE_SEARCH_ENGINE_ID")}
    error_rules = (
        ErrorRule(400, KeyInvalidError, rb"keyInvalid|API.key"),
        ErrorRule(403, QuotaError, rb"dailyLimit"),
        ErrorRule(403, RateLimitError, rb"LimitExceeded"),
        ErrorRule(
            403,
            KeyInvalidError,
            hint="enable the Custom Search API for this key's project; Google accepts no new customers",
        ),
        ErrorRule(404, NotFoundError, hint="check the search engine id: sleuth providers set {id} --option cx=ID"),
        ErrorRule(429, QuotaError, rb"per ?day|dailyLimit"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Request at most ten results; Google has no more than a hundred in all."""
        if not account.options.get("cx"):
            hint = "set it: sleuth providers set {id} --option cx=ID, or GOOGLE_CSE_ID"
            raise KeyMissingError("no cx", message="{provider} needs the id of a search engine", hint=hint)
        count = min(query.count, self.max_results)
        code = language(query.lang)
        is_range = query.freshness == "range"
        params = {
            "key": account.key,
            "cx": str(account.options["cx"]),
            "q": query.with_operators(),
            "num": count,
            "safe": "off" if query.safe == "off" else "active",
            "start": count * (query.page - 1) + 1 if query.page > 1 else None,
            "lr": f"lang_{code}" if code else None,
            "hl": code,
            "gl": query.region.lower(),
            "sort": f"date:r:{query.since}:{query.until}".replace("-", "") if is_range else None,
            "dateRestrict": f"{query.freshness[0]}1" if query.freshness and not is_range else None,
            "searchType": "image" if query.category == "images" else None,
        }
        referer = account.options.get("referer")
        return self.get(account, "/customsearch/v1", params, {"Referer": str(referer)} if referer else {})

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; an empty result has no list."""
        hits = items(response, "items", envelope="searchInformation")
        correction = as_text(as_dict(response.json().get("spelling")).get("correctedQuery"))
        return Found(web_results(map(_result, hits)), corrections=(correction,) if correction else ())

    sample_plain = Sample(
        Query("wal"),
        "GET https://www.googleapis.com/customsearch/v1?key=AIza-sample&cx=017-x&q=wal&num=10&safe=active",
        '{"kind": "customsearch#search", "searchInformation": {"totalResults": "0"}}',
        (),
        account=Account(key="AIza-sample", options={"cx": "017-x"}),
    )
    samples = (
        Sample(
            Query(
                "sqlite wal",
                count=5,
                page=3,
                lang="zh-CN",
                region="CN",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
                safe="off",
                include=("sqlite.org", "example.com"),
                exclude=("spam.example",),
            ),
            "GET https://www.googleapis.com/customsearch/v1?key=AIza-sample&cx=017-x"
            "&q=sqlite+wal+%28site%3Asqlite.org+OR+site%3Aexample.com%29+-site%3Aspam.example&num=5&safe=off&start=11&lr=lang_zh-CN&hl=zh-CN&gl=cn"
            "&sort=date%3Ar%3A20260101%3A20260630",
            """{"kind": "customsearch#search", "queries": {"request": [{"startIndex": 11, "count": 2}]},
             "searchInformation": {"searchTime": 0.31, "totalResults": "41200"},
             "spelling": {"correctedQuery": "sqlite WAL"}, "items": [{"kind": "customsearch#result",
             "title": "Write-Ahead Logging", "link": "https://sqlite.org/wal.html", "displayLink": "sqlite.org",
             "snippet": "Nov 3, 2026 ... The WAL\\nfile", "htmlSnippet": "The <b>WAL</b>",
             "pagemap": {"cse_thumbnail": [{"src": "https://encrypted-tbn0.gstatic.com/a", "width": "225"}],
             "metatags": [{"og:site_name": "SQLite", "article:published_time": "2026-11-03T08:00:00Z"}]}},
             {"title": null, "link": "https://example.com/", "snippet": null, "pagemap": {"metatags": []}},
             {"title": "No link", "link": false}]}""",
            ("https://sqlite.org/wal.html", "https://example.com/"),
            account=sample_plain.account,
        ),
        Sample(
            Query("wal", category="images", freshness="month", since="2026-10-16"),
            f"{sample_plain.sends}&dateRestrict=m1&searchType=image",
            """{"items": [{"title": "WAL", "link": "https://example.com/wal.png", "displayLink": "example.com",
             "mime": "image/png", "image": {"contextLink": "https://example.com/page",
             "thumbnailLink": "https://encrypted-tbn0.gstatic.com/b"}}]}""",
            ("https://example.com/page",),
            account=sample_plain.account,
        ),
        sample_plain._replace(
            body="""{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
             "status": "INVALID_ARGUMENT", "errors": [{"message": "API key not valid.", "domain": "global",
             "reason": "badRequest"}]}}""",
            status=400,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body="""{"error": {"code": 400, "message": "Request contains an invalid argument.",
             "status": "INVALID_ARGUMENT"}}""",
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body="""{"error": {"code": 403, "status": "PERMISSION_DENIED",
             "errors": [{"reason": "accessNotConfigured"}]}}""",
            status=403,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body="""{"error": {"code": 403, "status": "PERMISSION_DENIED",
             "errors": [{"reason": "dailyLimitExceeded"}]}}""",
            status=403,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}',
            status=404,
            error="BAD_RESPONSE",
        ),
        sample_plain._replace(
            body="""{"error": {"code": 429,
             "message": "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'.",
             "errors": [{"reason": "rateLimitExceeded"}], "status": "RESOURCE_EXHAUSTED",
             "details": [{"reason": "RATE_LIMIT_EXCEEDED",
             "metadata": {"quota_limit": "DefaultPerDayPerProject"}}]}}""",
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body="""{"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED",
             "details": [{"metadata": {"quota_limit": "DefaultPerMinutePerProject"}}]}}""",
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body="""{"error": {"code": 503, "message": "The service is currently unavailable.",
             "status": "UNAVAILABLE"}}""",
            status=503,
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    image, pagemap = as_dict(item.get("image")), as_dict(item.get("pagemap"))
    meta, thumbnail = _first(pagemap.get("metatags")), _first(pagemap.get("cse_thumbnail"))
    link, page = as_text(item.get("link")), as_text(image.get("contextLink"))
    return Result(
        title=as_text(item.get("title")),
        url=page or link,
        snippet=" ".join(as_text(item.get("snippet")).split()),
        published=as_text(meta.get("article:published_time")),
        site=as_text(meta.get("og:site_name")) or as_text(item.get("displayLink")),
        thumbnail=as_text(thumbnail.get("src")) or as_text(image.get("thumbnailLink")),
        image=link if page else "",
        details=picture_size(image),
    )


def _first(value: object) -> dict[str, object]:
    return as_dict(next(iter(as_list(value)), None))
