"""One module per output format, each with `render(outcome, out, view)`; only the one in use is imported."""

from __future__ import annotations

import importlib

from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from sleuth.engine.outcome import Outcome

    Renderer = Callable[[Outcome, TextIO, "View"], None]


class View(Record):
    """The display options of an outcome."""

    fields: tuple[str, ...] = ()
    template: str = ""
    explain: bool = False
    snippet_length: int = 200
    color: str = "auto"
    theme: str = "auto"
    full_urls: bool = False
    thumbnails: Mapping[str, object] = {}  # what rich prints for the URL of a thumbnail
    age: str = ""  # placeholder that JSON writes in place of the age of a cached answer


def renderer(format: str) -> Renderer:
    """Return the function that renders a format."""
    if format in ("bibtex", "csl-json"):
        from sleuth.render import bibliography

        return lambda outcome, out, view: bibliography.write_references(outcome.results, format, out)
    render: Renderer = importlib.import_module(f"sleuth.render.{format}").render
    return render
