"""Metaso (秘塔): a Chinese search engine with summaries."""

from sleuth_providers.adapters._media import picture_size
from sleuth_providers.base import ON_OFF, Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, BadResponseError, KeyInvalidError, QuotaError
from sleuth_providers.json import as_list, as_number, as_text, document, objects, strip_tags, web_results

SCOPES = {"images": "image", "videos": "video"}
LISTS = ("webpages", "scholars", "papers", "images", "videos")
DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
SCORES = {"high": 1.0, "medium": 0.6, "low": 0.3}
CODE = rb'"(?:errCode|code)"\s*:\s*"?'


class Metaso(Provider):
    """Reports errors as HTTP 200 with a code in the body, under either of two names."""

    id = "metaso"
    name = "Metaso 秘塔"
    homepage = "https://metaso.cn/search-api/"
    key_page = "https://metaso.cn/search-api/api-keys"
    notes = "Chinese web, videos, images and papers. About 100 requests a day are free (unconfirmed)."
    env = ("METASO_API_KEY",)
    host = "https://metaso.cn"
    needs_key = True
    supports = frozenset({"include", "content"})
    categories = ("general", "images", "videos", "science")
    max_include = 1
    max_results = 100
    max_query = 200
    price = "about ¥30, unconfirmed (2026-11)"
    cost = 0.0042
    reads_language = True
    options = {
        "science_scope": "scope for papers: scholar (default) or paper",
        "raw_content": "on: request whole pages instead of summaries; slow and more expensive",
        "recency_days": "on: send --freshness as recencyDays, which is documented for MCP only",
    }
    option_choices = {"science_scope": ("scholar", "paper"), "raw_content": ON_OFF, "recency_days": ON_OFF}

    error_rules = (
        ErrorRule(200, BadRequestError, CODE + rb"1000\b", "an error in an HTTP 200 response"),
        ErrorRule(200, KeyInvalidError, CODE + rb"2005\b", "an error in an HTTP 200 response"),
        ErrorRule(200, QuotaError, CODE + rb"3003\b", "an error in an HTTP 200 response"),
        ErrorRule(200, BadResponseError, CODE + rb"(?!(?:0|200)\b)\d", "an error in an HTTP 200 response"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send `size` as a string, as the documentation does; a single `site:` operator works."""
        scope = SCOPES.get(query.category, "webpage")
        if query.category == "science":
            scope = account.options.get("science_scope") or "scholar"
        raw = query.content and account.options.get("raw_content") == "on"
        body = {
            "q": query.with_operators(exclude=False),
            "scope": scope,
            "size": str(min(query.count, self.max_results)),
            "includeSummary": query.content and not raw,
            "includeRawContent": raw,
            "conciseSnippet": False,
            "recencyDays": DAYS.get(query.freshness) if account.options.get("recency_days") == "on" else None,
        }
        headers = {"Authorization": f"Bearer {account.key}", "Accept": "application/json"}
        return self.post_json(account, "/api/v1/search", body, headers)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the list that the scope filled."""
        reply = document(response, *LISTS)
        return Found(web_results(_result(item) for name in LISTS for item in objects(reply.get(name))))

    sample_plain = Sample(
        Query("固态电池"),
        "POST https://metaso.cn/api/v1/search",
        '{"credits": 3, "total": 0, "webpages": []}',
        (),
        account=Account(key="mk-sample"),
        sends_body={
            "q": "固态电池",
            "scope": "webpage",
            "size": "10",
            "includeSummary": False,
            "includeRawContent": False,
            "conciseSnippet": False,
        },
    )
    samples = (
        Sample(
            Query("固态电池", count=20, include=("example.cn",), exclude=("spam.cn",), content=True),
            sample_plain.sends,
            """{"credits": 3, "searchParameters": {"q": "固态电池", "scope": "webpage", "size": "20"}, "total": 86,
             "webpages": [{"title": "<em>固态电池</em>量产进展", "link": "https://example.cn/a/1", "score": "high",
             "snippet": "", "summary": "本文梳理多家企业的<em>固态电池</em>进展。", "position": 1,
             "date": "2026年10月21日", "authors": ["张三", null]}, {"title": "固态电池专利",
             "link": "https://example.cn/a/2", "score": 7, "snippet": "专利……", "date": null, "authors": "李四"},
             {"title": "没有链接", "link": null}, null]}""",
            ("https://example.cn/a/1", "https://example.cn/a/2"),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body
            | {"q": "固态电池 site:example.cn", "size": "20", "includeSummary": True},
        ),
        Sample(
            Query("固态电池", category="videos", freshness="week", since="2026-11-09"),
            sample_plain.sends,
            """{"credits": 3, "total": 1, "videos": [{"title": "固态电池拆解", "link": "https://v.example.cn/1",
             "duration": 754, "coverImage": "https://v.example.cn/1.jpg", "score": "medium", "position": 1,
             "date": "2026-11-12 08:30"}]}""",
            ("https://v.example.cn/1",),
            account=Account(key="mk-sample", options={"recency_days": "on"}),
            sends_body=sample_plain.sends_body | {"scope": "video", "recencyDays": 7},
        ),
        Sample(
            Query("固态电池", category="images"),
            sample_plain.sends,
            """{"images": [{"title": "电池", "imageUrl": "https://img.example.cn/1.png", "imageWidth": 640,
             "score": "low"}]}""",
            ("https://img.example.cn/1.png",),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body | {"scope": "image"},
        ),
        sample_plain._replace(body='{"errCode": 2005, "errMsg": "API Key 无效"}', error="API_KEY_INVALID"),
        sample_plain._replace(body='{"code": 3003, "message": "今日搜索次数已用完"}', error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body='{"errCode": 1000, "errMsg": "参数错误"}', error="INVALID_REQUEST"),
        sample_plain._replace(body='{"code": 9, "message": "未知错误"}', error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body="", status=403, error="API_KEY_INVALID"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    image, seconds = as_text(item.get("imageUrl")), as_number(item.get("duration"))
    summary = strip_tags(item.get("summary"))
    authors = [as_text(name) for name in as_list(item.get("authors"))]
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("link")) or image,
        snippet=strip_tags(item.get("snippet")) or summary,
        content=as_text(item.get("content")) or summary,
        published=as_text(item.get("date")),
        score=SCORES.get(as_text(item.get("score"))),
        thumbnail=as_text(item.get("coverImage")),
        author=", ".join(name for name in authors if name),
        length=f"{seconds // 60:.0f}:{seconds % 60:02.0f}" if seconds else "",
        image=image,
        details=picture_size(item, "imageWidth", "imageHeight"),
    )
