"""The list of sources and the settings panel of an answer on a terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url, domain
from sleuth.render.rich import INDENT, print_lines, print_wrapped

if TYPE_CHECKING:
    from sleuth.answers.citations import ReferenceGroup

MAX_TITLE_CHARS = 300


def print_references(
    console: Console,
    styles: Mapping[str, str],
    heading: str,
    groups: "Sequence[ReferenceGroup]",
    links: Mapping[int, str],
) -> None:
    """Print the list of sources with number, title, domain and URL."""
    if not groups:
        return
    console.print()
    print_lines(console, [Text(heading, styles["title"])])
    for group in groups:
        if group.round:
            print_lines(console, [Text(tr("Round {number}", number=group.round), styles["quiet"])])
        for source in group.sources:
            target = links.get(source.citation, "")
            named = Text(clean(source.title, MAX_TITLE_CHARS) or domain(target) or tr("no title"))
            named.stylize(Style(link=target) if target else "")
            if target:
                named.append(f" — {domain(target)}", styles["about"])
            print_wrapped(console, named, INDENT, Text(f"{source.citation:>2}  ", styles["rank"]))
            if place := target or clean_url(source.url, ("file",)):
                style = Style.parse(styles["quiet"]) + Style(link=target or None)
                print_lines(console, [Text(f"{INDENT}{place}", style)])
