"""Serper: Google's results pages as JSON, fast and cheap."""

from sleuth_providers.adapters._google import language, time_span
from sleuth_providers.adapters._media import picture_size
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import QuotaError
from sleuth_providers.json import (
    as_count,
    as_dict,
    as_number,
    as_text,
    direct_answers,
    document,
    items,
    objects,
    result_of,
    web_results,
)

DOLLARS_PER_CREDIT = 0.001  # in the smallest pack
SAFE = {"off": "off", "moderate": None, "strict": "active"}
PATHS = {"news": "news", "images": "images", "videos": "videos", "science": "scholar"}


class Serper(Provider):
    """One endpoint and one list per kind of result."""

    id = "serper"
    name = "Serper"
    homepage = "https://serper.dev/"
    key_page = "https://serper.dev/api-key"
    notes = "Google's results; 2,500 requests are free, then prepaid credits that are valid for six months."
    env = ("SERPER_API_KEY",)
    host = "https://google.serper.dev"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page"})
    operators = True
    categories = ("general", "news", "images", "videos", "science")
    max_results = 10
    price = "$0.3 to $1 (2026-11)"
    cost = DOLLARS_PER_CREDIT
    weight = 1.2  # Google's index

    error_rules = (ErrorRule(400, QuotaError, rb"not enough credits"),)

    def request(self, query: Query, account: Account) -> Request:
        """Request at most ten results, which cost one credit."""
        body = {
            "q": query.with_operators(),
            "num": min(query.count, self.max_results),
            "page": query.page if query.page > 1 else None,
            "gl": query.region.lower(),
            "hl": language(query.lang).lower(),
            "tbs": time_span(query),
            "safe": SAFE[query.safe],
        }
        path = PATHS.get(query.category, "search")
        return self.post_json(account, f"/{path}", body, {"X-API-KEY": account.key})

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the list of the category, the answer box and related searches."""
        name = query.category if query.category in ("news", "images", "videos") else "organic"
        hits = items(response, name, envelope="searchParameters")
        data = document(response)
        box, graph = as_dict(data.get("answerBox")), as_dict(data.get("knowledgeGraph"))
        answers = direct_answers(
            (as_text(box.get("answer")) or as_text(box.get("snippet")), as_text(box.get("link"))),
            (as_text(graph.get("description")), as_text(graph.get("descriptionLink"))),
        )
        related = (as_text(item.get("query")) for item in objects(data.get("relatedSearches")))
        return Found(
            web_results(map(_result, hits)),
            answers=answers,
            suggestions=tuple(text for text in related if text),
            cost=(as_number(data.get("credits")) or 0.0) * DOLLARS_PER_CREDIT,
        )

    sample_plain = Sample(
        Query("uv"),
        "POST https://google.serper.dev/search",
        '{"searchParameters": {"q": "uv"}, "credits": 1}',
        (),
        account=Account(key="serper-sample"),
        sends_body={"q": "uv", "num": 10},
    )
    samples = (
        Sample(
            Query(
                "uv python",
                count=20,
                page=2,
                lang="zh",
                region="CN",
                freshness="range",
                since="2026-01-05",
                until="2026-11-03",
                safe="strict",
                include=("astral.sh", "python.org"),
                exclude=("spam.example",),
            ),
            sample_plain.sends,
            """{"searchParameters": {"q": "uv python", "gl": "cn", "hl": "zh-cn", "num": 10, "type": "search"},
             "answerBox": {"title": "uv", "snippet": "An extremely fast package manager",
             "link": "https://docs.astral.sh/uv/"}, "knowledgeGraph": {"title": "uv", "description": "A tool.",
             "descriptionLink": "https://example.org/uv"}, "organic": [{"title": "uv",
             "link": "https://docs.astral.sh/uv/", "snippet": "Docs", "position": 1, "date": "3 天前",
             "imageUrl": "https://i.example/uv.png", "sitelinks": []}, {"title": "pip",
             "link": "https://pip.python.org/", "snippet": null, "position": "2", "date": null},
             {"title": "No link", "link": {"href": "https://example.org/"}}],
             "peopleAlsoAsk": [{"question": "What is uv?"}], "relatedSearches": [{"query": "uv vs pip"}, {}],
             "credits": 1}""",
            ("https://docs.astral.sh/uv/", "https://pip.python.org/"),
            account=sample_plain.account,
            sends_body={
                "q": "uv python (site:astral.sh OR site:python.org) -site:spam.example",
                "num": 10,
                "page": 2,
                "gl": "cn",
                "hl": "zh-cn",
                "tbs": "cdr:1,cd_min:1/5/2026,cd_max:11/3/2026",
                "safe": "active",
            },
        ),
        Sample(
            Query("uv", category="news", freshness="day", since="2026-11-15"),
            "POST https://google.serper.dev/news",
            """{"news": [{"title": "uv 1.0", "link": "https://news.example/uv", "snippet": "…",
             "date": "2 hours ago", "source": "News", "imageUrl": "data:image/png;base64,AA"}], "credits": 1}""",
            ("https://news.example/uv",),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body | {"tbs": "qdr:d"},
        ),
        Sample(
            Query("uv", category="images", safe="off"),
            "POST https://google.serper.dev/images",
            """{"images": [{"title": "uv", "imageUrl": "https://a.example/uv.png",
             "thumbnailUrl": "https://t.example/1", "source": "A", "domain": "a.example",
             "link": "https://a.example/"}], "credits": 1}""",
            ("https://a.example/",),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body | {"safe": "off"},
        ),
        sample_plain._replace(
            body='{"message": "Unauthorized.", "statusCode": 403}', status=403, error="API_KEY_INVALID"
        ),
        sample_plain._replace(
            body='{"message": "Not enough credits", "statusCode": 400}', status=400, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(
            body='{"message": "Missing query parameter", "statusCode": 400}', status=400, error="INVALID_REQUEST"
        ),
        sample_plain._replace(
            body='{"message": "Too many requests", "statusCode": 429}', status=429, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(body="Bad Gateway", status=502, error="PROVIDER_UNAVAILABLE"),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    names = {"published": "date", "site": "source", "author": "channel", "length": "duration"}
    texts = result_of(item, title="title", url="link", snippet="snippet", **names)
    picture, thumbnail = as_text(item.get("imageUrl")), as_text(item.get("thumbnailUrl"))
    return texts._replace(
        published=texts.published or as_text(item.get("year")),
        site=texts.site or as_text(item.get("domain")),
        thumbnail=thumbnail or picture,
        image=picture if thumbnail else "",
        details=picture_size(item, "imageWidth", "imageHeight")._replace(
            year=as_count(item.get("year")),
            cited_by=as_count(item.get("citedBy")),
            pdf=as_text(item.get("pdfUrl")),
            channel=as_text(item.get("channel")),
        ),
    )
