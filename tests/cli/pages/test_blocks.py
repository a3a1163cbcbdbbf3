"""Plain text and Markdown have the same words; text is escaped; cuts fall between paragraphs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.viewers import links

from sleuth.pages.blocks import (
    KINDS,
    Block,
    as_markdown,
    as_text,
    block,
    cut,
    from_json,
    from_markdown,
    from_plain,
    without_title,
)
from sleuth.pages.extract import ExtractedPage, finished

BLOCKS = st.lists(
    st.builds(block, st.sampled_from(KINDS), st.text(max_size=80), st.integers(0, 6)).filter(lambda one: one.text)
)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_every_kind_has_its_form() -> None:
    blocks = [
        block("heading", "A heading", 2),
        block("paragraph", "A paragraph\nof two lines"),
        block("item", "one"),
        block("item", "inner", 1, "12."),
        block("quote", "Somebody said\nthis"),
        block("code", "def f():\n    return 1", mark="python"),
        block("table", "a\tb\n1\t2|3"),
    ]
    assert as_markdown(blocks) == (
        "## A heading\n\nA paragraph\nof two lines\n\n- one\n   12. inner\n\n> Somebody said\n> this\n\n"
        "```python\ndef f():\n    return 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |"
    )
    assert as_text(blocks) == (
        "A heading\n\nA paragraph\nof two lines\n\n- one\n   12. inner\n\nSomebody said\nthis\n\n"
        "def f():\n    return 1\n\na | b\n1 | 2|3"
    )


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("see [here](http://evil.example)", "see [here]\\(http://evil.example)"),
        ("![x](http://evil.example/pixel)", "![x]\\(http://evil.example/pixel)"),
        ("[ref]: http://evil.example", "[ref]\\: http://evil.example"),
        ("- [ref]: http://evil.example", "- [ref]\\: http://evil.example"),
        ("* [ref]:\nhttp://evil.example", "* [ref]\\:\nhttp://evil.example"),
        ("[a\nb]: http://evil.example", "[a\nb]\\: http://evil.example"),
        ("[a\nhttp://b]: http://evil.example", "[a\nhttp://b]\\: http://evil.example"),
        ("vec![1] at http://[::1]:80/", "vec![1] at http://[::1]:80/"),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("<http://evil.example>", "\\<http://evil.example>"),
        ("# not a heading", "\\# not a heading"),
        ("> not a quote", "\\> not a quote"),
        ("``` not a fence", "\\`\\`\\` not a fence"),
        ("\\<img src=x>", "\\\\\\<img src=x>"),
        ("https://a.example/<img src=x>", "https://a.example/&lt;img src=x>"),
        ("www.a.example/`<img src=x>`", "www.a.example/\\`&lt;img src=x>\\`"),
        ("`` `a` `<img src=x>`", "\\`\\` `a` `<img src=x>`"),
        ("use `Vec<T>` here", "use `Vec<T>` here"),
        ("1 < 2 and #hashtag [1]", "1 < 2 and #hashtag [1]"),
        ("a|b\n-|-\n1", "a|b\n\\-|-\n1"),
        ("|a|b|\n|:-:|--|", "|a|b|\n\\|:-:|--|"),
    ],
)
def test_markup_in_the_text_of_a_page_is_escaped(text: str, markdown: str) -> None:
    assert as_markdown([block("paragraph", text)]) == markdown


@pytest.mark.parametrize(
    ("cell", "markdown"), [("|", "\\|"), ("||", "\\|\\|"), (":|", ":\\|"), ("-", "-"), ("\\|", "\\\\\\|")]
)
def test_a_cell_stays_one_cell(cell: str, markdown: str) -> None:
    assert as_markdown([block("table", f"a\tb\n{cell}\tc")]).endswith(f"\n| {markdown} | c |")


def test_short_rows_of_a_table_are_filled_up() -> None:
    assert as_markdown([block("table", "Title\na\tb\n1")]) == "| Title |  |\n| --- | --- |\n| a | b |\n| 1 |  |"


def test_a_table_of_one_wide_and_many_short_rows_is_code() -> None:
    blocks = [block("table", "\t".join("a" * 9) + "\nb" * 9)]
    assert as_markdown(blocks) == f"```\n{as_text(blocks)}\n```"


@pytest.mark.parametrize(
    ("kind", "text", "most"),
    [
        ("table", "a\t" * 300 + "\nb" * 300, 5),
        ("table", ("a\t" * 20 + "\nb" * 6) * 20, 9),
        ("item", "a\n" * 500, 22),
        ("code", "`" * 1000, 4),
        ("paragraph", "://" + "<" * 1000, 5),
    ],
)
def test_no_form_is_many_times_as_long_as_its_text(kind: str, text: str, most: int) -> None:
    blocks = from_json([[kind, text, 10**9, "", ""]])
    assert len(as_markdown(blocks)) < most * len(text)
    assert len(as_text(blocks)) < most * len(text)


@pytest.mark.parametrize("text", ["a|" * 300 + "\n" + "-|" * 300 + "\nb" * 300, "a\t" * 300 + "\nb" * 300])
def test_viewers_do_not_fill_up_tables_without_end(text: str) -> None:
    from sleuth.base.markdown import parser

    for kind in KINDS:
        assert len(parser().parse(as_markdown([block(kind, text)]))) < 2000  # 300 × 300 cells would be 270,000 tokens


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert as_markdown([block("code", "```\nx\n```")]) == "````\n```\nx\n```\n````"


def test_code_keeps_its_indentation_and_loses_control_characters() -> None:
    assert block("code", "if x:\n\ty = \x1b[31m 1   # two\r\n").text == "if x:\n    y = [31m 1   # two"


@given(BLOCKS)
def test_both_forms_have_the_same_words(blocks: list[Block]) -> None:
    assert words(as_text(blocks)) == words(as_markdown(blocks))


@given(BLOCKS)
def test_no_control_characters_are_left(blocks: list[Block]) -> None:
    left = [c for c in as_text(blocks) + as_markdown(blocks) if not c.isprintable() and c not in "\n\u200c\u200d"]
    assert not left


@given(BLOCKS, st.integers(1, 300))
def test_a_cut_respects_the_limit_and_reports_truncation(blocks: list[Block], limit: int) -> None:
    kept, truncated = cut(blocks, limit)
    assert len(as_markdown(kept)) <= limit
    assert len(as_text(kept)) <= limit
    assert truncated == (kept != blocks)


def test_a_cut_falls_between_paragraphs() -> None:
    blocks = [block("paragraph", "x" * 60), block("heading", "Next", 2), block("paragraph", "y" * 60)]
    assert cut(blocks, 100) == (blocks[:1], True)
    assert cut(blocks, 200) == (blocks, False)


def test_a_long_paragraph_is_cut_at_a_sentence() -> None:
    text = "The first sentence is here. The second one follows it. And a third that does not fit"
    kept, truncated = cut([block("paragraph", text)], 60)
    assert (kept[0].text, truncated) == ("The first sentence is here. The second one follows it.", True)
    kept, _ = cut([block("paragraph", "第一句话在这里。第二句话跟着它。第三句话放不下了")], 20)
    assert kept[0].text == "第一句话在这里。第二句话跟着它。"


def test_code_and_tables_are_cut_at_a_line() -> None:
    kept, _ = cut([block("code", "one\ntwo\nthree\nfour")], 22)
    assert kept[0].text == "one\ntwo"
    kept, _ = cut([block("table", "a\tb\n1\t2\n3\t4")], 42)
    assert kept[0].text == "a\tb\n1\t2"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("table", "\n".join(f"{number}\tname\tvalue\tunit" for number in range(3000))),
        ("item", "A sentence.\n" * 3000),
        ("code", "`" * 1500 + "\ncode" * 5000),
        ("paragraph", "`<a. " * 6000),
    ],
)
def test_a_long_block_is_cut_to_what_fits(kind: str, text: str) -> None:
    kept, truncated = cut([block(kind, text, 5)], 20_000)
    assert truncated
    assert 17_000 < len(as_markdown(kept)) <= 20_000


def test_the_longest_page_is_limited() -> None:
    content = finished(ExtractedPage(blocks=[block("paragraph", "word " * 100_000)] * 5))
    assert 900_000 < sum(len(one.text) for one in content.blocks) <= 1_000_000


@pytest.mark.parametrize(
    ("title", "first", "left"),
    [
        ("Title", ["DEPRECATED - use version 2 instead", "Title"], ["DEPRECATED - use version 2 instead"]),
        ("Title", ["Deprecated: use newlib.", "By A. Author", "Title", "Text"], ["Deprecated: use newlib.", "Text"]),
        ("A good title", ["A good title", "Text"], ["Text"]),
        ("A very good title - Site name", ["News", "A very good title", "Text"], ["Text"]),
        ("A good title", ["Something else", "Text"], ["Something else", "Text"]),
        ("Title", ["x" * 300, "Title", "Text"], ["x" * 300, "Title", "Text"]),
        ("", ["Text"], ["Text"]),
    ],
)
def test_the_title_is_not_repeated(title: str, first: list[str], left: list[str]) -> None:
    blocks = [block("paragraph", text) for text in first]
    assert [one.text for one in without_title(blocks, title, is_site=True)] == left


def test_nothing_above_the_title_of_a_file_is_lost() -> None:
    blocks = [block("paragraph", text) for text in ("Moved to newlib", "2026-11-18", "Title", "Text")]
    assert [one.text for one in without_title(blocks, "Title")] == ["Moved to newlib", "2026-11-18", "Text"]


MARKDOWN = """# Title #

A [link](https://x.example/a_(b) "t") and **bold** and ![image](https://x.example/p.png) and <b>html</b>.
Second line with `code [x](y)` and \\*stars\\*.

- item *one*
  - inner
1. numbered
   goes on

> quoted [text](u)

```python
def f(**kw):
    return "[a](b)"
```

| a | b |
|---|---|
| 1 | [2](x) |

***
End
"""


def test_markdown_is_read_without_markup() -> None:
    assert from_markdown(MARKDOWN) == [
        Block("heading", "Title", 1),
        Block(
            "paragraph",
            "A link and bold and image and html.\nSecond line with `code [x](y)` and *stars*.",
            linked="A link (https://x.example/a_(b)) and bold and image and html.\n"
            "Second line with `code [x](y)` and *stars*.",
        ),
        Block("item", "item one"),
        Block("item", "inner", 1),
        Block("item", "numbered\ngoes on", mark="1."),
        Block("quote", "quoted text", linked="quoted text (u)"),
        Block("code", 'def f(**kw):\n    return "[a](b)"', mark="python"),
        Block("table", "a\tb\n1\t2", linked="a\tb\n1\t2 (x)"),
        Block("paragraph", "End"),
    ]


def test_a_quote_ends_at_the_first_line_without_its_sign() -> None:
    found = from_markdown("> one\n> two\nthree\n\n> ```\nfour")
    assert [(block.kind, block.text) for block in found][:2] == [("quote", "one\ntwo"), ("paragraph", "three")]
    assert found[-1].text == "four"


def test_an_open_fence_ends_with_the_text() -> None:
    assert from_markdown("~~~\ncode\n\nmore") == [Block("code", "code\n\nmore")]
    assert from_markdown("") == []


PIECES = (
    "![",
    "[",
    "](https://evil.example)",
    "]",
    "<img src=x>",
    "<",
    ">",
    "`",
    "\\",
    "!",
    "\n",
    " ",
    "a",
    "1. ",
    "```",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_markdown_that_was_read_has_no_link_picture_or_html(source: str) -> None:
    assert links(as_markdown(from_markdown(source))) == []


@pytest.mark.cpu_limit(20)
@pytest.mark.parametrize(
    "part",
    ["[", "[a](", "**a ", "`", "<a ", "# ", "|-", "![", "- ", '[a](b "c ', "_", "\\", " ", "(", "* a", "~~a ", "\\["],
)
def test_hostile_markdown_takes_linear_time(part: str) -> None:
    from_markdown(part * 60_000)
    as_markdown(from_markdown((part + "\n") * 5_000))


@pytest.mark.cpu_limit(20)
@pytest.mark.parametrize("opening", ["<!--", "<!-- a ", "<!--<", "<a "])
def test_unclosed_markup_takes_linear_time(opening: str) -> None:
    from_markdown(opening * (1_000_000 // len(opening)))


@pytest.mark.cpu_limit(20)
@pytest.mark.parametrize("quote", ["> ```\na\n", "> # a\nb\n", "> ---\nb\n", "> <div>\nb\n"])
def test_quotes_that_end_at_once_take_linear_time(quote: str) -> None:
    from_markdown(quote * 4_000)


def test_comments_are_removed_even_with_dashes_and_brackets_in_them() -> None:
    assert from_markdown("a<!-- b\n-- > c - -->d<!---->e <!-- x < y -->f") == [Block("paragraph", "ade f")]


def test_plain_text_is_cut_in_paragraphs() -> None:
    blocks = from_plain("First line\nsecond line\r\n\r\nNext paragraph\n\n\n")
    assert blocks == [Block("paragraph", "First line\nsecond line"), Block("paragraph", "Next paragraph")]


def test_aligned_plain_text_becomes_code() -> None:
    text = "Name     Age\nAnna      31\nBert      42"
    assert from_plain(text) == [Block("code", text)]


@given(BLOCKS)
def test_blocks_survive_the_cache(blocks: list[Block]) -> None:
    blocks = [*blocks, block("item", "see it", 1, "7.", "see it (https://x.example)"), block("code", "x", mark="c++")]
    assert from_json([list(one) for one in blocks]) == blocks


@pytest.mark.parametrize(
    "value", [None, 7, "text", [7], [["paragraph"]], [["script", "x", 0, "", ""]], [["item", "x", "y", "", ""]]]
)
def test_invalid_blocks_are_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_json(value)
