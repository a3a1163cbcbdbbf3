"""BibTeX and CSL JSON that parsers and citation processors read, whatever the web sent."""

import io
import json
import re
from typing import Any

import pytest
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import BibliographyData, parse_string

from sleuth.engine.outcome import Outcome
from sleuth.relevance.hit import Hit
from sleuth.render import View, renderer
from sleuth_providers.base import Details

PAPER = Hit(
    1,
    "Sparse & dense retrieval: 100% of O(n^2) {curly} \\input{x}",
    "https://doi.org/10.1000/abc",
    snippet="We compare.",
    published="2026-03-02",
    details=Details(
        authors=("Ada Example", "Muster, Bert", "Ludwig van Beethoven", "The Smith and Jones Group", "李华"),
        year=2026,
        type="article-journal",
        venue="J. Search",
        publisher="Example Press",
        volume="12",
        issue="3",
        pages="1-9",
        doi="10.1000/abc_d",
    ),
)
PREPRINT = Hit(
    2,
    "Łukasz on trees",
    "https://arxiv.org/abs/2609.01234",
    details=Details(authors=("Ødegård, Å",), arxiv="2609.01234"),
)
BOOK = Hit(
    3, "灯塔", "https://openlibrary.org/works/OL2W", details=Details(type="book", year=1927, isbn="9780156907392")
)
PAGE = Hit(4, "A page", "https://example.org/{a}?b=%20", site_name="Example", author="Eve and Mallory")
HITS = (PAPER, PREPRINT, BOOK, PAGE, PAGE._replace(citation=5))


def rendered(format: str, hits: tuple[Hit, ...] = HITS) -> str:
    out = io.StringIO()
    renderer(format)(Outcome("q", "p", results=hits), out, View())
    return out.getvalue()


def bibtex(*hits: Hit) -> BibliographyData:
    return parse_string(rendered("bibtex", hits), "bibtex")


def test_bibtex_has_an_entry_for_each_result() -> None:
    entries = bibtex(*HITS).entries
    assert list(entries) == [
        "example2026sparse",
        "odegardlukasz",
        "openlibrary1927",
        "examplepage",
        "examplepage-2",
    ]
    assert [entry.type for entry in entries.values()] == ["article", "misc", "book", "misc", "misc"]


def test_bibtex_fields_of_a_paper() -> None:
    entry = bibtex(PAPER).entries["example2026sparse"]
    fields = dict(entry.fields)
    assert {
        name: fields[name] for name in ("journal", "publisher", "volume", "number", "pages", "year", "doi", "url")
    } == {
        "journal": "J. Search",
        "publisher": "Example Press",
        "volume": "12",
        "number": "3",
        "pages": "1--9",
        "year": "2026",
        "doi": "10.1000/abc_d",
        "url": "https://doi.org/10.1000/abc",
    }
    assert fields["month"] in ("March", "mar")
    assert [" ".join(person.last_names) for person in entry.persons["author"]] == [
        "Example",
        "Muster",
        "Beethoven",
        "{The Smith and Jones Group}",
        "李华",
    ]


def test_bibtex_title_runs_no_command() -> None:
    title = bibtex(PAPER).entries["example2026sparse"].fields["title"]
    assert r"\&" in title
    assert r"100\%" in title
    assert r"\textbackslash{}input" in title
    assert not re.search(r"\\input", title)


def test_preprint_has_its_arxiv_number() -> None:
    (entry,) = bibtex(PREPRINT).entries.values()
    assert (entry.fields["eprint"], entry.fields["archiveprefix"]) == ("2609.01234", "arXiv")


def test_web_page_is_a_misc_entry_with_the_day_of_the_visit() -> None:
    (entry,) = bibtex(PAGE).entries.values()
    assert (entry.fields["howpublished"], entry.fields["url"]) == ("Example", "https://example.org/%7Ba%7D?b=%20")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.fields["urldate"])
    assert len(entry.persons["author"]) == 1


def csl(*hits: Hit) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(rendered("csl-json", hits))
    return found


def test_csl_json_of_a_paper() -> None:
    (item,) = csl(PAPER)
    assert item["author"] == [
        {"family": "Example", "given": "Ada"},
        {"family": "Muster", "given": "Bert"},
        {"family": "van Beethoven", "given": "Ludwig"},
        {"family": "Group", "given": "The Smith and Jones"},
        {"literal": "李华"},
    ]
    assert (item["type"], item["DOI"], item["issued"]) == (
        "article-journal",
        "10.1000/abc_d",
        {"date-parts": [[2026, 3, 2]]},
    )
    assert "accessed" not in item


def test_csl_json_is_formatted_by_a_citation_processor() -> None:
    items = csl(PAPER, BOOK)
    style = CitationStylesStyle("harvard-cite-them-right", validate=False)
    bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
    for item in items:
        bibliography.register(Citation([CitationItem(item["id"])]))
    texts = [str(entry) for entry in bibliography.bibliography()]
    assert any("J. Search" in text and "Example" in text and "2026" in text for text in texts)
    assert any("1927" in text for text in texts)


def test_no_results_are_an_empty_bibliography() -> None:
    assert (rendered("bibtex", ()), csl()) == ("", [])


anything = st.text(max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            Hit,
            citation=st.just(1),
            title=anything,
            url=anything.map("https://a.example/{}".format),
            site_name=anything,
            author=anything,
            votes=st.just(()),
            details=st.builds(
                Details, authors=st.lists(anything, max_size=3).map(tuple), venue=anything, pages=anything,
                year=st.one_of(st.none(), st.integers(1500, 2100)), type=st.sampled_from(["", "book", "thesis"]),
            ),
        ),
        max_size=4,
    )
)  # fmt: skip
def test_any_text_gives_entries_that_parse(hits: list[Hit]) -> None:
    text = rendered("bibtex", tuple(hits))
    names = re.findall(r"^@\w+\{([a-z0-9-]+),$", text, re.MULTILINE)
    assert len(set(names)) == len(hits)
    depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0
    assert [item["id"] for item in csl(*hits)] == names


@pytest.mark.parametrize("format", ["bibtex", "csl-json"])
def test_format_is_a_choice(format: str) -> None:
    from sleuth.base.choices import FORMATS

    assert format in FORMATS
