"""arXiv: preprints with abstracts."""

import re

from sleuth_providers.adapters._contact import contact_headers
from sleuth_providers.adapters._dates import last_day
from sleuth_providers.adapters._feed import attribute, elements, feed_elements, field, plain_field
from sleuth_providers.adapters._papers import author_names, doi_name, known_names, year_of
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError, ProviderError, RateLimitError, UnavailableError
from sleuth_providers.json import web_results

MAX_TERMS = 30
MIN_PAUSE_S = 3.0  # between two requests, by the terms of arXiv
FIRST_PAGE = re.compile(rb"totalResults[^<>]{0,200}>[1-9].{0,500}startIndex[^<>]{0,200}>0<", re.DOTALL)


class Arxiv(Provider):
    """Sends one clause per word, because arXiv searches for any of several words."""

    id = "arxiv"
    name = "arXiv"
    homepage = "https://info.arxiv.org/help/api/"
    notes = "arXiv allows one request every 3 seconds, and may refuse more when it is busy."
    attribution = "Thank you to arXiv for use of its open access interoperability"
    host = "https://export.arxiv.org"
    supports = frozenset({"freshness", "range", "page"})
    categories = ("science",)
    max_results = 50
    price = "free"
    per_minute = 20
    error_rules = (
        ErrorRule(429, RateLimitError, min_pause_s=MIN_PAUSE_S),
        ErrorRule(503, UnavailableError, min_pause_s=MIN_PAUSE_S),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Write dates into the query, to the minute."""
        clauses = _clauses(query.text)
        if query.freshness:
            first, last = query.since.replace("-", ""), last_day(query).replace("-", "")
            clauses.append(f"submittedDate:[{first}0000 TO {last}2359]")
        count = min(query.count, self.max_results)
        start = (query.page - 1) * count or None
        params = {"search_query": " AND ".join(clauses), "max_results": count, "start": start}
        return self.get(account, "/api/query", params, contact_headers(account))

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a rejected query, which is an entry, and a first page that should have entries but has none."""
        if response.status in (200, 400) and b"arxiv.org/api/errors" in response.body[:5000]:
            return BadRequestError("the API reports an error", status=response.status)
        is_incomplete = response.status == 200 and b"<entry" not in response.body and FIRST_PAGE.search(response.body)
        if is_incomplete:
            return UnavailableError("the feed is incomplete", status=200, retry_after=MIN_PAUSE_S)
        return super().detect_error(response)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the Atom feed."""
        return Found(web_results(map(_result, feed_elements(response, "feed", "entry"))))

    sample_plain = Sample(
        Query("sparse retrieval", category="science"),
        "GET https://export.arxiv.org/api/query?search_query=all%3Asparse+AND+all%3Aretrieval&max_results=10",
        """<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title>
         <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">0</opensearch:totalResults>
         </feed>""",
        (),
        headers={"content-type": "application/atom+xml; charset=utf-8"},
    )
    samples = (
        sample_plain._replace(
            query=Query(
                'graph "sparse retrieval" ti:(x)',
                count=20,
                page=2,
                category="science",
                freshness="week",
                since="2026-11-10",
                today="2026-11-17",
            ),
            sends="GET https://export.arxiv.org/api/query?search_query=all%3Agraph+AND+all%3A%22sparse+retrieval%22+AND+all"
            "%3Ati+AND+all%3Ax+AND+submittedDate%3A%5B202611100000+TO+202611172359%5D&max_results=20&start=20",
            body="""<feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title>
             <entry><id>http://arxiv.org/abs/2609.01234v1</id><updated>2026-09-02T10:00:00Z</updated>
             <published>2026-09-01T17:59:00Z</published><title>Sparse
              retrieval &amp; more</title><summary>  We show
              that $x &lt; y$ … </summary><author><name>Ada Example</name></author><author><name>李雷</name></author>
             <category term="cs.IR"/>
             <arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom">J. Search 1</arxiv:journal_ref>
             <link title="pdf" href="http://arxiv.org/pdf/2609.01234v1" type="application/pdf"/></entry>
             <entry><title>No address</title></entry><entry><title>Broken""",
            finds=("https://arxiv.org/abs/2609.01234v1",),
        ),
        sample_plain,
        sample_plain._replace(
            body="""<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#incorrect_id</id>
             <title>Error</title><summary>malformed query</summary></entry></feed>""",
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_plain._replace(
            body="""<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>812</opensearch:totalResults>
             <opensearch:startIndex>0</opensearch:startIndex></feed>""",
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain._replace(body="Rate exceeded.", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(body="<html></html>", error="BAD_RESPONSE"),
    )


def _clauses(text: str) -> list[str]:
    """Return a clause for each word and each phrase in quotes."""
    terms = [(phrase or word).strip() for phrase, word in re.findall(r'"([^"]+)"|([^\s"():]+)', text)]
    return [f'all:"{term}"' if " " in term else f"all:{term}" for term in terms if term][:MAX_TERMS] or ["all:"]


def _result(entry: str) -> Result:
    authors = known_names(plain_field(author, "name") for _, author in elements(entry, "author"))
    links = (attributes for attributes, _ in elements(entry, "link") if attribute(attributes, "title") == "pdf")
    pdf = attribute(next(links, ""), "href").replace("http://", "https://", 1)
    page, published = field(entry, "id"), field(entry, "published")
    return Result(
        title=_line(entry, "title"),
        url=page.replace("http://", "https://", 1),
        snippet=_line(entry, "summary"),
        published=published,
        site=plain_field(entry, "arxiv:journal_ref") or "arXiv",
        author=author_names(authors),
        details=Details(
            authors=authors,
            year=year_of(published),
            type="article",
            venue=plain_field(entry, "arxiv:journal_ref"),
            doi=doi_name(plain_field(entry, "arxiv:doi")),
            arxiv=page.partition("/abs/")[2],
            pdf=pdf,
            open_access=True,
        ),
    )


def _line(entry: str, name: str) -> str:
    """Return a field on one line; it has no tags, and formulas contain `<`."""
    return " ".join(field(entry, name).split())
