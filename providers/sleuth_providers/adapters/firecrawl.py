"""Firecrawl: web, news and image search with page text; a few requests work without a key."""

from sleuth_providers.adapters._google import time_span
from sleuth_providers.adapters._media import picture_size
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, BadResponseError, QuotaError, RateLimitError
from sleuth_providers.json import (
    as_dict,
    as_number,
    as_text,
    document,
    items,
    marked_result_of,
    strip_tags,
    web_results,
)

DOLLARS_PER_CREDIT = 0.00083  # of the standard plan
KINDS = {"general": "web", "news": "news", "images": "images"}


class Firecrawl(Provider):
    """Takes domains to include or to exclude; the API refuses both together."""

    id = "firecrawl"
    name = "Firecrawl"
    homepage = "https://docs.firecrawl.dev/"
    key_page = "https://www.firecrawl.dev/app/api-keys"
    notes = (
        "Works without a key up to a daily limit; a free key has 1,000 credits. Page text costs one credit per page."
    )
    env = ("FIRECRAWL_API_KEY",)
    host = "https://api.firecrawl.dev"
    host_env = ("FIRECRAWL_API_URL",)
    supports = frozenset({"freshness", "range", "region", "safe", "include", "exclude", "content"})
    categories = ("general", "news", "images")
    one_domain_list = True
    max_results = 100
    max_query = 500
    price = "$1.7, page text extra (2026-11)"
    cost = 0.0017
    error_rules = (
        ErrorRule(429, RateLimitError, rb"Rate limit|Concurrency"),
        ErrorRule(429, QuotaError, hint=OWN_KEY_HINT),  # of requests without a key
        ErrorRule(200, BadResponseError, rb'"success"\s*:\s*false', "the API reports an error"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Request page text only when it is wanted, because it costs extra."""
        body = {
            "query": query.text,
            "limit": min(query.count, self.max_results),
            "sources": [KINDS.get(query.category, "web")] if query.category != "general" else None,
            "country": query.region,
            "tbs": time_span(query, padded=True),
            "safe": True if query.safe != "off" else None,
            "includeDomains": list(query.include) or None,
            "excludeDomains": list(query.exclude) or None,
            "scrapeOptions": {"formats": ["markdown"], "onlyMainContent": True} if query.content else None,
        }
        return self.post_json(account, "/v2/search", body)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the list of the category, and the cost; older servers send a single list."""
        reply = document(response)
        path = ["data"] if isinstance(reply.get("data"), list) else ["data", KINDS.get(query.category, "web")]
        hits = items(response, *path, envelope="data")
        credits = as_number(reply.get("creditsUsed")) or 0.0
        return Found(web_results(map(_result, hits)), cost=credits * DOLLARS_PER_CREDIT)

    sample_plain = Sample(
        Query("example x"),
        "POST https://api.firecrawl.dev/v2/search",
        '{"success": true, "data": {"web": []}, "warning": null, "id": "0199", "creditsUsed": 2}',
        (),
        sends_body={"query": "example x", "limit": 10, "safe": True},
    )
    sample_keyed = sample_plain._replace(account=Account(key="fc-sample"))
    samples = (
        Sample(
            Query(
                "example x",
                count=2,
                region="CN",
                safe="off",
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("example.com",),
                content=True,
            ),
            sample_plain.sends,
            """{"success": true, "data": {"web": [
             {"url": null, "title": "示例 <b>X</b>", "description": "How X works &amp; why", "position": 2,
             "markdown": "# Example X", "metadata": {"sourceURL": "https://example.com/x", "error": null}},
             {"url": "https://example.com/y", "title": null, "description": null, "markdown": null, "metadata": null},
             {"url": "mailto:x@example.com"}, null]}, "creditsUsed": 3, "id": "0199"}""",
            ("https://example.com/x", "https://example.com/y"),
            account=sample_keyed.account,
            sends_body={
                "query": "example x",
                "limit": 2,
                "country": "CN",
                "tbs": "cdr:1,cd_min:10/01/2026,cd_max:10/31/2026",
                "includeDomains": ["example.com"],
                "scrapeOptions": {"formats": ["markdown"], "onlyMainContent": True},
            },
        ),
        sample_plain._replace(
            query=Query("example x", category="news", freshness="day", since="2026-11-15", exclude=("spam.example",)),
            body="""{"success": true, "data": {"news": [{"title": "X ships", "url": "https://news.example/x",
             "snippet": "…", "date": "2 days ago", "imageUrl": "https://news.example/t.jpg", "position": 1}]}}""",
            finds=("https://news.example/x",),
            sends_body=sample_plain.sends_body
            | {"sources": ["news"], "tbs": "qdr:d", "excludeDomains": ["spam.example"]},
        ),
        sample_plain._replace(
            body='{"success": true, "data": [{"url": "https://example.com/v1", "title": "Flat", "description": "…"}]}',
            finds=("https://example.com/v1",),
        ),
        sample_plain,
        sample_plain._replace(body='{"success": false, "error": "Search failed"}', error="BAD_RESPONSE"),
        sample_plain._replace(
            body='{"success": false, "error": "Bad Request", "details": [{"path": ["limit"]}]}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_keyed._replace(
            body='{"success": false, "error": "Unauthorized: Invalid token"}', status=401, error="API_KEY_INVALID"
        ),
        sample_keyed._replace(
            body='{"success": false, "error": "Payment Required: Insufficient credits"}',
            status=402,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(body='{"success": false, "error": "Forbidden"}', status=403, error="API_KEY_INVALID"),
        sample_keyed._replace(body='{"success": false, "error": "Request timed out"}', status=408, error="TIMEOUT"),
        sample_keyed._replace(
            body='{"success": false, "error": "Rate limit exceeded"}',
            status=429,
            headers={"content-type": "application/json", "retry-after": "20"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"success": false, "error": "Daily limit without an API key reached"}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(body='{"success": false, "error": "…"}', status=500, error="PROVIDER_UNAVAILABLE"),
        sample_keyed._replace(body="", status=504, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    metadata = as_dict(item.get("metadata"))
    urls = (as_text(value) for value in (item.get("url"), metadata.get("url"), metadata.get("sourceURL")))
    picture = as_text(item.get("imageUrl"))
    result = marked_result_of(
        item, title="title", snippet="description", url="url", content="markdown", published="date"
    )
    return result._replace(
        url=next((url for url in urls if url), ""),
        snippet=result.snippet or strip_tags(item.get("snippet")),
        thumbnail=picture,
        image=picture,
        details=picture_size(item, "imageWidth", "imageHeight"),
    )
