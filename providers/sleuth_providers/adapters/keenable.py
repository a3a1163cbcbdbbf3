"""Keenable: its own index, made for agents; about 1,000 requests an hour work without a key."""

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, RateLimitError
from sleuth_providers.json import items, marked_result_of, strip_tags, web_results

PERIODS = {"day": "1d", "week": "7d", "month": "1mo", "year": "1y"}


class Keenable(Provider):
    """Requests with and without a key go to different endpoints; the one without wants the name of the program."""

    id = "keenable"
    name = "Keenable"
    homepage = "https://keenable.ai/"
    key_page = "https://keenable.ai/"
    notes = (
        "Works without a key, for 1,000 requests an hour per IP address. "
        "With --freshness, pages without a date may be omitted."
    )
    env = ("KEENABLE_API_KEY",)
    host = "https://api.keenable.ai"
    host_env = ("KEENABLE_API_URL",)
    supports = frozenset({"freshness", "range", "include"})
    max_include = 1
    max_results = 20
    price = "without a key free; with a key not published (2026-11)"
    per_minute = 60
    options = {"mode": "pro (default) or realtime, which is faster"}
    option_choices = {"mode": ("pro", "realtime")}
    error_rules = (ErrorRule(429, RateLimitError, hint=OWN_KEY_HINT),)

    def request(self, query: Query, account: Account) -> Request:
        """Send the domain to include, of which there is at most one."""
        body = {
            "query": query.text,
            "max_results": min(query.count, self.max_results),
            "mode": account.options.get("mode"),
            "published_after": PERIODS.get(query.freshness, query.since),
            "published_before": query.until,  # inclusive
            "site": next(iter(query.include), None),
        }
        headers = {"X-API-Key": account.key} if account.key else {"X-Keenable-Title": "sleuth"}
        return self.post_json(account, "/v1/search" if account.key else "/v1/search/public", body, headers)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; `description` is nearly always empty."""
        return Found(web_results(map(_result, items(response, "results"))))

    sample_plain = Sample(
        Query("sqlite wal"),
        "POST https://api.keenable.ai/v1/search/public",
        '{"results": []}',
        (),
        sends_body={"query": "sqlite wal", "max_results": 10},
    )
    sample_keyed = sample_plain._replace(
        account=Account(key="keen_sample"), sends="POST https://api.keenable.ai/v1/search"
    )
    samples = (
        Sample(
            Query(
                "sqlite wal",
                count=50,
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
                include=("sqlite.org",),
            ),
            sample_plain.sends,
            """{"results": [{"title": "Write-Ahead Logging", "url": "https://sqlite.org/wal.html", "description": "",
             "snippet": "The WAL file is &amp; stays …", "published_at": "2026-03-01T00:00:00Z"},
             {"title": null, "url": "https://sqlite.org/二", "description": "说明", "snippet": null,
             "published_at": null}, {"url": null}, 7]}""",
            ("https://sqlite.org/wal.html", "https://sqlite.org/二"),
            sends_body={
                "query": "sqlite wal",
                "max_results": 20,
                "published_after": "2026-01-01",
                "published_before": "2026-06-30",
                "site": "sqlite.org",
            },
        ),
        sample_keyed._replace(
            query=Query("sqlite wal", freshness="month", since="2026-10-17"),
            account=Account(key="keen_sample", options={"mode": "realtime"}),
            sends_body=sample_plain.sends_body | {"mode": "realtime", "published_after": "1mo"},
        ),
        sample_plain,
        sample_plain._replace(body='{"error": "missing title"}', status=400, error="INVALID_REQUEST"),
        sample_keyed._replace(body='{"error": "unauthorized"}', status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body='{"error": "bad date"}', status=422, error="INVALID_REQUEST"),
        sample_plain._replace(body='{"error": "rate limit"}', status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    result = marked_result_of(item, title="title", url="url", snippet="snippet", published="published_at")
    return result if result.snippet else result._replace(snippet=strip_tags(item.get("description")))
