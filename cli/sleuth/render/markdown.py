"""Markdown: a numbered list of links with snippets, all text escaped."""

from typing import TextIO

from sleuth.base.text import autolink, markdown_target, shorten
from sleuth.base.text import escape_markdown as escape
from sleuth.base.urls import ascii_url, domain
from sleuth.engine.outcome import Outcome
from sleuth.relevance.hit import Hit
from sleuth.render import View
from sleuth.render.layouts import SEPARATOR, facts_line


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the results as a Markdown list, answers first."""
    for answer in outcome.answers:
        source = f" — {autolink(ascii_url(answer.url))}" if answer.url else ""
        out.write(f"> {escape(answer.text)}{source}\n\n")
    out.writelines(_item(hit, view) for hit in outcome.results)


def _item(hit: Hit, view: View) -> str:
    about = SEPARATOR.join(filter(None, (domain(hit.url), facts_line(hit) or hit.published)))
    lines = [
        f"{hit.citation}. [{escape(hit.title)}]({markdown_target(ascii_url(hit.url))})",
        f"   {escape(about)}  " if about else "",
    ]
    if hit.content is not None:
        lines.append("\n".join(f"   > {line}" for line in escape(hit.content).splitlines()))
    elif hit.snippet:
        lines.append(f"   {escape(shorten(hit.snippet, view.snippet_length))}")
    return "\n".join(line for line in lines if line) + "\n"
