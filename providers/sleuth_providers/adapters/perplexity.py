"""Perplexity Search: ranked pages with long extracts, without a written answer."""

from typing import Any

from sleuth_providers.adapters._google import american_date
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, QuotaError
from sleuth_providers.json import as_dict, as_list, as_text, document, result_of, web_results

SNIPPET_CHARS = 300


class Perplexity(Provider):
    """Takes one list of domains, either to include or to exclude."""

    id = "perplexity"
    name = "Perplexity"
    homepage = "https://docs.perplexity.ai/"
    key_page = "https://www.perplexity.ai/account/api/keys"
    notes = "Returns pages, not answers; each result has an extract of its page."
    env = ("PERPLEXITY_API_KEY", "PPLX_API_KEY")
    host = "https://api.perplexity.ai"
    host_env = ("PERPLEXITY_BASE_URL",)
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "include", "exclude", "content"})
    categories = ("general", "science")
    max_include = max_exclude = 20
    one_domain_list = True
    max_results = 20
    price = "$5 (2026-11)"
    cost = 0.005
    reads_language = True
    options = {"max_tokens_per_page": "tokens per extract (default 4096 when page text is wanted)"}
    number_options = {"max_tokens_per_page": (1, 1_000_000)}

    error_rules = tuple(ErrorRule(status, QuotaError, rb"insufficient_quota") for status in (401, 429))

    def request(self, query: Query, account: Account) -> Request:
        """Send either a period or two dates (month/day/year); the API rejects both together."""
        domains = list(query.include) or [f"-{domain}" for domain in query.exclude]
        body: dict[str, Any] = {
            "query": query.text,
            "max_results": min(query.count, self.max_results),
            "search_language_filter": [query.lang.split("-")[0].lower()] if query.lang else None,
            "country": query.region,
            "search_domain_filter": domains or None,
            "search_mode": "academic" if query.category == "science" else None,
        }
        if query.freshness == "range":
            body["search_after_date_filter"] = american_date(query.since, padded=True)
            body["search_before_date_filter"] = american_date(query.until, padded=True)
        else:
            body["search_recency_filter"] = query.freshness
        if tokens := as_text(account.options.get("max_tokens_per_page")) or ("4096" if query.content else ""):
            if not tokens.isdecimal():
                raise BadRequestError("the option max_tokens_per_page is not a number")
            body["max_tokens_per_page"] = int(tokens)
        return self.post_json(account, "/search", body)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse a flat list, or the list of lists that some versions return."""
        entries = as_list(document(response, "results").get("results"))
        hits = [hit for entry in entries for hit in (entry if isinstance(entry, list) else [entry])]
        return Found(web_results(_result(as_dict(hit), query.content) for hit in hits))

    sample_plain = Sample(
        Query("cuda 14"),
        "POST https://api.perplexity.ai/search",
        '{"id": "e38104d5", "results": [], "server_time": null}',
        (),
        account=Account(key="pplx-sample"),
        sends_body={"query": "cuda 14", "max_results": 10},
    )
    samples = (
        Sample(
            Query(
                "cuda 14",
                count=50,
                lang="zh-CN",
                region="CN",
                freshness="range",
                since="2026-09-01",
                until="2026-10-31",
                include=("example.com",),
                category="science",
                content=True,
            ),
            sample_plain.sends,
            """{"id": "e38104d5", "results": [{"title": "CUDA 14 release notes", "url": "https://example.com/cuda14",
             "snippet": "## What changed\\nThe toolkit now …", "date": "2026-09-30", "last_updated": "2026-10-04"},
             {"title": "发布说明", "url": "https://example.com/zh", "snippet": null, "date": null,
             "last_updated": "2026-10-04"}, {"title": "no address", "url": null}, 7], "server_time": null}""",
            ("https://example.com/cuda14", "https://example.com/zh"),
            account=sample_plain.account,
            sends_body={
                "query": "cuda 14",
                "max_results": 20,
                "search_language_filter": ["zh"],
                "country": "CN",
                "search_after_date_filter": "09/01/2026",
                "search_before_date_filter": "10/31/2026",
                "search_domain_filter": ["example.com"],
                "search_mode": "academic",
                "max_tokens_per_page": 4096,
            },
        ),
        sample_plain._replace(
            query=Query("cuda 14", freshness="week", since="2026-11-09", exclude=("spam.example",)),
            body='{"results": [[{"title": "One", "url": "https://example.com/1", "snippet": "…"}], []]}',
            finds=("https://example.com/1",),
            account=Account(key="pplx-sample", options={"max_tokens_per_page": "512"}),
            sends_body=sample_plain.sends_body
            | {
                "search_recency_filter": "week",
                "search_domain_filter": ["-spam.example"],
                "max_tokens_per_page": 512,
            },
        ),
        sample_plain,
        sample_plain._replace(
            body='{"error": {"message": "Bad date", "type": "invalid_request", "code": 400}}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body="<html><head><title>401 Authorization Required</title></head></html>",
            status=401,
            headers={"content-type": "text/html"},
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(
            body='{"error": {"message": "You exceeded your quota", "type": "insufficient_quota", "code": 401}}',
            status=401,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body='{"error": {"code": 402}}', status=402, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(
            body='{"detail": [{"loc": ["body", "max_results"], "msg": "too large", "type": "value_error"}]}',
            status=422,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(
            body='{"error": {"message": "Too many requests", "code": 429}}',
            status=429,
            headers={"content-type": "application/json", "retry-after": "8"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object], content: bool) -> Result:
    extract, published = as_text(item.get("snippet")), as_text(item.get("date")) or as_text(item.get("last_updated"))
    texts = result_of(item, title="title", url="url")
    return texts._replace(snippet=extract[:SNIPPET_CHARS], content=extract if content else "", published=published)
