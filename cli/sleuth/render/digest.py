"""A quoted digest as plain text, Markdown, or for a terminal."""

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from sleuth.base.i18n import tr
from sleuth.base.text import escape_markdown
from sleuth.base.urls import ascii_url, domain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sleuth.answers.summary import Digest, Quote


def render_plain(found: "Digest", out: TextIO) -> None:
    """Write the digest as plain text with a list of sources."""
    out.write(f"{found.heading()}\n\n")
    out.write(" ".join(f"{text} [{citation}]" for text, citation in _runs(found.summary)) + "\n")
    if len(found.read) > 1:
        out.writelines(f"\n[{source.citation}] {source.title}\n{_text(source.summary)}\n" for source in found.read)
    out.write(f"\n{tr('Sources')}\n")
    out.writelines(f"[{source.citation}] {source.title}\n    {source.url}\n" for source in found.read)


def render_markdown(found: "Digest", out: TextIO) -> None:
    """Write the digest as Markdown with linked numbers."""
    links = {source.citation: f"[[{source.citation}]](<{ascii_url(source.url)}>)" for source in found.read}
    titles = {source.citation: escape_markdown(source.title) for source in found.read}
    out.write(f"## {escape_markdown(found.heading())}\n\n")
    out.write(" ".join(f"{escape_markdown(text)} {links[number]}" for text, number in _runs(found.summary)) + "\n")
    for source in found.read if len(found.read) > 1 else ():
        text = escape_markdown(_text(source.summary))
        out.write(f"\n### {titles[source.citation]} {links[source.citation]}\n\n{text}\n")
    out.write(f"\n## {tr('Sources')}\n\n")
    out.writelines(f"{one.citation}. [{titles[one.citation]}](<{ascii_url(one.url)}>)\n" for one in found.read)


def render_rich(found: "Digest", out: TextIO, color: str, theme: str) -> None:
    """Write the digest for a terminal, numbers linked, sources below."""
    from rich.style import Style
    from rich.text import Text

    from sleuth.render.rich import INDENT, STYLES, make_console, print_wrapped

    console, styles = make_console(out, color), STYLES[theme]
    links = {source.citation: Style(link=ascii_url(source.url)) for source in found.read}
    cited = Text(" ").join(
        Text.assemble(text, (f" [{citation}]", Style.parse(styles["rank"]) + links[citation]))
        for text, citation in _runs(found.summary)
    )
    print_wrapped(console, Text(found.heading(), styles["quiet"]), "")
    console.print()
    print_wrapped(console, cited, "")
    for source in found.read:
        console.print()
        title = Text(source.title, Style.parse(styles["title"]) + links[source.citation])
        print_wrapped(console, title, INDENT, Text(f"{source.citation:>2}  ", styles["rank"]))
        about = " · ".join(part for part in (domain(source.url), source.published, source.author) if part)
        print_wrapped(console, Text(about, styles["about"]), INDENT)
        if len(found.read) > 1:
            print_wrapped(console, Text(_text(source.summary)), INDENT)
    console.print()


def _runs(quotes: "Sequence[Quote]") -> "Iterator[tuple[str, int]]":
    """Yield the consecutive sentences of one source as one text, with its number."""
    for citation, group in groupby(quotes, key=lambda quote: quote.citation):
        yield _text(list(group)), citation


def _text(quotes: "Sequence[Quote]") -> str:
    return " ".join(quote.text for quote in quotes)
