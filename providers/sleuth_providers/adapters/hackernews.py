"""Hacker News: stories, through the search of Algolia."""

from sleuth_providers.adapters._dates import unix_time
from sleuth_providers.base import Account, Details, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.json import as_count, as_number, as_text, items, strip_tags, web_results

DISCUSSION = "https://news.ycombinator.com/item?id="


class HackerNews(Provider):
    """The same page is often submitted several times; the submission with the most points is kept."""

    id = "hackernews"
    name = "Hacker News"
    homepage = "https://hn.algolia.com/api"
    notes = "Stories with points and comments; a story without a link leads to its discussion."
    host = "https://hn.algolia.com"
    supports = frozenset({"freshness", "range", "page"})
    categories = ("it", "news")
    max_results = 100
    price = "free"
    per_minute = 60
    options = {"tags": "story (default), comment, poll, show_hn, ask_hn or author_NAME"}

    def request(self, query: Query, account: Account) -> Request:
        """Count pages from 0 and dates in seconds."""
        dates = [f"created_at_i>={unix_time(query.since)}"] if query.freshness else []
        dates += [f"created_at_i<{unix_time(query.until, 1)}"] if query.freshness == "range" else []
        params = {
            "query": query.text,
            "tags": as_text(account.options.get("tags")) or "story",
            "hitsPerPage": min(query.count, self.max_results),
            "attributesToHighlight": "none",
            "page": query.page - 1 or None,
            "numericFilters": ",".join(dates),
        }
        return self.get(account, "/api/v1/search", params)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the stories, each page once."""
        best: dict[str, tuple[float, Result]] = {}
        for item in items(response, "hits"):
            result, points = _result(item), as_number(item.get("points")) or 0
            if result.url not in best or points > best[result.url][0]:
                best[result.url] = points, result
        return Found(web_results(result for _, result in best.values()))

    sample_plain = Sample(
        Query("sqlite", category="it"),
        "GET https://hn.algolia.com/api/v1/search?query=sqlite&tags=story&hitsPerPage=10&attributesToHighlight=none",
        '{"hits": [], "nbHits": 0, "page": 0, "nbPages": 0, "hitsPerPage": 10}',
        (),
    )
    samples = (
        Sample(
            Query(
                "sqlite",
                count=20,
                page=2,
                category="it",
                freshness="range",
                since="2026-01-01",
                until="2026-01-31",
            ),
            "GET https://hn.algolia.com/api/v1/search?query=sqlite&tags=story&hitsPerPage=20&attributesToHighlight=none"
            "&page=1&numericFilters=created_at_i%3E%3D1767225600%2Ccreated_at_i%3C1769904000",
            """{"hits": [{"objectID": "45000001", "title": "SQLite in the browser", "url": "https://example.org/sqlite",
             "author": "ada", "points": 12, "story_text": null, "created_at": "2026-10-01T12:00:00Z"},
             {"objectID": "45000002", "title": "SQLite in the browser!", "url": "https://example.org/sqlite",
             "author": "bob", "points": 312, "num_comments": 98, "created_at": "2026-10-02T12:00:00Z"},
             {"objectID": "45000003", "title": "Ask HN: SQLite?", "url": null, "points": 1, "author": "eve",
             "story_text": "Is it <i>fast</i> &amp; small?"}, {"objectID": null}, 7], "nbHits": 1840}""",
            ("https://example.org/sqlite", "https://news.ycombinator.com/item?id=45000003"),
        ),
        sample_plain._replace(
            query=Query("sqlite", category="news", freshness="day", since="2026-11-16"),
            sends=f"{sample_plain.sends.replace('=story', '=comment')}&numericFilters=created_at_i%3E%3D1794787200",
            account=Account(options={"tags": "comment"}),
            body="""{"hits": [{"objectID": "45000009", "title": null, "story_title": "SQLite", "url": null,
             "comment_text": "<p>Fast.", "author": "ada"}]}""",
            finds=("https://news.ycombinator.com/item?id=45000009",),
        ),
        sample_plain,
        sample_plain._replace(
            body='{"message": "invalid numericFilters", "status": 400}', status=400, error="INVALID_REQUEST"
        ),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    number = as_text(item.get("objectID"))
    discussion = f"{DISCUSSION}{number}" if number.isdecimal() else ""
    text = strip_tags(item.get("story_text")) or strip_tags(item.get("comment_text"))
    return Result(
        title=strip_tags(item.get("title")) or strip_tags(item.get("story_title")),
        url=as_text(item.get("url")) or discussion,
        snippet=" ".join(text.split()) or discussion,
        published=as_text(item.get("created_at")),
        site="" if item.get("url") else "Hacker News",
        author=as_text(item.get("author")),
        details=Details(points=as_count(item.get("points")), comments=as_count(item.get("num_comments"))),
    )
