"""Generates docs/capabilities.md: which search options each provider supports, from the adapters' declarations."""

from sleuth_providers import registry
from sleuth_providers.base import Provider

HEAD = """# What each provider can do

If a provider does not support an option of `sleuth search`, sleuth applies it to the results where it can. Otherwise a
warning names the option, and the JSON answer lists it in `notApplied`. This page is generated from the adapters.

## Table of providers and search options

✓ supported by the provider · s applied by sleuth to the results · – not available, with a warning

"""
COLUMNS = ("page", "lang", "region", "freshness", "range", "safe", "include", "exclude", "engines", "content")
DONE_BY_SLEUTH = ("freshness", "range", "include", "exclude", "content")
FOOT = """
`kind` is where the results come from: `official` is a documented API, `feed` a public RSS or Atom feed, and `page` a
page for people, which changes without notice and may answer with a bot check. `freshness` and `range` are `--freshness`
with a period and with dates; sleuth applies them to results that have a date. `include` and `exclude` are `--site` and
`--exclude`. `content` is the text of pages; sleuth reads the pages itself if the provider does not return it. `results`
is the maximum number of results per request, and `query` the maximum length of a query in characters; longer queries
are truncated.
"""


def chapter() -> str:
    """Return the chapter as Markdown."""
    names = [name for name in registry.names() if name != "library"]
    rows = [_row(registry.load(name)) for name in names]
    heads = ["provider", "kind", *COLUMNS, "categories", "results", "query"]
    lines = [_line(heads), _line(["---"] * len(heads)), *map(_line, rows)]
    return HEAD + "\n".join(lines) + "\n" + FOOT


def _row(provider: Provider) -> list[str]:
    able = provider.supports | ({"include", "exclude"} if provider.operators else set())
    marks = ["✓" if name in able else "s" if name in DONE_BY_SLEUTH else "–" for name in COLUMNS]
    categories = ", ".join(name for name in provider.categories if name != "general") or "–"
    return [f"`{provider.id}`", provider.kind, *marks, categories, str(provider.max_results), str(provider.max_query)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
