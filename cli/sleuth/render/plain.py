"""Plain text, the default in a pipe, and the user's --template."""

import re
from typing import TextIO

from sleuth.base.choices import FIELDS
from sleuth.base.errors import RequestError
from sleuth.base.text import shorten
from sleuth.engine.outcome import Outcome
from sleuth.render import View
from sleuth.render.fields import as_cell, explanation, hit_fields

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


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
        if hit.content is not None:
            out.writelines(f"   {line}\n" if line else "\n" for line in hit.content.splitlines())
        elif hit.snippet:
            out.write(f"   {shorten(hit.snippet, view.snippet_length)}\n")
        if view.explain:
            out.writelines(f"   {line}\n" for line in explanation(hit))
        out.write("\n" if hit is not outcome.results[-1] else "")


def check_template(template: str) -> None:
    """Raise RequestError if a template contains an unknown field."""
    for name in PLACEHOLDER.findall(template.replace("{{", "").replace("}}", "")):
        if name not in FIELDS:
            raise RequestError(
                "unknown field {{{name}}} in --template",
                "use names in braces, such as '{{rank}} {{url}}'; names: {fields}",
                name=name,
                fields=", ".join(FIELDS),
            )


def _fill(outcome: Outcome, out: TextIO, template: str) -> None:
    check_template(template)
    text = template.replace("\\n", "\n").replace("\\t", "\t").replace("{{", "\0").replace("}}", "\1")
    for hit in outcome.results:
        cells = {name: as_cell(value) for name, value in hit_fields(hit).items()}
        line = PLACEHOLDER.sub(lambda match: cells.get(match[1], ""), text)  # noqa: B023 - used within this iteration
        out.write(line.replace("\0", "{").replace("\1", "}") + "\n")
