"""The terminal: rank, linked title, where and when, the snippet with the query's words marked."""

from typing import Any, TextIO

from rich.console import Console, Group
from rich.padding import Padding
from rich.style import Style
from rich.text import Text

from sleuth.outcome import Hit, Outcome
from sleuth.render import View
from sleuth.text import ascii_url, domain, shorten

MIN_WIDTH, MAX_WIDTH = 20, 100
STYLES = {
    "dark": {"rank": "bold cyan", "title": "bold", "about": "green", "match": "bold yellow", "quiet": "dim"},
    "light": {"rank": "bold blue", "title": "bold", "about": "dark_green", "match": "bold magenta", "quiet": "dim"},
    "plain": {"rank": "", "title": "bold", "about": "", "match": "underline", "quiet": ""},
}
STYLES["auto"] = STYLES["dark"] | {"rank": "bold blue", "match": "bold"}  # readable on either background


def make_console(out: TextIO, color: str = "auto", width: int = 0) -> Console:
    """Return a console that adds nothing of its own to text: no markup, no emoji codes, no highlighting."""
    console = Console(
        file=out,
        force_terminal=True if color == "always" else None,
        no_color=True if color == "never" else None,
        color_system=None if color == "never" else "auto",
        width=width or None,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )
    console.width = max(MIN_WIDTH, min(console.width, 500))
    return console


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the outcome for a person."""
    console = make_console(out, view.color, view.width)
    styles = STYLES[view.theme]
    for answer in outcome.answers:
        body = Text(answer.text)
        if answer.url:
            body.append(f"\n{domain(answer.url)}", Style.parse(styles["about"]) + Style(link=ascii_url(answer.url)))
        console.print(Padding(body, (0, 0, 1, 2)), width=min(console.width, MAX_WIDTH))
    for hit in outcome.results:
        console.print(_entry(hit, outcome.query, view, styles), width=min(console.width, MAX_WIDTH))


def _entry(hit: Hit, query: str, view: View, styles: dict[str, str]) -> Any:
    title = Text(f"{hit.citation:>2}  ", styles["rank"])
    title.append(hit.title, Style.parse(styles["title"]) + Style(link=ascii_url(hit.url)))
    lines: list[Any] = [_hanging(title, 4), Padding(_about(hit, view, styles), (0, 0, 0, 4))]
    if hit.snippet:
        lines.append(Padding(_snippet(hit, query, view, styles), (0, 0, 0, 4)))
    if view.explain:
        lines.append(Padding(_explanation(hit, styles), (0, 0, 0, 4)))
    lines.append(Text(""))
    return Group(*lines)


def _hanging(text: Text, indent: int) -> Any:
    """Return text whose later lines stand under the first one's words."""
    from rich.table import Table

    grid = Table.grid(padding=0)
    grid.add_column(width=indent, no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(text[:indent], text[indent:])
    return grid


def _about(hit: Hit, view: View, styles: dict[str, str]) -> Text:
    where = hit.url if view.full_urls else domain(hit.url) or hit.site_name
    text = Text(where, styles["about"], overflow="fold")
    facts = [hit.published, hit.author, hit.length]
    facts.append(", ".join(hit.providers) if len(hit.providers) > 1 else "")
    for fact in facts:
        if fact:
            text.append(f" · {fact}", styles["quiet"])
    return text


def _snippet(hit: Hit, query: str, view: View, styles: dict[str, str]) -> Text:
    from sleuth.relevance.words import spans

    text = Text(shorten(hit.snippet, view.snippet_length))
    for start, end in spans(text.plain, query):
        text.stylize(styles["match"], start, end)
    return text


def _explanation(hit: Hit, styles: dict[str, str]) -> Text:
    parts = [f"{vote.provider} #{vote.rank} × {vote.weight:g} → {vote.points:.6f}" for vote in hit.votes]
    parts += [*hit.adjustments, f"= {hit.score:.6f}"]
    return Text("\n".join(parts), styles["quiet"])
