"""DuckDuckGo images, videos and news: the JSON behind its pages."""

import re

from sleuth_providers.adapters._media import picture_size
from sleuth_providers.adapters._walls import wall_error
from sleuth_providers.adapters.duckduckgo import region, unknown_area
from sleuth_providers.base import Account, Details, Found, Provider, Query, Request, Response, Result, Sample, Sender
from sleuth_providers.errors import BlockedError, ProviderError
from sleuth_providers.json import as_count, as_dict, as_text, items, marked_result_of, web_results

PATHS = {"images": "/i.js", "videos": "/v.js", "news": "/news.js"}
PAGE_SIZES = {"images": 100, "videos": 60, "news": 30}
SAFE = {"off": "-2", "moderate": "-1", "strict": "1"}
TOKEN = re.compile(r"""vqd=(?:"([\w-]{5,200})"|'([\w-]{5,200})'|([\w-]{5,200})(?=&))""")
PAUSE_S = 900.0  # after a bot check


class DuckDuckGoMedia(Provider):
    """Takes two requests: the page has the token for the JSON, valid for one query and one user agent."""

    id = "duckduckgo-media"
    name = "DuckDuckGo media (page)"
    homepage = "https://duckduckgo.com/"
    notes = "Unofficial: too many requests lead to a bot check. The results are those of Bing."
    host = "https://duckduckgo.com"
    supports = frozenset({"freshness", "lang", "region", "safe", "page"})
    operators = True
    categories = ("images", "videos", "news")
    max_results = 100
    max_query = 499
    price = "free"
    per_minute = 20
    kind = "page"

    def request(self, query: Query, account: Account) -> Request:
        """Return the request for the JSON, without its token."""
        kind = query.category if query.category in PATHS else "images"
        period = "" if query.freshness in (("range",) if kind == "images" else ("range", "year")) else query.freshness
        filters = {"images": f"time:{period.capitalize()},,,,,", "videos": f"publishedAfter:{period[:1]},,,"}
        params = {
            "o": "json",
            "q": query.with_operators(),
            "l": region(query),
            "p": {"off": "-1"}.get(query.safe, "1") if kind == "images" else SAFE[query.safe],
            "f": filters.get(kind) if period else None,
            "df": period[:1] if kind == "news" else None,
            "s": (query.page - 1) * PAGE_SIZES[kind] or None,
        }
        fetch = {"Accept": "*/*", "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"}
        return self.get(account, PATHS[kind], params, fetch | {"Referer": f"{self.base_url(account)}/"})

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add a language or country without a region, and a year, which only images have."""
        ignored = super().not_applied(query) + unknown_area(query)
        return (*ignored, "freshness") if query.freshness == "year" and query.category != "images" else ignored

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Read the token from the page, then fetch the JSON."""
        params = {"q": query.with_operators(), "iar": query.category, "t": "h_"}
        page = http.send(self.get(account, "/", params), self.detect_error)
        token = TOKEN.search(page.text())
        if token is None:
            raise BlockedError("the page contains no token", status=page.status, retry_after=PAUSE_S)
        request = self.request(query, account)
        request = request._replace(params={**request.params, "vqd": token[1] or token[2] or token[3]})
        return self.parse(http.send(request, self.detect_error), query)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a bot check."""
        return wall_error(response, b'"results"' if b'"results"' in response.body else b"vqd=", PAUSE_S)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results of the category; JSON without a list is how DuckDuckGo refuses a request."""
        if b'"results"' not in response.body:
            raise BlockedError("no list of results", status=response.status, retry_after=PAUSE_S)
        read = {"videos": _video, "news": _article}.get(query.category, _picture)
        return Found(web_results(map(read, items(response, "results"))))

    sample_plain = Sample(
        Query("lighthouse", category="images"),
        "GET https://duckduckgo.com/i.js?o=json&q=lighthouse&l=wt-wt&p=1",
        '{"next": "i.js?q=lighthouse&vqd=4-1234567890&s=100", "results": []}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "lighthouse", page=2, lang="de", region="CH", safe="off", category="images", freshness="year",
                since="2025-11-17",
            ),
            sends="GET https://duckduckgo.com/i.js?o=json&q=lighthouse&l=ch-de&p=-1&f=time%3AYear%2C%2C%2C%2C%2C&s=100",
            body="""{"next": "i.js?q=lighthouse&vqd=4-1234567890&s=100", "results": [{"title": "Lighthouse",
             "url": "https://example.org/page", "image": "https://example.org/a.jpg", "height": 1200, "width": 1600,
             "thumbnail": "https://tse1.mm.bing.net/th?id=OIP.x", "source": "Bing"}, {"width": "x"}, 7]}""",
            finds=("https://example.org/page",),
        ),
        sample_plain._replace(
            query=Query("lighthouse", category="news", freshness="day", since="2026-11-16"),
            sends="GET https://duckduckgo.com/news.js?o=json&q=lighthouse&l=wt-wt&p=-1&df=d",
            body="""{"vqd": "&vqd=4-1234567890&", "results": [{"date": 1790000000, "title": "News",
             "excerpt": "A <b>x</b> &amp; b", "url": "https://news.example/a", "source": "Example Times",
             "image": "https://news.example/i.jpg", "relative_time": "3 hours ago"}, {"url": null}]}""",
            finds=("https://news.example/a",),
        ),
        sample_plain._replace(
            query=Query("lighthouse", category="videos", safe="strict", freshness="month", since="2026-10-17"),
            sends="GET https://duckduckgo.com/v.js?o=json&q=lighthouse&l=wt-wt&p=1&f=publishedAfter%3Am%2C%2C%2C",
            body="""{"vqd": "&vqd=4-1234567890&", "results": [{"content": "https://www.youtube.com/watch?v=x",
             "title": "Tour", "description": "Up", "duration": "8:02", "published": "2026-05-01T10:00:00.0000000",
             "publisher": "YouTube", "uploader": "Ada", "images": {"large": "https://i.example/l.jpg", "medium": "https://i.example/m.jpg"},
             "statistics": {"viewCount": 1200}}, {"content": 7}]}""",
            finds=("https://www.youtube.com/watch?v=x",),
        ),
        sample_plain,
        sample_plain._replace(
            query=Query("lighthouse", category="news", freshness="year", since="2025-11-17"),
            sends="GET https://duckduckgo.com/news.js?o=json&q=lighthouse&l=wt-wt&p=-1",
        ),
        sample_plain._replace(body="<html>no token</html>", error="BLOCKED"),
        sample_plain._replace(body='{"x": "&vqd=4-1234567890&"}', error="BLOCKED"),
        sample_plain._replace(body="<form id='challenge-form' class='anomaly'>", status=202, error="BLOCKED"),
        sample_plain._replace(body="", status=403, error="BLOCKED"),
        sample_plain._replace(body="", status=418, error="BLOCKED"),
        sample_plain._replace(body="", status=500, error="PROVIDER_UNAVAILABLE"),
    )  # fmt: skip


def _picture(item: dict[str, object]) -> Result:
    names = {"title": "title", "url": "url", "thumbnail": "thumbnail", "image": "image"}
    return marked_result_of(item, **names)._replace(details=picture_size(item))


def _video(item: dict[str, object]) -> Result:
    pictures, counts = as_dict(item.get("images")), as_dict(item.get("statistics"))
    uploader = as_text(item.get("uploader"))
    names = {"site": "publisher", "author": "uploader", "length": "duration"}
    return marked_result_of(item, title="title", url="content", snippet="description", **names)._replace(
        published=as_text(item.get("published"))[:19],
        thumbnail=as_text(pictures.get("medium")) or as_text(pictures.get("small")),
        details=Details(channel=uploader, views=as_count(counts.get("viewCount"))),
    )


def _article(item: dict[str, object]) -> Result:
    names = {"title": "title", "url": "url", "snippet": "excerpt", "site": "source", "thumbnail": "image"}
    published = as_text(item.get("date")) or as_text(item.get("relative_time"))
    return marked_result_of(item, **names)._replace(published=published)
