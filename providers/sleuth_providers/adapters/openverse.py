"""Openverse: openly licensed images of Flickr, museums and many other collections."""

from sleuth_providers.adapters._media import credit
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, QuotaError
from sleuth_providers.json import as_count, as_text, items, web_results


class Openverse(Provider):
    """Answers 401 to a page that is too large or too far, which has nothing to do with a key."""

    id = "openverse"
    name = "Openverse"
    homepage = "https://api.openverse.org/v1/"
    notes = "About 100 searches a day per IP address. Reuse must state author and licence, which results have."
    host = "https://api.openverse.org"
    supports = frozenset({"safe", "page"})
    categories = ("images",)
    max_results = 20
    max_query = 200
    price = "free"
    per_minute = 20
    per_day = 100
    options = {
        "license_type": "commercial, modification, all or all-cc",
        "source": "collections, comma-separated, such as flickr",
    }
    error_rules = (
        ErrorRule(401, BadRequestError),
        ErrorRule(429, QuotaError, pause=rb"available in (\d{1,6}) second"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Include sensitive images only with --safe off."""
        params = {
            "q": query.text,
            "page_size": min(query.count, self.max_results),
            "page": query.page if query.page > 1 else None,
            "mature": "true" if query.safe == "off" else None,
        }
        return self.get(account, "/v1/images/", params | {name: account.options.get(name) for name in self.options})

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the images."""
        return Found(web_results(map(_result, items(response, "results"))))

    sample_plain = Sample(
        Query("lighthouse", category="images"),
        "GET https://api.openverse.org/v1/images/?q=lighthouse&page_size=10",
        '{"result_count": 0, "page_count": 0, "page_size": 10, "page": 1, "results": []}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query("lighthouse", count=50, page=2, safe="off", category="images"),
            sends="GET https://api.openverse.org/v1/images/?q=lighthouse&page_size=20&page=2&mature=true&source=flickr",
            body="""{"result_count": 240, "page_count": 12, "page_size": 20, "page": 2, "warnings": [], "results": [
             {"id": "b7e1", "title": "Lighthouse", "foreign_landing_url": "https://www.flickr.com/photos/x/1",
             "url": "https://live.staticflickr.com/1/1_b.jpg", "creator": "Ada", "license": "by-sa",
             "license_version": "2.0", "source": "flickr", "height": 768, "width": 1024,
             "attribution": "\\"Lighthouse\\" by Ada is licensed under CC BY-SA 2.0.",
             "thumbnail": "https://api.openverse.org/v1/images/b7e1/thumb/"},
             {"id": "二", "title": "", "foreign_landing_url": "https://example.org/二", "creator": null}, {}, 7]}""",
            finds=("https://www.flickr.com/photos/x/1", "https://example.org/二"),
            account=Account(options={"source": "flickr"}),
        ),
        sample_plain,
        sample_plain._replace(
            body='{"detail": "Request was throttled. Expected available in 42 seconds."}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"detail": "page_size may not exceed 20 for anonymous requests"}', status=401, error="INVALID_REQUEST"
        ),
        sample_plain._replace(body='{"detail": {"license": ["…"]}}', status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=424, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    author = as_text(item.get("creator"))
    licence = f"{as_text(item.get('license'))} {as_text(item.get('license_version'))}".strip().upper()
    return Result(
        title=as_text(item.get("title")) or "Untitled",
        url=as_text(item.get("foreign_landing_url")),
        snippet=as_text(item.get("attribution")) or credit(author, licence),
        site=as_text(item.get("source")),
        thumbnail=as_text(item.get("thumbnail")),
        author=author,
        image=as_text(item.get("url")),
        details=Details(
            width=as_count(item.get("width")),
            height=as_count(item.get("height")),
            license=f"CC {licence}" if licence.startswith("BY") else licence,
            license_url=as_text(item.get("license_url")),
            attribution=as_text(item.get("attribution")),
        ),
    )
