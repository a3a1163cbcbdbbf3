"""OpenAlex: scientific works of all disciplines, with abstracts."""

from typing import Any

from sleuth_providers.adapters._papers import WORK_TYPES, author_names, doi_name, doi_url, filters, known_names, year_of
from sleuth_providers.base import Account, Details, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, ProviderError, QuotaError
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
    "id,doi,title,publication_date,publication_year,relevance_score,authorships,primary_location,"
    "abstract_inverted_index,type,cited_by_count,open_access,best_oa_location,biblio"
)
MAX_ABSTRACT_WORDS = 300


class OpenAlex(Provider):
    """Requests only the fields in use, since records are large."""

    id = "openalex"
    name = "OpenAlex"
    homepage = "https://developers.openalex.org/"
    key_page = "https://openalex.org/settings/api"
    notes = "Works without a key, for about 100 searches a day per IP address; a free key allows 1,000."
    env = ("OPENALEX_API_KEY",)
    host = "https://api.openalex.org"
    supports = frozenset({"freshness", "range", "lang", "page"})
    categories = ("science",)
    max_results = 100
    price = "$1; $0.10 a day free without a key, $1 with one (2026-11)"
    per_minute = 60
    per_day = 1000

    def request(self, query: Query, account: Account) -> Request:
        """Send dates and language as filters."""
        dates = {"from_publication_date": query.since, "to_publication_date": query.until}
        params = {
            "search": query.text,
            "per_page": min(query.count, self.max_results),
            "select": FIELDS,
            "filter": filters(dates | {"language": query.lang.split("-")[0].lower()}),
            "page": query.page if query.page > 1 else None,
            "api_key": account.key,
            "mailto": account.contact,
        }
        return self.get(account, "/works", params)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Tell an exhausted daily budget from too many requests."""
        if response.status == 429 and response.headers.get("x-ratelimit-remaining", "").strip() == "0":
            return QuotaError(status=429, hint=OWN_KEY_HINT)
        return None

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the works; their DOIs let them be merged with those of other providers."""
        return Found(web_results(map(_result, items(response, "results"))))

    sample_plain = Sample(
        Query("sparse retrieval", category="science"),
        "GET https://api.openalex.org/works?search=sparse+retrieval&per_page=10&select=id%2Cdoi%2Ctitle"
        "%2Cpublication_date%2Cpublication_year%2Crelevance_score%2Cauthorships%2Cprimary_location"
        "%2Cabstract_inverted_index%2Ctype%2Ccited_by_count%2Copen_access%2Cbest_oa_location%2Cbiblio",
        '{"meta": {"count": 0, "page": 1, "per_page": 10}, "results": [], "group_by": []}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "sparse retrieval",
                page=2,
                lang="en-GB",
                category="science",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            sends=f"{sample_plain.sends}&filter=from_publication_date%3A2026-01-01%2Cto_publication_date%3A2026-06-30"
            "%2Clanguage%3Aen&page=2&api_key=oa-sample",
            body="""{"meta": {"count": 1904, "page": 2, "per_page": 10}, "results": [
             {"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1000/abc", "title": "Sparse <i>retrieval</i>",
             "relevance_score": 412.7, "publication_date": "2026-03-02", "publication_year": 2026,
             "authorships": [{"author": {"display_name": "Ada Example"}}, {"author": null}],
             "primary_location": {"landing_page_url": "https://journal.example/abc", "pdf_url": null,
             "source": {"display_name": "J. Search"}}, "abstract_inverted_index": {"Sparse": [0], "win": [2, 4],
             "methods": [1], "and": [3]}},
             {"id": "https://openalex.org/W2", "doi": null, "title": null,
             "publication_date": null, "publication_year": 2025, "authorships": null,
             "primary_location": {"landing_page_url": "https://journal.example/二", "source": null},
             "abstract_inverted_index": null}, {"id": null}, 7], "group_by": []}""",
            finds=("https://doi.org/10.1000/abc", "https://journal.example/二"),
            account=Account(key="oa-sample"),
        ),
        sample_plain,
        sample_plain._replace(
            body='{"error": "Rate limit exceeded"}',
            status=429,
            headers={"content-type": "application/json", "x-ratelimit-remaining": "0"},
            error="RATE_LIMIT_EXCEEDED",
            state="quota",
        ),
        sample_plain._replace(body="{}", status=429, error="RATE_LIMIT_EXCEEDED", state="rate_limited"),
        sample_plain._replace(body="{}", status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body="{}", status=403, error="API_KEY_INVALID"),
        sample_plain._replace(
            body='{"error": "Invalid query parameters error.", "message": "…"}', status=400, error="INVALID_REQUEST"
        ),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    location = as_dict(item.get("primary_location"))
    authors = known_names(
        as_dict(entry.get("author")).get("display_name") for entry in objects(item.get("authorships"))
    )
    venue = as_text(as_dict(location.get("source")).get("display_name"))
    published = as_text(item.get("publication_date")) or as_text(item.get("publication_year"))
    access, best = as_dict(item.get("open_access")), as_dict(item.get("best_oa_location"))
    is_open = access.get("is_oa")
    biblio = {name: as_text(value) for name, value in as_dict(item.get("biblio")).items()}
    pages = dict.fromkeys(filter(None, (biblio.get("first_page"), biblio.get("last_page"))))
    return Result(
        title=strip_tags(item.get("title")),
        url=doi_url(item.get("doi")) or as_text(location.get("landing_page_url")) or as_text(item.get("id")),
        snippet=_abstract(item.get("abstract_inverted_index")),
        published=published,
        site=venue,
        score=as_number(item.get("relevance_score")),
        author=author_names(authors),
        details=Details(
            authors=authors,
            year=year_of(published),
            type=WORK_TYPES.get(as_text(item.get("type")), ""),
            venue=venue,
            publisher=as_text(as_dict(location.get("source")).get("host_organization_name")),
            volume=biblio.get("volume", ""),
            issue=biblio.get("issue", ""),
            pages="-".join(pages),
            doi=doi_name(item.get("doi")),
            pdf=as_text(best.get("pdf_url")) or as_text(location.get("pdf_url")) or as_text(access.get("oa_url")),
            cited_by=as_count(item.get("cited_by_count")),
            open_access=is_open if isinstance(is_open, bool) else None,
        ),
    )


def _abstract(index: Any) -> str:
    """Return the beginning of an abstract, which comes as an index from each word to its positions."""
    words: dict[int, str] = {}
    for word, positions in as_dict(index).items():
        for position in as_list(positions):
            if isinstance(position, int) and 0 <= position < MAX_ABSTRACT_WORDS:
                words[position] = word
    return strip_tags(" ".join(words[position] for position in sorted(words)))
