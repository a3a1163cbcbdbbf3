"""What results of each category carry besides title, URL and snippet."""

import json
from typing import Any

import pytest

from sleuth_providers import registry
from sleuth_providers.base import Account, Query, Response

OPENALEX = {
    "doi": "https://doi.org/10.1000/abc",
    "title": "Sparse retrieval",
    "publication_date": "2026-03-02",
    "type": "article",
    "cited_by_count": 12,
    "authorships": [{"author": {"display_name": "Ada Example"}}],
    "primary_location": {"source": {"display_name": "J. Search", "host_organization_name": "Example Press"}},
    "open_access": {"is_oa": True, "oa_url": "https://example.org/abc.pdf"},
    "biblio": {"volume": "12", "issue": "3", "first_page": "1", "last_page": "9"},
}
CROSSREF = {
    "DOI": "10.1000/abc",
    "type": "proceedings-article",
    "title": ["Sparse"],
    "container-title": ["SIGIR"],
    "author": [{"given": "Ada", "family": "Example"}, {"name": "The Group"}],
    "published": {"date-parts": [[2026]]},
    "publisher": "ACM",
    "page": "1-9",
    "ISBN": ["9780000000000"],
    "is-referenced-by-count": 4,
}
EUROPEPMC = {
    "id": "1",
    "source": "MED",
    "doi": "10.1000/abc",
    "title": "Asthma.",
    "authorString": "Example A, Muster BC.",
    "journalInfo": {"volume": "12", "journal": {"title": "J. Examples"}},
    "firstPublicationDate": "2026-03-02",
    "isOpenAccess": "Y",
    "citedByCount": 3,
    "fullTextUrlList": {"fullTextUrl": [{"documentStyle": "pdf", "url": "https://example.org/a.pdf"}]},
}
SEMANTIC_SCHOLAR = {
    "url": "https://www.semanticscholar.org/paper/6",
    "externalIds": {"DOI": "10.1000/abc", "ArXiv": "2609.01234"},
    "title": "Sparse",
    "year": 2026,
    "venue": "SIGIR",
    "citationCount": 12,
    "isOpenAccess": True,
    "openAccessPdf": {"url": "https://arxiv.org/pdf/2609.01234"},
    "authors": [{"name": "Ada Example"}],
}
ARXIV = """<feed><entry><id>http://arxiv.org/abs/2609.01234v1</id><published>2026-09-01T17:59:00Z</published>
 <title>Sparse</title><author><name>Ada Example</name></author><arxiv:doi>10.1000/xyz</arxiv:doi>
 <link title="pdf" href="http://arxiv.org/pdf/2609.01234v1" type="application/pdf"/></entry></feed>"""
PUBMED = """<PubmedArticleSet><PubmedArticle><PMID>7</PMID><ArticleTitle>Asthma</ArticleTitle><Journal><JournalIssue>
 <Volume>12</Volume><Issue>3</Issue></JournalIssue><Title>J. Examples</Title></Journal><Author>
 <LastName>Example</LastName><ForeName>Ada</ForeName></Author><ELocationID EIdType="doi">10.1000/abc</ELocationID>
 <PubMedPubDate PubStatus="pubmed">
 <Year>2026</Year><Month>3</Month></PubMedPubDate></PubmedArticle></PubmedArticleSet>"""
COMMONS = {
    "title": "File:Lighthouse.jpg",
    "imageinfo": [
        {
            "width": 4000,
            "height": 3000,
            "descriptionurl": "https://commons.wikimedia.org/wiki/File:Lighthouse.jpg",
            "extmetadata": {"LicenseShortName": {"value": "CC BY-SA 4.0"}, "Artist": {"value": "<a>Ada</a>"}},
        }
    ],
}
OPENVERSE = {
    "title": "Lighthouse",
    "foreign_landing_url": "https://example.org/",
    "license": "by-sa",
    "license_version": "2.0",
    "license_url": "https://creativecommons.org/licenses/by-sa/2.0/",
    "attribution": "Lighthouse by Ada is licensed under CC BY-SA 2.0.",
    "width": 1024,
    "height": 768,
}
QUESTION = {
    "item_type": "question",
    "question_id": 71,
    "title": "How?",
    "score": -2,
    "answer_count": 3,
    "has_accepted_answer": True,
}
REPOSITORY = {
    "full_name": "a/b",
    "html_url": "https://github.com/a/b",
    "stargazers_count": 1520,
    "language": "Python",
    "license": {"spdx_id": "MIT"},
}
BOOK = {
    "key": "/works/OL1W",
    "title": "To the Lighthouse",
    "author_name": ["Virginia Woolf"],
    "first_publish_year": 1927,
    "edition_count": 310,
    "publisher": ["Hogarth Press", "Other"],
    "isbn": ["0156907399", "9780156907392"],
}
VIDEO = {
    "name": "Tour",
    "url": "https://tube.example/w/1",
    "views": 1200,
    "channel": {"displayName": "Sea"},
    "licence": {"label": "Attribution"},
}
STORY = {"objectID": "1", "title": "SQLite", "url": "https://example.org/", "points": 312, "num_comments": 98}


@pytest.mark.parametrize(
    ("name", "category", "body", "expected"),
    [
        (
            "openalex",
            "science",
            {"results": [OPENALEX]},
            {
                "authors": ("Ada Example",),
                "year": 2026,
                "type": "article-journal",
                "venue": "J. Search",
                "publisher": "Example Press",
                "volume": "12",
                "issue": "3",
                "pages": "1-9",
                "doi": "10.1000/abc",
                "pdf": "https://example.org/abc.pdf",
                "cited_by": 12,
                "open_access": True,
            },
        ),
        (
            "crossref",
            "science",
            {"message": {"items": [CROSSREF]}},
            {
                "authors": ("Ada Example", "The Group"),
                "year": 2026,
                "type": "paper-conference",
                "venue": "SIGIR",
                "publisher": "ACM",
                "pages": "1-9",
                "doi": "10.1000/abc",
                "isbn": "9780000000000",
                "cited_by": 4,
            },
        ),
        (
            "europepmc",
            "science",
            {"resultList": {"result": [EUROPEPMC]}},
            {
                "authors": ("Example, A", "Muster, BC"),
                "year": 2026,
                "type": "article-journal",
                "venue": "J. Examples",
                "volume": "12",
                "doi": "10.1000/abc",
                "pdf": "https://example.org/a.pdf",
                "cited_by": 3,
                "open_access": True,
            },
        ),
        (
            "semantic-scholar",
            "science",
            {"data": [SEMANTIC_SCHOLAR]},
            {
                "authors": ("Ada Example",),
                "year": 2026,
                "venue": "SIGIR",
                "doi": "10.1000/abc",
                "arxiv": "2609.01234",
                "pdf": "https://arxiv.org/pdf/2609.01234",
                "cited_by": 12,
                "open_access": True,
            },
        ),
        (
            "arxiv",
            "science",
            ARXIV,
            {
                "authors": ("Ada Example",),
                "year": 2026,
                "type": "article",
                "doi": "10.1000/xyz",
                "arxiv": "2609.01234v1",
                "pdf": "https://arxiv.org/pdf/2609.01234v1",
                "open_access": True,
            },
        ),
        (
            "pubmed",
            "science",
            PUBMED,
            {
                "authors": ("Ada Example",),
                "year": 2026,
                "type": "article-journal",
                "venue": "J. Examples",
                "volume": "12",
                "issue": "3",
                "doi": "10.1000/abc",
            },
        ),
        (
            "wikimedia",
            "images",
            {"query": {"pages": [COMMONS]}},
            {"width": 4000, "height": 3000, "license": "CC BY-SA 4.0", "attribution": "Ada · CC BY-SA 4.0"},
        ),
        (
            "openverse",
            "images",
            {"results": [OPENVERSE]},
            {
                "width": 1024,
                "height": 768,
                "license": "CC BY-SA 2.0",
                "license_url": OPENVERSE["license_url"],
                "attribution": OPENVERSE["attribution"],
            },
        ),
        (
            "stackexchange",
            "it",
            {"items": [QUESTION]},
            {"points": -2, "answer_count": 3, "accepted": True, "license": "CC BY-SA"},
        ),
        ("github", "it", {"items": [REPOSITORY]}, {"stars": 1520, "language": "Python", "license": "MIT"}),
        ("hackernews", "it", {"hits": [STORY]}, {"points": 312, "comments": 98}),
        (
            "openlibrary",
            "books",
            {"docs": [BOOK]},
            {
                "authors": ("Virginia Woolf",),
                "year": 1927,
                "type": "book",
                "publisher": "Hogarth Press",
                "isbn": "9780156907392",
                "editions": 310,
            },
        ),
        (
            "internet-archive",
            "books",
            {
                "response": {
                    "docs": [{"identifier": "a", "title": "A", "creator": "Ada", "date": "1911-01-01T00:00:00Z"}]
                }
            },
            {"authors": ("Ada",), "year": 1911},
        ),
        (
            "searxng",
            "science",
            {
                "results": [
                    {
                        "title": "Sparse",
                        "url": "https://example.org/",
                        "authors": ["Ada Example", None],
                        "doi": "10.1000/abc",
                        "journal": "J. Search",
                        "publishedDate": "2026-03-02T00:00:00",
                        "pdf_url": "https://example.org/a.pdf",
                    }
                ]
            },
            {
                "authors": ("Ada Example",),
                "year": 2026,
                "venue": "J. Search",
                "doi": "10.1000/abc",
                "pdf": "https://example.org/a.pdf",
            },
        ),
        (
            "searxng",
            "images",
            {"results": [{"title": "A", "url": "https://example.org/", "img_src": "x", "resolution": "1600 x 1200"}]},
            {"width": 1600, "height": 1200},
        ),
        (
            "searxng",
            "general",
            {"results": [{"title": "A", "url": "https://example.org/", "publishedDate": "2026"}]},
            {},
        ),
        (
            "kagi",
            "images",
            {
                "data": {
                    "image": [{"url": "https://a.example/", "image": {"url": "/i.jpg", "width": 800, "height": 600}}]
                }
            },
            {"width": 800, "height": 600},
        ),
        ("open-videos", "videos", {"data": [VIDEO]}, {"channel": "Sea", "views": 1200, "license": "Attribution"}),
    ],
)
def test_details_of_a_result(name: str, category: str, body: Any, expected: dict[str, Any]) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    found = registry.load(name).parse(Response(200, {}, text.encode()), Query("x", category=category))
    assert found.results[0].details.known() == expected


@pytest.mark.parametrize(("options", "cost"), [({}, 0.0), ({"depth": "deep"}, 0.0587)])
def test_deep_search_of_linkup_has_its_own_cost(options: dict[str, str], cost: float) -> None:
    """The engine adds the usual cost where the provider names none."""

    class Http:
        def send(self, *_: Any) -> Response:
            return Response(200, {}, b'{"results": []}')

    account: Any = Account(key="k", options=options)
    http: Any = Http()
    assert registry.load("linkup").search(Query("x"), account, http).cost == cost


def test_bing_reads_size_views_and_channel() -> None:
    bing = registry.load("bing-media")
    for sample, expected in zip(
        bing.samples,
        [{"width": 1600, "height": 1200}, {"channel": "Ada's sea", "views": 1_200_000}],
        strict=False,
    ):
        response = Response(200, sample.headers, sample.body.encode())
        assert bing.parse(response, sample.query).results[0].details.known() == expected


@pytest.mark.parametrize(
    ("since", "until", "published"),
    [("", "", "2025-12-20"), ("2026-02-01", "", "2026-02-03"), ("2026-03-01", "2026-03-31", "2026-03-02")],
)
def test_pubmed_names_the_date_that_the_query_asks_for(since: str, until: str, published: str) -> None:
    paper = """<PubmedArticle><PMID>7</PMID><ArticleTitle>A</ArticleTitle><JournalIssue><PubDate><Year>2026</Year>
     <Month>Feb</Month><Day>3</Day></PubDate></JournalIssue><ArticleDate DateType="Electronic"><Year>2025</Year>
     <Month>12</Month><Day>20</Day></ArticleDate><PubMedPubDate PubStatus="pubmed"><Year>2026</Year><Month>3</Month>
     <Day>2</Day></PubMedPubDate></PubmedArticle>"""
    query = Query("x", freshness="range" if since else "", since=since, until=until)
    (result,) = registry.load("pubmed").parse(Response(200, {}, paper.encode()), query).results
    assert result.published == published


def test_internet_archive_names_the_upload_if_the_query_asks_for_new_items() -> None:
    item = {"identifier": "a", "title": "A", "date": "1911-01-01", "publicdate": "2026-11-15T00:00:00Z"}
    response = Response(200, {}, json.dumps({"response": {"docs": [item]}}).encode())
    archive = registry.load("internet-archive")
    assert archive.parse(response, Query("x")).results[0].published == "1911"
    new = Query("x", freshness="week", since="2026-11-10")
    assert archive.parse(response, new).results[0].published == "2026-11-15T00:00:00Z"
