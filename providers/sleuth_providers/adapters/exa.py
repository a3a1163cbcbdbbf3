"""Exa: semantic search over an independent index, with matching passages."""

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError
from sleuth_providers.json import as_dict, as_list, as_number, as_text, direct_answers, items, result_of, web_results

SNIPPET_CHARS = 300
KINDS = {"news": "news", "science": "publication"}


class Exa(Provider):
    """Always requests passages, because there is no other snippet."""

    id = "exa"
    name = "Exa"
    homepage = "https://docs.exa.ai/"
    key_page = "https://dashboard.exa.ai/api-keys"
    notes = "The language follows from the query. With --freshness, pages without a date are omitted."
    env = ("EXA_API_KEY",)
    host = "https://api.exa.ai"
    needs_key = True
    supports = frozenset({"freshness", "range", "region", "safe", "include", "exclude", "content"})
    categories = ("general", "news", "science")
    max_results = 100
    price = "$5, for more than 25 results $25, and $1 for 1,000 page texts (2026-11)"
    cost = 0.005
    per_minute = 600
    reads_language = True
    options = {
        "type": "auto (default), fast, instant, neural, deep-lite, deep, deep-reasoning or lite",
        "science_category": "publication (default) or its former name, research paper",
    }

    # An invalid key is a 403 too.
    error_rules = (ErrorRule(403, BadRequestError, rb"FEATURE_DISABLED|ROBOTS_FILTER_FAILED|PROHIBITED_CONTENT"),)

    def request(self, query: Query, account: Account) -> Request:
        """Send dates as the start and the end of a day."""
        kind = KINDS.get(query.category)
        special = account.options.get("science_category") if kind == "publication" else ""
        page_text = {"text": {"maxCharacters": 20_000}} if query.content else {}
        body = {
            "query": query.text,
            "type": account.options.get("type") or "auto",
            "numResults": min(query.count, self.max_results),
            "moderation": query.safe != "off",
            "contents": {"highlights": True} | page_text,
            "category": special or kind,
            "includeDomains": list(query.include) or None,
            "excludeDomains": list(query.exclude) or None,
            "userLocation": query.region,
            "startPublishedDate": f"{query.since}T00:00:00.000Z" if query.freshness else None,
            "endPublishedDate": f"{query.until}T23:59:59.999Z" if query.freshness == "range" else None,
        }
        return self.post_json(account, "/search", body, {"x-api-key": account.key})

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results, the answer of the deep search types, and the cost."""
        hits = items(response, "results")
        answer = as_text(as_dict(response.json().get("output")).get("content"))
        return Found(
            web_results(map(_result, hits)),
            answers=direct_answers((answer, "")),
            cost=as_number(as_dict(response.json().get("costDollars")).get("total")) or 0.0,
        )

    sample_plain = Sample(
        Query("grid"),
        "POST https://api.exa.ai/search",
        '{"results": [], "costDollars": {"total": 0.005}}',
        (),
        account=Account(key="exa-sample"),
        sends_body={
            "query": "grid",
            "type": "auto",
            "numResults": 10,
            "moderation": True,
            "contents": {"highlights": True},
        },
    )
    samples = (
        Sample(
            Query(
                "grid storage",
                count=200,
                region="CH",
                freshness="range",
                since="2026-01-01",
                until="2026-08-31",
                safe="off",
                include=("example.org",),
                exclude=("spam.example",),
                content=True,
                category="science",
            ),
            sample_plain.sends,
            """{"requestId": "b59470", "searchType": "neural", "output": {"content": "Batteries doubled.",
             "grounding": []}, "results": [{"id": "https://example.org/p", "title": "Grid storage in 2026",
             "url": "https://example.org/p", "publishedDate": "2026-08-03T00:00:00.000Z", "author": "A. Writer",
             "score": 0.41, "image": "https://example.org/i.png", "text": "Utility batteries doubled in a year.",
             "highlights": ["Utility batteries doubled", null, "in a year"], "highlightScores": [0.52]},
             {"title": null, "url": "https://example.org/q", "publishedDate": null, "score": null,
             "summary": "Short."}, {"title": "Only text", "url": "https://example.org/r", "highlights": "none",
             "text": "Head of the page"}], "costDollars": {"total": 0.008, "breakDown": [{"search": 0.005,
             "contents": 0.003}]}}""",
            ("https://example.org/p", "https://example.org/q", "https://example.org/r"),
            account=Account(key="exa-sample", options={"type": "deep"}),
            sends_body={
                "query": "grid storage",
                "type": "deep",
                "numResults": 100,
                "moderation": False,
                "contents": {"highlights": True, "text": {"maxCharacters": 20_000}},
                "category": "publication",
                "includeDomains": ["example.org"],
                "excludeDomains": ["spam.example"],
                "userLocation": "CH",
                "startPublishedDate": "2026-01-01T00:00:00.000Z",
                "endPublishedDate": "2026-08-31T23:59:59.999Z",
            },
        ),
        Sample(
            Query("grid", category="news", freshness="week", since="2026-11-09"),
            sample_plain.sends,
            '{"results": [], "costDollars": {"total": 0.005}}',
            (),
            account=sample_plain.account,
            sends_body=sample_plain.sends_body | {"category": "news", "startPublishedDate": "2026-11-09T00:00:00.000Z"},
        ),
        sample_plain._replace(
            body='{"requestId": "1", "error": "Invalid API key", "tag": "INVALID_API_KEY"}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"requestId": "1", "error": "You have no credits left.", "tag": "NO_MORE_CREDITS"}',
            status=402,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"error": "Invalid request body", "tag": "INVALID_REQUEST_BODY"}', status=400, error="INVALID_REQUEST"
        ),
        sample_plain._replace(
            body='{"error": "Access denied", "tag": "ACCESS_DENIED"}', status=403, error="API_KEY_INVALID"
        ),
        sample_plain._replace(
            body='{"error": "Prohibited", "tag": "PROHIBITED_CONTENT"}', status=403, error="INVALID_REQUEST"
        ),
        sample_plain._replace(
            body='{"error": "Could not fetch", "tag": "FETCH_DOCUMENT_ERROR"}', status=422, error="INVALID_REQUEST"
        ),
        sample_plain._replace(
            body='{"error": "You have exceeded your requests per second limit of 10."}',
            status=429,
            headers={"content-type": "application/json", "retry-after": "1"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body='{"error": "Internal error"}', status=500, error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(
            body='{"error": "Overloaded", "tag": "SERVICE_OVERLOADED"}', status=503, error="PROVIDER_UNAVAILABLE"
        ),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    names = {"content": "text", "published": "publishedDate", "thumbnail": "image", "author": "author"}
    texts = result_of(item, title="title", url="url", snippet="summary", **names)
    highlights = [as_text(passage) for passage in as_list(item.get("highlights"))]
    passages = " … ".join(passage for passage in highlights if passage)
    snippet = passages or texts.snippet or texts.content[:SNIPPET_CHARS]
    return texts._replace(snippet=snippet, score=as_number(item.get("score")))
