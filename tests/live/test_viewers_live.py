"""Answers in the viewers of Markdown that chat front ends and editors use: safe, and otherwise as written."""

import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.servers import environment
from tests.viewers import HOSTILE, PICTURE

from sleuth.answers.markdown import SafeStream, safe_markdown

pytestmark = pytest.mark.live

SCRIPT = Path(__file__).parents[1] / "viewers.mjs"
ORDINARY = (Path(__file__).parents[1] / "fixtures" / "answers.md").read_text("utf-8").split("\n%%\n")
SOURCES = {1: "https://tokio.rs/a", 2: "https://docs.rs/tokio/?x=1&y=2"}
TAGS = frozenset(
    ["img", "script", "iframe", "object", "embed", "details", "plaintext", "b", "div", "form", "input", "base"]
)
PIECES = (
    *(
        "`",
        "``",
        "```",
        "````",
        "`x`",
        "`a|b`",
        "``a`b``",
        "$",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "\\",
        "|",
        "~~~",
        "[",
        "]",
        "(",
        ")",
    ),
    *(
        "](",
        "]:",
        "![",
        "<",
        ">",
        "!",
        "&lt;",
        "&#60;",
        ":",
        "*",
        "_",
        "#",
        "a",
        "word ",
        "12",
        "中文",
        "。",
        " ",
        "    ",
        "\t",
    ),
    *(
        "\n",
        "\n\n",
        "\n    ",
        "\n  ",
        "\n> ",
        "\n- ",
        "\n1. ",
        "\n10. ",
        "\n```\n",
        "\n~~~\n",
        "\n$$\n",
        "\n\\[\n",
        "\n|-|-|\n",
        "\n---\n",
    ),
    *(
        PICTURE,
        "![x][r]",
        "[x](https://evil.example/l)",
        "<img src=https://evil.example/i>",
        "<b>",
        "<div",
        "<!--",
        "<script>",
    ),
    *(
        "[r]: https://evil.example/r",
        "https://evil.example/q",
        "www.evil.example",
        "//evil.example",
        "<https://evil.example/a>",
        "evil.com/?d=secret",
        "[x](https://evil.com/l)",
    ),
    *(
        "[[1]](https://tokio.rs/a)",
        "[t](https://tokio.rs/a)",
        "[[1]](https://evil.example/)",
        "\\begin{a}",
        "\\end{a}",
        "$x$",
        "`$`",
    ),
    *("\\href{https://evil.example}{x}", "\\style{background:url(//evil.example)}{x}"),
)

CSS_URL = re.compile(r"u\\?r\\?l\(|\\\d")  # also with escapes

Render = Callable[[list[str]], list[dict[str, str]]]


@pytest.fixture(scope="session")
def render() -> Render:
    """Give a function that renders texts in all viewers."""
    home = environment("viewers")

    def rendered(texts: list[str]) -> list[dict[str, str]]:
        command = ["node", str(SCRIPT), str(home)]
        done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=900)
        return [json.loads(line) for line in done.stdout.split("\n")[:-1]]

    return rendered


class Dangers(HTMLParser):
    """Collects what loads or runs something, and links to other places than the sources."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in TAGS and (tag, dict(attrs).get("type")) != ("input", "checkbox"):
            self.found.append(tag)
        for name, value in attrs:
            target = value or ""
            if name.startswith("on") or name == "src" or (name in ("fill", "style") and CSS_URL.search(target)):
                self.found.append(f"{tag} {name}={target}")
            if name.endswith("href") and not (
                target in SOURCES.values() or target.startswith(("#", "mailto:")) or not target
            ):
                self.found.append(f"link to {target}")


def streamed(text: str, size: int) -> str:
    written: list[str] = []
    stream = SafeStream(written.append)
    for start in range(0, len(text), size):
        stream.add(text[start : start + size])
    stream.close()
    return "".join(written)


def hostile_texts() -> Iterator[str]:
    yield from HOSTILE
    chosen = random.Random(2026)
    for _ in range(1500):
        yield "".join(chosen.choices(PIECES, k=chosen.randint(3, 14)))


def test_viewers_find_nothing_to_load_or_run_and_only_links_to_sources(render: Render) -> None:
    texts = list(hostile_texts())
    outputs = [safe_markdown(text, SOURCES) for text in texts] + [streamed(text, 1 + len(text) % 9) for text in texts]
    for text, output, shown in zip(texts * 2, outputs, render(outputs), strict=True):
        for viewer, html in shown.items():
            page = re.sub(r"(?s)<style>.*?</style>", "", html)  # of MathJax
            # GitHub's extension links `www.` before a space to nothing, markdown-it 14 a name to its host.
            harmless = r"link to http://[^/?]+" if viewer == "markdown-it 14" else "link to http://www"
            dangers = [one for one in Dangers(page).found if not re.fullmatch(harmless, one)]
            assert not dangers, (viewer, text, output)


def test_viewers_show_ordinary_answers_as_written(render: Render) -> None:
    for original, shown in zip(
        render(ORDINARY), render([safe_markdown(one, SOURCES) for one in ORDINARY]), strict=True
    ):
        for viewer, html in shown.items():
            written, expected = (one.replace("<br>", " ").split() for one in (html, original[viewer]))
            assert written == expected, viewer  # but for the lines of formulas, which become one
