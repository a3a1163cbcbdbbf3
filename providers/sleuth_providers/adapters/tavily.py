"""Tavily: search for language models; a few requests work without a key."""

import re
from typing import Any

from sleuth_providers.base import ON_OFF, Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, QuotaError, RateLimitError
from sleuth_providers.json import as_dict, as_number, as_text, direct_answers, items, result_of, web_results

DOLLARS_PER_CREDIT = 0.008  # pay as you go
WAIT = rb'"retry_after_seconds"\s*:\s*(\d{1,9})'
# The API takes English names.
COUNTRIES = dict(
    re.findall(
        "([A-Z]{2}):([a-z ]+)",
        "AE:united arab emirates,AR:argentina,AT:austria,AU:australia,BD:bangladesh,BE:belgium,BG:bulgaria,BR:brazil,"
        "BY:belarus,CA:canada,CH:switzerland,CL:chile,CN:china,CO:colombia,CR:costa rica,CU:cuba,CY:cyprus,"
        "CZ:czech republic,DE:germany,DK:denmark,DZ:algeria,EC:ecuador,EE:estonia,EG:egypt,ES:spain,ET:ethiopia,"
        "FI:finland,FR:france,GB:united kingdom,GE:georgia,GR:greece,HR:croatia,HU:hungary,ID:indonesia,IE:ireland,"
        "IL:israel,IN:india,IQ:iraq,IR:iran,IS:iceland,IT:italy,JP:japan,KE:kenya,KR:south korea,KZ:kazakhstan,"
        "LK:sri lanka,LT:lithuania,LU:luxembourg,LV:latvia,MA:morocco,MT:malta,MX:mexico,MY:malaysia,NG:nigeria,"
        "NL:netherlands,NO:norway,NP:nepal,NZ:new zealand,PE:peru,PH:philippines,PK:pakistan,PL:poland,PT:portugal,"
        "QA:qatar,RO:romania,RS:serbia,RU:russia,SA:saudi arabia,SE:sweden,SG:singapore,SI:slovenia,SK:slovakia,"
        "TH:thailand,TN:tunisia,TR:turkey,TW:taiwan,UA:ukraine,US:united states,UY:uruguay,VE:venezuela,VN:vietnam,"
        "ZA:south africa",
    )
)


class Tavily(Provider):
    """One endpoint for everything; a header marks requests without a key."""

    id = "tavily"
    name = "Tavily"
    homepage = "https://docs.tavily.com/"
    key_page = "https://app.tavily.com/home"
    notes = "A few requests work without a key; with a key, 1,000 a month are free."
    env = ("TAVILY_API_KEY",)
    host = "https://api.tavily.com"
    supports = frozenset({"freshness", "range", "lang", "region", "include", "exclude", "content"})
    categories = ("general", "news")
    max_include = 300
    max_exclude = 150
    max_results = 20
    price = "$8 (2026-11)"
    cost = DOLLARS_PER_CREDIT
    per_minute = 100
    reads_language = True
    options = {
        "search_depth": "basic (default), fast, ultra-fast, or advanced, which costs twice as much",
        "include_answer": "basic or advanced: Tavily writes an answer",
        "safe_search": "on: send safe_search, which may need an enterprise plan",
    }
    option_choices = {"safe_search": ON_OFF}
    error_rules = (
        ErrorRule(429, RateLimitError, WAIT, hint=OWN_KEY_HINT, pause=WAIT),  # without a key
        ErrorRule(432, QuotaError),
        ErrorRule(433, QuotaError),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Send a country only for the general topic, where it has an effect."""
        is_news = query.category == "news"
        body: dict[str, Any] = {
            "query": query.text,
            "max_results": min(query.count, self.max_results),
            "search_depth": account.options.get("search_depth") or "basic",
            "include_raw_content": "markdown" if query.content else False,
            "include_domains": list(query.include),
            "exclude_domains": list(query.exclude),
            "topic": "news" if is_news else None,
            "country": None if is_news else COUNTRIES.get(query.region),
            "language": query.lang.split("-")[0].lower(),
            "include_answer": account.options.get("include_answer"),
            "safe_search": query.safe != "off" if account.options.get("safe_search") == "on" else None,
            "include_usage": True if account.key else None,
        }
        if query.freshness == "range":
            body |= {"start_date": query.since, "end_date": query.until}
        else:
            body["time_range"] = query.freshness
        access = {"Authorization": f"Bearer {account.key}"} if account.key else {"X-Tavily-Access-Mode": "keyless"}
        return self.post_json(account, "/search", body, access)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add countries without a known name, and any country for news."""
        ignored = super().not_applied(query)
        unknown = query.region and (query.category == "news" or query.region not in COUNTRIES)
        return (*ignored, "region") if unknown else ignored

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results, the answer if there is one, and the cost."""
        hits = items(response, "results")
        answer = as_text(response.json().get("answer"))
        credits = as_number(as_dict(response.json().get("usage")).get("credits")) or 0.0
        return Found(
            web_results(map(_result, hits)),
            answers=direct_answers((answer, "")),
            cost=credits * DOLLARS_PER_CREDIT,
        )

    sample_plain = Sample(
        Query("lithium"),
        "POST https://api.tavily.com/search",
        '{"query": "lithium", "answer": null, "results": []}',
        (),
        sends_body={
            "query": "lithium",
            "max_results": 10,
            "search_depth": "basic",
            "include_raw_content": False,
            "include_domains": [],
            "exclude_domains": [],
        },
    )
    sample_keyed = sample_plain._replace(
        account=Account(key="tvly-sample"), sends_body=sample_plain.sends_body | {"include_usage": True}
    )
    samples = (
        Sample(
            Query(
                "lithium price",
                count=50,
                lang="de-CH",
                region="CH",
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("example.com",),
                exclude=("spam.example",),
                content=True,
            ),
            sample_plain.sends,
            """{"query": "lithium price", "answer": "It rose.", "images": [], "follow_up_questions": null,
             "results": [{"title": "Lithium market update", "url": "https://example.com/li",
             "content": "Spot prices rose […]", "score": 0.83, "raw_content": "# Lithium\\n\\nSpot prices rose.",
             "favicon": "https://example.com/f.ico", "published_date": "Fri, 06 Nov 2026 08:00:00 GMT"},
             {"title": null, "url": "https://example.com/2", "content": null, "score": "high",
             "raw_content": null}, {"title": "A file", "url": "ftp://example.com/3"}], "response_time": "1.12",
             "usage": {"credits": 2}, "request_id": "7c0e"}""",
            ("https://example.com/li", "https://example.com/2"),
            account=Account(key="tvly-sample", options={"search_depth": "advanced", "include_answer": "basic"}),
            sends_body={
                "query": "lithium price",
                "max_results": 20,
                "search_depth": "advanced",
                "include_raw_content": "markdown",
                "include_domains": ["example.com"],
                "exclude_domains": ["spam.example"],
                "country": "switzerland",
                "language": "de",
                "start_date": "2026-10-01",
                "end_date": "2026-10-31",
                "include_answer": "basic",
                "include_usage": True,
            },
        ),
        Sample(
            Query("lithium", category="news", freshness="week", since="2026-11-09", region="CH"),
            sample_plain.sends,
            '{"results": [{"title": "Lithium", "url": "https://news.example/li", "content": "…", "score": 0.5}]}',
            ("https://news.example/li",),
            sends_body=sample_plain.sends_body | {"topic": "news", "time_range": "week"},
        ),
        sample_plain._replace(
            body="""{"error": {"code": "rate_limited", "message": "Keyless limit reached.", "window": "hour",
             "retry_after_seconds": 3600, "next_actions": ["Create an API key"]}}""",
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(
            body='{"detail": {"error": "Your request has been blocked due to excessive requests."}}',
            status=429,
            headers={"content-type": "application/json", "retry-after": "30"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(
            body='{"detail": {"error": "Unauthorized: missing or invalid API key."}}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_keyed._replace(
            body="""{"detail": [{"loc": ["body", "query"],
             "msg": "Query is too long. Max query length is 400 characters."}]}""",
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_keyed._replace(body='{"detail": "Forbidden"}', status=403, error="API_KEY_INVALID"),
        sample_keyed._replace(
            body='{"detail": {"error": "This request exceeds your plan\'s set usage limit."}}',
            status=432,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(
            body='{"detail": {"error": "This request exceeds the pay-as-you-go limit."}}',
            status=433,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(
            body='{"detail": {"error": "Internal Server Error"}}', status=500, error="PROVIDER_UNAVAILABLE"
        ),
        sample_plain,
    )


def _result(item: dict[str, object]) -> Result:
    names = {"snippet": "content", "content": "raw_content", "published": "published_date"}
    return result_of(item, title="title", url="url", **names)._replace(score=as_number(item.get("score")))
