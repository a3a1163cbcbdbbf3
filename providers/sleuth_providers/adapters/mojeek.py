"""Mojeek: an independent index without tracking."""

from datetime import date, timedelta

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadResponseError, KeyInvalidError, QuotaError
from sleuth_providers.json import as_dict, as_number, as_text, items, marked_result_of, web_results

FAILURE = "the API reports an error"


class Mojeek(Provider):
    """Takes the key in the URL, and may report errors as HTTP 200."""

    id = "mojeek"
    name = "Mojeek"
    homepage = "https://www.mojeek.com/services/search/web-search-api/"
    key_page = "https://www.mojeek.com/services/search/web-search-api/"
    notes = "The maximum number of results depends on the plan; use a lower -n when a request is rejected."
    env = ("MOJEEK_API_KEY",)
    host = "https://api.mojeek.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page", "include", "exclude"})
    operators = True
    max_results = 50
    price = "about £1 to £3, unconfirmed (2026-11)"
    cost = 0.0026
    per_minute = 120
    weight = 0.7  # a small index of its own
    options = {
        "region_boost": "preference for pages of the region, 0 to 100 (default 100)",
        "per_domain": "results per domain",
    }
    number_options = {"region_boost": (0, 100), "per_domain": (1, 1000)}
    # A status other than OK is a sentence in HTTP 200.
    error_rules = (
        ErrorRule(200, QuotaError, rb'"status"\s*:\s*"[^"]*(?:limit|quota|credit|exceeded)', FAILURE),
        ErrorRule(200, KeyInvalidError, rb'"status"\s*:\s*"[^"]*(?:key|ip |address|account|authori)', FAILURE),
        ErrorRule(200, BadResponseError, rb'"status"\s*:\s*"(?!OK"|")', FAILURE),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send a single domain as a parameter; several, and those to exclude, are operators."""
        count = min(query.count, self.max_results)
        params = {
            "q": query.with_operators(include=len(query.include) > 1),
            "fmt": "json",
            "api_key": account.key,
            "t": count,
            "safe": 0 if query.safe == "off" else 1,
            "date": 1,
            "dlen": 512,
            "s": (query.page - 1) * count + 1 if query.page > 1 else None,
            "lb": query.lang.split("-")[0].upper(),
            "lbb": 100 if query.lang else None,
            "rb": query.region,
            "rbb": (as_text(account.options.get("region_boost")) or 100) if query.region else None,
            "since": _compact(query.since) if query.freshness in ("week", "range") else query.freshness,
            "before": _compact(query.until, 1) if query.freshness == "range" else None,  # exclusive
            "site": query.include[0] if len(query.include) == 1 else None,
            "si": as_text(account.options.get("per_domain")),
        }
        return self.get(account, "/search", params)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; dates are Unix timestamps."""
        return Found(web_results(map(_result, items(response, "response", "results", envelope="response"))))

    sample_plain = Sample(
        Query("gemini protocol"),
        "GET https://api.mojeek.com/search?q=gemini+protocol&fmt=json&api_key=mojeek-sample&t=10&safe=1&date=1&dlen=512",
        '{"response": {"status": "OK", "head": {"query": "gemini protocol", "results": 0, "return": 0}}}',
        (),
        account=Account(key="mojeek-sample"),
    )
    samples = (
        Sample(
            Query(
                "gemini protocol",
                count=20,
                page=2,
                lang="de-CH",
                region="CH",
                safe="off",
                freshness="range",
                since="2026-09-01",
                until="2026-10-31",
                include=("geminiprotocol.net",),
                exclude=("spam.example",),
            ),
            "GET https://api.mojeek.com/search?q=gemini+protocol+-site%3Aspam.example&fmt=json&api_key=mojeek-sample&t=20"
            "&safe=0&date=1&dlen=512&s=21&lb=DE&lbb=100&rb=CH&rbb=50&since=20260901&before=20261101"
            "&site=geminiprotocol.net&si=3",
            """{"response": {"status": "OK", "head": {"query": "gemini protocol", "timer": 0.113, "results": 40112,
             "return": 2, "start": 21}, "results": [{"url": "https://geminiprotocol.net/",
             "title": "Project <b>Gemini</b>", "desc": "Gemini is a lightweight &amp; small …", "size": "12KB",
             "timestamp": 1761955200, "date": 1761955200, "score": 3.5,
             "image": {"url": "https://geminiprotocol.net/i.png", "width": 10}},
             {"url": "https://geminiprotocol.net/faq", "title": null, "desc": null, "timestamp": 1e300, "score": "x"},
             {"title": "no address"}, 7]}}""",
            ("https://geminiprotocol.net/", "https://geminiprotocol.net/faq"),
            account=Account(key="mojeek-sample", options={"region_boost": "50", "per_domain": 3}),
        ),
        sample_plain._replace(
            query=Query("gemini", freshness="week", since="2026-11-09", include=("a.example", "b.example")),
            sends="GET https://api.mojeek.com/search?q=gemini+%28site%3Aa.example+OR+site%3Ab.example%29&fmt=json"
            "&api_key=mojeek-sample&t=10&safe=1&date=1&dlen=512&since=20261109",
        ),
        sample_plain._replace(
            query=Query("gemini", freshness="month", since="2026-10-16"),
            sends="GET https://api.mojeek.com/search?q=gemini&fmt=json&api_key=mojeek-sample&t=10&safe=1&date=1&dlen=512"
            "&since=month",
        ),
        sample_plain,
        sample_plain._replace(body='{"response": {"status": "Invalid API key"}}', error="API_KEY_INVALID"),
        sample_plain._replace(body='{"response": {"status": "IP not permitted"}}', error="API_KEY_INVALID"),
        sample_plain._replace(body='{"response": {"status": "Query limit exceeded"}}', error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body='{"response": {"status": "Something else"}}', error="BAD_RESPONSE"),
        sample_plain._replace(body="[]", error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body="", status=402, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=403, error="API_KEY_INVALID"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=500, error="PROVIDER_UNAVAILABLE"),
    )


def _compact(day: str, later: int = 0) -> str:
    return (date.fromisoformat(day) + timedelta(days=later)).isoformat().replace("-", "")


def _result(item: dict[str, object]) -> Result:
    return marked_result_of(item, title="title", url="url", snippet="desc")._replace(
        published=as_text(item.get("date") or item.get("timestamp")),
        score=as_number(item.get("score")),
        thumbnail=as_text(as_dict(item.get("image")).get("url")),
    )
