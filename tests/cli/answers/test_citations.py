"""Citations: finding them, safe links, numbering over rounds, and the reference list."""

from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sleuth.answers.citations import CitedSource, Mark, Numbering, drop_citations, find, link, references, targets
from sleuth.answers.markdown import safe_markdown
from sleuth.base.text import markdown_target

STYLES = ("markdown", "plain")

SOURCES = [CitedSource(number, f"https://site{number}.org/page", f"Page {number}") for number in (1, 2, 3)]
ONE, TWO, THREE = (f"[[{number}]](https://site{number}.org/page)" for number in (1, 2, 3))

LINKED = {
    "Fast [1].": f"Fast {ONE}.",
    "[1]": ONE,
    "[1][2]": ONE + TWO,
    "[1] [2]": f"{ONE} {TWO}",
    "[1],[2]": f"{ONE},{TWO}",
    "[1, 2]": ONE + TWO,
    "[1,2,3]": ONE + TWO + THREE,
    "[1;3]": ONE + THREE,
    "[1，2]": ONE + TWO,
    "[1、2]": ONE + TWO,
    "[1-3]": ONE + TWO + THREE,
    "[1–3]": ONE + TWO + THREE,
    "[1 - 2]": ONE + TWO,
    "[1, 2-3]": ONE + TWO + THREE,
    "[2, 2]": TWO,
    "[3, 1]": THREE + ONE,
    "[ 1 ]": ONE,
    "[1,\n2]": ONE + TWO,
    "【1】": ONE,
    "【1】【2】": ONE + TWO,
    "【1、2】": ONE + TWO,
    "［１］": ONE,
    "[１]": ONE,
    "【1†source】": ONE,
    "[1†source]": ONE,
    "【2†L10-L20】": TWO,
    "[citation:1]": ONE,
    "[Citation: 2]": TWO,
    "[source 3]": THREE,
    "[[1]]": ONE,
    "[[1, 2]]": ONE + TWO,
    "[【1】]": ONE,
    "[[1], [2]]": f"[{ONE}, {TWO}]",
    "[[[1]]]": f"[[{ONE}]]",
    "[see [1]]": f"[see {ONE}]",
    "([1])": f"({ONE})",
    "很快[1]。": f"很快{ONE}。",
    "它很快。[1]下一句": f"它很快。{ONE}下一句",
    "fast[1].": f"fast{ONE}.",
    "in 2024[1]": f"in 2024{ONE}",
    "JavaScript[1] and macOS[2]": f"JavaScript{ONE} and macOS{TWO}",
    "vitamin C[1]": f"vitamin C{ONE}",
    "(see above)[1]": f"(see above){ONE}",
    "**bold**[1]": f"**bold**{ONE}",
    "Wow![1]": f"Wow! {ONE}",  # without the space it would be an image
    "[1](a remark)": f"{ONE}(a remark)",
    "[1] (https://x.org)": f"{ONE} (https://x.org)",
    "[1]: two words": f"{ONE}: two words",
    "[abc][1]": f"[abc]{ONE}",
    "| a [1] | b |": f"| a {ONE} | b |",
    "<sup>[1]</sup>": f"<sup>{ONE}</sup>",
    "\\\\[1]": f"\\\\{ONE}",
    "a ` b [1]": f"a ` b {ONE}",
    "`x` [1]": f"`x` {ONE}",
    "a\n    [1]": f"a\n    {ONE}",  # continues the paragraph
    "- a\n\n    b [1]": f"- a\n\n    {'b'} {ONE}",
    "1. a\n   - b\n\n     c [1]": f"1. a\n   - b\n\n     c {ONE}",
    "```\n[1]\n```\n[1]": f"```\n[1]\n```\n{ONE}",
    "~~~\n[1]\n```\n[2]\n~~~\n[2]": f"~~~\n[1]\n```\n[2]\n~~~\n{TWO}",
    "````\n```\n[1]\n````\n[1]": f"````\n```\n[1]\n````\n{ONE}",
    "> ```\n> [1]\n[1]": f"> ```\n> [1]\n{ONE}",
    "```x``` [1]": f"```x``` {ONE}",
    "    [1]\n\n[1]": f"    [1]\n\n{ONE}",
    "a <!-- [1] --> [1]": f"a <!-- [1] --> {ONE}",
    "[1]: https://own.org\n\n[1] [2]": f"[1]: https://own.org\n\n[1] {TWO}",
    "[^1] [1]\n\n[^1]: note [2]": f"[^1] {ONE}\n\n[^1]: note {TWO}",
    "[9, 1]": f"[9]{ONE}",
    "【1, 9】(x)": f"{ONE}【9】(x)",
    "$5 [1] and $6 [2]": f"$5 {ONE} and $6 {TWO}",
    "\\$5 [1], 6$ [2] or US$7 [3]": f"\\$5 {ONE}, 6$ {TWO} or US$7 {THREE}",
    "$a [1]\nb$ [2]": f"$a {ONE}\nb$ {TWO}",
    "$a `[1]$` [2]": f"$a `[1]$` {TWO}",
    "`$` [1] `$`": f"`$` {ONE} `$`",
    "- $$ low [1]\n- $$ high [2]": f"- $$ low {ONE}\n- $$ high {TWO}",
    "$$ a [1]\n\n$$ b [2]": f"$$ a {ONE}\n\n$$ b {TWO}",
    "$x$ [1] and \\(y\\) [2]": f"$x$ {ONE} and \\(y\\) {TWO}",
    "costs $500[1], then $5M[2], US$5[3].": f"costs $500{ONE}, then $5M{TWO}, US$5{THREE}.",
    "$E=mc^2$[1], H$_2$O[2] and $x$[3]": f"$E=mc^2${ONE}, H$_2$O{TWO} and $x${THREE}",
    "每月$50[1]。": f"每月$50{ONE}。",
    "de 20 $/m^2 [1] à Lyon et de 30 $/m^2 [2]": f"de 20 $/m^2 {ONE} à Lyon et de 30 $/m^2 {TWO}",
    "$0.15/1M input [1], $0.60/1M output [2]; up to 10^6 [3] for $N users": (
        f"$0.15/1M input {ONE}, $0.60/1M output {TWO}; up to 10^6 {THREE} for $N users"
    ),
    "$5+ [1] or 10$ [2].": f"$5+ {ONE} or 10$ {TWO}.",
    "Set $HOME to /a^b (see the docs [1]) and $PATH [2].": f"Set $HOME to /a^b (see the docs {ONE}) and $PATH {TWO}.",
    "costs 20$/m^2[1] in Lyon, 30$/m^2[2] in Paris": f"costs 20$/m^2{ONE} in Lyon, 30$/m^2{TWO} in Paris",
    "$5/GB[1] for snapshots and 10$[2] for disks": f"$5/GB{ONE} for snapshots and 10$[2] for disks".replace("[2]", TWO),
    "5$ per 10^6 tokens **[1]**, 15$ per 10^6 ([2]).": f"5$ per 10^6 tokens **{ONE}**, 15$ per 10^6 ({TWO}).",
    "$0.15/1M input[1], $0.60/1M output[2]; up to 10^6[3] for $N users": (
        f"$0.15/1M input{ONE}, $0.60/1M output{TWO}; up to 10^6{THREE} for $N users"
    ),
    "$$\nx_{[1]}\n$$ [2]": f"$$\nx_{{[1]}}\n$$ {TWO}",
    "[2+] [3?]": "[[2+]](https://site2.org/page) [[3?]](https://site3.org/page)",
}

LEFT_ALONE = [
    *("", "no marks", "[]", "[ ]", "[abc]", "[a1]", "[1a]", "[^1]", "[^1]: note", "[x] done", "[1.5]", "[1/2]", "[-1]"),
    *("[01]", "[2024]", "[1914-1918]", "[0, 1]", "[0-9]", "[3-1]", "[2-2]", "[1-100]", "[1-999999999999]", "[1 2]"),
    *("[1", "1]", "[1】", "【1]", "【4:0†source】", "[1,]", "[,1]", "[1--3]", "[" * 50, "]" * 50),
    *(
        "a[1]",
        "x[1][2]",
        "x1[2]",
        "my_list[1]",
        "$var[1]",
        "df$col[1]",
        "myArray[1]",
        "argv[1]",
        "items[1] = 5",
        "rows[1].get(x)",
    ),
    *("a[[1]]", "`[1]`", "``a ` [1]``", "`a\n[1]`", "```\n[1]", "```\n[1]\n```", "~~~\n[1]\n~~~", "~~~py\n[1]\n~~~"),
    *("   ```\n[1]\n   ```", "- ```\n  [1]\n  ```", "> ~~~\n> [1]\n> ~~~", "    [1]", "\t[1]", "a\n\n    [1]"),
    *("# a\n    [1]", "- a\n\n      [1]", ">     [1]", "***\n    [1]"),
    *("[1](https://x.org)", "[1](<https://x.org/a b>)", "[1](/a_(b))", '[1](x "t")', "[a [1] b](x)", "![1](x)"),
    *("![a [1]](x.png)", "[[1]](x)", "[1]()", "[text][1]\n\n[1]: /x", "[1][]\n\n[1]: /x", "[1]: https://x.org"),
    *("[1]: <https://x.org> 'title'", "[1]:\nhttps://x.org", "> [1]: /x", "[1, 2]\n\n[2]: /x", "- [1]: /x"),
    *("$a^{[1]}$", "CO$_{[1]}$", "\\([2, 3]\\)", "x \\[ y [1] \\]", "$$a [1]$$", "\\ce{a [1]}", "[a $[1]$](x)"),
    *(
        "$\\operatorname{Hom}(A, B) [1] \\to X$",
        "$\\text{the set } [1] \\cup [2]$",
        "$RHom(A, B [1])$",
        "$2x^{10} [1]$",
        "$3 kg m^2 [1]$",
    ),
    *("$$\nx [1]\n= y\n$$", "> \\[\n> x [1]\n> \\]", "1. $$ x\n   = [1] $$ is", "\\begin{a}\n[1]\n\\end{a}"),
    *("<a href='[1]'>", '<a title="> [1]">', "<https://x.org/[1]>", "<code>[1]</code>", "<pre>\n\n[1]\n</pre>"),
    *("<!--\n\n[1] -->", "https://x.org/?q=[1]", "https://x.org/a[1]", "\\[1]", "\\[1\\]", "\\【1】"),
]

PIECES = (
    *(
        "[1]",
        "[2]",
        "[9]",
        "[1, 9]",
        "[1-3]",
        "【1】",
        "[[1]]",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "!",
        "`",
        "```",
        "~~~",
        "\\",
    ),
    *(
        "\n",
        "\n\n",
        "    ",
        "\t",
        "- ",
        "> ",
        "# ",
        "1. ",
        "a",
        "x ",
        "很",
        ":",
        "https://x.org",
        "(x)",
        "[a]: /b",
        "†",
    ),
    *(
        "[1]: /b",
        "<pre>",
        "</pre>",
        "<!--",
        "-->",
        "[3-1]",
        "[0]",
        "[2+]",
        "[3??]",
        "'",
        '"',
        "\x1b]8;;",
        "\x1b\\",
        "1",
        ",",
    ),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)


@pytest.mark.parametrize(("text", "linked"), LINKED.items())
def test_citation_becomes_a_link(text: str, linked: str) -> None:
    assert link(text, SOURCES).text == linked


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_other_brackets_are_left_alone(text: str) -> None:
    assert find(text) == []
    for style in STYLES:
        assert link(text, SOURCES, style) == (text, (), ())


@pytest.mark.parametrize("text", LINKED)
def test_markdown_parser_finds_the_links(text: str) -> None:
    expected = [SOURCES[number - 1].url for mark in find(text) for number in mark.numbers if number <= 3]
    seen = [url for url in hrefs(link(text, SOURCES).text) if url.startswith("https://site")]
    assert seen == expected


def hrefs(text: str) -> list[str]:
    tokens = [child for token in MarkdownIt().enable("table").parse(text) for child in token.children or ()]
    assert not [token for token in tokens if token.type == "image"]
    return [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]


def test_marks_have_offsets() -> None:
    assert find("a [1], 【2-3】 [4+]") == [
        Mark(2, 5, (1,)),
        Mark(7, 12, (2, 3), "", "【】"),
        Mark(13, 17, (4,), "+"),
    ]


@pytest.mark.parametrize(
    ("text", "cited", "missing"),
    [
        ("[2] [1] [2]", (2, 1), ()),
        ("[4]", (), (4,)),
        ("[0]", (), (0,)),
        ("[1, 7] [8]", (1,), (7, 8)),
        ("[2-5]", (2, 3), (4, 5)),
    ],
)
def test_numbers_without_a_source_are_reported(text: str, cited: tuple[int, ...], missing: tuple[int, ...]) -> None:
    linked = link(text, SOURCES)
    assert (linked.cited, linked.out_of_range) == (cited, missing)
    assert cited or linked.text == text


def test_each_style_has_its_own_links() -> None:
    assert link("a 【1†s】 [9]", SOURCES, "plain").text == "a [1] [9]"
    assert link("a [1] [9]", SOURCES).text == "a [[1]](https://site1.org/page) [9]"
    assert link("Wow![1]", SOURCES, "plain").text == "Wow![1]"


def test_signs_are_put_behind_numbers() -> None:
    text = "a [1, 2]"
    assert link(text, SOURCES, "plain", {(2, 2): "?"}).text == "a [1][2?]"
    assert "[[2??]](" in link(text, SOURCES, signs={(2, 2): "??"}).text
    unlinked = [CitedSource(1, "javascript:alert(1)")]
    assert link("a [1]", unlinked, signs={(2, 1): "?"}).text == "a [1?]"


HOSTILE = {
    "https://x.org/a)b": "https://x.org/a)b",
    "https://x.org/a>b": "https://x.org/a%3Eb",
    "https://x.org/<b>": "https://x.org/%3Cb%3E",
    "https://x.org/a\nb": "https://x.org/a%20b",
    "https://x.org/a b": "https://x.org/a%20b",
    "https://x.org/a`b": "https://x.org/a%60b",
    "https://x.org/a|b": "https://x.org/a%7Cb",
    "https://x.org/a\\": "https://x.org/a%5C",
    'https://x.org/"a"': "https://x.org/%22a%22",
    "https://x.org/&lt;x": "https://x.org/&lt;x",
    "https://x.org/[[1]](y)": "https://x.org/%5B%5B1%5D%5D(y)",
    "https://x.org/\x1b]8;;evil": "https://x.org/%5D8;;evil",
    "https://good.org@x.org/": "https://x.org/",
    "https://例え.jp/道": "https://%E4%BE%8B%E3%81%88.jp/%E9%81%93",
    **dict.fromkeys(
        ("javascript:alert(1)", "data:text/html,x", "JAVASCRIPT://x/%0Aalert(1)", "", "x", "//x", "file:///x")
    ),
}


@pytest.mark.parametrize(("url", "shown"), HOSTILE.items())
def test_urls_cannot_break_out_of_links(url: str, shown: str | None) -> None:
    hostile = [CitedSource(1, url, "T")]
    linked = link("| `a` | ` [1] |\n|---|---|\n| x | y |\n", hostile)
    expected = [] if shown is None else [shown]
    assert linked.cited == (1,)
    assert [unquoted(found) for found in hrefs(linked.text)] == [unquoted(found) for found in expected]
    assert [unquoted(found) for found in hrefs("\n".join(references(hostile, [1])))] == [
        unquoted(one) for one in expected
    ]
    assert "\x1b" not in linked.text + "".join(references(hostile, [1], "plain"))


def test_urls_of_sources_begin_no_formula() -> None:
    url = "https://x.org/?a=$![x](https://evil.example/p)"
    sources = [CitedSource(1, url, "T")]
    for text in (link("costs 5 [1]", sources).text, *references(sources, [1]), markdown_target(url)):
        assert "$" not in text
    assert markdown_target("http://[::1]/~a?b[]=$") == "http://[::1]/~a?b%5B%5D=%24"
    assert "?a=%24!" in safe_markdown(f"Costs $5 [a](<{url}>) {url}", targets(sources))


def unquoted(url: str) -> str:
    try:
        host = url.split("/")[2]
        url = url.replace(host, unquote(host).encode("idna").decode(), 1)
    except (IndexError, UnicodeError):
        pass
    return unquote(url)


@pytest.mark.parametrize(
    "title",
    [
        "](https://evil.org)",
        "a\n\n# b",
        "<script>",
        "`code",
        "![x](y)",
        "[1]",
        "&lt;b&gt;",
        "\x1b[31mred",
        "**b**",
        ">",
        "1. x",
        "|",
    ],
)
def test_titles_cannot_break_out_of_links(title: str) -> None:
    lines = references([CitedSource(1, "https://x.org", title)], [1])
    assert len(lines) == 1
    assert hrefs(lines[0]) == ["https://x.org"]
    tokens = [child.type for token in MarkdownIt().parse(lines[0]) for child in token.children or ()]
    assert set(tokens) <= {"text", "link_open", "link_close", "text_special"}
    assert find(lines[0]) == []
    assert "\x1b" not in "".join(references([CitedSource(1, "https://x.org", title)], [1], "plain"))


def test_references_list_the_cited_sources() -> None:
    assert references(SOURCES, [3, 1]) == [
        "- \\[1\\] [Page 1](https://site1.org/page) — site1.org",
        "- \\[3\\] [Page 3](https://site3.org/page) — site3.org",
    ]
    assert references(SOURCES, [2], "plain") == ["[2] Page 2 — site2.org", "    https://site2.org/page"]
    assert references(SOURCES, []) == references(SOURCES, [7]) == references([], [1]) == []
    assert references([CitedSource(1, "https://www.x.org/")], [1], "plain")[0] == "[1] x.org — x.org"
    assert references([CitedSource(1, "")], [1]) == ["- \\[1\\] no title"]


def test_references_are_grouped_by_round() -> None:
    rounds = [*SOURCES, CitedSource(4, "https://site4.org/", "Page 4", round=2)]
    assert [line for line in references(rounds, [4, 1], "plain") if not line.startswith(" ")] == [
        *("Round 1", "[1] Page 1 — site1.org", "", "Round 2", "[4] Page 4 — site4.org"),
    ]
    assert references(rounds, [4])[:2] == ["### Round 2", ""]


def test_numbering_continues_over_rounds() -> None:
    numbering = Numbering()
    assert numbering.add(SOURCES[:2]) == {1: 1, 2: 2}
    again = CitedSource(1, "http://www.site2.org/page/?utm_source=x", "Other", "text")
    assert numbering.add([again, CitedSource(2, "https://new.org/", "New")]) == {1: 2, 2: 3}
    assert numbering.add([]) == {}
    assert [(one.citation, one.round, one.title) for one in numbering.sources] == [
        *((1, 1, "Page 1"), (2, 1, "Page 2"), (3, 2, "New")),
    ]
    assert numbering.sources[1].text == "text"
    assert numbering.sources[1].url == "https://site2.org/page"
    assert numbering.add([CitedSource(1, ""), CitedSource(2, "")]) == {1: 4, 2: 5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [1] b  [2].", "a b."),
        ("a [1] [2]", "a"),
        ("a [1-3].", "a."),
        ("`[1]` [2+]", "`[1]`"),
        ("很快【2】。", "很快。"),
        ("a[1] [x](1)", "a[1] [x](1)"),
    ],
)
def test_citations_are_dropped_with_the_spaces_before_them(text: str, expected: str) -> None:
    assert drop_citations(text) == expected


@settings(deadline=None, max_examples=300)
@given(texts, st.sampled_from(STYLES))
def test_linking_is_idempotent(text: str, style: str) -> None:
    linked = link(text, SOURCES, style).text
    assert link(linked, SOURCES, style).text == linked


@settings(deadline=None, max_examples=200)
@given(texts)
def test_text_between_citations_is_unchanged(text: str) -> None:
    marks = find(text)
    ends, starts = [0, *(mark.end for mark in marks)], [*(mark.start for mark in marks), len(text)]
    between = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    linked, place = link(text, SOURCES).text, 0
    for part in between:
        found = linked.find(part, place)
        assert found >= 0
        place = found + len(part)
    assert linked.startswith(between[0])
    assert linked.endswith(between[-1])
    assert [mark.start for mark in marks] == sorted(mark.start for mark in marks)


@settings(deadline=None, max_examples=200)
@given(texts, st.text(max_size=30), st.text(max_size=30))
def test_any_text_can_be_linked(text: str, url: str, title: str) -> None:
    sources = [CitedSource(1, url, title), CitedSource(2, f"https://x.org/{url}", title)]
    for style in STYLES:
        link(text, sources, style)
        references(sources, [1, 2], style)
    linked = link("a [2] b", sources).text
    assert len(hrefs(linked)) == (linked != "a [2] b")
    drop_citations(text)


@pytest.mark.parametrize(
    "piece",
    ["[", "[1](", "[](<a ", "`` ` ", "<pre>", "<a ", "- ", "> ", "[1, ", "[a]: <", "![x](a 'b ", "$1 a ", "\\[a\n"],
)
def test_long_hostile_text_is_linked_in_linear_time(piece: str) -> None:
    link(piece * 20_000, SOURCES)
