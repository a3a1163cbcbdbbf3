"""Videos with open APIs: PeerTube through SepiaSearch, and Dailymotion."""

from sleuth_providers.adapters._dates import unix_time
from sleuth_providers.adapters._media import video_length
from sleuth_providers.adapters._papers import paragraphs
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, RateLimitError
from sleuth_providers.json import as_count, as_dict, as_text, document, objects, strip_tags, web_results

HOSTS = {"sepiasearch": "https://sepiasearch.org", "dailymotion": "https://api.dailymotion.com"}
DAILYMOTION_FIELDS = "title,description,url,created_time,duration,thumbnail_360_url,owner.screenname,views_total"
SNIPPET_CHARS = 300


class OpenVideos(Provider):
    """Two indexes as engines; neither includes YouTube."""

    id = "open-videos"
    name = "SepiaSearch, Dailymotion"
    homepage = "https://sepiasearch.org/"
    notes = "Engines: sepiasearch (default; PeerTube) and dailymotion. Neither includes YouTube."
    host = HOSTS["sepiasearch"]
    supports = frozenset({"freshness", "range", "lang", "safe", "page", "engines"})
    categories = ("videos",)
    known_engines = tuple(HOSTS)
    max_results = 100
    price = "free"
    per_minute = 60
    # There are no keys, so that 403 means the limit of Dailymotion or a rejected request.
    error_rules = (
        ErrorRule(400, RateLimitError, rb"api_limit_exceeded"),
        ErrorRule(403, RateLimitError, rb"api_limit_exceeded"),
        ErrorRule(403, BadRequestError),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Request the API of the engine."""
        engine = self.engine(query, account, "sepiasearch")
        account = self.at_host_of(engine, account, HOSTS)
        count = min(query.count, self.max_results)
        if engine == "dailymotion":
            return self.get(account, "/videos", _dailymotion_params(query, count))
        return self.get(account, "/api/v1/search/videos", _sepiasearch_params(query, count))

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the reply of either API."""
        reply = document(response, "data", "list")
        videos = [
            *map(_peertube_result, objects(reply.get("data"))),
            *map(_dailymotion_result, objects(reply.get("list"))),
        ]
        return Found(web_results(videos))

    sample_plain = Sample(
        Query("lighthouse", category="videos"),
        "GET https://sepiasearch.org/api/v1/search/videos?search=lighthouse&count=10&sort=-match&nsfw=false",
        '{"total": 0, "data": []}',
        (),
    )
    sample_dailymotion = sample_plain._replace(
        query=Query("lighthouse", category="videos", engines=("dailymotion",)),
        sends="GET https://api.dailymotion.com/videos?search=lighthouse&fields=title%2Cdescription%2Curl%2Ccreated_time"
        "%2Cduration%2Cthumbnail_360_url%2Cowner.screenname%2Cviews_total&limit=10&page=1&sort=relevance&family_filter=true"
        "&private=false&password_protected=false",
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "lighthouse",
                page=2,
                lang="en-GB",
                safe="off",
                category="videos",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            sends="GET https://sepiasearch.org/api/v1/search/videos?search=lighthouse&count=10&sort=-match&nsfw=both"
            "&start=10&languageOneOf%5B%5D=en&startDate=2026-01-01&endDate=2026-06-30T23%3A59%3A59Z",
            body="""{"total": 812, "data": [{"id": 1, "name": "Lighthouse tour", "description": "Walk <b>up</b> …",
             "url": "https://tube.example/videos/watch/9c9d", "duration": 482, "nsfw": false,
             "thumbnailUrl": "https://tube.example/lazy-static/thumbnails/1.jpg",
             "publishedAt": "2026-05-01T10:00:00.000Z", "account": {"displayName": "Ada", "host": "tube.example"},
             "channel": {"displayName": "Sea", "host": "tube.example"}},
             {"name": "灯塔", "description": null, "url": "https://tube.example/w/2", "duration": 3682,
             "previewUrl": "https://tube.example/p.jpg", "account": null, "channel": null}, {"url": 7}, []]}""",
            finds=("https://tube.example/videos/watch/9c9d", "https://tube.example/w/2"),
        ),
        sample_dailymotion._replace(
            query=sample_dailymotion.query._replace(
                freshness="range", since="2026-01-01", until="2026-01-31", lang="fr"
            ),
            sends=f"{sample_dailymotion.sends}&languages=fr&created_after=1767225600&created_before=1769904000",
            body="""{"page": 1, "limit": 10, "has_more": true, "list": [{"title": "Lighthouse",
             "description": "A walk &lt;br /&gt; up", "url": "https://www.dailymotion.com/video/x9abc12",
             "created_time": 1778000000, "duration": 300, "thumbnail_360_url": "https://s1.dmcdn.net/v/x360",
             "owner.screenname": "Ada"}, {"url": null}, 7]}""",
            finds=("https://www.dailymotion.com/video/x9abc12",),
        ),
        sample_plain,
        sample_plain._replace(body='{"error": "bad parameter"}', status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_dailymotion._replace(
            body='{"error": {"code": 400, "message": "…", "type": "invalid_parameter"}}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_dailymotion._replace(
            body='{"error": {"code": 403, "type": "access_forbidden"}}', status=403, error="INVALID_REQUEST"
        ),
        sample_dailymotion._replace(
            body='{"error": {"code": 403, "type": "api_limit_exceeded"}}', status=403, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )


def _sepiasearch_params(query: Query, count: int) -> dict[str, str | int | None]:
    return {
        "search": query.text,
        "count": count,
        "sort": "-match",
        "nsfw": "both" if query.safe == "off" else "false",
        "start": (query.page - 1) * count or None,
        "languageOneOf[]": query.lang.split("-")[0].lower(),
        "startDate": query.since,
        "endDate": f"{query.until}T23:59:59Z" if query.until else None,
    }


def _dailymotion_params(query: Query, count: int) -> dict[str, str | int | None]:
    return {
        "search": query.text,
        "fields": DAILYMOTION_FIELDS,
        "limit": count,
        "page": query.page,
        "sort": "relevance",
        "family_filter": "false" if query.safe == "off" else "true",
        "private": "false",
        "password_protected": "false",
        "languages": query.lang.split("-")[0].lower(),
        "created_after": unix_time(query.since),
        "created_before": unix_time(query.until, 1),
    }


def _peertube_result(item: dict[str, object]) -> Result:
    return Result(
        title=strip_tags(item.get("name")),
        url=as_text(item.get("url")),
        snippet=paragraphs(item.get("description"))[:SNIPPET_CHARS],
        published=as_text(item.get("publishedAt")),
        site=as_text(as_dict(item.get("channel")).get("host")),
        thumbnail=as_text(item.get("thumbnailUrl")) or as_text(item.get("previewUrl")),
        author=as_text(as_dict(item.get("account")).get("displayName")),
        length=video_length(item.get("duration")),
        details=Details(
            channel=as_text(as_dict(item.get("channel")).get("displayName")),
            views=as_count(item.get("views")),
            license=as_text(as_dict(item.get("licence")).get("label")),
        ),
    )


def _dailymotion_result(item: dict[str, object]) -> Result:
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("url")),
        snippet=paragraphs(paragraphs(item.get("description")))[:SNIPPET_CHARS],  # tags are escaped
        published=as_text(item.get("created_time")),
        site="Dailymotion",
        thumbnail=as_text(item.get("thumbnail_360_url")).replace("http://", "https://", 1),
        author=as_text(item.get("owner.screenname")),
        length=video_length(item.get("duration")),
        details=Details(channel=as_text(item.get("owner.screenname")), views=as_count(item.get("views_total"))),
    )
