"""Baidu without an API: parses the JSON behind its results page, or the page itself in a browser."""

import json
from collections.abc import Mapping
from typing import Any

from sleuth_providers.adapters._baidu import time_span
from sleuth_providers.base import Account, ErrorRule, Found, Query, Request, Response, Sample
from sleuth_providers.errors import BadResponseError, BlockedError
from sleuth_providers.html.results_page import ResultsPage, Selectors
from sleuth_providers.json import as_dict, marked_result_of, objects, web_results


class LocalBaidu(ResultsPage):
    """Prefers the JSON, which has direct links; most links on the page are redirects."""

    id = "local-baidu"
    name = "Baidu (page)"
    homepage = "https://www.baidu.com/"
    notes = "Unofficial: from abroad and from data centres Baidu soon demands a captcha."
    host = "https://www.baidu.com/s?wd=%s&tn=json&ie=utf-8"
    page = "https://www.baidu.com/s?wd=%s&ie=utf-8"
    needs_host = False
    supports = frozenset({"freshness", "range", "page"})
    operators = True
    max_include = 1
    max_results = 50
    per_minute = 12
    error_rules = (ErrorRule(200, BlockedError, rb'\A\s*{\s*"antiFlag"', "blocked as a crawler"),)
    walls = ("wappass.baidu.com",)
    rate_limit_pause_s = 600.0
    selectors = (
        Selectors(
            item="#content_left .result, #content_left .c-container[mu]",
            link="h3 a[href]",
            snippet=".c-abstract, [class*=content-right]",
        ),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Append count, page and dates to the template."""
        count = min(query.count, self.max_results)
        params: dict[str, str | int] = {"rn": count, "pn": (query.page - 1) * count}
        if query.freshness:
            params["gpc"] = time_span(query)
        headers = {"Accept-Language": "zh-CN,zh;q=0.9"}
        return Request(self.fill(query.with_operators(), account), params, headers=headers)

    def read(self, response: Response, query: Query, options: Mapping[str, Any]) -> Found:
        """Parse the JSON, which contains raw control characters; without a list it is not an empty result."""
        if not response.body.lstrip().startswith(b"{"):
            return super().read(response, query, options)
        try:
            feed = as_dict(as_dict(json.loads(response.text(), strict=False)).get("feed"))
        except (ValueError, RecursionError) as problem:
            raise BadResponseError("invalid JSON", status=response.status) from problem
        if not isinstance(feed.get("entry"), list):
            raise BadResponseError("no list of results", status=response.status)
        names = {"title": "title", "url": "url", "snippet": "abs", "published": "time"}
        return Found(web_results(marked_result_of(entry, **names) for entry in objects(feed["entry"])))

    def href(self, item: Any, link: Any) -> str:
        """Prefer the direct URL, if the page has it."""
        direct = item.attributes.get("mu") or ""
        return direct if direct.startswith("http") and "nourl." not in direct else super().href(item, link)

    sample_plain = Sample(
        Query("示例"),
        "GET https://www.baidu.com/s?wd=%E7%A4%BA%E4%BE%8B&tn=json&ie=utf-8&rn=10&pn=0",
        '{"feed": {"all": 0, "resultnum": "0", "entry": [{}]}}',
        (),
    )
    sample_headers = {"content-type": "text/html; charset=utf-8"}
    samples = (
        Sample(
            Query(
                "示例 标题",
                count=20,
                page=2,
                freshness="week",
                since="2026-11-09",
                today="2026-11-16",
                include=("example.cn",),
                exclude=("spam.example",),
            ),
            "GET https://www.baidu.com/s?wd=%E7%A4%BA%E4%BE%8B%20%E6%A0%87%E9%A2%98%20site%3Aexample.cn%20-site%3Aspam.example"
            "&tn=json&ie=utf-8&rn=20&pn=20&gpc=stf%3D1794153600%2C1794844799%7Cstftype%3D1",
            """{"feed": {"all": 14300000, "entry": [{"title": "示例标题 &amp; &quot;说明&quot;",
             "abs": "这里是\tthe <em>摘要</em>……", "url": "https://example.cn/a",
             "urlEnc": "http://www.baidu.com/link?url=x", "time": 1762992000, "pn": 1},
             {"title": "无时间", "url": "https://example.cn/b", "abs": null, "time": null}, {"title": null, "url": 7},
             {"title": "远", "url": "https://example.cn/c", "time": 1e300}, null, {}]}}""",
            ("https://example.cn/a", "https://example.cn/b", "https://example.cn/c"),
        ),
        sample_plain._replace(
            query=Query("示例", freshness="range", since="2026-10-01", until="2026-10-31"),
            sends="GET https://www.baidu.com/s?wd=%E7%A4%BA%E4%BE%8B&ie=utf-8&rn=10&pn=0"
            "&gpc=stf%3D1790784000%2C1793462399%7Cstftype%3D1",
            body="""<html><head><title>示例_百度搜索</title></head><body><div id="content_left">
             <div class="result c-container" mu="https://example.cn/真"><h3><a href="http://www.baidu.com/link?url=A">示例<em>标题</em>
             </a></h3><div><span class="content-right_1">这里是摘要。</span></div></div>
             <div class="result"><h3><a href="http://www.baidu.com/link?url=B">第二</a></h3><div
             class="c-abstract">摘要二</div></div><div class="result-op" tpl="card">卡片</div></div></body></html>""",
            headers=sample_headers,
            account=Account(host="https://www.baidu.com/s?wd=%s&ie=utf-8"),
            finds=("https://example.cn/真", "http://www.baidu.com/link?url=B"),
        ),
        sample_plain,
        sample_plain._replace(
            body="",
            status=302,
            headers=sample_headers | {"location": "https://wappass.baidu.com/static/captcha/tuxing_v2.html?ak=x"},
            error="BLOCKED",
        ),
        sample_plain._replace(body='{"antiFlag": 1, "message": "Forbid spider access"}', error="BLOCKED"),
        sample_plain._replace(
            body="<html><head><title>百度安全验证</title></head><body>网络不给力，请稍后重试</body></html>",
            headers=sample_headers,
            error="BLOCKED",
        ),
        sample_plain._replace(body='{"feed": {}}', error="BAD_RESPONSE"),
        sample_plain._replace(body='{"feed": {"entry": [', error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=429, headers=sample_headers, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=500, headers=sample_headers, error="PROVIDER_UNAVAILABLE"),
    )
