"""Europe PMC: papers and preprints of the life sciences, with abstracts."""

import re

from sleuth_providers.adapters._dates import last_day
from sleuth_providers.adapters._languages import language_code, unknown_language
from sleuth_providers.adapters._papers import doi_name, doi_url, known_names, paragraphs, year_of
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, RateLimitError, UnavailableError
from sleuth_providers.json import as_count, as_dict, as_text, items, objects, web_results


class EuropePmc(Provider):
    """Pages only by cursor, so that more results are a longer list."""

    id = "europepmc"
    name = "Europe PMC"
    homepage = "https://europepmc.org/RestfulWebService"
    notes = "Life sciences; includes PubMed."
    attribution = "Europe PMC"
    host = "https://www.ebi.ac.uk"
    supports = frozenset({"freshness", "range", "lang"})
    categories = ("science",)
    max_results = 1000
    price = "free"
    per_minute = 120
    error_rules = (
        ErrorRule(200, BadRequestError, rb'"errCode"\s*:', "the API reports an error"),
        ErrorRule(429, RateLimitError, min_pause_s=2),
        ErrorRule(503, UnavailableError, min_pause_s=2),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Write filters into the query; a colon in its text would name a field."""
        clauses = [query.text.replace(":", " ").strip()]
        if query.freshness:
            clauses.append(f"FIRST_PDATE:[{query.since} TO {last_day(query)}]")
        if code := language_code(query):
            clauses.append(f"LANG:{code}")
        if len(clauses) > 1:
            clauses[0] = f"({clauses[0]})"
        params = {
            "query": " AND ".join(clauses),
            "format": "json",
            "resultType": "core",
            "synonym": "true",
            "pageSize": min(query.count, self.max_results),
        }
        return self.get(account, "/europepmc/webservices/rest/search", params)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the papers."""
        papers = items(response, "resultList", "result")
        return Found(web_results(map(_result, papers)), not_applied=unknown_language(query))

    sample_plain = Sample(
        Query("asthma", category="science"),
        "GET https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=asthma&format=json&resultType=core"
        "&synonym=true&pageSize=10",
        '{"version": "6.9", "hitCount": 0, "resultList": {"result": []}}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "asthma: adults",
                lang="en",
                category="science",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            sends=sample_plain.sends.replace(
                "query=asthma",
                "query=%28asthma++adults%29+AND+FIRST_PDATE%3A%5B2026-01-01+TO+2026-06-30%5D+AND+LANG%3Aeng",
            ),
            body="""{"version": "6.9", "hitCount": 48211, "nextCursorMark": "AoIIQKZ", "resultList": {"result": [
             {"id": "40000001", "source": "MED", "doi": "10.1000/abc", "title": "Asthma in <i>adults</i>.",
             "authorString": "Example A, Muster B.", "journalInfo": {"journal": {"title": "Journal of Examples"}},
             "pubYear": "2026", "abstractText": "<h4>Background</h4>We studied CO<sub>2</sub> …",
             "firstPublicationDate": "2026-03-02"},
             {"id": "PPR1", "source": "PPR", "title": null, "journalInfo": null, "pubYear": "2026"},
             {"id": null, "source": "MED"}, 7]}}""",
            finds=("https://doi.org/10.1000/abc", "https://europepmc.org/article/PPR/PPR1"),
        ),
        sample_plain._replace(
            query=Query("asthma", count=1, lang="xx", category="science"),
            sends=sample_plain.sends.replace("pageSize=10", "pageSize=1"),
            body='{"resultList": {"result": [{"id": "1", "source": "MED", "title": "A"}]}}',
            finds=("https://europepmc.org/article/MED/1",),
        ),
        sample_plain,
        sample_plain._replace(body='{"errCode": 404, "errMsg": "Empty query"}', error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=404, error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    source, number = as_text(item.get("source")), as_text(item.get("id"))
    page = f"https://europepmc.org/article/{source}/{number}" if source and number else ""
    journal = as_dict(as_dict(item.get("journalInfo")).get("journal"))
    info = as_dict(item.get("journalInfo"))
    published = as_text(item.get("firstPublicationDate")) or as_text(item.get("pubYear"))
    links = objects(as_dict(item.get("fullTextUrlList")).get("fullTextUrl"))
    line = as_text(item.get("authorString")).removesuffix(".")
    return Result(
        title=paragraphs(item.get("title")).removesuffix("."),
        url=doi_url(item.get("doi")) or page,
        snippet=paragraphs(item.get("abstractText")),
        published=published,
        site=as_text(journal.get("title")) or as_text(item.get("journalTitle")) or "Europe PMC",
        author=line,
        details=Details(
            authors=known_names(re.sub(r" (?=[A-Z-]{1,4}$)", ", ", name) for name in line.split(", ")),  # Example, A
            year=year_of(published),
            type="article" if source == "PPR" else "article-journal",
            venue=as_text(journal.get("title")) or as_text(item.get("journalTitle")),
            volume=as_text(info.get("volume")),
            issue=as_text(info.get("issue")),
            pages=as_text(item.get("pageInfo")),
            doi=doi_name(item.get("doi")),
            pdf=next((as_text(link.get("url")) for link in links if link.get("documentStyle") == "pdf"), ""),
            cited_by=as_count(item.get("citedByCount")),
            open_access={"Y": True, "N": False}.get(as_text(item.get("isOpenAccess"))),
        ),
    )
