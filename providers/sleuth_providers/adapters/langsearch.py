"""LangSearch: web search with a free key."""

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadResponseError, KeyInvalidError, QuotaError, RateLimitError
from sleuth_providers.json import items, marked_result_of, strip_tags, web_results

PERIODS = {"day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"}
CODE = rb'"code"\s*:\s*"?'
SNIPPET_CHARS = 300


class LangSearch(Provider):
    """Returns page text instead of snippets when it is requested."""

    id = "langsearch"
    name = "LangSearch"
    homepage = "https://docs.langsearch.com/"
    key_page = "https://langsearch.com/"
    notes = "A free key allows 1,000 requests a day, one a second; the allowance is renewed at midnight UTC."
    env = ("LANGSEARCH_API_KEY",)
    host = "https://api.langsearch.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "include", "exclude", "content"})
    max_results = 50
    price = "free up to 1,000 requests a day (2026-11)"
    per_minute = 60
    error_rules = (
        ErrorRule(429, QuotaError, rb"daily|allowance"),
        ErrorRule(200, KeyInvalidError, CODE + rb"40[13]\b", "the API reports an error"),
        ErrorRule(200, RateLimitError, CODE + rb"429\b", "the API reports an error"),
        ErrorRule(200, BadResponseError, CODE + rb"(?!200\b)\d", "the API reports an error"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send a range as two dates, both inclusive."""
        dates = f"{query.since}..{query.until}" if query.freshness == "range" else None
        body = {
            "query": query.text,
            "count": min(query.count, self.max_results),
            "freshness": PERIODS.get(query.freshness, dates),
            "includeDomains": list(query.include) or None,
            "excludeDomains": list(query.exclude) or None,
            "contents": {"text": True} if query.content else None,
        }
        return self.post_json(account, "/v1/web-search", body)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results."""
        return Found(web_results(map(_result, items(response, "data", "webPages", "value", envelope="data"))))

    sample_plain = Sample(
        Query("sqlite wal"),
        "POST https://api.langsearch.com/v1/web-search",
        '{"code": 200, "log_id": "abc", "msg": null, "data": {"webPages": {"value": []}}}',
        (),
        account=Account(key="langsearch-sample"),
        sends_body={"query": "sqlite wal", "count": 10},
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "sqlite wal",
                count=80,
                freshness="range",
                since="2026-09-01",
                until="2026-09-13",
                include=("sqlite.org",),
                exclude=("spam.example",),
                content=True,
            ),
            body="""{"code": 200, "log_id": "abc", "msg": null, "data": {"webPages": {"value": [
             {"name": "Write-Ahead Logging", "url": "https://sqlite.org/wal.html", "snippet": "The <b>WAL</b> file …",
             "datePublished": "2026-03-01T00:00:00Z"}, {"name": null, "url": "https://sqlite.org/二", "snippet": null,
             "text": "正文", "datePublished": null}, {"url": 7}, []]}}}""",
            finds=("https://sqlite.org/wal.html", "https://sqlite.org/二"),
            sends_body={
                "query": "sqlite wal",
                "count": 50,
                "freshness": "2026-09-01..2026-09-13",
                "includeDomains": ["sqlite.org"],
                "excludeDomains": ["spam.example"],
                "contents": {"text": True},
            },
        ),
        sample_plain._replace(
            query=Query("sqlite wal", freshness="week", since="2026-11-10"),
            sends_body=sample_plain.sends_body | {"freshness": "oneWeek"},
        ),
        sample_plain,
        sample_plain._replace(body='{"code": "401", "msg": "Invalid API KEY"}', status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body='{"code": "400", "msg": "Bad date"}', status=400, error="INVALID_REQUEST"),
        sample_plain._replace(
            body='{"code": "429", "msg": "Too many requests"}', status=429, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(body='{"code": 401, "msg": "Invalid API KEY"}', error="API_KEY_INVALID"),
        sample_plain._replace(body='{"code": 429, "msg": "Daily limit"}', error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body='{"code": 500, "msg": "Error"}', error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    names = {"title": "name", "url": "url", "snippet": "snippet", "content": "text", "published": "datePublished"}
    result = marked_result_of(item, **names)
    snippet = result.snippet or strip_tags(item.get("summary")) or result.content[:SNIPPET_CHARS]
    return result._replace(snippet=snippet)
