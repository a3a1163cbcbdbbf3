"""Markdown on a terminal: what it looks like, and what it cannot do."""

import io

import pytest

from sleuth.render.document import MarkdownRenderer
from sleuth.render.rich import STYLES, make_console, print_lines

LINKS = {1: "https://tokio.rs/a", 3: "https://x.org/3"}


def document(columns: int = 60, theme: str = "auto", color: str = "always") -> MarkdownRenderer:
    made = MarkdownRenderer(make_console(io.StringIO(), color, columns), STYLES[theme], columns)
    made.set_citation_targets(LINKS)
    return made


def lines(text: str, columns: int = 60) -> list[str]:
    return [line.plain for line in document(columns).lines(text)]


def printed(text: str, theme: str = "auto") -> str:
    made = document(theme=theme)
    print_lines(made.console, made.lines(text))
    assert isinstance(made.console.file, io.StringIO)
    return made.console.file.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Title\n\ntext **b** *i* `c` ~~s~~", ["Title", "", "text b i c s"]),
        ("one\ntwo", ["one", "two"]),
        ("- a\n- b\n  - c\n", ["• a", "• b", "  • c"]),
        ("3. a\n4. b\n", ["3. a", "4. b"]),
        ("1. a\n\n   b\n\n2. c", ["1. a", "", "   b", "", "2. c"]),
        ("> a\n>\n> b", ["│ a", "│ ", "│ b"]),
        ("```py\na = [1]\n\n\tb\n```", ["    a = [1]", "", "        b"]),
        ("a\n\n---\n\nb", ["a", "", "─" * 40, "", "b"]),
        ("<b>x</b> Vec<T> &amp; &lt;", ["<b>x</b> Vec<T> & <"]),
        ("[x](javascript:alert(1))", ["[x](javascript:alert(1))"]),
        ("[x](ftp://a.b/c) [y](/z)", ["x (ftp://a.b/c) y (/z)"]),
        ("[docs](https://a.org/b) <https://c.org/>", ["docs (a.org) https://c.org/"]),
        ("![alt](http://t.co/p.png) ![](http://t.co/p.png)", ["alt (t.co) image (t.co)"]),
        ("[[1]](https://tokio.rs/a) [[3?]](https://x.org/3)", ["[1] [3?]"]),
        ("[[1]](https://evil.com) [[3]](https://tokio.rs/a)", ["[1] (evil.com) [3] (tokio.rs)"]),
        ("[1]: https://evil.com\nsee [1]", ["[1]: https://evil.com", "see [1]"]),
        ("[/bar] [bold red]x[/]", ["[/bar] [bold red]x[/]"]),
        ("a\x1b[2J \u202eb &#x202e;c &#27;[0m", ["a[2J b c \ufffd[0m"]),
        ("", []),
    ],
)
def test_markdown_becomes_lines(text: str, shown: list[str]) -> None:
    assert lines(text) == shown


def test_table_fits_its_terminal() -> None:
    cell = "很长的中文内容" * 3 + " [[1]](https://tokio.rs/a)"
    text = f"| runtime | 说明 |\n|---|---|\n| tokio | {cell} |\n"
    for columns in (20, 40, 100):
        assert all(line.cell_len <= columns for line in document(columns).lines(text))
    assert "\x1b]8;" in printed(text)


@pytest.mark.parametrize(("columns", "rows"), [(11, 1), (300, 1), (2, 2600)])
def test_table_that_is_too_wide_or_long_is_printed_as_lines(columns: int, rows: int) -> None:
    text = f"|{'字字|' * columns}\n|{'-|' * columns}\n" + f"|{'字字|' * columns}\n" * rows
    shown = lines(text)
    assert "".join(shown).count("字") == 2 * columns * (rows + 1)
    assert shown[0].startswith("字字 | 字字")
    assert max(map(len, shown)) <= 60


def test_citations_are_hyperlinks_and_weak_ones_are_highlighted() -> None:
    text = "[[1]](https://tokio.rs/a) [[3??]](https://x.org/3)"
    shown = printed(text, "dark")
    assert ";https://tokio.rs/a\x1b\\\x1b[1;36m[1]\x1b[0m\x1b]8;;\x1b\\" in shown
    assert ";https://x.org/3\x1b\\\x1b[1;33m[3??]\x1b[0m\x1b]8;;\x1b\\" in shown
    assert "\x1b[1;31m[3??]" in printed(text, "light")


def test_fake_citation_is_not_a_link() -> None:
    assert "\x1b]8;" not in printed("[[1]](https://evil.com)")


@pytest.mark.parametrize(
    ("label", "target", "is_named"),
    [
        ("https://www.paypal.com/signin", "https://pal.com/x", True),
        ("https://www.paypal.com/?from=evil.example", "https://evil.example/", True),
        ("evil.example.paypal.com", "https://evil.example/", True),
        ("the guide", "https://a.org/x", True),
        ("a.org", "https://a.org/x", False),
        ("https://a.org/x", "https://a.org/x", False),
        ("https://www.a.org/y", "https://a.org/x", False),
    ],
)
def test_link_names_the_host_it_leads_to(label: str, target: str, is_named: bool) -> None:
    host = target.split("/")[2]
    assert (f"({host})" in "".join(lines(f"[{label}]({target})"))) == is_named


def test_code_is_not_wrapped() -> None:
    assert lines("```\n" + "x" * 200 + "\n```", 40) == ["    " + "x" * 200]
    assert printed("    " + "y" * 200).count("\n") == 1


def test_deep_nesting_leaves_room_for_text() -> None:
    text = "\n".join("  " * depth + "- word word" for depth in range(18))
    assert all(len(line) <= 40 for line in lines(text, 40))
