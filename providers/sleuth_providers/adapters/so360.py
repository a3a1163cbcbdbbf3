"""360 Search (so.com) without an API: parses its results page."""

import re
from typing import Any

from sleuth_providers.base import Account, ErrorRule, Found, Query, Request, Sample, Sender
from sleuth_providers.errors import BlockedError
from sleuth_providers.html.results_page import ResultsPage, Selectors

COOKIE = re.compile(r"[\w.-]{1,50}=[\w.%+/=-]{1,500}")
PAUSE_S = 3600.0  # after a bot check
REFUSAL = "received an empty page or a captcha"


class So360(ResultsPage):
    """Takes two requests: the first sets a cookie without which the second is refused."""

    id = "so360"
    name = "360 Search 360搜索 (page)"
    homepage = "https://www.so.com/"
    notes = "Unofficial: Chinese pages; answers addresses outside China with an empty page."
    host = "https://www.so.com/s?q=%s"
    needs_host = False
    supports = frozenset({"freshness", "page"})
    operators = True
    max_include = 1
    max_results = 10
    per_minute = 12
    opt_in = True
    # An empty page is how it refuses addresses outside China.
    error_rules = (
        ErrorRule(200, BlockedError, rb"\A\s*\Z|qcaptcha|" + "访问异常".encode(), REFUSAL, min_pause_s=PAUSE_S),
    )
    rate_limit_pause_s = PAUSE_S
    selectors = (
        Selectors('li[class*="res-list"]', 'h3[class*="res-title"] > a[href]', "", "p.res-desc, span.res-list-summary"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Append page and period to the template."""
        params: dict[str, str | int] = {"pn": query.page}
        if query.freshness and query.freshness != "range":
            params["adv_t"] = query.freshness[0]
        headers = {"Accept-Language": "zh-CN,zh;q=0.9"}
        return Request(self.fill(query.with_operators(), account), params, headers=headers)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Fetch the page for its cookie, then again with it."""
        if account.browser:
            return super().search(query, account, http)
        request = self.request(query, account)
        response = http.send(request)
        if cookie := COOKIE.match(response.headers.get("set-cookie", "")):
            request = request._replace(headers={**request.headers, "Cookie": cookie[0]})
            response = http.send(request)
        if error := self.detect_error(response):
            raise error
        return self.read(response, query, account.options)

    def href(self, item: Any, link: Any) -> str:
        """Prefer the target to the redirect."""
        return link.attributes.get("data-mdurl") or super().href(item, link)

    sample_plain = Sample(
        Query("示例"),
        "GET https://www.so.com/s?q=%E7%A4%BA%E4%BE%8B&pn=1",
        '<html><body><input name="q" value="示例"><p>抱歉，未找到和“示例”相关的网页</p></body></html>',
        (),
        headers={"content-type": "text/html; charset=utf-8", "set-cookie": "QiHooGUID=AB12.34; path=/"},
    )
    samples = (
        sample_plain._replace(
            query=Query("示例", page=2, freshness="month", since="2026-10-17"),
            sends="GET https://www.so.com/s?q=%E7%A4%BA%E4%BE%8B&pn=2&adv_t=m",
            body="""<ul><li class="res-list"><h3 class="res-title"><a href="https://www.so.com/link?m=bAbC"
             data-mdurl="https://sqlite.org/wal.html">SQLite <em>WAL</em></a></h3><p class="res-desc">文件</p></li>
             <li class="res-list"><h3 class="res-title "><a href="https://www.so.com/link?m=x">第二</a></h3></li></ul>""",
            finds=("https://sqlite.org/wal.html", "https://www.so.com/link?m=x"),
        ),
        sample_plain,
        sample_plain._replace(body="", error="BLOCKED"),
        sample_plain._replace(body="<html><p>访问异常</p></html>", error="BLOCKED"),
        sample_plain._replace(body="", status=302, headers={"location": "/s?q=x"}, error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )
