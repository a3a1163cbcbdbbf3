"""Which provider does what itself, what sleuth does for it, and what is reported: a chapter of the handbook."""

from sleuth_providers import registry
from sleuth_providers.base import Provider

HEAD = """# What each provider can do

Options of `sleuth search` that a provider does not know are done for it where that is possible, and otherwise named in
the answer (`notApplied`) and in a warning. Nothing is silently ignored. This page is generated from the adapters.

## Table of providers and search options

✓ the provider does it itself · s sleuth does it, on what comes back · – cannot be done, and is said

"""
COLUMNS = ("page", "lang", "region", "freshness", "range", "safe", "include", "exclude", "engines", "content")
DONE_BY_SLEUTH = ("freshness", "range", "include", "exclude", "content")
FOOT = """
`freshness` and `range` are done by date where results carry one. `include` and `exclude` are `--site` and `--exclude`.
`content` is page text; sleuth reads the pages itself where the provider does not bring it. The last columns say how
many results a provider gives at most in one request, and how long a query may be; a longer one is cut.
"""


def chapter() -> str:
    """Return the chapter."""
    names = [name for name in registry.names() if name != "library"]
    rows = [_row(registry.load(name)) for name in names]
    heads = ["provider", *COLUMNS, "categories", "results", "query"]
    lines = [_line(heads), _line(["---"] * len(heads)), *map(_line, rows)]
    return HEAD + "\n".join(lines) + "\n" + FOOT


def _row(provider: Provider) -> list[str]:
    able = provider.supports | ({"include", "exclude"} if provider.operators else set())
    marks = ["✓" if name in able else "s" if name in DONE_BY_SLEUTH else "–" for name in COLUMNS]
    categories = ", ".join(name for name in provider.categories if name != "general") or "–"
    return [f"`{provider.id}`", *marks, categories, str(provider.max_results), str(provider.max_query)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
