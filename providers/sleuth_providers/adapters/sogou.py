"""Sogou without an API: parses its results page."""

import re
from typing import Any

from sleuth_providers.base import Account, Found, Query, Request, Response, Sample, Sender
from sleuth_providers.errors import BadResponseError, BlockedError, ProviderError
from sleuth_providers.html.results_page import ResultsPage, Selectors

TARGET = re.compile(r'data-url="(https?://[^"]{1,2000})"')
PAUSE_S = 1800.0  # after a bot check


class Sogou(ResultsPage):
    """The links of results are redirects; their targets are elsewhere in each result."""

    id = "sogou"
    name = "Sogou 搜狗 (page)"
    homepage = "https://www.sogou.com/"
    notes = "Unofficial: Chinese pages; too many requests lead to a captcha."
    host = "https://www.sogou.com/web?query=%s"
    needs_host = False
    supports = frozenset({"freshness", "page"})
    operators = True
    max_include = 1
    max_results = 10
    per_minute = 12
    rate_limit_pause_s = PAUSE_S
    selectors = (
        Selectors(
            item="div.vrwrap, div.rb",
            link='h3[class*="vr-title"] > a[href], h3.pt > a[href]',
            snippet='div[class*="attribute-centent"], div.fz-mid.space-txt, div.ft',
        ),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Append page and period to the template."""
        params: dict[str, str | int] = {"page": query.page}
        if query.freshness and query.freshness != "range":
            params |= {"s_from": f"inttime_{query.freshness}", "tsn": 1}
        headers = {"Accept-Language": "zh-CN,zh;q=0.9"}
        return Request(self.fill(query.with_operators(), account), params, headers=headers)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Take a redirect to another origin for what it is: the captcha."""
        try:
            return super().search(query, account, http)
        except BadResponseError as error:
            if error.status in (301, 302, 303, 307):
                raise BlockedError("redirected to a captcha", status=error.status, retry_after=PAUSE_S) from error
            raise

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise the captcha, which may be part of the page."""
        signs = (b"antispider", b"seccodeImage", "请输入验证码".encode())
        is_wall = "/antispider/" in response.url or any(sign in response.body for sign in signs)
        if response.status == 200 and is_wall and b"vrwrap" not in response.body:
            return BlockedError("challenge page", status=200, retry_after=PAUSE_S)
        return super().detect_error(response)

    def href(self, item: Any, link: Any) -> str:
        """Prefer the target; cards of Sogou itself are skipped."""
        if item.css_first("div.special-wrap"):
            return ""
        target = TARGET.search(item.html or "")
        return target[1].replace("&amp;", "&") if target else super().href(item, link)

    sample_plain = Sample(
        Query("示例"),
        "GET https://www.sogou.com/web?query=%E7%A4%BA%E4%BE%8B&page=1",
        '<html><body><input name="query" value="示例"><p>抱歉，没有找到与“示例”相关的网页。</p></body></html>',
        (),
        headers={"content-type": "text/html; charset=utf-8"},
    )
    samples = (
        sample_plain._replace(
            query=Query("示例", page=2, freshness="week", since="2026-11-10", include=("example.cn",)),
            sends="GET https://www.sogou.com/web?query=%E7%A4%BA%E4%BE%8B%20site%3Aexample.cn&page=2&s_from=inttime_week&tsn=1",
            body="""<div class="vrwrap"><h3 class="vr-title"><a href="/link?url=hedJjaC291">SQLite <em>WAL</em></a></h3>
             <div class="r-sech" data-url="https://sqlite.org/wal.html?a=1&amp;b=2"></div><div class="text-layout">
             <div class="fz-mid space-txt">WAL 文件 …</div><span class="cite-date">-2026-3-1</span></div></div>
             <div class="rb"><h3 class="pt"><a href="https://www.sogou.com/link?url=x">二</a></h3><p>摘要</p></div>
             <div class="vrwrap"><div class="special-wrap"></div><h3 class="pt"><a href="/x">卡片</a></h3></div>""",
            finds=("https://sqlite.org/wal.html?a=1&b=2", "https://www.sogou.com/link?url=x"),
        ),
        sample_plain,
        sample_plain._replace(
            body="", status=302, headers={"location": "http://www.sogou.com/antispider/?from=x"}, error="BLOCKED"
        ),
        sample_plain._replace(body="<html><p>请输入验证码</p></html>", error="BLOCKED"),
        sample_plain._replace(body="", status=403, error="BLOCKED"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="<html><p>别的</p></html>", error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )
