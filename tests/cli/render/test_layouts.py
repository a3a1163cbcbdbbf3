"""The line of facts below a title, for each kind of result."""

import io

import pytest

from sleuth.base.choices import FIELDS
from sleuth.base.json_output import camel_case
from sleuth.engine.outcome import Outcome, hit_as_json
from sleuth.relevance.hit import Hit
from sleuth.render import View, renderer
from sleuth.render.layouts import compact, facts
from sleuth.serving.schemas import RESULT
from sleuth_providers.base import Details

PAPER = Hit(
    1,
    "Sparse retrieval",
    "https://doi.org/10.1000/abc",
    published="2026-03-02",
    author="Ada Example, Bert Muster, Carl Third, Dora Fourth",
    details=Details(
        authors=("Ada Example", "Bert Muster", "Carl Third", "Dora Fourth"),
        year=2026,
        venue="J. Search",
        doi="10.1000/abc",
        pdf="https://example.org/a.pdf",
        cited_by=12,
        open_access=True,
    ),
)
BOOK = Hit(
    2,
    "To the Lighthouse",
    "https://openlibrary.org/works/OL1W",
    details=Details(authors=("Woolf, Virginia",), year=1927, publisher="Hogarth", isbn="9780156907392", editions=310),
)
PICTURE = Hit(
    3,
    "Lighthouse",
    "https://commons.wikimedia.org/wiki/File:L.jpg",
    author="Ada",
    site_name="Wikimedia Commons",
    image="https://upload.wikimedia.org/l.jpg",
    details=Details(width=4000, height=3000, license="CC BY-SA 4.0"),
)
VIDEO = Hit(
    4,
    "Tour",
    "https://tube.example/w/1",
    published="2026-05-01",
    length="8:02",
    author="Ada",
    details=Details(channel="Sea", views=1_234_567),
)
QUESTION = Hit(
    5,
    "How?",
    "https://stackoverflow.com/q/1",
    published="2026-01-02",
    details=Details(points=1, answer_count=3, accepted=True),
)
REPOSITORY = Hit(6, "a/b", "https://github.com/a/b", details=Details(stars=1520, language="Python", license="MIT"))
NEWS = Hit(7, "News", "https://news.google.com/rss/x", site_name="Example Times", published="2026-11-15")


@pytest.mark.parametrize(
    ("hit", "line"),
    [
        (PAPER, "Ada Example, Bert Muster, Carl Third et al. · 2026 · J. Search · cited 12× · PDF"),
        (BOOK, "Woolf, Virginia · 1927 · Hogarth · 310 editions · ISBN 9780156907392"),
        (PICTURE, "4000 × 3000 · CC BY-SA 4.0 · Ada"),
        (VIDEO, "8:02 · Sea · 2026-05-01 · 1.2M views"),
        (VIDEO._replace(details=Details(width=4, height=3, channel="Sea")), "8:02 · Sea · 2026-05-01"),
        (QUESTION, "2026-01-02 · 1 point · 3 answers · accepted answer"),
        (REPOSITORY, "★ 1.5k · Python · MIT"),
        (NEWS, "Example Times · 2026-11-15"),
        (
            NEWS._replace(url="https://a.example/", author="Eve", providers=("x", "y")),
            "2026-11-15 · Eve · x, y",
        ),
        (Hit(8, "Old", "https://a.example/", details=Details(year=1927)), "1927"),
    ],
)
def test_line_of_facts(hit: Hit, line: str) -> None:
    assert " · ".join(fact.text for fact in facts(hit)) == line


def test_plain_text_has_the_details_or_the_date() -> None:
    out = io.StringIO()
    renderer("plain")(Outcome("x", "p", results=(REPOSITORY, NEWS)), out, View())
    expected = "6. a/b\n   https://github.com/a/b\n   ★ 1.5k · Python · MIT\n\n"
    assert out.getvalue() == f"{expected}7. News\n   https://news.google.com/rss/x\n   2026-11-15\n"


@pytest.mark.parametrize("format", ["plain", "markdown", "rich"])
def test_picture_has_its_own_url(format: str) -> None:
    for out in io.StringIO(), Terminal():
        renderer(format)(Outcome("x", "p", results=(PICTURE,)), out, View())
        assert PICTURE.image in out.getvalue().replace("\\", "")


class Terminal(io.StringIO):
    """A terminal without colours."""

    def isatty(self) -> bool:
        """Tell that this is a terminal."""
        return True


def test_pdf_and_doi_are_links() -> None:
    links = {fact.text: fact.url for fact in facts(PAPER._replace(url="https://a.example/")) if fact.url}
    assert links == {"10.1000/abc": "https://doi.org/10.1000/abc", "PDF": "https://example.org/a.pdf"}


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1000, "1k"), (1_234_567, "1.2M"), (2 * 10**9, "2B")]
)
def test_compact_numbers(number: int, text: str) -> None:
    assert compact(number) == text


@pytest.mark.parametrize("width", [20, 30, 60, 120])
def test_rich_output_wraps_facts_and_shows_attribution_once(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = Terminal()
    outcome = Outcome("x", "arxiv", results=(PAPER, BOOK), attribution=("Thank you to arXiv",))
    renderer("rich")(outcome, out, View(color="never"))
    text = out.getvalue()
    assert all(len(line) <= width for line in text.splitlines())
    assert " ".join(text.split()).endswith("Thank you to arXiv")


def test_details_are_published_in_json_schema_and_fields() -> None:
    names = set(camel_case(dict.fromkeys(Details._fields)))
    assert names <= set(RESULT["properties"])
    assert names <= set(FIELDS)
    document = hit_as_json(PAPER)
    assert (document["citedBy"], document["authors"][0], document["openAccess"]) == (12, "Ada Example", True)
    assert "isbn" not in document
