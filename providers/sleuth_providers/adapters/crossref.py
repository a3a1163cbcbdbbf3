"""Crossref: the metadata of everything that has a DOI."""

import html
from typing import Any

from sleuth_providers.adapters._papers import author_names, doi_url, filters, paragraphs
from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.json import as_dict, as_list, as_number, as_text, items, objects, strip_tags, web_results

FIELDS = "DOI,title,container-title,author,abstract,published,type,publisher,score"
MAX_OFFSET = 10_000


class Crossref(Provider):
    """A contact address is optional: with one, Crossref allows three requests a second instead of one."""

    id = "crossref"
    name = "Crossref"
    homepage = "https://www.crossref.org/documentation/retrieve-metadata/rest-api/"
    notes = "Searches metadata, not full texts; many works have no abstract. Answers may take 10 seconds."
    host = "https://api.crossref.org"
    supports = frozenset({"freshness", "range", "page"})
    categories = ("science",)
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
        params = {
            "query": query.text,
            "rows": rows,
            "select": FIELDS,
            "filter": filters({"from-pub-date": query.since, "until-pub-date": query.until, "type": kind}),
            "offset": min((query.page - 1) * rows, MAX_OFFSET) or None,
            "mailto": account.options.get("mailto"),
        }
        return self.get(account, "/works", params)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the works; supplements of works are skipped."""
        works = (item for item in items(response, "message", "items") if item.get("type") != "component")
        return Found(web_results(map(_result, works)))

    sample_plain = Sample(
        Query("sparse retrieval", category="science"),
        "GET https://api.crossref.org/works?query=sparse+retrieval&rows=10&select=DOI%2Ctitle%2Ccontainer-title"
        "%2Cauthor%2Cabstract%2Cpublished%2Ctype%2Cpublisher%2Cscore",
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
    names = (
        as_text(author.get("name")) or f"{as_text(author.get('given'))} {as_text(author.get('family'))}".strip()
        for author in objects(item.get("author"))
    )
    return Result(
        title=_first(item.get("title")) or journal,
        url=doi_url(item.get("DOI")),
        snippet=html.unescape(paragraphs(item.get("abstract"))),  # entities are encoded twice
        published=_date(item.get("published")),
        site=journal or as_text(item.get("publisher")),
        score=as_number(item.get("score")),
        author=author_names(names),
    )


def _first(value: Any) -> str:
    return next((strip_tags(text) for text in as_list(value) if isinstance(text, str)), "")


def _date(value: Any) -> str:
    """Return `date-parts` as year, year and month, or date."""
    parts = [as_number(part) for part in as_list(next(iter(as_list(as_dict(value).get("date-parts"))), None))]
    known = [f"{part:02.0f}" for part in parts[:3] if part]
    return "-".join(known)
