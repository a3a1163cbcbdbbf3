"""Linkup: search with long page extracts, or an answer with its sources."""

from sleuth_providers.base import (
    ON_OFF,
    Account,
    ErrorRule,
    Found,
    Provider,
    Query,
    Request,
    Response,
    Result,
    Sample,
    Sender,
)
from sleuth_providers.errors import DeadlineError, NoResultsError, QuotaError
from sleuth_providers.json import as_text, direct_answers, document, objects, result_of, web_results

SNIPPET_CHARS = 300
DEEP_COST = 0.0587  # US dollars


class Linkup(Provider):
    """The depth of a search decides its price and duration."""

    id = "linkup"
    name = "Linkup"
    homepage = "https://docs.linkup.so/"
    key_page = "https://app.linkup.so/api-keys"
    notes = (
        "Some credit is free each month; failed and empty searches cost nothing. "
        "`deep` takes up to a minute and needs a longer --timeout."
    )
    env = ("LINKUP_API_KEY",)
    host = "https://api.linkup.so/v1"
    needs_key = True
    supports = frozenset({"freshness", "range", "include", "exclude", "content"})
    categories = ("general", "images")
    max_include = 100
    max_results = 50
    price = "€5, deep €50 (2026-11)"
    cost = 0.0059
    reads_language = True
    options = {
        "depth": "flash, fast, standard (default) or deep",
        "answer": "on: Linkup writes an answer, with its sources as results",
    }
    option_choices = {"answer": ON_OFF}

    error_rules = (
        ErrorRule(400, NoResultsError, rb"SEARCH_QUERY_NO_RESULT"),
        ErrorRule(429, QuotaError, rb"INSUFFICIENT_FUNDS_CREDITS|EXCEED_BUDGET_LIMIT"),
        ErrorRule(504, DeadlineError),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send depth and output type, which are mandatory."""
        body = {
            "q": query.text,
            "depth": account.options.get("depth") or "standard",
            "outputType": "sourcedAnswer" if account.options.get("answer") == "on" else "searchResults",
            "maxResults": min(query.count, self.max_results),
            "fromDate": query.since,
            "toDate": query.until if query.freshness == "range" else None,
            "includeDomains": list(query.include) or None,
            "excludeDomains": list(query.exclude) or None,
            "includeImages": True if query.category == "images" else None,
        }
        return self.post_json(account, "/search", body)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Add the cost of a deep search; that of the others is the same."""
        found = super().search(query, account, http)
        return found._replace(cost=DEEP_COST) if account.options.get("depth") == "deep" else found

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results, or the answer and its sources; pictures and pages share a list."""
        reply = document(response, "results", "sources")
        hits = objects(reply.get("results")) or objects(reply.get("sources"))
        wanted = "image" if query.category == "images" else "text"
        answer = as_text(reply.get("answer"))
        results = (_result(hit, query.content) for hit in hits if hit.get("type", wanted) == wanted)
        return Found(web_results(results), answers=direct_answers((answer, "")))

    sample_plain = Sample(
        Query("solid state battery"),
        "POST https://api.linkup.so/v1/search",
        '{"results": []}',
        (),
        account=Account(key="linkup-sample"),
        sends_body={
            "q": "solid state battery",
            "depth": "standard",
            "outputType": "searchResults",
            "maxResults": 10,
        },
    )
    samples = (
        Sample(
            Query(
                "solid state battery",
                count=5,
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("example.com",),
                exclude=("spam.example",),
                content=True,
            ),
            sample_plain.sends,
            """{"results": [{"type": "text", "name": "Solid state roadmap", "url": "https://example.com/ssb",
             "content": "Long extract of the page …", "favicon": "https://example.com/favicon.ico"},
             {"type": "image", "name": "Cell diagram", "url": "https://example.com/cell.png"},
             {"type": "text", "name": null, "url": "https://example.com/电池", "content": null}, {"type": 7}, null]}""",
            ("https://example.com/ssb", "https://example.com/电池"),
            account=Account(key="linkup-sample", options={"depth": "fast"}),
            sends_body={
                "q": "solid state battery",
                "depth": "fast",
                "outputType": "searchResults",
                "maxResults": 5,
                "fromDate": "2026-10-01",
                "toDate": "2026-10-31",
                "includeDomains": ["example.com"],
                "excludeDomains": ["spam.example"],
            },
        ),
        sample_plain._replace(
            query=Query("solid state battery", freshness="week", since="2026-11-09"),
            body="""{"answer": "In 2027, perhaps.", "sources": [{"name": "Roadmap", "url": "https://example.com/ssb",
             "snippet": "Planned for 2027.", "favicon": null}]}""",
            finds=("https://example.com/ssb",),
            account=Account(key="linkup-sample", options={"answer": "on"}),
            sends_body=sample_plain.sends_body | {"outputType": "sourcedAnswer", "fromDate": "2026-11-09"},
        ),
        sample_plain._replace(
            query=Query("solid state battery", category="images"),
            body="""{"results": [{"type": "text", "name": "Page", "url": "https://example.com/"},
             {"type": "image", "name": "Cell diagram", "url": "https://example.com/cell.png"}]}""",
            finds=("https://example.com/cell.png",),
            sends_body=sample_plain.sends_body | {"includeImages": True},
        ),
        sample_plain,
        sample_plain._replace(
            body='{"statusCode": 400, "error": {"code": "SEARCH_QUERY_NO_RESULT", "message": "…", "details": []}}',
            status=400,
        ),
        sample_plain._replace(
            body="""{"statusCode": 400, "error": {"code": "VALIDATION_ERROR", "message": "…",
             "details": [{"field": "depth", "message": "…"}]}}""",
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body='{"statusCode": 401, "error": {}}', status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body='{"statusCode": 402, "error": {}}', status=402, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(
            body='{"statusCode": 403, "error": {"code": "IP_NOT_WHITELISTED"}}', status=403, error="API_KEY_INVALID"
        ),
        sample_plain._replace(
            body='{"statusCode": 429, "error": {"code": "INSUFFICIENT_FUNDS_CREDITS", "message": "…"}}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"statusCode": 429, "error": {"code": "EXCEED_BUDGET_LIMIT", "message": "…"}}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"statusCode": 429, "error": {"code": "TOO_MANY_REQUESTS", "message": "…"}}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"statusCode": 504, "error": {"code": "REQUEST_DEADLINE_EXCEEDED"}}', status=504, error="TIMEOUT"
        ),
        sample_plain._replace(body="", status=500, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object], content: bool) -> Result:
    texts = result_of(item, title="name", url="url")
    extract = as_text(item.get("content")) or as_text(item.get("snippet"))
    picture = texts.url if item.get("type") == "image" else ""
    page = extract if content else ""
    return texts._replace(snippet=extract[:SNIPPET_CHARS], content=page, thumbnail=picture, image=picture)
