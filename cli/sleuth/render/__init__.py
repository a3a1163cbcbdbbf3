"""One module a format, each with `render(outcome, out, view)`; only the one that is used gets imported."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from sleuth.outcome import Outcome

FORMATS = ("rich", "plain", "json", "ndjson", "markdown", "csv", "urls")
FIELDS = (
    "citation",
    "rank",
    "title",
    "url",
    "snippet",
    "content",
    "siteName",
    "domain",
    "published",
    "score",
    "providers",
    "engines",
    "thumbnail",
    "author",
    "length",
    "image",
)


class View(NamedTuple):
    """How the user wants to see an outcome."""

    fields: tuple[str, ...] = ()
    template: str = ""
    explain: bool = False
    snippet_length: int = 200
    color: str = "auto"
    theme: str = "auto"
    full_urls: bool = False
    width: int = 0  # 0: as wide as the terminal


Renderer = Callable[["Outcome", TextIO, View], None]


def renderer(format: str) -> Renderer:
    """Return the function that renders a format."""
    name = {"json": "json_document", "csv": "table"}.get(format, format)
    render: Renderer = importlib.import_module(f"sleuth.render.{name}").render
    return render
