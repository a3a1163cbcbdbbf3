"""Results on a terminal: rank, linked title, site and date, snippet with the query's words highlighted."""

import os
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Console
from rich.style import Style
from rich.text import Text

from sleuth.base.text import pad, shorten, shorten_middle
from sleuth.base.text import width as text_width
from sleuth.base.urls import ascii_url
from sleuth.engine.outcome import Outcome
from sleuth.relevance.details import is_picture
from sleuth.relevance.hit import Hit
from sleuth.render import View
from sleuth.render.fields import explanation
from sleuth.render.layouts import SEPARATOR, facts
from sleuth.render.wrap import wrap

MIN_WIDTH, MAX_WIDTH = 20, 100
MIN_ADDRESS_WIDTH = 40  # next to the date; in a narrower terminal the date goes below
UNWRAPPED = 10_000  # columns of a pipe or a file, where a program reads whole lines
INDENT = "    "
NAMES = ("rank", "title", "about", "match", "quiet", "code", "warning")
STYLES = {
    theme: dict(zip(NAMES, styles, strict=True))
    for theme, styles in {
        "dark": ("bold cyan", "bold", "green", "bold yellow", "dim", "cyan", "bold yellow"),
        "light": ("bold blue", "bold", "dark_green", "bold magenta", "dim", "blue", "bold red"),
        "plain": ("", "bold", "", "underline", "", "", "bold"),
        "auto": ("bold blue", "bold", "green", "bold", "dim", "cyan", "bold red"),  # readable on either background
    }.items()
}


def make_console(out: TextIO, color: str = "auto", pipe_width: int = UNWRAPPED) -> Console:
    """Return a console that prints text as it is: no markup, emoji codes or highlighting."""
    console = Console(
        file=out,
        force_terminal=True if color == "always" else None,
        color_system=None if color == "never" else "auto",
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )
    knows_width = console.is_terminal or "COLUMNS" in os.environ
    console.width = max(MIN_WIDTH, console.width) if knows_width else pipe_width
    return console


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the outcome for a terminal."""
    console = make_console(out, view.color, MAX_WIDTH)
    styles = STYLES[view.theme]
    for answer in outcome.answers:
        body = Text(answer.text)
        if answer.url:
            body.append(f" {answer.url}", Style.parse(styles["about"]) + Style(link=ascii_url(answer.url)))
        print_wrapped(console, body, "  ")
        console.print()
    for hit in outcome.results:
        _print_hit(console, hit, outcome.query, view, styles)
        console.print()
    if outcome.attribution:
        print_wrapped(console, Text(SEPARATOR.join(outcome.attribution), styles["quiet"]), INDENT)
        console.print()


def _print_hit(console: Console, hit: Hit, query: str, view: View, styles: dict[str, str]) -> None:
    title = Text(hit.title, Style.parse(styles["title"]) + Style(link=ascii_url(hit.url)))
    print_wrapped(console, title, INDENT, Text(f"{hit.citation:>2}  ", styles["rank"]))
    view = view._replace(full_urls=view.full_urls or not console.is_terminal)
    room = min(console.width, MAX_WIDTH) - len(INDENT)
    about = [_about(hit, view, styles, room), *([_address(hit.image, view, styles, room)] if is_picture(hit) else [])]
    for line in about:
        if view.full_urls:  # not wrapped, so that the address can be copied
            print_lines(console, [Text(INDENT) + line])
        else:
            print_wrapped(console, line, INDENT)
    if picture := view.thumbnails.get(hit.thumbnail):
        console.print(picture)
    if hit.content is not None or hit.snippet:
        print_wrapped(console, _text(hit, query, view, styles), INDENT)
    if view.explain:
        print_wrapped(console, Text("\n".join(explanation(hit)), styles["quiet"]), INDENT)


def print_lines(console: Console, lines: Iterable[Text]) -> None:
    """Print lines without wrapping or cropping."""
    console.print(Text("\n").join(lines), no_wrap=True, overflow="ignore", crop=False)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with the first column flush left and the others flush right."""
    first, *others = (max(map(text_width, column)) for column in zip(*rows, strict=True))
    lines = []
    for name, *cells in rows:
        rest = (" " * (size - text_width(cell)) + cell for cell, size in zip(cells, others, strict=True))
        lines.append("  ".join([pad(name, first), *rest]))
    return lines


def print_wrapped(console: Console, text: Text, indent: str, first: Text | None = None) -> None:
    """Print wrapped and indented text without trailing spaces."""
    width = max(8, (min(console.width, MAX_WIDTH) if console.is_terminal else console.width) - len(indent))
    for number, line in enumerate(wrap(text, width)):
        lead = first if first is not None and number == 0 else Text(indent)
        print_lines(console, [Text.assemble(lead, line)])


def _about(hit: Hit, view: View, styles: dict[str, str], room: int) -> Text:
    """Return the address, shortened to fit next to the facts unless the full one is wanted, and the facts."""
    known = facts(hit)
    after = sum(text_width(fact.text) + len(SEPARATOR) for fact in known)
    on_own_line = bool(known) and not view.full_urls and room - after < min(MIN_ADDRESS_WIDTH, text_width(hit.url))
    text = _address(hit.url, view, styles, room if on_own_line else room - after)
    for number, fact in enumerate(known):
        text.append("\n" if on_own_line and number == 0 else SEPARATOR, styles["quiet"])
        link = Style(link=ascii_url(fact.url)) if fact.url else Style()
        text.append(fact.text, Style.parse(styles["quiet"]) + link)
    return text


def _address(url: str, view: View, styles: dict[str, str], room: int) -> Text:
    """Return a linked URL, shortened in the middle unless the full one is wanted."""
    shown = url
    if not view.full_urls and text_width(url) > room:  # without its scheme no terminal takes it for a whole one
        shown = shorten_middle(url.removeprefix("https://"), room)
    return Text(shown, Style.parse(styles["about"]) + Style(link=ascii_url(url)))


def _text(hit: Hit, query: str, view: View, styles: dict[str, str]) -> Text:
    """Return the page's text if it was requested, else the snippet, with the query's words highlighted."""
    from sleuth.relevance.words import spans

    text = Text(shorten(hit.snippet, view.snippet_length) if hit.content is None else hit.content)
    for start, end in spans(text.plain, query):
        text.stylize(styles["match"], start, end)
    return text
