"""Bing News: the RSS feed of its search."""

from urllib.parse import parse_qs, urlsplit

from sleuth_providers.adapters._bing_market import market
from sleuth_providers.adapters._feed import feed_elements, field, plain_field
from sleuth_providers.adapters._walls import wall_error
from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadResponseError, ProviderError
from sleuth_providers.json import web_results

# Bing applies these loosely, and year not at all.
INTERVALS = {"day": 7, "week": 8, "month": 9}
PAGE_SIZE = 10
PAUSE_S = 900.0  # after a refusal


class BingNews(Provider):
    """Sends date filters without declaring them, because the feed does not apply them reliably."""

    id = "bing-news"
    name = "Bing News (RSS)"
    homepage = "https://www.bing.com/news"
    notes = "Unofficial feed with about 10 results a page; for personal use at a low rate. No news for mainland China."
    host = "https://www.bing.com"
    supports = frozenset({"lang", "region", "safe", "page"})
    operators = True
    categories = ("news",)
    max_results = 12
    price = "free"
    per_minute = 20
    kind = "feed"

    def request(self, query: Query, account: Account) -> Request:
        """Set the market in parameter and header; otherwise Bing uses the location of the IP address."""
        area, language = market(query)
        interval = INTERVALS.get(query.freshness)
        params = {
            "q": query.with_operators(),
            "format": "rss",
            "adlt": query.safe,
            **area,
            "first": (query.page - 1) * PAGE_SIZE + 1 if query.page > 1 else None,
            "qft": f'interval="{interval}"' if interval else None,
        }
        return self.get(account, "/news/search", params, {"Accept": "application/rss+xml, text/xml;q=0.9"} | language)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a refusal, and a page instead of the feed: a challenge, or a market without news."""
        if error := wall_error(response, b"<rss", PAUSE_S):
            return error
        is_page = response.status == 200 and b"<html" in response.body[:1000].lower()
        return BadResponseError("received a web page instead of a feed", status=200) if is_page else None

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the feed; its links lead through Bing."""
        return Found(web_results(map(_result, feed_elements(response, "rss", "item"))))

    sample_plain = Sample(
        Query("sqlite", category="news"),
        "GET https://www.bing.com/news/search?q=sqlite&format=rss&adlt=moderate",
        '<?xml version="1.0" encoding="utf-8" ?><rss version="2.0"><channel><title>BingNews</title></channel></rss>',
        (),
        headers={"content-type": "text/xml; charset=utf-8"},
    )
    samples = (
        Sample(
            Query(
                "sqlite",
                page=2,
                lang="en",
                region="US",
                safe="strict",
                category="news",
                freshness="week",
                since="2026-11-10",
                exclude=("spam.example",),
            ),
            "GET https://www.bing.com/news/search?q=sqlite+-site%3Aspam.example&format=rss&adlt=strict&mkt=en-US&first=11"
            "&qft=interval%3D%228%22",
            """<?xml version="1.0" encoding="utf-8" ?>
             <rss version="2.0" xmlns:News="https://www.bing.com/news/search?q=sqlite&amp;format=rss"><channel>
             <title>sqlite - BingNews</title><item><title>SQLite turns 26 &amp;amp; more</title>
             <link>http://www.bing.com/news/apiclick.aspx?ref=FexRss&amp;aid=&amp;tid=6a01&amp;url=https%3a%2f%2ftimes.example%2fsqlite%3fa%3d1&amp;c=123&amp;mkt=en-us</link>
             <description>The small database …</description><pubDate>Sun, 15 Nov 2026 08:00:00 GMT</pubDate>
             <News:Source>Example Times</News:Source><News:Image>http://www.bing.com/th?id=ON.ABC&amp;pid=News</News:Image>
             <News:ImageSize>w={0}&amp;h={1}&amp;c=14</News:ImageSize></item>
             <item><title><![CDATA[直接 <b>链接</b>]]></title><link>https://例え.jp/新</link><description/></item>
             <item><title>No link</title></item><item><title>Broken""",
            ("https://times.example/sqlite?a=1", "https://例え.jp/新"),
            headers=sample_plain.headers,
        ),
        sample_plain._replace(
            query=Query("sqlite", category="news", lang="de", freshness="year", since="2025-11-17"),
            sends="GET https://www.bing.com/news/search?q=sqlite&format=rss&adlt=moderate&setlang=de",
        ),
        sample_plain,
        sample_plain._replace(body="<!doctype html><html><body>News</body></html>", error="BAD_RESPONSE"),
        sample_plain._replace(
            body='<html><script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script></html>',
            error="BLOCKED",
        ),
        sample_plain._replace(body="Forbidden", status=403, error="BLOCKED"),
        sample_plain._replace(body="", status=429, error="BLOCKED"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: str) -> Result:
    image = field(item, "News:Image")
    return Result(
        title=plain_field(item, "title"),
        url=_target(field(item, "link")),
        snippet=plain_field(item, "description"),
        published=field(item, "pubDate"),
        site=plain_field(item, "News:Source"),
        thumbnail=image.replace("http://www.bing.com/", "https://www.bing.com/", 1),
    )


def _target(link: str) -> str:
    if "/apiclick.aspx?" not in link:
        return link
    try:
        return parse_qs(urlsplit(link).query).get("url", [link])[0]
    except ValueError:
        return link
