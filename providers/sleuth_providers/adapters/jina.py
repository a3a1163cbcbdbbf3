"""Jina: web search with optional page text."""

from sleuth_providers.adapters._google import language, time_span
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, NoResultsError
from sleuth_providers.json import as_dict, as_number, as_text, items, result_of, web_results

ENGINES = ("google", "bing", "reader")
DOLLARS_PER_TOKEN = 0.05 / 1_000_000


class Jina(Provider):
    """Requests no page text unless it is wanted, because reading the pages is slow."""

    id = "jina"
    name = "Jina"
    homepage = "https://jina.ai/reader/"
    key_page = "https://jina.ai/api-dashboard/"
    notes = (
        "A new key has 10 million tokens, about 1,000 searches. With page text a search takes 5 to 15 seconds. "
        "Engines: " + ", ".join(ENGINES) + "."
    )
    env = ("JINA_API_KEY",)
    host = "https://s.jina.ai"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "page", "include", "content", "engines"})
    operators = True
    categories = ("general", "news", "images")
    known_engines = ENGINES
    max_results = 20
    price = "about $0.5; Bing three times, news and images five times as much (2026-11)"
    cost = 0.0005
    per_minute = 100

    error_rules = (
        ErrorRule(422, NoResultsError, rb"No search results"),
        ErrorRule(402, BadRequestError, rb"TierFeatureConstraint", "not included in your plan"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send domains to include as a field, and those to exclude as operators."""
        body = {
            "q": query.with_operators(include=False),
            "num": min(query.count, self.max_results),
            "type": query.category if query.category in ("news", "images") else "web",
            "page": query.page if query.page > 1 else None,
            "hl": language(query.lang).lower(),
            "gl": query.region.lower(),
            "tbs": time_span(query),
            "site": list(query.include) or None,
            "engine": self.engine(query, account, ""),
        }
        headers = {"Authorization": f"Bearer {account.key}", "Accept": "application/json"}
        headers |= {} if query.content else {"X-Respond-With": "no-content"}
        return self.post_json(account, "/", body, headers)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results and their cost in tokens."""
        hits = items(response, "data")
        usage = as_dict(as_dict(response.json().get("meta")).get("usage"))
        return Found(web_results(map(_result, hits)), cost=(as_number(usage.get("tokens")) or 0.0) * DOLLARS_PER_TOKEN)

    sample_plain = Sample(
        Query("pep 810"),
        "POST https://s.jina.ai/",
        '{"code": 200, "status": 20000, "data": [], "meta": {"usage": {"tokens": 0}}}',
        (),
        account=Account(key="jina_sample"),
        sends_body={"q": "pep 810", "num": 10, "type": "web"},
    )
    samples = (
        Sample(
            Query(
                "pep 810",
                count=30,
                page=2,
                lang="zh-CN",
                region="CN",
                freshness="range",
                since="2026-09-01",
                until="2026-10-31",
                include=("python.org", "peps.python.org"),
                exclude=("spam.example",),
                engines=("bing",),
                content=True,
            ),
            sample_plain.sends,
            """{"code": 200, "status": 20000, "data": [{"title": "PEP 810",
             "url": "https://peps.python.org/pep-0810/", "description": "Explicit lazy imports",
             "content": "# PEP 810\\n\\nLazy imports.", "date": "Oct 2, 2026", "usage": {"tokens": 1000}},
             {"title": "惰性导入", "url": "https://example.cn/lazy", "description": null, "content": null,
             "date": null, "publishedTime": "2026-10-05T00:00:00Z"}, {"title": 7, "url": null}, []],
             "meta": {"usage": {"tokens": 10000}}}""",
            ("https://peps.python.org/pep-0810/", "https://example.cn/lazy"),
            account=sample_plain.account,
            sends_body={
                "q": "pep 810 -site:spam.example",
                "num": 20,
                "type": "web",
                "page": 2,
                "hl": "zh-cn",
                "gl": "cn",
                "tbs": "cdr:1,cd_min:9/1/2026,cd_max:10/31/2026",
                "site": ["python.org", "peps.python.org"],
                "engine": "bing",
            },
        ),
        Sample(
            Query("pep 810", category="images", freshness="week", since="2026-11-09", engines=("duckduckgo",)),
            sample_plain.sends,
            """{"code": 200, "status": 20000, "data": [{"title": "Diagram", "url": "https://example.org/d",
             "imageWidth": 640, "imageUrl": "https://example.org/d.png"}], "meta": null}""",
            ("https://example.org/d",),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body | {"type": "images", "tbs": "qdr:w"},
        ),
        sample_plain._replace(
            body="""{"data": null, "code": 422, "name": "AssertionFailureError", "status": 42206,
             "message": "No search results available for query pep 810"}""",
            status=422,
        ),
        sample_plain._replace(
            body="""{"data": null, "code": 422, "name": "AssertionFailureError", "status": 42206,
             "message": "Bad selector"}""",
            status=422,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"data": null, "code": 401, "name": "AuthenticationRequiredError", "status": 40103, "message": "…"}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"data": null, "code": 402, "name": "InsufficientBalanceError", "status": 40203, "message": "…"}',
            status=402,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"data": null, "code": 402, "name": "TierFeatureConstraintError", "status": 40202, "message": "…"}',
            status=402,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"data": null, "code": 400, "name": "ParamValidationError", "status": 40001, "message": "…"}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"data": null, "code": 409, "name": "BudgetExceededError", "status": 40904, "message": "…"}',
            status=409,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body='{"data": null, "code": 413}', status=413, error="INVALID_REQUEST"),
        sample_plain._replace(
            body='{"data": null, "code": 429, "name": "RateLimitTriggeredError", "status": 42903, "message": "…"}',
            status=429,
            headers={"content-type": "application/json", "retry-after": "12"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"data": null, "code": 451, "name": "SecurityCompromiseError", "status": 45102, "message": "…"}',
            status=451,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body="""{"data": null, "code": 503, "name": "ServiceNodeResourceDrainError", "status": 50304,
             "message": "…"}""",
            status=503,
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    texts = result_of(item, title="title", url="url", snippet="description", content="content", image="imageUrl")
    published = as_text(item.get("date")) or as_text(item.get("publishedTime"))
    return texts._replace(published=published, thumbnail=texts.image)
