"""Bing without an API: parses its RSS feed, or the results page when the feed is empty."""

from collections.abc import Mapping
from typing import Any

from sleuth_providers.adapters._bing import time_filter
from sleuth_providers.adapters._bing_market import market
from sleuth_providers.adapters._feed import elements, field
from sleuth_providers.base import ON_OFF, Account, Found, Query, Request, Response, Result, Sample, Sender
from sleuth_providers.errors import BlockedError
from sleuth_providers.html.results_page import ResultsPage, Selectors
from sleuth_providers.html.tree import page_text, words_in
from sleuth_providers.json import strip_tags, web_results


class LocalBing(ResultsPage):
    """Sends date filters without declaring them: Bing applies them by script, and not reliably to RSS."""

    id = "local-bing"
    name = "Bing (page)"
    homepage = "https://www.bing.com/"
    notes = "Unofficial: to suspected bots Bing sends results that do not match the query."
    host = "https://www.bing.com/search?format=rss&q=%s"
    page = "https://www.bing.com/search?q=%s"
    needs_host = False
    supports = frozenset({"lang", "region", "safe", "page"})
    operators = True
    categories = ("general", "news")
    max_results = 10
    per_minute = 20
    options = ResultsPage.options | {"unrelated": "on: keep results that share no word with the query"}
    option_choices = ResultsPage.option_choices | {"unrelated": ON_OFF}
    selectors = (Selectors("li.b_algo", "h2 a[href^=http]", snippet=".b_caption p, p"),)  # others lead to Bing itself

    def request(self, query: Query, account: Account) -> Request:
        """Set the market in parameter, header and cookies; otherwise Bing uses the location of the IP address."""
        area, headers = market(query)
        params: dict[str, str | int] = {"adlt": query.safe, **area}
        if code := area.get("mkt"):
            headers["Cookie"] = f"_EDGE_CD=m={code}; _EDGE_S=mkt={code}"
        if query.page > 1:
            params["first"] = (query.page - 1) * 10 + 1
        if query.freshness:
            params["filters"] = f'ex1:"{time_filter(query)}"'
        url = self.fill(query.with_operators(), account)
        if query.category == "news":
            url = url.replace("/search?", "/news/search?", 1)
        return Request(url, params, headers=headers)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Fetch the results page when the feed is empty, since that may be a block."""
        found = super().search(query, account, http)
        template = account.host or self.host
        if found.results or account.browser or "format=rss&" not in template or query.category == "news":
            return found
        return super().search(query, account._replace(host=template.replace("format=rss&", "")), http)

    def read(self, response: Response, query: Query, options: Mapping[str, Any]) -> Found:
        """Parse feed or page; results without any word of the query are how Bing blocks bots."""
        rss = b"<rss" in response.body[:500]
        if rss:
            found = Found(web_results(_result(item) for _, item in elements(page_text(response), "item")))
        else:
            found = super().read(response, query, options)
        text = " ".join(f"{result.title} {result.snippet} {result.url}" for result in found.results).lower()
        words = words_in(query.text)
        unrelated = len(found.results) > 4 and words and not any(word in text for word in words)
        if unrelated and options.get("unrelated") != "on":
            raise BlockedError("the results do not match the query", status=response.status)
        return found

    def words(self, node: Any) -> str:
        """Return the snippet without the label of its icon."""
        return super().words(node).removeprefix(super().words(node.css_first("span.algoSlug_icon")))

    sample_plain = Sample(
        Query("example"),
        "GET https://www.bing.com/search?format=rss&q=example&adlt=moderate",
        """<?xml version="1.0" encoding="utf-8" ?><rss version="2.0"><channel><title>Bing: example</title>
         <link>http://www.bing.com:80/search?q=example</link><item><title>Example &amp;amp; more</title>
         <link>https://example.org/?a=1&amp;b=2</link><description>Short text …</description>
         <pubDate>Mon, 02 Nov 2026 08:00:00 GMT</pubDate></item></channel></rss>""",
        ("https://example.org/?a=1&b=2",),
        headers={"content-type": "text/xml; charset=utf-8"},
    )
    sample_page = sample_plain._replace(
        sends="GET https://www.bing.com/search?q=example&adlt=moderate",
        account=Account(host="https://www.bing.com/search?q=%s"),
        headers={"content-type": "text/html; charset=utf-8"},
        finds=(),
    )
    samples = (
        Sample(
            Query(
                "示例 news",
                page=3,
                lang="zh",
                region="CN",
                safe="strict",
                category="news",
                freshness="range",
                since="2026-10-01",
                until="2026-11-03",
                exclude=("spam.example",),
            ),
            "GET https://www.bing.com/news/search?format=rss&q=%E7%A4%BA%E4%BE%8B%20news%20-site%3Aspam.example"
            "&adlt=strict&mkt=zh-CN&first=21&filters=ex1%3A%22ez5_20727_20760%22",
            """<?xml version="1.0" encoding="utf-8" ?><rss version="2.0" xmlns:News="https://www.bing.com/news">
             <channel><item><title><![CDATA[示例 <b>新闻</b>]]></title><link>https://news.example/a</link><description/><News:Source>示例网
             </News:Source><News:Image>https://www.bing.com/th?id=1&amp;pid=News</News:Image></item>
             <item><title>No link</title></item><item><title>Broken""",
            ("https://news.example/a",),
            headers=sample_plain.headers,
        ),
        sample_plain,
        sample_page._replace(
            query=Query("example", lang="de", freshness="year", since="2025-11-16", today="2026-11-16"),
            sends="GET https://www.bing.com/search?q=example&adlt=moderate&setlang=de&filters=ex1%3A%22ez5_20408_20773%22",
            body="""<html><body><ol id="b_results"><li class="b_ad"><h2><a href="https://www.bing.com/aclick?ld=1">Buy</a></h2></li>
             <li class="b_algo"><h2><a href="https://www.bing.com/ck/a?!&amp;&amp;p=9c&amp;u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy8&amp;ntb=1">
             Example</a></h2><div class="b_caption"><p><span class="algoSlug_icon">Web</span>Nov 2, 2026 · Short text
             </p></div></li><li class="b_algo"><h2><a href="/images/search?q=example">Images</a></h2></li>
             <li class="b_algo"><h2><a href="https://例え.jp/">直接</a></h2></li></ol></body></html>""",
            finds=("https://example.org/", "https://例え.jp/"),
        ),
        sample_page._replace(
            body='<html><body><input name="q" value="example"><ol id="b_results"><li class="b_no">There are no results'
            " for example</li></ol></body></html>"
        ),
        sample_page._replace(
            body="""<html><head><title>example - Search</title></head><body><h1>One last step</h1>
             <script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script></body></html>""",
            error="BLOCKED",
        ),
        sample_plain._replace(
            body="<rss><channel>"
            + "".join(f"<item><title>吉他 {n}</title><link>https://{n}.test/</link></item>" for n in "abcde"),
            finds=(),
            error="BLOCKED",
        ),
        sample_plain._replace(body="Forbidden", status=403, finds=(), error="BLOCKED"),
        sample_plain._replace(body="", status=429, finds=(), error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=502, finds=(), error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: str) -> Result:
    return Result(
        title=strip_tags(field(item, "title")),
        url=field(item, "link"),
        snippet=strip_tags(field(item, "description")),
        published=field(item, "pubDate"),
        site=field(item, "News:Source"),
        thumbnail=field(item, "News:Image"),
    )
