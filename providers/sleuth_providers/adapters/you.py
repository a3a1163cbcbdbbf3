"""You.com: web and news search; about 100 requests a day work without a key."""

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, QuotaError
from sleuth_providers.json import as_dict, as_list, as_text, items, marked_result_of, strip_tags, web_results

# Language codes that differ from BCP 47.
LANGUAGES = {
    "JA": "JP",
    "ZH": "ZH-HANS",
    "ZH-CN": "ZH-HANS",
    "ZH-SG": "ZH-HANS",
    "ZH-TW": "ZH-HANT",
    "ZH-HK": "ZH-HANT",
}
WITH_REGION = ("ZH-HANS", "ZH-HANT", "PT-BR", "PT-PT", "EN-GB")


class You(Provider):
    """Requests with and without a key go to different endpoints."""

    id = "you"
    name = "You.com"
    homepage = "https://you.com/docs"
    key_page = "https://you.com/platform/api-keys"
    notes = "Works without a key, for about 100 requests a day per IP address."
    env = ("YDC_API_KEY", "YOU_API_KEY_AUTH", "YOUCOM_API_KEY")
    host = "https://api.you.com/v1"
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page", "include", "exclude", "content"})
    categories = ("general", "news")
    max_include = max_exclude = 500
    one_domain_list = True
    max_results = 50
    price = "not published, about $5 to $6.25; without a key free (2026-11)"
    cost = 0.005
    reads_language = True

    error_rules = (ErrorRule(429, QuotaError, rb"daily|per day|quota", hint=OWN_KEY_HINT),)

    def request(self, query: Query, account: Account) -> Request:
        """Send You.com's own language codes; requests with and without a key go to different endpoints."""
        page_text = {"extraction_mode": "full_page", "full_page": {"extraction_formats": ["markdown"]}}
        body = {
            "query": query.text,
            "count": min(query.count, self.max_results),
            "safesearch": query.safe,
            "offset": query.page - 1 or None,
            "freshness": f"{query.since}to{query.until}" if query.freshness == "range" else query.freshness,
            "country": query.region,
            "language": _language(query.lang),
            "include_domains": list(query.include) or None,
            "exclude_domains": list(query.exclude) or None,
            "extraction": page_text if query.content else None,
        }
        # Without a key the response is declared as compressed when it is not.
        headers = {"X-API-Key": account.key} if account.key else {"Accept-Encoding": "identity"}
        path = "search" if account.key else "agents/search"
        return self.post_json(account, f"/{path}", body, headers)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the section of the category."""
        hits = items(response, "results", "news" if query.category == "news" else "web", envelope="results")
        return Found(web_results(_result(item, query.content) for item in hits))

    sample_plain = Sample(
        Query("kubernetes 1.36"),
        "POST https://api.you.com/v1/agents/search",
        '{"results": {}, "metadata": {"search_uuid": "1f0c", "query": "kubernetes 1.36", "latency": 0.41}}',
        (),
        sends_body={"query": "kubernetes 1.36", "count": 10, "safesearch": "moderate"},
    )
    sample_keyed = sample_plain._replace(account=Account(key="ydc-sample"), sends="POST https://api.you.com/v1/search")
    samples = (
        Sample(
            Query(
                "kubernetes 1.36",
                count=80,
                page=3,
                lang="zh-CN",
                region="CN",
                safe="strict",
                freshness="range",
                since="2026-08-01",
                until="2026-08-31",
                include=("example.com",),
                content=True,
            ),
            sample_keyed.sends,
            """{"results": {"web": [{"url": "https://example.com/k8s", "title": "K8s 1.36", "description": null,
             "snippets": ["In-place <b>resize</b> is …", "Second."], "thumbnail_url": "https://example.com/t.png",
             "page_age": "2026-08-11T09:00:00", "authors": ["李雷"], "contents": {"markdown": "# K8s"}},
             {"url": "https://example.com/二", "title": "二", "description": "说明", "snippets": null, "contents": null,
             "page_age": null, "authors": null}, {"url": 7}, []], "news": []}, "metadata": {}}""",
            ("https://example.com/k8s", "https://example.com/二"),
            account=sample_keyed.account,
            sends_body={
                "query": "kubernetes 1.36",
                "count": 50,
                "safesearch": "strict",
                "offset": 2,
                "freshness": "2026-08-01to2026-08-31",
                "country": "CN",
                "language": "ZH-HANS",
                "include_domains": ["example.com"],
                "extraction": {"extraction_mode": "full_page", "full_page": {"extraction_formats": ["markdown"]}},
            },
        ),
        sample_plain._replace(
            query=Query("kubernetes 1.36", category="news", lang="de-CH", freshness="day", exclude=("spam.example",)),
            body="""{"results": {"web": [{"url": "https://example.com/no"}], "news": [{"title": "K8s ships",
             "description": "…", "page_age": "2026-08-12T10:00:00", "url": "https://news.example/k"}]}}""",
            finds=("https://news.example/k",),
            sends_body=sample_plain.sends_body
            | {"freshness": "day", "language": "DE", "exclude_domains": ["spam.example"]},
        ),
        sample_plain,
        sample_keyed._replace(body='{"detail": "Invalid API key"}', status=401, error="API_KEY_INVALID"),
        sample_keyed._replace(body='{"detail": "Payment required"}', status=402, error="RATE_LIMIT_EXCEEDED"),
        sample_keyed._replace(body='{"message": "Forbidden"}', status=403, error="API_KEY_INVALID"),
        sample_keyed._replace(
            body='{"detail": [{"loc": ["body", "count"], "msg": "…", "type": "value_error"}]}',
            status=422,
            error="INVALID_REQUEST",
        ),
        sample_keyed._replace(body='{"message": "Too Many Requests"}', status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body='{"detail": "Daily limit reached"}', status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_keyed._replace(body='{"detail": "Internal error"}', status=500, error="PROVIDER_UNAVAILABLE"),
    )


def _language(lang: str) -> str:
    name = lang.upper()
    name = LANGUAGES.get(name, name)
    return name if name in WITH_REGION else LANGUAGES.get(name.split("-")[0], name.split("-")[0])


def _result(item: dict[str, object], content: bool) -> Result:
    snippets = [strip_tags(text) for text in as_list(item.get("snippets")) if isinstance(text, str)]
    whole = as_text(as_dict(item.get("contents")).get("markdown")) or "\n\n".join(snippets)
    names = {"snippet": "description", "published": "page_age", "thumbnail": "thumbnail_url"}
    result = marked_result_of(item, title="title", url="url", **names)
    return result._replace(
        snippet=result.snippet or (snippets or [""])[0],
        content=whole if content else "",
        author=", ".join(as_text(name) for name in as_list(item.get("authors"))),
    )
