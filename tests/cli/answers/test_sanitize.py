"""Markdown from a model is safe in any viewer."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sleuth.answers.sanitize import safe_markdown

LINKS = {1: "https://tokio.rs/a", 3: "https://x.org/3&lt;x%7Cy"}
VIEWERS = (
    MarkdownIt("commonmark", {"html": True}).enable("table"),
    MarkdownIt("gfm-like", {"html": True, "linkify": False}),
)
PIECES = st.sampled_from(
    [
        *(
            "[",
            "]",
            "(",
            ")",
            "<",
            ">",
            "!",
            "`",
            "``",
            "```\n",
            "\n",
            "\n\n",
            " ",
            "    ",
            "- ",
            "> ",
            "1. ",
            "\\",
            "a",
        ),
        *("&lt;", "*", "_", "~~", "?", "#", "\t", "'", '"', "|", "|-|\n", "http://x.com", "javascript:alert(1)", "://"),
        *("[1]", "[[1]](https://tokio.rs/a)", "[[1]](", "![i](", "[l]: ", "<https://a.b>", "<b>", "</b>", "<!--"),
        *("-->", "<div", "<script>", "</script>", "<img src=x>", "<?", "<!x ", "[[3]](https://evil.com)"),
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
@example("- ```\n<b>")
@example("[1]: https://evil.com\n\nsee [1]")
@example("<div onload=x\n\n![a][1]\n\n[1]: http://x.com/i.png")
def test_viewers_find_only_text_and_links_to_sources(text: str) -> None:
    safe = safe_markdown(text, LINKS)
    for viewer in VIEWERS:
        tokens = [token for top in viewer.parse(safe) for token in (top, *(top.children or ()))]
        assert not {"html_block", "html_inline", "image"} & {token.type for token in tokens}
        assert {token.attrs["href"] for token in tokens if "href" in token.attrs} <= set(LINKS.values())


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("A [[1]](https://tokio.rs/a) b.", "A [[1]](https://tokio.rs/a) b."),
        ("[[3]](https://x.org/3&amp;lt;x%7Cy)", "[[3]](https://x.org/3&amp;lt;x%7Cy)"),
        ("[[1]](https://evil.com)", "[1] (evil.com)"),
        ("[x](javascript:alert(1))", "x"),
        ("![p](http://t.co/p.png)", "p (t.co)"),
        ("![p](https://tokio.rs/a)", "p (tokio.rs)"),
        ("[the docs](https://tokio.rs/a) and ![](x)", "[the docs](https://tokio.rs/a) and "),
        ("Vec<String> and a < b", "Vec\\<String> and a < b"),
        ("`Vec<T>`\n\n```\n<b>\n```\n", "`Vec<T>`\n\n```\n<b>\n```\n"),
        ("[docs](https://a.org/b_(c))", "docs (a.org)"),
        ("plain *text*\n\n- list\n\n| a |\n|---|\n| b |\n", "plain *text*\n\n- list\n\n| a |\n|---|\n| b |\n"),
    ],
)
def test_only_dangerous_parts_are_changed(text: str, safe: str) -> None:
    assert safe_markdown(text, LINKS) == safe
