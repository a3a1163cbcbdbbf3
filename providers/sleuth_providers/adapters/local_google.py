"""Google without an API: parses the results page for old phones, or the usual page in a browser."""

import re

from sleuth_providers.adapters._google import language, time_span
from sleuth_providers.base import Account, Query, Request, Response, Sample
from sleuth_providers.errors import BlockedError, ProviderError
from sleuth_providers.html.results_page import USE_BROWSER_HINT, ResultsPage, Selectors
from sleuth_providers.html.tree import read_html
from sleuth_providers.net.identity import PHONE_USER_AGENT

SAFE = {"off": "off", "moderate": "medium", "strict": "high"}
SCRIPT_WALL = re.compile(rb"enable ?javascript|/enablejs|<noscript>[^<]{0,200}<meta[^>]{0,80}refresh", re.IGNORECASE)


class LocalGoogle(ResultsPage):
    """Class names change every few weeks; then results are found by the structure of the page."""

    id = "local-google"
    name = "Google (page)"
    homepage = "https://www.google.com/"
    notes = "Unofficial: Google's terms do not allow it, and it often sends a bot check."
    host = "https://www.google.com/wml/search?q=%s&sca_esv=1&ie=utf8&oe=utf8"
    page = "https://www.google.com/search?q=%s"
    needs_host = False
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page"})
    operators = True
    max_results = 10
    per_minute = 6
    weight = 1.2  # one of the largest indexes
    walls = ("consent.google.com", "sorry.google.com")
    rate_limit_pause_s = 3600.0
    selectors = (  # other links lead to Google itself
        Selectors("div.zMzFAb", "a.fuLhoc[href^=http], a.fuLhoc[href^='/url?']", "span.CVA68e", "span.FrIlee"),
        Selectors("#search .MjjYud", "a[href^=http]:has(h3), a[href^='/url?']:has(h3)", "h3"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Append language, dates and page to the template."""
        code = language(query.lang)
        params: dict[str, str | int] = {"hl": code or "en", "safe": SAFE[query.safe]}
        if code:
            params["lr"] = f"lang_{code}"
        if query.region:
            params["cr"] = f"country{query.region}"
        if query.freshness:
            params["tbs"] = time_span(query)
        if query.page > 1:
            params["start"] = (query.page - 1) * 10
        url = self.fill(query.with_operators(), account)
        phone = {"User-Agent": PHONE_USER_AGENT} if "/wml/" in url else {}
        return Request(url, params, headers={"Cookie": "CONSENT=YES+"} | phone)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise Google's captcha (/sorry) and a page that is empty without JavaScript."""
        if "/sorry/" in response.url or (len(response.body) < 2000 and b"/sorry/" in response.body):
            return BlockedError("captcha", status=response.status)
        if error := super().detect_error(response):
            return error
        if response.status != 200 or not SCRIPT_WALL.search(response.body):
            return None
        results = self.results(read_html(response), response.url, Query(""), {})
        return None if results else BlockedError("the page needs JavaScript", status=200, hint=USE_BROWSER_HINT)

    sample_plain = Sample(
        Query("example"),
        "GET https://www.google.com/wml/search?q=example&sca_esv=1&ie=utf8&oe=utf8&hl=en&safe=medium",
        """<?xml version="1.0" encoding="UTF-8"?><html><body><form><input name="q" value="example"></form>
         <div>Your search - <b>example</b> - did not match any documents.</div></body></html>""",
        (),
        headers={"content-type": "text/html; charset=utf-8"},
    )
    samples = (
        Sample(
            Query(
                "示例 a&b",
                page=2,
                lang="zh-CN",
                region="CN",
                safe="off",
                freshness="range",
                since="2026-10-01",
                until="2026-11-03",
                include=("example.org",),
                exclude=("spam.example",),
            ),
            "GET https://www.google.com/wml/search?q=%E7%A4%BA%E4%BE%8B%20a%26b%20site%3Aexample.org%20-site%3Aspam.example"
            "&sca_esv=1&ie=utf8&oe=utf8&hl=zh-CN&safe=off&lr=lang_zh-CN&cr=countryCN"
            "&tbs=cdr%3A1%2Ccd_min%3A10%2F1%2F2026%2Ccd_max%3A11%2F3%2F2026&start=10",
            """<?xml version="1.0" encoding="UTF-8"?><html><body><div class="zMzFAb"><div><a class="fuLhoc"
             href="/url?q=https%3A%2F%2Fexample.org%2F%25E7%25A4%25BA%3Fa%3D1&amp;sa=U&amp;ved=2ah"><span
             class="CVA68e">示例 &amp; <b>说明</b></span><span>example.org</span></a></div><div
             class="taTFJ"><table><tr><td><span class="FrIlee">Nov 3, 2026 · Short text</span></td></tr></table>
             </div></div><div class="zMzFAb"><div><a class="fuLhoc" href="/search?q=more"><span class="CVA68e">More
             </span></a></div></div><div class="zMzFAb"><div><a class="fuLhoc" href="/url?q=https://a.example/&amp;sa=U">
             <span class="CVA68e">Second</span></a></div></div></body></html>""",
            ("https://example.org/%E7%A4%BA?a=1", "https://a.example/"),
            headers=sample_plain.headers,
        ),
        Sample(
            Query("example", freshness="week", since="2026-11-09"),
            "GET https://www.google.com/search?q=example&hl=en&safe=medium&tbs=qdr%3Aw",
            """<html><body><div id="search"><div class="MjjYud"><div><a href="https://example.org/">
             <h3>Example domain</h3><cite>https://example.org</cite></a></div><div>For use in documents.</div></div>
             <div class="MjjYud"><a href="/search?tbm=isch"><h3>Images</h3></a></div></div></body></html>""",
            ("https://example.org/",),
            headers=sample_plain.headers,
            account=Account(host="https://www.google.com/search?q=%s"),
        ),
        sample_plain._replace(
            body="".join(
                f'<div class="n{n}"><div class="k{n}"><a href="/url?q=https://{n}.example/&amp;sa=U"><span>Example {n}'
                "</span></a></div><div><table><tr><td><span>An example with more words than that.</span></td></tr>"
                "</table></div></div>"
                for n in "abc"
            ),
            finds=("https://a.example/", "https://b.example/", "https://c.example/"),
        ),
        sample_plain,
        sample_plain._replace(
            body='<html><body><a href="/sorry/index?continue=x">here</a></body></html>', status=200, error="BLOCKED"
        ),
        sample_plain._replace(
            body="",
            status=302,
            headers={"location": "https://consent.google.com/ml?continue=x", "content-type": "text/html"},
            error="BLOCKED",
        ),
        sample_plain._replace(
            body="<noscript><style>table{}</style><meta http-equiv=refresh></noscript>Please enable JavaScript",
            error="BLOCKED",
        ),
        sample_plain._replace(body="Too many requests", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )
