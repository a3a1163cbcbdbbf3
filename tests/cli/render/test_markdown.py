"""Markdown output: readable, and rendered as the plain text it came from."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sleuth.base.text import escape_markdown
from sleuth.engine.outcome import Outcome
from sleuth.relevance.hit import Hit
from sleuth.render import View
from sleuth.render.markdown import render
from sleuth_providers.base import DirectAnswer

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def rendered(text: str) -> str:
    """Return the text that a reader of the Markdown sees."""
    tokens = [token for block in PARSER.parse(text) for token in block.children or ()]
    return "".join("\n" if token.type == "softbreak" else token.content for token in tokens)


@given(st.text("ab 1.)#>+-=*_`[]<!|~:(\\\n", max_size=30))
def test_escaped_text_is_rendered_literally(text: str) -> None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    assert rendered(escape_markdown("\n".join(lines))) == "\n".join(lines)


@pytest.mark.parametrize("url", ["https://a.example/", "www.a.example/"])
def test_bare_url_does_not_take_in_the_escape_of_a_tag(url: str) -> None:
    assert escape_markdown(f"{url}<img src=x>") == f"{url}&lt;img src=x>"


def test_text_of_a_link_is_no_picture_without_the_backslashes_before_brackets() -> None:
    assert escape_markdown("![t](https://evil.example/t)") == r"!\[t\]\(https://evil.example/t)"


def test_urls_begin_no_formula() -> None:
    out, url = StringIO(), "https://x.org/?a=$![x](https://evil.example/p)"
    hit = Hit(1, "Costs 5", url)
    render(Outcome("q", "p", (hit,), answers=(DirectAnswer("Costs 5", url),)), out, View())
    assert out.getvalue().count("?a=%24!") == 2
    assert "$" not in out.getvalue()


@pytest.mark.parametrize("text", ["Mid-2023 (rust-lang.github.io)", "a + b = c!", "snake_case", "C# {x} 3.5 > 2"])
def test_ordinary_text_is_not_escaped(text: str) -> None:
    assert escape_markdown(text) == text
