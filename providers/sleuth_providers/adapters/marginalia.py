"""Marginalia: a small index of non-commercial text pages; uses a shared key when none is set."""

from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample, base_url
from sleuth_providers.errors import OWN_KEY_HINT, KeyInvalidError, ProviderError, QuotaError, RateLimitError
from sleuth_providers.json import as_text, items, strip_tags, web_results

STOP_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "can", "do", "does", "for", "how", "i", "in", "is", "it", "my", "of", "on", "or"),
        *("should", "that", "the", "to", "was", "what", "when", "where", "which", "who", "why", "with", "you"),
    ]
)


class Marginalia(Provider):
    """Matches every word of a query, so that stop words of long questions are removed."""

    id = "marginalia"
    name = "Marginalia"
    homepage = "https://about.marginalia-search.com/article/api/"
    key_page = "https://about.marginalia-search.com/article/api/"
    notes = "Results are under CC-BY-NC-SA 4.0. The shared key is often over its limit; a key of your own is free."
    env = ("MARGINALIA_API_KEY",)
    host = "https://api2.marginalia-search.com"
    supports = frozenset({"lang", "safe", "page"})
    operators = True
    max_include = 1
    max_results = 100
    price = "free for non-commercial use (2026-11)"
    options = {
        "per_domain": "results per domain (default 2)",
        "timeout": "milliseconds for the search (default 150)",
        "filter": "name of a filter defined for the key",
    }

    def request(self, query: Query, account: Account) -> Request:
        """Use the shared key when none is set."""
        params: dict[str, str | int] = {
            "query": _keywords(query),
            "count": min(query.count, self.max_results),
            "nsfw": 0 if query.safe == "off" else 1,
        }
        if query.page > 1:
            params["page"] = query.page
        if query.lang:
            params["lang"] = query.lang.split("-")[0].lower()
        for option, name in (("per_domain", "dc"), ("timeout", "timeout"), ("filter", "filter")):
            if value := as_text(account.options.get(option)):
                params[name] = value
        headers = {"API-Key": account.key or "public"}
        return Request(f"{base_url(account, self.host)}/search", params, headers=headers)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Parse errors in plain text: which limit was exceeded, or an invalid key."""
        if response.status == 400 and b"API-Key" in response.body:
            return KeyInvalidError(status=400)
        if response.status != 429:
            return None
        if b"QPM" in response.body:
            return RateLimitError(status=429, hint=OWN_KEY_HINT)
        return QuotaError(status=429, hint=OWN_KEY_HINT)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; `quality` is not used as a score, because lower is better."""
        return Found(web_results(map(_result, items(response, "results"))))

    _plain = Sample(
        Query("plan 9"),
        "GET https://api2.marginalia-search.com/search?query=plan+9&count=10&nsfw=1",
        '{"license": "CC-BY-NC-SA 4.0", "page": 1, "pages": 0, "query": "plan 9", "results": []}',
        (),
    )
    _refused = _plain._replace(headers={"content-type": "text/plain"}, account=Account(key="marginalia-sample"))
    samples = (
        Sample(
            Query(
                "how does the plan 9 file system work?",
                count=20,
                page=2,
                lang="sv-SE",
                safe="off",
                include=("9p.io",),
                exclude=("spam.example",),
            ),
            "GET https://api2.marginalia-search.com/search?query=plan+9+file+system+work+site%3A9p.io+-site%3Aspam.example"
            "&count=20&nsfw=0&page=2&lang=sv&dc=5",
            """{"license": "CC-BY-NC-SA 4.0", "page": 2, "pages": 3, "query": "plan 9", "results": [
             {"url": "https://9p.io/plan9/", "title": "Plan 9 from Bell Labs",
             "description": "An operating system &amp; more", "quality": 3.7, "format": "html5",
             "details": [[{"keyword": "plan", "count": 12}]]},
             {"url": "https://9p.io/二", "title": null, "description": null, "quality": null}, {"url": null}, 7]}""",
            ("https://9p.io/plan9/", "https://9p.io/二"),
            account=Account(key="marginalia-sample", options={"per_domain": 5}),
        ),
        _plain._replace(query=Query("plan 9", include=("a.example", "b.example"))),
        _plain,
        _refused._replace(body="Missing API-Key header", status=400, error="API_KEY_INVALID"),
        _refused._replace(body="", status=400, error="INVALID_REQUEST"),
        _refused._replace(body="", status=401, error="API_KEY_INVALID"),
        _refused._replace(body="QPM Limit Exceeded", status=429, error="RATE_LIMIT_EXCEEDED"),
        _refused._replace(body="Daily Limit Exceeded", status=429, error="RATE_LIMIT_EXCEEDED"),
        _refused._replace(body="API-Limit-Billable-Requests reached", status=429, error="RATE_LIMIT_EXCEEDED"),
        _refused._replace(body="Query Execution Failed", status=500, error="PROVIDER_UNAVAILABLE"),
        _refused._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
        _refused._replace(body="", status=504, error="PROVIDER_UNAVAILABLE"),
    )


def _keywords(query: Query) -> str:
    words = query.text.split()
    if len(words) > 4 and '"' not in query.text:
        words = [word.rstrip("?") for word in words if word.lower().strip("?,.") not in STOP_WORDS] or words
    return query._replace(text=" ".join(words)).with_operators(include=len(query.include) == 1)


def _result(item: dict[str, object]) -> Result:
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("url")),
        snippet=strip_tags(item.get("description")),
    )
