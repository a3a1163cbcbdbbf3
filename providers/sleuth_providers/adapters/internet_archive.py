"""Internet Archive: books, films and other items."""

import re
from typing import Any
from urllib.parse import quote

from sleuth_providers.adapters._dates import last_day
from sleuth_providers.adapters._languages import language_code, language_name, unknown_language
from sleuth_providers.adapters._papers import author_names, known_names, paragraphs, year_of
from sleuth_providers.base import Account, Details, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadRequestError
from sleuth_providers.json import as_list, as_text, items, web_results

FIELDS = ("identifier", "title", "creator", "description", "date", "licenseurl", "publisher", "isbn", "publicdate")
MEDIA_TYPES = {"videos": "movies", "images": "image"}
SNIPPET_CHARS = 300


class InternetArchive(Provider):
    """Each field of an item may be a text or a list."""

    id = "internet-archive"
    name = "Internet Archive"
    homepage = "https://archive.org/advancedsearch.php"
    notes = (
        "Items, not archived web pages: books and papers in the category books, films in videos. "
        "--freshness means the day of the upload. Some books can only be borrowed."
    )
    host = "https://archive.org"
    supports = frozenset({"freshness", "range", "lang", "page"})
    categories = ("books", "videos", "images", "general")
    max_results = 50
    price = "free"
    per_minute = 60
    weight = 0.8  # reliable, but narrow
    options = {"mediatype": "texts, movies, audio, image or software (default by category)"}
    # A rejected query is HTTP 200 with a page or an error instead of results.
    error_rules = (ErrorRule(200, BadRequestError, rb'\A\s*(?:<|{"error")', "the API reports an error"),)

    def request(self, query: Query, account: Account) -> Request:
        """Write filters into the query, whose own operators are removed, question marks included; phrases stay."""
        text = " ".join(re.sub(r"[:()\[\]{}^~\\/?!]", " ", query.text).split())
        if text.count('"') % 2:
            text = text.replace('"', " ")
        kind = as_text(account.options.get("mediatype")) or MEDIA_TYPES.get(query.category, "texts")
        clauses = [f"({text})", f"mediatype:({kind})"]
        if code := language_code(query):
            clauses.append(f"language:({code} OR {language_name(query)})")
        if query.freshness:
            clauses.append(f"publicdate:[{query.since} TO {last_day(query)}]")
        params: dict[str, str | int | tuple[str, ...]] = {
            "q": " AND ".join(clauses),
            "fl[]": FIELDS,
            "rows": min(query.count, self.max_results),
            "page": query.page,
            "output": "json",
        }
        return Request(f"{self.base_url(account)}/advancedsearch.php", params)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the items."""
        found = web_results(_result(item, query) for item in items(response, "response", "docs"))
        return Found(found, not_applied=unknown_language(query))

    sample_plain = Sample(
        Query("lighthouse"),
        "GET https://archive.org/advancedsearch.php?q=%28lighthouse%29+AND+mediatype%3A%28texts%29&fl%5B%5D=identifier"
        "&fl%5B%5D=title&fl%5B%5D=creator&fl%5B%5D=description&fl%5B%5D=date&fl%5B%5D=licenseurl&fl%5B%5D=publisher&fl%5B%5D=isbn&fl%5B%5D=publicdate&rows=10&page=1"
        "&output=json",
        '{"responseHeader": {"status": 0}, "response": {"numFound": 0, "start": 0, "docs": []}}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query(
                'title:"light house"',
                page=2,
                lang="en",
                category="videos",
                freshness="range",
                since="2020-01-01",
                until="2020-12-31",
            ),
            sends=sample_plain.sends.replace(
                "%28lighthouse%29+AND+mediatype%3A%28texts%29",
                "%28title+%22light+house%22%29+AND+mediatype%3A%28movies%29+AND+language%3A%28eng+OR+English%29"
                "+AND+publicdate%3A%5B2020-01-01+TO+2020-12-31%5D",
            ).replace("page=1", "page=2"),
            body="""{"responseHeader": {"status": 0}, "response": {"numFound": 913, "start": 0, "docs": [
             {"identifier": "lighthousesofworld00exam", "title": "Lighthouses of the world", "creator": ["Example, A."],
             "date": "1911-01-01T00:00:00Z", "description": "<p>Illustrated …</p>"},
             {"identifier": "灯塔 2", "title": ["灯塔"], "creator": "Ada", "date": "2020-02-03T00:00:00Z",
             "description": ["One", "Two"]}, {"identifier": null}, 7]}}""",
            finds=(
                "https://archive.org/details/lighthousesofworld00exam",
                "https://archive.org/details/%E7%81%AF%E5%A1%94%202",
            ),
        ),
        sample_plain,
        sample_plain._replace(query=Query("lighthouse?!")),
        sample_plain._replace(body='{"error": "syntax"}', error="INVALID_REQUEST"),
        sample_plain._replace(
            body="<html>Search engine returned invalid information</html>",
            headers={"content-type": "text/html"},
            error="INVALID_REQUEST",
        ),
        sample_plain._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=422, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object], query: Query) -> Result:
    name = quote(as_text(item.get("identifier")), safe="", errors="replace")
    date = _texts(item.get("date"))[0][:10]
    authors = known_names(_texts(item.get("creator")))
    return Result(
        title=paragraphs(_texts(item.get("title"))[0]),
        url=f"https://archive.org/details/{name}" if name else "",
        snippet=paragraphs(" ".join(_texts(item.get("description"))))[:SNIPPET_CHARS],
        # A year is given as its first day. --freshness means the upload.
        published=as_text(item.get("publicdate")) if query.freshness else date[:4] if date.endswith("-01-01") else date,
        site="Internet Archive",
        thumbnail=f"https://archive.org/services/img/{name}" if name else "",
        author=author_names(authors),
        details=Details(
            authors=authors,
            year=year_of(date),
            publisher=_texts(item.get("publisher"))[0],
            isbn=_texts(item.get("isbn"))[0],
            license_url=_texts(item.get("licenseurl"))[0],
        ),
    )


def _texts(value: Any) -> list[str]:
    """Return the texts of a field, at least an empty one."""
    return [as_text(text) for text in as_list(value)] or [as_text(value)]
