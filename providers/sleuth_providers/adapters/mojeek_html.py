"""Mojeek without a key: parses its results page."""

from sleuth_providers.base import Account, Query, Request, Sample
from sleuth_providers.html.results_page import ResultsPage, Selectors

PAGE_SIZE = 10


class MojeekHtml(ResultsPage):
    """Refuses what a browser would not send: an offset on the first page, a language in the URL."""

    id = "mojeek-html"
    name = "Mojeek (page)"
    homepage = "https://www.mojeek.com/"
    notes = "Unofficial: a block lasts a day. The provider mojeek uses the API, with a key."
    host = "https://www.mojeek.com/search?q=%s"
    needs_host = False
    supports = frozenset({"freshness", "lang", "region", "safe", "page"})
    operators = True
    categories = ("general", "news")
    max_results = PAGE_SIZE
    per_minute = 12
    weight = 0.7  # a small index of its own
    opt_in = True
    rate_limit_pause_s = 3600.0
    selectors = (
        Selectors('ul[class*="results"] > li', "a.ob[href], h2 a[href]", "h2 a", "p.s"),
        Selectors("section.news-search-result article", "h2 a[href]", "h2 a", "p.s"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send language and country as cookies."""
        params: dict[str, str | int] = {"safe": 0 if query.safe == "off" else 1}
        if query.category == "news":
            params["fmt"] = "news"
        if query.page > 1:
            params["s"] = (query.page - 1) * PAGE_SIZE
        if query.freshness and query.freshness != "range":
            params["since"] = query.since.replace("-", "")
        area = {"lb": query.lang.split("-")[0].lower(), "arc": query.region.lower()}
        cookie = "; ".join(f"{name}={value}" for name, value in area.items() if value)
        headers = {"Cookie": cookie} if cookie else {}
        return Request(self.fill(query.with_operators(), account), params, headers=headers)

    sample_plain = Sample(
        Query("gemini"),
        "GET https://www.mojeek.com/search?q=gemini&safe=1",
        '<html><body><input name="q" value="gemini"><p>No pages found matching gemini</p></body></html>',
        (),
        headers={"content-type": "text/html; charset=utf-8"},
    )
    samples = (
        sample_plain._replace(
            query=Query("gemini", page=2, lang="de", region="CH", safe="off", freshness="week", since="2026-11-10"),
            sends="GET https://www.mojeek.com/search?q=gemini&safe=0&s=10&since=20261110",
            body="""<ul class="results-standard"><li class="r1"><a class="ob" href="https://geminiprotocol.net/">gemini…</a>
             <h2><a class="title" href="https://geminiprotocol.net/">Project <strong>Gemini</strong></a></h2>
             <p class="s">A lightweight protocol …</p></li><li><a class="ob" href="https://例え.jp/">x</a>
             <h2><a href="https://例え.jp/">直接</a></h2></li><li>More</li></ul>""",
            finds=("https://geminiprotocol.net/", "https://例え.jp/"),
        ),
        sample_plain._replace(
            query=Query("gemini", category="news"),
            sends="GET https://www.mojeek.com/search?q=gemini&safe=1&fmt=news",
            body="""<section class="news-search-result"><article><h2><a href="https://news.example/a">News</a></h2>
             <p class="s">Text</p></article></section>""",
            finds=("https://news.example/a",),
        ),
        sample_plain,
        sample_plain._replace(body="", status=403, error="BLOCKED"),
        sample_plain._replace(
            body="<html><title>Captcha: automated queries</title><form action='/captcha'></form></html>",
            error="BLOCKED",
        ),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="<html><p>Something else</p></html>", error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=500, error="PROVIDER_UNAVAILABLE"),
    )
