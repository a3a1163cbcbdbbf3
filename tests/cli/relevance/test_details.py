"""Results of several providers about one work or picture become one, with the facts of all."""

from datetime import UTC, datetime

import pytest

from sleuth.relevance.details import arxiv_of, doi_of
from sleuth.relevance.fusion import ProviderList, fuse
from sleuth.relevance.hit import Hit
from sleuth_providers.base import Details, Result

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def merged(*results: Result) -> list[Hit]:
    return fuse([ProviderList(f"p{number}", 1.0, [result]) for number, result in enumerate(results)], now=NOW)


def paper(url: str, **details: object) -> Result:
    return Result(f"A paper at {url}", url, details=Details(**details))  # type: ignore[arg-type]


def test_one_doi_is_one_paper_with_the_facts_of_all() -> None:
    (hit,) = merged(
        paper("https://doi.org/10.1000/ABC", doi="10.1000/ABC", cited_by=7, open_access=False, venue="SIGIR"),
        paper("https://europepmc.org/article/MED/1", doi="10.1000/abc", cited_by=12, pdf="https://a.example/x.pdf"),
        paper("https://openalex.org/W1", doi="https://doi.org/10.1000/abc", open_access=True, venue="Other", year=2026),
    )
    assert hit.providers == ("p0", "p1", "p2")
    assert hit.details == Details(
        doi="10.1000/ABC", cited_by=12, open_access=True, venue="SIGIR", pdf="https://a.example/x.pdf", year=2026
    )


def test_preprint_is_known_by_its_page_id_and_doi() -> None:
    (hit,) = merged(
        paper("http://arxiv.org/abs/2609.01234v2", pdf="https://arxiv.org/pdf/2609.01234v2"),
        paper("https://doi.org/10.48550/arXiv.2609.01234", doi="10.48550/arXiv.2609.01234"),
        paper("https://www.semanticscholar.org/paper/1", arxiv="2609.01234", doi="10.1000/journal"),
        paper("https://doi.org/10.1000/journal"),
    )
    assert (len(hit.providers), hit.details.doi) == (4, "10.1000/journal")


def test_published_version_decides_the_type_and_votes_may_be_negative() -> None:
    (hit,) = merged(
        paper("https://a.test/", type="article", points=-3),
        paper("https://a.test/", type="paper-conference", points=-5),
    )
    assert (hit.details.type, hit.details.points) == ("paper-conference", -3)


def test_impossible_numbers_are_left_out() -> None:
    """A shared cache may contain any; formatting the views would raise OverflowError."""
    (hit,) = merged(paper("https://a.example/", views=10**400, points=-(10**400), cited_by=10**15))
    assert hit.details == Details(cited_by=10**15)


def test_different_papers_stay_apart() -> None:
    assert (
        len(merged(paper("https://doi.org/10.1000/a"), paper("https://doi.org/10.1000/b"), paper("https://a.test/")))
        == 3
    )


def picture(page: str, image: str) -> Result:
    return Result("A picture", page, image=image, details=Details(width=4, height=3))


def test_same_picture_on_two_pages_is_one_result() -> None:
    (hit,) = merged(
        picture("https://a.example/1", "https://i.example/x.jpg"),
        picture("https://b.example/", "http://i.example/x.jpg"),
    )
    assert hit.url == "https://a.example/1"


def test_several_pictures_of_one_page_are_several_results() -> None:
    page = "https://a.example/gallery"
    results = [picture(page, f"https://i.example/{name}.jpg") for name in "xy"]
    assert len(fuse([ProviderList("one", 1.0, results)], now=NOW)) == 2
    assert len(merged(picture(page, "https://i.example/x.jpg"), picture(page, "https://i.example/x-large.jpg"))) == 1


def test_articles_with_the_same_picture_stay_apart() -> None:
    logo = "https://i.example/logo.png"
    assert (
        len(merged(Result("A", "https://a.example/1", image=logo), Result("B", "https://a.example/2", image=logo))) == 2
    )


@pytest.mark.parametrize(("published", "year"), [("1927", 1927), ("2026-03", 2026), ("recently", None), ("0042", None)])
def test_bare_year_is_kept(published: str, year: int | None) -> None:
    (hit,) = merged(Result("A book", "https://a.example/", published=published))
    assert (hit.published, hit.details.year) == ("", year)


@pytest.mark.parametrize(
    ("text", "doi"),
    [("10.1000/a(1)", "10.1000/a(1)"), ("https://dx.doi.org/10.1/x", ""), ("doi:10.5555/12", "10.5555/12"), ("x", "")],
)
def test_doi_is_recognised(text: str, doi: str) -> None:
    assert doi_of(text) == doi


@pytest.mark.parametrize(
    ("text", "name"), [("arXiv:2401.01234v3", "2401.01234"), ("hep-th/9901001", "hep-th/9901001"), ("x", "")]
)
def test_arxiv_id_is_recognised(text: str, name: str) -> None:
    assert arxiv_of(text) == name
