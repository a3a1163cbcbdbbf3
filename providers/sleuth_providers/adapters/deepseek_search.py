"""DeepSeek Search: cheap, strong in Chinese, with the same key as the chat models."""

from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.json import as_number, as_text, items, result_of, web_results

MAX_QUERY_CHARS = 128
MAX_CONTENT_RESULTS = 10
BEST_SCORE = 3.0


class DeepSeekSearch(Provider):
    """Filters are operators in a short query; those that do not fit are applied by sleuth."""

    id = "deepseek-search"
    name = "DeepSeek Search"
    homepage = "https://api-docs.deepseek.com/guides/search"
    key_page = "https://platform.deepseek.com/api_keys"
    notes = "The key is the one for DeepSeek's models. Searches that find nothing are free."
    env = ("DEEPSEEK_API_KEY",)
    host = "https://api.deepseek.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "include", "exclude", "content"})
    operators = True
    max_include = 1  # several with OR are not documented
    max_results = 50
    max_query = MAX_QUERY_CHARS
    price = "¥5 or $0.75 (2026-11)"
    cost = 0.00075
    per_minute = 300
    reads_language = True

    def request(self, query: Query, account: Account) -> Request:
        """Limit the number of page texts: more than ten make a response of several megabytes."""
        body = {
            "query": _fit(query)[0],
            "count": min(query.count, MAX_CONTENT_RESULTS if query.content else self.max_results),
            "need_content": query.content or None,
        }
        return self.post_json(account, "/v1/tools/search", body)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add the filters that do not fit into the query."""
        return (*super().not_applied(query), *_fit(query)[1])

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; the summary replaces page text that was not fetched."""
        return Found(web_results(_result(item, query.content) for item in items(response, "results")))

    sample_plain = Sample(
        Query("示例"),
        "POST https://api.deepseek.com/v1/tools/search",
        '{"results": []}',
        (),
        account=Account(key="sk-sample"),
        sends_body={"query": "示例", "count": 10},
    )
    samples = (
        Sample(
            Query(
                "示例",
                count=30,
                lang="zh-CN",
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("example.cn",),
                exclude=("spam.example",),
                content=True,
            ),
            sample_plain.sends,
            """{"results": [{"title": "示例标题", "url": "https://example.cn/a", "snippet": "短摘要……",
             "summary": "较长摘要……", "content": "", "rerank_score": 2.1, "authority": 3,
             "date": "2026-10-20T08:00:00Z", "site_name": "示例网", "site_icon": "https://example.cn/icon.png"},
             {"title": null, "url": "https://example.cn/b", "snippet": null, "summary": null, "content": null,
             "rerank_score": "high", "date": "", "site_name": null}, {"url": ["x"]}, "text"]}""",
            ("https://example.cn/a", "https://example.cn/b"),
            account=sample_plain.account,
            sends_body={
                "query": "示例 after:2026-10-01 before:2026-10-31 site:example.cn lang:zh -site:spam.example",
                "count": 10,
                "need_content": True,
            },
        ),
        sample_plain._replace(
            query=Query("长" * 110, freshness="day", since="2026-11-15", exclude=("spam.example",)),
            sends_body={"query": f"{'长' * 110} after:2026-11-15", "count": 10},
        ),
        sample_plain,
        sample_plain._replace(
            body='{"error": {"message": "query too long", "type": "invalid_request_error", "param": null}}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body='{"error": {"message": "localization"}}', status=422, error="INVALID_REQUEST"),
        sample_plain._replace(
            body='{"error": {"message": "Authentication Fails", "type": "authentication_error"}}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"error": {"message": "Insufficient Balance"}}', status=402, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(body='{"error": {"message": "Not Found"}}', status=404, error="BAD_RESPONSE"),
        sample_plain._replace(body='{"error": {"message": "Timeout"}}', status=408, error="TIMEOUT"),
        sample_plain._replace(
            body='{"error": {"message": "Rate limit reached"}}',
            status=429,
            headers={"content-type": "application/json", "retry-after": "2"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body='{"error": {"message": "Server error"}}', status=500, error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(body='{"error": {"message": "Server busy"}}', status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _fit(query: Query) -> tuple[str, tuple[str, ...]]:
    """Return the query with as many operators as fit, and the names of the filters that do not."""
    span = "range" if query.freshness == "range" else "freshness"
    wanted = [(span, f"after:{query.since}")] if query.freshness else []
    wanted += [(span, f"before:{query.until}")] if query.freshness == "range" else []
    wanted += [("include", f"site:{domain}") for domain in query.include]
    wanted += [("lang", f"lang:{query.lang.split('-')[0].lower()}")] if query.lang else []
    wanted += [("exclude", f"-site:{domain}") for domain in query.exclude]
    words, left_out = query.text, []
    for name, operator in wanted:
        if len(words) + 1 + len(operator) <= MAX_QUERY_CHARS:
            words = f"{words} {operator}"
        else:
            left_out.append(name)
    return words, tuple(dict.fromkeys(left_out))


def _result(item: dict[str, object], content: bool) -> Result:
    score = as_number(item.get("rerank_score"))
    page = as_text(item.get("content")) or as_text(item.get("summary"))
    texts = result_of(item, title="title", url="url", snippet="snippet", published="date", site="site_name")
    return texts._replace(content=page if content else "", score=None if score is None else score / BEST_SCORE)
