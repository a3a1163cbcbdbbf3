"""Open Library: the book catalogue of the Internet Archive."""

import re

from sleuth_providers.adapters._contact import contact_headers
from sleuth_providers.adapters._languages import language_code, unknown_language
from sleuth_providers.adapters._papers import author_names, known_names, year_of
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import RateLimitError
from sleuth_providers.json import as_count, as_list, as_text, items, web_results

FIELDS = "key,title,subtitle,author_name,first_publish_year,cover_i,edition_count,first_sentence,publisher,isbn"


class OpenLibrary(Provider):
    """Dates are years, so that only a period of a year and a range are supported."""

    id = "openlibrary"
    name = "Open Library"
    homepage = "https://openlibrary.org/dev/docs/api/search"
    notes = "Books only, in the category general too. Dates are years of the first edition."
    host = "https://openlibrary.org"
    supports = frozenset({"range", "lang", "page"})
    categories = ("books", "general")
    max_results = 50  # each with the ISBNs of all editions
    price = "free"
    per_minute = 60
    weight = 0.8  # reliable, but narrow
    # There are no keys, so that 403 is a limit too.
    error_rules = tuple(ErrorRule(status, RateLimitError, min_pause_s=5) for status in (403, 429))

    def request(self, query: Query, account: Account) -> Request:
        """Write filters into the query, whose own operators are removed."""
        words = [" ".join(re.sub(r'[:"()\[\]{}^~\\/]', " ", query.text).split())]
        if code := language_code(query):
            words.append(f"language:{code}")
        if query.freshness in ("year", "range"):
            last = query.until[:4] if query.freshness == "range" else "*"
            words.append(f"first_publish_year:[{query.since[:4]} TO {last}]")
        params = {
            "q": " AND ".join(words),
            "fields": FIELDS,
            "limit": min(query.count, self.max_results),
            "page": query.page if query.page > 1 else None,
        }
        return self.get(account, "/search.json", params, contact_headers(account))

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Remove a freshness of a year, which is applied."""
        ignored = super().not_applied(query)
        return tuple(name for name in ignored if not (name == "freshness" and query.freshness == "year"))

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the books."""
        return Found(web_results(map(_result, items(response, "docs"))), not_applied=unknown_language(query))

    sample_plain = Sample(
        Query("lighthouse"),
        "GET https://openlibrary.org/search.json?q=lighthouse&fields=key%2Ctitle%2Csubtitle%2Cauthor_name"
        "%2Cfirst_publish_year%2Ccover_i%2Cedition_count%2Cfirst_sentence%2Cpublisher%2Cisbn&limit=10",
        '{"numFound": 0, "start": 0, "docs": []}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query(
                'title:"lighthouse"', page=2, lang="de", freshness="range", since="1900-01-01", until="1950-12-31"
            ),
            sends=sample_plain.sends.replace(
                "q=lighthouse", "q=title+lighthouse+AND+language%3Ager+AND+first_publish_year%3A%5B1900+TO+1950%5D"
            )
            + "&page=2",
            body="""{"numFound": 214, "start": 0, "docs": [{"key": "/works/OL1W", "title": "To the Lighthouse",
             "subtitle": "A novel", "author_name": ["Virginia Woolf"], "first_publish_year": 1927, "edition_count": 310,
             "cover_i": 8231856, "first_sentence": ["\\"Yes, of course, if it's fine tomorrow,\\" said Mrs. Ramsay."]},
             {"key": "/works/OL2W", "title": "灯塔"}, {"key": null}, {"key": "https://evil.example/"}, 7]}""",
            finds=("https://openlibrary.org/works/OL1W", "https://openlibrary.org/works/OL2W"),
        ),
        sample_plain._replace(
            query=Query("lighthouse", lang="xx", freshness="year", since="2025-11-17"),
            sends=sample_plain.sends.replace("q=lighthouse", "q=lighthouse+AND+first_publish_year%3A%5B2025+TO+%2A%5D"),
        ),
        sample_plain,
        sample_plain._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=422, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=403, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    key, cover = as_text(item.get("key")), as_text(item.get("cover_i"))
    names = known_names(as_list(item.get("author_name")))
    year = as_text(item.get("first_publish_year"))
    sentence = next((text for text in as_list(item.get("first_sentence")) if isinstance(text, str)), "")
    return Result(
        title=": ".join(part for part in (as_text(item.get("title")), as_text(item.get("subtitle"))) if part),
        url=f"https://openlibrary.org{key}" if key.startswith("/") else "",
        snippet=sentence,
        published=year,
        site="Open Library",
        thumbnail=f"https://covers.openlibrary.org/b/id/{cover}-M.jpg" if cover.isdecimal() else "",
        author=author_names(names),
        details=Details(
            authors=names,
            year=year_of(year),
            type="book",
            publisher=next(iter(known_names(as_list(item.get("publisher")))), ""),
            isbn=next((isbn for isbn in known_names(as_list(item.get("isbn"))) if len(isbn) == 13), ""),
            editions=as_count(item.get("edition_count")),
        ),
    )
