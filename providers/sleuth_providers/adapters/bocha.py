"""Bocha (博查): Chinese web search with the response format of the former Bing API."""

from sleuth_providers.adapters._media import picture_size
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, BadResponseError, KeyInvalidError, QuotaError, RateLimitError
from sleuth_providers.json import as_text, items, result_of, web_results

FRESHNESS = {"day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"}
# Codes in the body of HTTP 200, which may be text or numbers.
CODES = {b"400": BadRequestError, b"401": KeyInvalidError, b"403": QuotaError, b"429": RateLimitError}


class Bocha(Provider):
    """One response holds pages and pictures; the category selects which to read."""

    id = "bocha"
    name = "Bocha 博查"
    homepage = "https://open.bochaai.com/"
    key_page = "https://open.bochaai.com/"
    notes = "Mainly Chinese pages. https://api.bocha.cn is the newer name of the same service."
    env = ("BOCHA_API_KEY",)
    host = "https://api.bochaai.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "include", "exclude", "content"})
    categories = ("general", "images")
    max_include = max_exclude = 20
    max_results = 50
    price = "about ¥36, unconfirmed (2026-11)"
    cost = 0.005
    reads_language = True
    error_rules = (
        ErrorRule(400, KeyInvalidError, rb"API KEY is missing"),
        ErrorRule(403, QuotaError, rb"enough money"),
        *(
            ErrorRule(200, error, rb'"code"\s*:\s*"?' + code, "an error in an HTTP 200 response")
            for code, error in CODES.items()
        ),
        ErrorRule(200, BadResponseError, rb'(?s)\A(?!.*"code"\s*:\s*"?200\b)', "an error in an HTTP 200 response"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Request summaries only when page text is wanted, because they are slow."""
        span = (
            f"{query.since}..{query.until}" if query.freshness == "range" else FRESHNESS.get(query.freshness, "noLimit")
        )
        body = {
            "query": query.text,
            "freshness": span,
            "summary": query.content,
            "count": min(query.count, self.max_results),
            "include": "|".join(query.include),
            "exclude": "|".join(query.exclude),
        }
        return self.post_json(account, "/v1/web-search", body)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the pages or the pictures."""
        if query.category == "images":
            return Found(web_results(map(_picture, items(response, "data", "images", "value", envelope="data"))))
        return Found(web_results(map(_result, items(response, "data", "webPages", "value", envelope="data"))))

    sample_plain = Sample(
        Query("国产大飞机"),
        "POST https://api.bochaai.com/v1/web-search",
        '{"code": 200, "msg": null, "data": {"webPages": null}}',
        (),
        account=Account(key="sk-sample"),
        sends_body={"query": "国产大飞机", "freshness": "noLimit", "summary": False, "count": 10},
    )
    samples = (
        Sample(
            Query(
                "国产大飞机 交付",
                count=80,
                freshness="range",
                since="2026-10-01",
                until="2026-11-10",
                include=("example.cn", "gov.cn"),
                exclude=("spam.cn",),
                content=True,
            ),
            sample_plain.sends,
            """{"code": 200, "log_id": "d7a1c0", "msg": null, "data": {"_type": "SearchResponse",
             "queryContext": {"originalQuery": "国产大飞机 交付"}, "webPages": {"webSearchUrl": "",
             "totalEstimatedMatches": 120345, "value": [{"id": null, "name": "C919 新一批交付",
             "url": "https://example.cn/#!/c919", "snippet": "首批……",
             "summary": "C919 客机新一批交付仪式在上海举行。", "siteName": "示例新闻网",
             "siteIcon": "https://th.bochaai.com/favicon", "datePublished": "2026-11-02T09:10:00+08:00",
             "dateLastCrawled": "2026-11-02T09:10:00Z", "language": null}, {"name": "ARJ21",
             "url": "https://gov.cn/arj21", "snippet": null, "summary": "支线客机", "datePublished": null,
             "dateLastCrawled": "2026-10-20T00:00:00Z", "siteName": null}, {"name": "坏", "url": 12}]},
             "images": {"value": [{"thumbnailUrl": "http://i.cn/t", "contentUrl": "http://i.cn/1",
             "hostPageUrl": "https://a.cn/"}]}, "videos": null}}""",
            ("https://example.cn/#!/c919", "https://gov.cn/arj21"),
            account=sample_plain.account,
            sends_body={
                "query": "国产大飞机 交付",
                "freshness": "2026-10-01..2026-11-10",
                "summary": True,
                "count": 50,
                "include": "example.cn|gov.cn",
                "exclude": "spam.cn",
            },
        ),
        Sample(
            Query("国产大飞机", category="images", freshness="month", since="2026-10-16"),
            sample_plain.sends,
            """{"code": 200, "data": {"webPages": null, "images": {"value": [{"thumbnailUrl": "http://i.cn/t.jpg",
             "width": 0, "contentUrl": "http://i.cn/1.jpg", "hostPageUrl": "https://a.cn/1", "name": null}]}}}""",
            ("https://a.cn/1",),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body | {"freshness": "oneMonth"},
        ),
        sample_plain._replace(
            body='{"code": "401", "message": "Invalid API KEY", "log_id": "c66aac17eae1cb3b"}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"code": "400", "message": "The API KEY is missing", "log_id": "1"}',
            status=400,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"code": "400", "message": "Missing parameter query", "log_id": "1"}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"code": "403", "message": "You do not have enough money", "log_id": "1"}',
            status=403,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"code": "429", "message": "You have reached the request limit", "log_id": "1"}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"code": "500", "message": "xxxx error"}', status=500, error="PROVIDER_UNAVAILABLE"
        ),
        sample_plain._replace(body='{"code": 429, "msg": "请求过于频繁", "data": null}', error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body='{"data": {}}', error="BAD_RESPONSE"),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    # The crawl date is in Beijing time despite its Z.
    crawled = as_text(item.get("dateLastCrawled")).replace("Z", "+08:00")
    summary = as_text(item.get("summary"))
    texts = result_of(item, title="name", url="url", snippet="snippet", published="datePublished", site="siteName")
    return texts._replace(snippet=texts.snippet or summary, content=summary, published=texts.published or crawled)


def _picture(item: dict[str, object]) -> Result:
    texts = result_of(item, title="name", url="hostPageUrl", thumbnail="thumbnailUrl", image="contentUrl")
    return texts._replace(url=texts.url or texts.image, details=picture_size(item))
