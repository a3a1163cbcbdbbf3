"""Brave Search without a key: parses its results page."""

from typing import Any

from sleuth_providers.base import Account, ErrorRule, Query, Request, Sample
from sleuth_providers.errors import BlockedError
from sleuth_providers.html.results_page import ResultsPage, Selectors


class BraveHtml(ResultsPage):
    """Matches class names by a part of them, since they end in a hash that changes with each release."""

    id = "brave-html"
    name = "Brave Search (page)"
    homepage = "https://search.brave.com/"
    notes = "Unofficial: Brave often refuses even the first request. The provider brave uses the API, with a key."
    host = "https://search.brave.com/search?q=%s&source=web"
    needs_host = False
    supports = frozenset({"freshness", "lang", "region", "safe", "page"})
    operators = True
    max_results = 20
    per_minute = 6
    opt_in = True
    error_rules = (ErrorRule(429, BlockedError, min_pause_s=3600),)  # its usual refusal
    selectors = (
        Selectors(
            item='div.snippet[data-type="web"]',
            link='a[href^="http"]',
            title="div.title",
            snippet='div.content:not([class*="site-name"])',
        ),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send language, country and safe search as cookies."""
        lang, _, territory = query.lang.lower().partition("-")
        country = (query.region or territory).lower() or "all"
        cookies = {"safesearch": query.safe, "useLocation": "0", "summarizer": "0", "country": country}
        if lang:
            cookies["ui_lang"] = f"{lang}-{territory or (country if country != 'all' else lang)}"
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        params: dict[str, str | int] = {"offset": query.page - 1} if query.page > 1 else {}
        if query.freshness and query.freshness != "range":
            params["tf"] = f"p{query.freshness[0]}"
        return Request(self.fill(query.with_operators(), account), params, headers=headers)

    def words(self, node: Any) -> str:
        """Separate the date, which starts a snippet, from its text."""
        date = super().words(node.css_first("span.t-secondary")).rstrip("- ")
        text = super().words(node)
        return f"{date} · {text.removeprefix(date).lstrip('- ')}" if date else text

    sample_plain = Sample(
        Query("sqlite wal"),
        "GET https://search.brave.com/search?q=sqlite%20wal&source=web",
        '<html><body><input name="q" value="sqlite wal"><p>No results found for sqlite wal</p></body></html>',
        (),
        headers={"content-type": "text/html; charset=utf-8"},
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "sqlite wal", page=2, lang="de", region="CH", safe="strict", freshness="week", since="2026-11-10",
                include=("sqlite.org",),
            ),
            sends="GET https://search.brave.com/search?q=sqlite%20wal%20site%3Asqlite.org&source=web&offset=1&tf=pw",
            body="""<div class="snippet svelte-jmfu5f" data-pos="1" data-type="web"><a href="https://sqlite.org/wal.html"
             class="svelte-14r20fy l1"><div class="site-name-wrapper"><div class="site-name-content">SQLite</div></div>
             <div class="title search-snippet-title line-clamp-1" title="WAL">Write-Ahead Logging</div></a>
             <div class="generic-snippet"><div class="content desktop-default-regular t-primary"><span
             class="t-secondary">March 1, 2026 -</span> The <strong>WAL</strong> file …</div></div></div>
             <div class="snippet" data-type="web"><a href="/a/redirect?x"><div class="title">Ad</div></a></div>
             <div class="snippet x" data-type="web"><a href="https://例え.jp/"><div class="title">直接</div></a></div>
             <div class="snippet" data-type="videos"><a href="https://video.example/">V</a></div>""",
            finds=("https://sqlite.org/wal.html", "https://例え.jp/"),
        ),
        sample_plain,
        sample_plain._replace(body="", status=429, error="BLOCKED"),
        sample_plain._replace(body="", status=403, error="BLOCKED"),
        sample_plain._replace(
            body='<html><title>Captcha</title><script src="/pow-captcha.js"></script></html>', error="BLOCKED"
        ),
        sample_plain._replace(body="<html><p>Something else</p></html>", error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )  # fmt: skip
