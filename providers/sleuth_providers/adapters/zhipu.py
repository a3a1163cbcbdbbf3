"""Zhipu (智谱, Z.ai): web search of the GLM platform, mainly Chinese."""

from sleuth_providers.base import ON_OFF, Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import QuotaError, UnavailableError
from sleuth_providers.json import as_list, as_text, items, result_of, web_results

ENGINES = ("search_std", "search_pro", "search_pro_sogou", "search_pro_quark", "search-prime")
FRESHNESS = {"day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"}


class Zhipu(Provider):
    """Several engines behind one endpoint; queries have at most 70 characters."""

    id = "zhipu"
    name = "Zhipu 智谱"
    homepage = "https://docs.bigmodel.cn/cn/guide/tools/web-search"
    key_page = "https://open.bigmodel.cn/usercenter/apikeys"
    notes = "A Z.ai key works only with --api-host https://api.z.ai. Engines: " + ", ".join(ENGINES) + "."
    env = ("ZHIPU_API_KEY", "ZHIPUAI_API_KEY", "ZAI_API_KEY", "BIGMODEL_API_KEY")
    host = "https://open.bigmodel.cn"
    needs_key = True
    supports = frozenset({"freshness", "include", "content", "engines"})
    max_include = 1
    known_engines = ENGINES
    max_results = 50
    max_query = 70
    price = "¥10, other engines ¥30 to ¥50 (2026-11)"
    cost = 0.0014
    reads_language = True
    options = {"include_image": "on: request pictures, which newer engines have"}
    option_choices = {"include_image": ON_OFF}
    # The code in the body distinguishes an empty balance and an overloaded platform from too many requests.
    error_rules = (
        ErrorRule(429, QuotaError, rb'"code"\s*:\s*"?(?:1113|1304|1308|1310)\b'),
        ErrorRule(429, UnavailableError, rb'"code"\s*:\s*"?(?:1305|1312)\b'),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Turn off intent detection, which may skip the search; Sogou takes multiples of ten only."""
        engine = self.engine(query, account, "search_std")
        count = min(query.count, self.max_results)
        body = {
            "search_query": query.text,
            "search_engine": engine,
            "search_intent": False,
            "count": -(-count // 10) * 10 if engine == "search_pro_sogou" else count,
            "search_recency_filter": FRESHNESS.get(query.freshness, "noLimit"),
            "content_size": "high" if query.content else "medium",
            "search_domain_filter": next(iter(query.include), None),
            "include_image": True if account.options.get("include_image") == "on" else None,
        }
        return self.post_json(account, "/api/paas/v4/web_search", body)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; some engines return results without a link, which are skipped."""
        return Found(web_results(_result(item, query.content) for item in items(response, "search_result")))

    sample_plain = Sample(
        Query("央行 降准"),
        "POST https://open.bigmodel.cn/api/paas/v4/web_search",
        '{"id": "1", "created": 1763173353, "search_result": null}',
        (),
        account=Account(key="zhipu.sample"),
        sends_body={
            "search_query": "央行 降准",
            "search_engine": "search_std",
            "search_intent": False,
            "count": 10,
            "search_recency_filter": "noLimit",
            "content_size": "medium",
        },
    )
    samples = (
        Sample(
            Query(
                "央行 降准",
                count=12,
                freshness="week",
                since="2026-11-09",
                include=("www.example.cn",),
                engines=("google", "search_pro_sogou"),
                content=True,
            ),
            sample_plain.sends,
            """{"id": "20261115102233a1", "created": 1763173353, "request_id": "20261115102233a1",
             "search_intent": [{"query": "央行 降准", "intent": "SEARCH_ALL", "keywords": "央行 降准 2026"}],
             "search_result": [{"title": "央行宣布下调存款准备金率", "content": "中国人民银行决定……",
             "link": "https://www.example.cn/n/1", "media": "示例财经", "icon": "https://www.example.cn/icon.png",
             "refer": "ref_1", "publish_date": "2026-11-13", "images": ["https://www.example.cn/1.jpg"]},
             {"title": "", "content": null, "link": "https://www.example.cn/n/2", "media": "",
             "publish_date": null}, {"title": "没有链接", "content": "……", "link": "", "media": "某站"}]}""",
            ("https://www.example.cn/n/1", "https://www.example.cn/n/2"),
            account=Account(key="zhipu.sample", engines=("search_pro",), options={"include_image": "on"}),
            sends_body=sample_plain.sends_body
            | {
                "search_engine": "search_pro_sogou",
                "count": 20,
                "search_recency_filter": "oneWeek",
                "content_size": "high",
                "search_domain_filter": "www.example.cn",
                "include_image": True,
            },
        ),
        Sample(
            Query("央行 降准"),
            sample_plain.sends,
            '{"id": "1", "created": 1763173353, "search_result": null}',
            (),
            account=Account(key="zhipu.sample", engines=("search_pro",)),
            sends_body=sample_plain.sends_body | {"search_engine": "search_pro"},
        ),
        sample_plain._replace(
            body='{"error": {"code": "1001", "message": "Header中未收到Authentication参数，无法进行身份验证。"}}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"error": {"code": "1113", "message": "您的账户已欠费，请充值后重试。"}}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"error": {"code": "1302", "message": "您的账户已达到速率限制。"}}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"error": {"code": "1308", "message": "已达到使用上限，将在 2026-11-17 00:00:00 重置。"}}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"error": {"code": "1305", "message": "当前API请求过多，请稍后重试。"}}',
            status=429,
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain._replace(
            body='{"error": {"code": "1214", "message": "参数非法。"}}', status=400, error="INVALID_REQUEST"
        ),
        sample_plain._replace(
            body='{"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容。"}}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body='{"error": {"code": "1220"}}', status=403, error="API_KEY_INVALID"),
        sample_plain._replace(
            body='{"error": {"code": "1222", "message": "API 不存在。"}}', status=404, error="BAD_RESPONSE"
        ),
        sample_plain._replace(
            body='{"error": {"code": "1230", "message": "API 调用流程出错。"}}',
            status=500,
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain,
    )


def _result(item: dict[str, object], content: bool) -> Result:
    texts = result_of(item, title="title", url="link", snippet="content", published="publish_date", site="media")
    picture = as_text(next(iter(as_list(item.get("images"))), ""))
    return texts._replace(content=texts.snippet if content else "", thumbnail=picture)
