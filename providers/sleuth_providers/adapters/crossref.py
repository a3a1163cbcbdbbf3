"""Crossref: the metadata of everything that has a DOI."""

import html
from typing import Any

from sleuth_providers.adapters._papers import (
    WORK_TYPES,
    author_names,
    doi_name,
    doi_url,
    filters,
    known_names,
    paragraphs,
    year_of,
)
from sleuth_providers.base import Account, Details, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.json import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_text,
    items,
    objects,
    strip_tags,
    web_results,
)

FIELDS = (
    "DOI,title,container-title,author,abstract,published,type,publisher,score,"
    "is-referenced-by-count,volume,issue,page,ISBN"
)
BOOK_TYPES = "type:book,type:monograph,type:edited-book"  # any of them
MAX_OFFSET = 10_000


class Crossref(Provider):
    """A contact address is optional: with one, Crossref allows three requests a second instead of one."""

    id = "crossref"
    name = "Crossref"
    homepage = "https://www.crossref.org/documentation/retrieve-metadata/rest-api/"
    notes = "Searches metadata, not full texts; many works have no abstract. Answers may take 10 seconds."
    host = "https://api.crossref.org"
    supports = frozenset({"freshness", "range", "page"})
    categories = ("science", "books")
    max_results = 100
    price = "free"
    per_minute = 60
    options = {
        "mailto": "your e-mail address, sent with each request; allows a higher rate",
        "type": "kind of work, such as journal-article or book",
    }

    def request(self, query: Query, account: Account) -> Request:
        """Request only the fields in use, which is much faster."""
        rows = min(query.count, self.max_results)
        kind = as_text(account.options.get("type"))
        conditions = filters({"from-pub-date": query.since, "until-pub-date": query.until, "type": kind})
        if query.category == "books" and not kind:
            conditions = ",".join(filter(None, [conditions, BOOK_TYPES]))
        params = {
            "query": query.text,
            "rows": rows,
            "select": FIELDS,
            "filter": conditions,
            "offset": min((query.page - 1) * rows, MAX_OFFSET) or None,
            "mailto": account.options.get("mailto") or account.contact,
        }
        return self.get(account, "/works", params)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the works; supplements of works are skipped."""
        works = (item for item in items(response, "message", "items") if item.get("type") != "component")
        return Found(web_results(map(_result, works)))

    sample_plain = Sample(
        Query("sparse retrieval", category="science"),
        "GET https://api.crossref.org/works?query=sparse+retrieval&rows=10&select=DOI%2Ctitle%2Ccontainer-title"
        "%2Cauthor%2Cabstract%2Cpublished%2Ctype%2Cpublisher%2Cscore%2Cis-referenced-by-count%2Cvolume%2Cissue%2Cpage%2CISBN",
        '{"status": "ok", "message-type": "work-list", "message": {"total-results": 0, "items": []}}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "sparse retrieval",
                page=3,
                category="science",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            sends=f"{sample_plain.sends}&filter=from-pub-date%3A2026-01-01%2Cuntil-pub-date%3A2026-06-30%2Ctype%3Abook&offset=20"
            "&mailto=me%40example.org",
            body="""{"status": "ok", "message-type": "work-list", "message": {"total-results": 5321, "items": [
             {"DOI": "10.1000/abc", "type": "journal-article", "title": ["Sparse &amp; dense retrieval"],
             "container-title": ["J. Search"], "author": [{"given": "Ada", "family": "Example", "sequence": "first"},
             {"name": "The Group"}], "published": {"date-parts": [[2026, 3]]}, "publisher": "Example Press",
             "abstract": "<jats:title>Abstract</jats:title><jats:p>H<jats:sub>2</jats:sub>O &amp;amp; …</jats:p>",
             "score": 31.2},
             {"DOI": "10.1000/二", "title": [], "container-title": ["期刊"], "published": {"date-parts": [[null]]},
             "author": null, "abstract": null}, {"DOI": "10.1000/abc.s1", "type": "component"}, {"DOI": null}, 7]}}""",
            finds=("https://doi.org/10.1000/abc", "https://doi.org/10.1000/二"),
            account=Account(options={"mailto": "me@example.org", "type": "book"}),
        ),
        sample_plain,
        sample_plain._replace(
            query=Query("sparse retrieval", category="books"),
            sends=f"{sample_plain.sends}&filter=type%3Abook%2Ctype%3Amonograph%2Ctype%3Aedited-book",
        ),
        sample_plain._replace(body="<html>Too many requests</html>", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(
            body='{"status": "failed", "message-type": "validation-failure", "message": [{"type": "…"}]}',
            status=400,
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body="Resource not found.", status=404, error="BAD_RESPONSE"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(body="", status=504, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    journal = _first(item.get("container-title"))
    names = known_names(
        as_text(author.get("name")) or f"{as_text(author.get('given'))} {as_text(author.get('family'))}".strip()
        for author in objects(item.get("author"))
    )
    published = _date(item.get("published"))
    return Result(
        title=_first(item.get("title")) or journal,
        url=doi_url(item.get("DOI")),
        snippet=html.unescape(paragraphs(item.get("abstract"))),  # entities are encoded twice
        published=published,
        site=journal or as_text(item.get("publisher")),
        score=as_number(item.get("score")),
        author=author_names(names),
        details=Details(
            authors=names,
            year=year_of(published),
            type=WORK_TYPES.get(as_text(item.get("type")), ""),
            venue=journal,
            publisher=as_text(item.get("publisher")),
            volume=as_text(item.get("volume")),
            issue=as_text(item.get("issue")),
            pages=as_text(item.get("page")),
            doi=doi_name(item.get("DOI")),
            isbn=_first(item.get("ISBN")),
            cited_by=as_count(item.get("is-referenced-by-count")),
        ),
    )


def _first(value: Any) -> str:
    return next((strip_tags(text) for text in as_list(value) if isinstance(text, str)), "")


def _date(value: Any) -> str:
    """Return `date-parts` as year, year and month, or date."""
    parts = [as_number(part) for part in as_list(next(iter(as_list(as_dict(value).get("date-parts"))), None))]
    known = [f"{part:02.0f}" for part in parts[:3] if part]
    return "-".join(known)
