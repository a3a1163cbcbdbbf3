"""Semantic Scholar: papers of all disciplines, with abstracts or one-sentence summaries."""

import re

from sleuth_providers.adapters._papers import author_names, doi_name, doi_url, known_names, year_of
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, RateLimitError
from sleuth_providers.json import as_count, as_dict, as_text, items, objects, web_results

FIELDS = (
    "title,abstract,tldr,url,year,publicationDate,authors,venue,externalIds,citationCount,openAccessPdf,isOpenAccess"
)


class SemanticScholar(Provider):
    """All users without a key share one limit, so that a refusal says nothing about this one."""

    id = "semantic-scholar"
    name = "Semantic Scholar"
    homepage = "https://api.semanticscholar.org/api-docs/"
    key_page = "https://www.semanticscholar.org/product/api#api-key"
    notes = "Without a key all users share one limit, which is often exceeded."
    attribution = "Data from Semantic Scholar"
    env = ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY")
    host = "https://api.semanticscholar.org"
    supports = frozenset({"freshness", "range", "page"})
    categories = ("science",)
    max_results = 100
    price = "free"
    per_minute = 60
    error_rules = (ErrorRule(429, RateLimitError, hint=OWN_KEY_HINT, min_pause_s=3),)

    def request(self, query: Query, account: Account) -> Request:
        """Replace hyphens, which match badly, and operators, which do not exist."""
        count = min(query.count, self.max_results)
        params = {
            "query": " ".join(re.sub(r'[-+"|()*~]', " ", query.text).split()),
            "fields": FIELDS,
            "limit": count,
            "offset": (query.page - 1) * count or None,
            "publicationDateOrYear": f"{query.since}:{query.until}" if query.freshness else None,
        }
        return self.get(account, "/graph/v1/paper/search", params, {"x-api-key": account.key} if account.key else {})

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the papers."""
        return Found(web_results(map(_result, items(response, "data", envelope="total"))))

    sample_plain = Sample(
        Query("sparse retrieval", category="science"),
        "GET https://api.semanticscholar.org/graph/v1/paper/search?query=sparse+retrieval&fields=title%2Cabstract%2Ctldr"
        "%2Curl%2Cyear%2CpublicationDate%2Cauthors%2Cvenue%2CexternalIds%2CcitationCount%2CopenAccessPdf%2CisOpenAccess&limit=10",
        '{"total": 0, "offset": 0}',
        (),
    )
    sample_keyed = sample_plain._replace(account=Account(key="s2-sample"))
    samples = (
        sample_keyed._replace(
            query=Query(
                'sparse-retrieval "bm25"',
                page=2,
                category="science",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            sends=sample_plain.sends.replace("sparse+retrieval", "sparse+retrieval+bm25")
            + "&offset=10&publicationDateOrYear=2026-01-01%3A2026-06-30",
            body="""{"total": 812, "offset": 10, "next": 20, "data": [{"paperId": "649d",
             "externalIds": {"DOI": "10.1000/abc"}, "url": "https://www.semanticscholar.org/paper/649d",
             "title": "Sparse retrieval", "abstract": null, "tldr": {"text": "Sparse wins."}, "venue": "SIGIR",
             "year": 2026, "publicationDate": "2026-03-02", "authors": [{"name": "Ada Example"}, null]},
             {"paperId": "649e", "externalIds": null, "url": "https://www.semanticscholar.org/paper/649e",
             "title": "二", "abstract": "摘要", "tldr": null, "venue": "", "year": 2025, "publicationDate": null},
             {"url": null}, 7]}""",
            finds=("https://doi.org/10.1000/abc", "https://www.semanticscholar.org/paper/649e"),
        ),
        sample_plain._replace(
            query=Query("sparse retrieval", category="science", freshness="year", since="2025-11-17"),
            sends=f"{sample_plain.sends}&publicationDateOrYear=2025-11-17%3A",
        ),
        sample_plain,
        sample_plain._replace(
            body='{"message": "Too Many Requests. Please wait and try again …", "code": "429"}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_keyed._replace(body='{"message": "Forbidden"}', status=403, error="API_KEY_INVALID"),
        sample_plain._replace(body='{"error": "offset + limit must be < 1000"}', status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body='{"error": "not found"}', status=404, error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=504, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    ids = as_dict(item.get("externalIds"))
    authors = known_names(author.get("name") for author in objects(item.get("authors")))
    is_open = item.get("isOpenAccess")
    return Result(
        title=as_text(item.get("title")),
        url=doi_url(ids.get("DOI")) or as_text(item.get("url")),
        snippet=as_text(item.get("abstract")) or as_text(as_dict(item.get("tldr")).get("text")),
        published=as_text(item.get("publicationDate")) or as_text(item.get("year")),
        site=as_text(item.get("venue")) or "Semantic Scholar",
        author=author_names(authors),
        details=Details(
            authors=authors,
            year=year_of(item.get("year")) or year_of(item.get("publicationDate")),
            venue=as_text(item.get("venue")),
            doi=doi_name(ids.get("DOI")),
            arxiv=as_text(ids.get("ArXiv")),
            pdf=as_text(as_dict(item.get("openAccessPdf")).get("url")),
            cited_by=as_count(item.get("citationCount")),
            open_access=is_open if isinstance(is_open, bool) else None,
        ),
    )
