"""Stack Exchange: questions and answers of Stack Overflow and its sister sites."""

import re

from sleuth_providers.adapters._dates import unix_time
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, BadRequestError, QuotaError
from sleuth_providers.json import MAX_COUNT, as_count, as_number, as_text, document, items, strip_tags, web_results

# Sites with their own domain; the others are at NAME.stackexchange.com.
OWN_DOMAINS = {
    "stackoverflow": "stackoverflow.com",
    "serverfault": "serverfault.com",
    "superuser": "superuser.com",
    "askubuntu": "askubuntu.com",
    "mathoverflow.net": "mathoverflow.net",
    "stackapps": "stackapps.com",
}
LANGUAGE_SITES = ("es", "ja", "pt", "ru")  # of Stack Overflow


class StackExchange(Provider):
    """Searches one site at a time; its errors are HTTP 400."""

    id = "stackexchange"
    name = "Stack Exchange"
    homepage = "https://api.stackexchange.com/docs/excerpt-search"
    key_page = "https://stackapps.com/apps/oauth/register"
    notes = (
        "Works without a key, for 300 requests a day per IP address; a free key allows 10,000. "
        "Engines: any site, such as stackoverflow (default), superuser or unix. Few keywords find more than a "
        "question. Posts are under CC BY-SA."
    )
    attribution = "Stack Exchange contributors, CC BY-SA"
    env = ("STACKEXCHANGE_KEY",)
    host = "https://api.stackexchange.com"
    supports = frozenset({"freshness", "range", "lang", "page", "include", "engines"})
    categories = ("it",)
    max_include = 1
    max_results = 100
    price = "free"
    per_minute = 60
    # A limit is HTTP 400, and the seconds to wait are in the text.
    error_rules = (
        *(
            ErrorRule(status, QuotaError, rb"throttle_violation", hint=OWN_KEY_HINT, pause=rb"in (\d{1,6}) seconds")
            for status in (400, 403, 502)
        ),
        ErrorRule(403, BadRequestError, rb"access_denied", "pages beyond 25 need a key"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Sort by relevance; the default of the API is activity."""
        params = {
            "site": self._site(query, account),
            "q": query.text,
            "sort": "relevance",
            "order": "desc",
            "pagesize": min(query.count, self.max_results),
            "page": query.page if query.page > 1 else None,
            "fromdate": unix_time(query.since),
            "todate": unix_time(query.until, 1),
            "key": account.key,
        }
        return self.get(account, "/2.3/search/excerpts", params)

    def _site(self, query: Query, account: Account) -> str:
        if query.include and (site := _site_of(query.include[0])):
            return site
        lang = query.lang.split("-")[0].lower()
        default = f"{lang}.stackoverflow" if lang in LANGUAGE_SITES else "stackoverflow"
        return (*query.engines, *account.engines, default)[0]

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add domains that are not of Stack Exchange, and languages without a site."""
        ignored = set(super().not_applied(query))
        if query.include and not _site_of(query.include[0]):
            ignored.add("include")
        if query.lang.split("-")[0].lower() not in ("", "en", *LANGUAGE_SITES):
            ignored.add("lang")
        return tuple(sorted(ignored))

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the excerpts, whose fields lack the address, and the pause, which is mandatory."""
        domain = _domain(_asked_site(response, self._site(query, Account())))
        backoff = as_number(document(response).get("backoff")) or 0.0
        return Found(web_results(_result(item, domain) for item in items(response, "items")), backoff=backoff)

    sample_plain = Sample(
        Query("asyncio cancel", category="it"),
        "GET https://api.stackexchange.com/2.3/search/excerpts?site=stackoverflow&q=asyncio+cancel&sort=relevance"
        "&order=desc&pagesize=10",
        '{"items": [], "has_more": false, "quota_max": 300, "quota_remaining": 299}',
        (),
    )
    samples = (
        Sample(
            Query(
                "asyncio cancel",
                count=200,
                page=2,
                category="it",
                freshness="range",
                since="2026-01-01",
                until="2026-01-31",
                include=("unix.stackexchange.com",),
            ),
            "GET https://api.stackexchange.com/2.3/search/excerpts?site=unix&q=asyncio+cancel&sort=relevance&order=desc"
            "&pagesize=100&page=2&fromdate=1767225600&todate=1769904000&key=se-sample",
            """{"items": [{"tags": ["python", "asyncio"], "question_score": 12, "is_answered": true, "answer_count": 3,
             "item_type": "question", "score": 12, "last_activity_date": 1790000000, "creation_date": 1780000000,
             "question_id": 71000001, "title": "How to cancel an asyncio &quot;TaskGroup&quot;?",
             "excerpt": "… call <span class=\\"highlight\\">cancel</span> on …"},
             {"item_type": "answer", "question_id": 71000001, "answer_id": 71000002, "title": null, "score": -1},
             {"item_type": "question", "question_id": "x"}, 7], "has_more": false, "backoff": 10,
             "quota_max": 10000, "quota_remaining": 9999}""",
            ("https://unix.stackexchange.com/q/71000001", "https://unix.stackexchange.com/a/71000002"),
            account=Account(key="se-sample"),
        ),
        sample_plain._replace(
            query=Query("asyncio", lang="ja", category="it", freshness="day", since="2026-11-16"),
            sends="GET https://api.stackexchange.com/2.3/search/excerpts?site=ja.stackoverflow&q=asyncio&sort=relevance"
            "&order=desc&pagesize=10&fromdate=1794787200",
            body='{"items": [{"item_type": "question", "question_id": 7, "title": "非同期"}]}',
            finds=("https://ja.stackoverflow.com/q/7",),
        ),
        sample_plain._replace(
            query=Query("asyncio cancel", category="it", engines=("superuser",)),
            sends=sample_plain.sends.replace("site=stackoverflow", "site=superuser"),
            body='{"items": [{"item_type": "question", "question_id": 8, "title": "A"}]}',
            finds=("https://superuser.com/q/8",),
        ),
        sample_plain,
        sample_plain._replace(
            body="""{"error_id": 502, "error_name": "throttle_violation",
             "error_message": "too many requests from this IP, more requests available in 4821 seconds"}""",
            status=400,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"error_id": 400, "error_name": "bad_parameter", "error_message": "site"}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"error_id": 403, "error_name": "access_denied", "error_message": "page above 25"}',
            status=403,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _site_of(domain: str) -> str:
    """Return the name of the site at a domain, empty for other domains."""
    named = {host: site for site, host in OWN_DOMAINS.items()}
    part = re.fullmatch(r"([\w-]+(?:\.meta)?)\.stackexchange\.com|((?:es|ja|pt|ru)\.stackoverflow)\.com", domain)
    return named.get(domain, "") or (part[1] or part[2] if part else "")


def _domain(site: str) -> str:
    if site.endswith(".stackoverflow"):
        return f"{site}.com"
    return OWN_DOMAINS.get(site, f"{site}.stackexchange.com")


def _asked_site(response: Response, default: str) -> str:
    """Return the site in the URL of the response: the account may name another than the query."""
    site = re.search(r"[?&]site=([\w.-]{1,60})", response.url)
    return site[1] if site else default


def _result(item: dict[str, object], domain: str) -> Result:
    is_answer = item.get("item_type") == "answer"
    number = as_text(item.get("answer_id" if is_answer else "question_id"))
    accepted = item.get("is_accepted" if is_answer else "has_accepted_answer")
    return Result(
        title=strip_tags(item.get("title")),
        url=f"https://{domain}/{'a' if is_answer else 'q'}/{number}" if number.isdecimal() else "",
        snippet=" ".join(strip_tags(item.get("excerpt")).split()),
        published=as_text(item.get("creation_date")),
        site=domain,
        details=Details(
            points=_votes(item.get("score")),
            answer_count=None if is_answer else as_count(item.get("answer_count")),
            accepted=accepted if isinstance(accepted, bool) else None,
            license="CC BY-SA",
        ),
    )


def _votes(value: object) -> int | None:
    """Return the votes of a post, which may be negative."""
    number = as_number(value)
    return int(number) if number is not None and abs(number) < MAX_COUNT else None
