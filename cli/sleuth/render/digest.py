"""A digest as plain text, Markdown, or on a terminal."""

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from sleuth.base.i18n import tr
from sleuth.base.urls import ascii_url, domain
from sleuth.render.markdown import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sleuth.answers.digest import Digest, DigestSource, Quote


def render_plain(found: "Digest", out: TextIO) -> None:
    """Write the digest as plain text with a list of sources."""
    out.write(f"{_heading(found)}\n\n{_cited(found.summary)}\n")
    if len(found.read) > 1:
        out.writelines(f"\n[{source.citation}] {source.title}\n{_text(source.summary)}\n" for source in found.read)
    out.write(f"\n{tr('Sources')}\n")
    out.writelines(f"[{source.citation}] {source.title}\n    {source.url}\n" for source in found.read)


def render_markdown(found: "Digest", out: TextIO) -> None:
    """Write the digest as Markdown; numbers are links."""
    links = {source.citation: f"[[{source.citation}]](<{ascii_url(source.url)}>)" for source in found.read}
    out.write(f"## {escape(_heading(found))}\n\n")
    out.write(" ".join(f"{escape(text)} {links[citation]}" for text, citation in runs(found.summary)) + "\n")
    if len(found.read) > 1:
        out.writelines(
            f"\n### {escape(source.title)} {links[source.citation]}\n\n{escape(_text(source.summary))}\n"
            for source in found.read
        )
    out.write(f"\n## {tr('Sources')}\n\n")
    out.writelines(f"{source.citation}. [{escape(source.title)}](<{ascii_url(source.url)}>)\n" for source in found.read)


def render_rich(found: "Digest", out: TextIO, color: str, theme: str) -> None:
    """Write the digest for a person: numbers are links, sources stand below."""
    from rich.style import Style
    from rich.text import Text

    from sleuth.render.rich import INDENT, STYLES, make_console, print_wrapped

    console, styles = make_console(out, color), STYLES[theme]
    urls = {source.citation: ascii_url(source.url) for source in found.read}

    def cited(quotes: "Sequence[Quote]", *, numbers: bool) -> Text:
        text = Text()
        for words, citation in runs(quotes):
            text.append(words)
            if numbers:
                text.append(f" [{citation}]", Style.parse(styles["rank"]) + Style(link=urls[citation]))
            text.append(" ")
        return text

    def named(source: "DigestSource") -> Text:
        return Text(source.title, Style.parse(styles["title"]) + Style(link=ascii_url(source.url)))

    print_wrapped(console, Text(_heading(found), styles["quiet"]), "")
    console.print()
    print_wrapped(console, cited(found.summary, numbers=True), "")
    for source in found.read:
        console.print()
        print_wrapped(console, named(source), INDENT, Text(f"{source.citation:>2}  ", styles["rank"]))
        about = " · ".join(part for part in (domain(source.url), source.published, source.author) if part)
        print_wrapped(console, Text(about, styles["about"]), INDENT)
        if len(found.read) > 1:
            print_wrapped(console, cited(source.summary, numbers=False), INDENT)
    console.print()


def _heading(found: "Digest") -> str:
    if found.query and len(found.read) == 1:
        return tr("What the page says about {query!r}, in its own sentences", query=found.query)
    if found.query:
        return tr(
            "What {count} pages say about {query!r}, in their own sentences", count=len(found.read), query=found.query
        )
    if len(found.read) == 1:
        return tr("What the page says, in its own sentences")
    return tr("What {count} pages say, in their own sentences", count=len(found.read))


def runs(quotes: "Sequence[Quote]") -> "Iterator[tuple[str, int]]":
    """Yield sentences of one source that follow each other as one text with its number."""
    for citation, group in groupby(quotes, key=lambda quote: quote.citation):
        yield _text(list(group)), citation


def _cited(quotes: "Sequence[Quote]") -> str:
    return " ".join(f"{text} [{citation}]" for text, citation in runs(quotes))


def _text(quotes: "Sequence[Quote]") -> str:
    return " ".join(quote.text for quote in quotes)
