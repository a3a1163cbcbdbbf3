"""The tree that trafilatura extracts becomes blocks: nothing is lost, nothing is repeated."""

from typing import Any

import pytest
from lxml import etree

from sleuth.pages.article import from_html, from_tree
from sleuth.pages.blocks import Block


def blocks(inner: str) -> Any:
    return from_tree(etree.fromstring(f"<body>{inner}</body>"))


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("loose <p>a</p> tail", [("paragraph", "loose"), ("paragraph", "a"), ("paragraph", "tail")]),
        ("<div>x<p>a</p></div>", [("paragraph", "x"), ("paragraph", "a")]),
        ("<p>one<lb/>two\n  three</p>", [("paragraph", "one\ntwo three")]),
        ("<p>a <hi>b</hi> <ref>c</ref>, d</p>", [("paragraph", "a b c, d")]),
        ("<p>run <code>x = 1</code> now</p>", [("paragraph", "run `x = 1` now")]),
        ("<p>run <code>a`b</code> now</p>", [("paragraph", "run a`b now")]),
        ("<code>a\n  b<lb/>c</code>", [("code", "a\n  b\nc")]),
        ("<quote>$ a\n$ b</quote>", [("quote", "$ a\n$ b")]),
        ("<quote><p>a\nb</p><p>c</p></quote>", [("quote", "a b\nc")]),
        ("<head>x</head><p> </p>", [("heading", "x")]),
        ("<table><row><cell>a</cell></row><row><cell>b</cell></row></table>", [("paragraph", "a"), ("paragraph", "b")]),
        ("<table><row><cell>a</cell><cell>b</cell></row></table>", [("paragraph", "a"), ("paragraph", "b")]),
        (
            "<table><row><cell>a</cell><cell/></row><row><cell><p>1</p><p>2</p></cell><cell>3</cell></row></table>",
            [("table", "a\t\n1 2\t3")],
        ),
        ("<list><item>a</item><list><item>b</item></list></list>", [("item", "a"), ("item", "b")]),
        ("<p>a<list><item>b</item></list></p>", [("paragraph", "a\nb")]),
    ],
)
def test_elements_become_blocks(inner: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.text) for one in blocks(inner)] == expected


def test_headings_and_items_have_levels() -> None:
    inner = '<head rend="h4">x</head><head rend="odd">y</head>'
    assert blocks(inner) == [Block("heading", "x", 4), Block("heading", "y", 2)]
    inner = "<list><item>a<list><item>b<list><item>c</item></list></item></list></item><item>d</item></list>"
    assert [(one.text, one.level) for one in blocks(inner)] == [("a", 0), ("b", 1), ("c", 2), ("d", 0)]


@pytest.mark.parametrize("page", ["<p>{}</p>", "<div>{}</div>", "<article><p>{}</p></article>", "{}"])
def test_page_may_be_a_single_element(page: str) -> None:
    text = "The harbour bridge reopened on Monday after two years of repairs."
    assert [one.text for one in from_html(page.format(text)).blocks] == [text]


@pytest.mark.parametrize(
    "page",
    [
        "<div>{0}</div><div>Again. {0}</div>",
        "<h1>Bridge</h1><div>{0}</div>",
        "<div>{0}</div><script>1</script>",
        "<span>{0}</span><span>{0}</span>",
        "<title>Bridge</title><p>{0}</p><p>{0}</p>",
        "<!-- a note --><p>{0}</p><table><tr><td>{0}</td></tr></table>",
        "<body><div>{0}</div><div>{0}</div></body>",
    ],
)
def test_page_may_lack_the_outer_elements(page: str) -> None:
    text = "The harbour bridge reopened on Monday after two years of repairs. " * 6
    assert text.strip() in " ".join(one.text for one in from_html(page.format(text)).blocks)
