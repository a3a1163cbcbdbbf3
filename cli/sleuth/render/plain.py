"""Plain text, the default in a pipe, and the user's --template."""

import re
from string import Formatter
from typing import TextIO

from sleuth.base.choices import FIELDS
from sleuth.base.errors import RequestError
from sleuth.base.text import shorten
from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import as_cell, explanation, hit_fields
from sleuth.render.layouts import facts_line

WIDTH = r"(?:.?[<>^])?(?:[1-9]\d{0,2})?(?:\.\d{1,3})?"  # as in Python, for text


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the results as plain text."""
    if view.template:
        _fill(outcome, out, view.template)
        return
    if view.fields:
        for hit in outcome.results:
            fields = hit_fields(hit)
            out.write("\t".join(" ".join(as_cell(fields.get(name)).split()) for name in view.fields) + "\n")
        return
    out.writelines(
        f"= {answer.text}\n  {answer.url}\n\n" if answer.url else f"= {answer.text}\n\n" for answer in outcome.answers
    )
    for hit in outcome.results:
        out.write(f"{hit.citation}. {hit.title}\n   {hit.url}\n")
        if about := facts_line(hit) or hit.published:
            out.write(f"   {about}\n")
        if hit.content is not None:
            out.writelines(f"   {line}\n" if line else "\n" for line in hit.content.splitlines())
        elif hit.snippet:
            out.write(f"   {shorten(hit.snippet, view.snippet_length)}\n")
        if view.explain:
            out.writelines(f"   {line}\n" for line in explanation(hit))
        out.write("\n" if hit is not outcome.results[-1] else "")


def check_template(template: str) -> None:
    """Raise RequestError if a template contains an unknown field or a single brace."""
    try:
        fields = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name is not None]
    except ValueError:
        hint = "use names in braces, such as '{{rank}} {{url}}', and {{{{ or }}}} for a brace"
        raise RequestError("unbalanced brace in --template {template!r}", hint, template=template) from None
    unknown = next((name for name, _ in fields if name not in FIELDS), None)
    if unknown is not None:
        hint = "use names in braces, such as '{{rank}} {{url}}'; names: {fields}"
        raise RequestError("unknown field {{{name}}} in --template", hint, name=unknown, fields=", ".join(FIELDS))
    for width in (spec for _, spec in fields if not re.fullmatch(WIDTH, spec)):
        hint = "use 1 to 999, such as '{{rank:>3}} {{title:<40}}'"
        raise RequestError("invalid width {width!r} in --template", hint, width=width)


def _fill(outcome: Outcome, out: TextIO, template: str) -> None:
    text = template.replace("\\n", "\n").replace("\\t", "\t") + "\n"
    for hit in outcome.results:
        fields = hit_fields(hit)
        out.write(text.format_map({name: as_cell(fields.get(name)) for name in FIELDS}))
