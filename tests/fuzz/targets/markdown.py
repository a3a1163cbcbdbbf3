"""Hostile Markdown is safe in a viewer, on a terminal and in a prompt."""

import io
import unicodedata

from rich.console import Console
from tests.viewers import links

from sleuth.answers.citations import find
from sleuth.answers.markdown import SafeStream, safe_markdown
from sleuth.answers.sanitize import fenced, without_citations
from sleuth.base.markdown import normalise_target, split_blocks
from sleuth.base.text import JOINERS
from sleuth.render.document import MarkdownRenderer

LINKS = {1: "https://a.example/?x=1&y", 2: "https://b.example/"}
STYLES = dict.fromkeys(("title", "rank", "url", "quiet", "code", "warning", "site"), "bold")
CONSOLE = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None)
WORDS = (
    "[ ¦ ]( ¦ ) ¦ ![ ¦ <a href=x> ¦ <img src=x> ¦ ](< ¦ >) ¦ ]:  ¦ [1] ¦ [2+] ¦ ` ¦ ```\n ¦ \n\n ¦ \n>  ¦ "
    "\n-  ¦ \n     ¦ | ¦ \n|---|\n ¦ javascript: ¦ data: ¦ &#106; ¦ \\ ¦ <untrusted ¦ [search results ¦ "
    "&colon; ¦ &Tab;"
)
ROUNDS = 100
LARGE = 20_000  # bytes: far longer than any answer, and slow to parse


def check(data: bytes) -> None:
    """Sanitise a text for a viewer, a terminal and a prompt."""
    text = data.decode("utf-8", "replace")
    assert "".join(split_blocks(text)) == text, "blocks are the text"
    safe = safe_markdown(text, LINKS)
    assert {target for _, target in links(safe)} <= {normalise_target(target) for target in LINKS.values()}, (
        "only sources"
    )
    written: list[str] = []
    stream = SafeStream(written.append)
    for start in range(0, len(text), 7):
        stream.add(text[start : start + 7])
    stream.close()
    assert links("".join(written)) == [], "a stream has no links"
    for shown in (text, safe):
        document = MarkdownRenderer(CONSOLE, STYLES, 60)
        document.set_citation_targets(LINKS)
        for line in document.lines(shown):
            assert all(map(_is_harmless, line.plain)), "harmless on a terminal"
    bare = without_citations(text)
    assert not find(bare), "no citation is left in page text"
    assert fenced(bare, text[:100], "c0de").count("untrusted-c0de") == 2, "the fence is closed once"


def _is_harmless(sign: str) -> bool:
    return sign.isprintable() or sign in JOINERS or sign == "\t" or unicodedata.category(sign) == "Zs"
