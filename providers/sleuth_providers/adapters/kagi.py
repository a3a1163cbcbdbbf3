"""Kagi: search without advertisements, with domain filters and optional page text."""

from typing import Any

from sleuth_providers.adapters._media import picture_size
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, QuotaError
from sleuth_providers.json import as_dict, as_text, direct_answers, document, items, objects, strip_tags, web_results

KINDS = {"general": "search", "news": "news", "images": "image", "videos": "video"}


class Kagi(Provider):
    """Sends domains as a lens, Kagi's term for a custom filter."""

    id = "kagi"
    name = "Kagi"
    homepage = "https://help.kagi.com/kagi/api/overview.html"
    key_page = "https://kagi.com/api/keys"
    notes = "Billed separately from a subscription; the account's settings affect the results."
    env = ("KAGI_API_KEY",)
    host = "https://kagi.com/api/v1"
    needs_key = True
    supports = frozenset({"freshness", "range", "region", "safe", "page", "include", "exclude", "content"})
    categories = ("general", "news", "images", "videos")
    max_results = 100
    price = "$12 (2026-11)"
    cost = 0.012
    weight = 1.2  # merges large indexes
    options = {"timeout": "seconds that Kagi may take; fewer are faster and give poorer results"}

    error_rules = (ErrorRule(429, QuotaError, rb"usage|quota|exhausted|balance|billing|credit"),)

    def request(self, query: Query, account: Account) -> Request:
        """Send only the fields that are set."""
        until = query.until if query.freshness == "range" else ""
        filters = {"region": query.region.lower(), "after": query.since, "before": until}
        lens = {"sites_included": list(query.include), "sites_excluded": list(query.exclude)}
        body: dict[str, Any] = {
            "query": query.text,
            "limit": min(query.count, self.max_results),
            "safe_search": query.safe != "off",
            "workflow": query.category if query.category in ("news", "images", "videos") else None,
            "page": query.page if query.page > 1 and query.category != "images" else None,
            "filters": {name: value for name, value in filters.items() if value} or None,
            "lens": {name: sites for name, sites in lens.items() if sites} or None,
            "extract": {"count": min(query.count, 10)} if query.content else None,
        }
        if limit := as_text(account.options.get("timeout")):
            if not limit.replace(".", "", 1).isdecimal():
                raise BadRequestError("the option timeout is not a number")
            body["timeout"] = float(limit)
        return self.post_json(account, "/search", body)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add the page number for images, which have no pages."""
        ignored = super().not_applied(query)
        return (*ignored, "page") if query.category == "images" and query.page > 1 else ignored

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the list of the category, direct answers and related searches."""
        hits = items(response, "data", KINDS.get(query.category, "search"), envelope="data")
        data = as_dict(document(response).get("data"))
        answers = [(item, as_text(item.get("title"))) for item in objects(data.get("direct_answer"))[:1]]
        answers += [(item, "") for item in objects(data.get("infobox"))[:1]]
        texts = [(strip_tags(item.get("snippet")) or title, as_text(item.get("url"))) for item, title in answers]
        related = (strip_tags(item.get("title")) for item in objects(data.get("related_search")))
        return Found(
            web_results(_result(item) for item in hits),
            answers=direct_answers(*texts),
            suggestions=tuple(text for text in related if text),
        )

    sample_plain = Sample(
        Query("example"),
        "POST https://kagi.com/api/v1/search",
        '{"meta": {"id": "69c3f5", "ms": 420}, "data": {}}',
        (),
        account=Account(key="kagi-sample"),
        sends_body={"query": "example", "limit": 10, "safe_search": True},
    )
    samples = (
        Sample(
            Query(
                "example",
                count=20,
                page=2,
                region="CH",
                safe="off",
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("example.com",),
                exclude=("spam.example",),
                content=True,
            ),
            sample_plain.sends,
            """{"meta": {"trace": "69c3f5", "ms": 420}, "data": {"search": [{"url": "https://example.com/a",
             "title": "Example <b>one</b>", "snippet": "Text &amp; more", "time": "2026-10-09T14:49:00Z",
             "image": {"url": "https://example.com/i.jpg", "height": 600}, "props": {"paywalled": false},
             "markdown": "# Example"}, {"url": "https://example.com/b", "title": null, "snippet": null, "time": null,
             "image": null, "props": {"thumbnail": {"url": "/t.jpg"}}}, {"url": null, "title": "none"}, "text"],
             "direct_answer": [{"title": "42", "snippet": null}], "infobox": [{"url": "https://example.com/",
             "snippet": "A domain."}], "related_search": [{"url": "https://kagi.com/search?q=x", "title": "x"}]}}""",
            ("https://example.com/a", "https://example.com/b"),
            account=Account(key="kagi-sample", options={"timeout": "1.5"}),
            sends_body={
                "query": "example",
                "limit": 20,
                "safe_search": False,
                "page": 2,
                "filters": {"region": "ch", "after": "2026-10-01", "before": "2026-10-31"},
                "lens": {"sites_included": ["example.com"], "sites_excluded": ["spam.example"]},
                "extract": {"count": 10},
                "timeout": 1.5,
            },
        ),
        Sample(
            Query("例", category="images", freshness="week", since="2026-11-09"),
            sample_plain.sends,
            """{"data": {"image": [{"url": "https://example.cn/p", "title": "图", "props": null,
             "image": {"url": "https://example.cn/p.jpg"}}], "search": [{"url": "https://example.cn/no"}]}}""",
            ("https://example.cn/p",),
            account=sample_plain.account,
            sends_body={
                "query": "例",
                "limit": 10,
                "safe_search": True,
                "workflow": "images",
                "filters": {"after": "2026-11-09"},
            },
        ),
        sample_plain,
        sample_plain._replace(
            body='{"meta": {}, "data": [], "error": [{"code": "request.invalid", "message": "…", "location": "page"}]}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"meta": {}, "data": [], "error": [{"code": "auth.invalid_token", "message": "…"}]}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"meta": {}, "data": [], "error": [{"code": "auth.ip_not_allowed", "message": "…"}]}',
            status=403,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"meta": {}, "data": [], "error": [{"code": "api.rate_limited", "message": "Slow down."}]}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"meta": {}, "data": [], "error": [{"code": "api.limit", "message": "Usage limit exhausted."}]}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body='{"error": [{"code": "server"}]}', status=500, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    props = as_dict(item.get("props"))
    picture = as_text(as_dict(item.get("image")).get("url"))
    thumbnail = picture or as_text(as_dict(props.get("thumbnail")).get("url"))
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("url")),
        snippet=strip_tags(item.get("snippet")),
        content=as_text(item.get("markdown")) or as_text(props.get("markdown")),
        published=as_text(item.get("time")),
        thumbnail=f"https://kagi.com{thumbnail}" if thumbnail.startswith("/") else thumbnail,
        author=as_text(props.get("creator_name")),
        length=as_text(props.get("duration")),
        image=picture,
        details=picture_size(as_dict(item.get("image"))),
    )
