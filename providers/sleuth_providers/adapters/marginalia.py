"""Marginalia: a small index of non-commercial text pages; uses a shared key when none is set."""

from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Sample
from sleuth_providers.errors import OWN_KEY_HINT, KeyInvalidError, QuotaError, RateLimitError
from sleuth_providers.json import as_text, items, marked_result_of, web_results

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
    attribution = "Marginalia Search, CC BY-NC-SA 4.0"
    env = ("MARGINALIA_API_KEY",)
    host = "https://api2.marginalia-search.com"
    supports = frozenset({"lang", "safe", "page"})
    operators = True
    max_include = 1
    max_results = 100
    price = "free for non-commercial use (2026-11)"
    weight = 0.6  # a small index of its own
    opt_in = True
    options = {
        "per_domain": "results per domain (default 2)",
        "timeout": "milliseconds for the search (default 150)",
        "filter": "name of a filter defined for the key",
    }
    number_options = {"per_domain": (1, 1000)}

    error_rules = (
        ErrorRule(400, KeyInvalidError, rb"API-Key"),
        ErrorRule(429, RateLimitError, rb"QPM", hint=OWN_KEY_HINT),
        ErrorRule(429, QuotaError, hint=OWN_KEY_HINT),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Use the shared key when none is set."""
        params = {
            "query": _keywords(query),
            "count": min(query.count, self.max_results),
            "nsfw": 0 if query.safe == "off" else 1,
            "page": query.page if query.page > 1 else None,
            "lang": query.lang.split("-")[0].lower(),
            "dc": as_text(account.options.get("per_domain")),
            "timeout": as_text(account.options.get("timeout")),
            "filter": as_text(account.options.get("filter")),
        }
        return self.get(account, "/search", params, {"API-Key": account.key or "public"})

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results; `quality` is not used as a score, because lower is better."""
        names = {"title": "title", "url": "url", "snippet": "description"}
        return Found(web_results(marked_result_of(item, **names) for item in items(response, "results")))

    sample_plain = Sample(
        Query("plan 9"),
        "GET https://api2.marginalia-search.com/search?query=plan+9&count=10&nsfw=1",
        '{"license": "CC-BY-NC-SA 4.0", "page": 1, "pages": 0, "query": "plan 9", "results": []}',
        (),
    )
    sample_refused = sample_plain._replace(
        headers={"content-type": "text/plain"}, account=Account(key="marginalia-sample")
    )
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
        sample_plain,
        sample_refused._replace(body="Missing API-Key header", status=400, error="API_KEY_INVALID"),
        sample_refused._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_refused._replace(body="", status=401, error="API_KEY_INVALID"),
        sample_refused._replace(body="QPM Limit Exceeded", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_refused._replace(body="Daily Limit Exceeded", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_refused._replace(body="API-Limit-Billable-Requests reached", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_refused._replace(body="Query Execution Failed", status=500, error="PROVIDER_UNAVAILABLE"),
        sample_refused._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
        sample_refused._replace(body="", status=504, error="PROVIDER_UNAVAILABLE"),
    )


def _keywords(query: Query) -> str:
    words = query.text.split()
    if len(words) > 4 and '"' not in query.text:
        words = [word.rstrip("?") for word in words if word.lower().strip("?,.") not in STOP_WORDS] or words
    return query._replace(text=" ".join(words)).with_operators()
