"""GDELT: an index of news from all over the world."""

import re

from sleuth_providers.adapters._dates import last_day
from sleuth_providers.adapters._languages import language_name, unknown_language
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, ProviderError, RateLimitError
from sleuth_providers.json import as_text, items, web_results

TIME_SPANS = {"day": "24h", "week": "7d", "month": "1m"}
PAUSE_S = 1800.0  # after a refusal
ESCAPE = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
CONTROL = re.compile(rb"[\x00-\x1f]")


class Gdelt(Provider):
    """Is overloaded: a refused request is not repeated. Errors are plain text with HTTP 200."""

    id = "gdelt"
    name = "GDELT"
    homepage = "https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts/"
    notes = "Often overloaded; one request every 5 seconds at most. Titles without snippets. Data of the GDELT Project."
    attribution = "GDELT Project, https://www.gdeltproject.org/"
    host = "https://api.gdeltproject.org"
    supports = frozenset({"freshness", "range", "lang", "include", "exclude"})
    categories = ("news",)
    max_include = max_exclude = 5  # as words of the query, which must not be long
    max_results = 250
    price = "free"
    per_minute = 12
    error_rules = (
        ErrorRule(429, RateLimitError, min_pause_s=PAUSE_S),
        ErrorRule(200, RateLimitError, rb"limit requests", min_pause_s=PAUSE_S),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Write language and domains into the query."""
        words = [query.text]
        if name := language_name(query):
            words.append(f"sourcelang:{name.lower()}")
        sites = " OR ".join(f"domainis:{domain}" for domain in query.include)
        words += [f"({sites})" if len(query.include) > 1 else sites] if sites else []
        words += [f"-domainis:{domain}" for domain in query.exclude]
        params: dict[str, str | int] = {
            "query": " ".join(words),
            "mode": "artlist",
            "format": "json",
            "maxrecords": min(query.count, self.max_results),
            "sort": "hybridrel",
        }
        if query.freshness in TIME_SPANS:
            params["timespan"] = TIME_SPANS[query.freshness]
        elif query.freshness:
            params["startdatetime"] = f"{query.since.replace('-', '')}000000"
            params["enddatetime"] = f"{last_day(query).replace('-', '')}235959"
        return Request(f"{self.base_url(account)}/api/v2/doc/doc", params)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a rejected query, which is a sentence instead of JSON, and wait long after a refusal."""
        if response.status == 200 and response.body[:100].lstrip().startswith((b"{", b"[")):
            return None
        error = super().detect_error(response)
        is_sentence = response.status == 200 and response.body.strip()
        return error or (BadRequestError("the API reports an error", status=200) if is_sentence else None)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the articles; titles may contain raw control characters and backslashes, which JSON forbids."""
        body = ESCAPE.sub(lambda found: found[1] or b"", CONTROL.sub(b" ", response.body))
        found_nothing = body.strip() == b"{}"
        articles = [] if found_nothing else items(response._replace(body=body), "articles")
        return Found(web_results(map(_result, articles)), not_applied=unknown_language(query))

    sample_plain = Sample(
        Query("sqlite", category="news"),
        "GET https://api.gdeltproject.org/api/v2/doc/doc?query=sqlite&mode=artlist&format=json&maxrecords=10"
        "&sort=hybridrel",
        "{}",
        (),
    )
    sample_text = sample_plain._replace(headers={"content-type": "text/html; charset=utf-8"})
    samples = (
        sample_plain._replace(
            query=Query(
                "sqlite",
                lang="de",
                category="news",
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("a.example", "b.example"),
                exclude=("spam.example",),
            ),
            sends="GET https://api.gdeltproject.org/api/v2/doc/doc?query=sqlite+sourcelang%3Agerman+%28domainis%3Aa.example"
            "+OR+domainis%3Ab.example%29+-domainis%3Aspam.example&mode=artlist&format=json&maxrecords=10&sort=hybridrel"
            "&startdatetime=20261001000000&enddatetime=20261031235959",
            body="""{"articles": [{"url": "https://times.example/sqlite", "url_mobile": "", "language": "English",
             "title": "SQLite turns 26 , says U . S . author", "seendate": "20261115T081500Z",
             "socialimage": "https://times.example/i.jpg", "domain": "times.example"},
             {"url": "https://times.example/二", "title": "A \\d bad\tescape", "seendate": null}, {"url": null}, 7]}""",
            finds=("https://times.example/sqlite", "https://times.example/二"),
        ),
        sample_plain._replace(
            query=Query("sqlite", category="news", freshness="week", since="2026-11-10"),
            sends=f"{sample_plain.sends}&timespan=7d",
        ),
        sample_plain,
        sample_text._replace(
            body="Please limit requests to one every 5 seconds", status=429, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_text._replace(body="Please limit requests to one every 5 seconds", error="RATE_LIMIT_EXCEEDED"),
        sample_text._replace(body="Your query was too short or too long.", error="INVALID_REQUEST"),
        sample_text._replace(body="The specified phrase is too short.", error="INVALID_REQUEST"),
        sample_plain._replace(body='{"articles": [', error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    return Result(
        title=re.sub(r"\s([.,;:!?])", r"\1", as_text(item.get("title"))),  # words and punctuation are separated
        url=as_text(item.get("url")),
        published=as_text(item.get("seendate")),
        site=as_text(item.get("domain")),
        thumbnail=as_text(item.get("socialimage")),
    )
