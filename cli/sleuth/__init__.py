"""sleuth: command-line web search with many providers, one ranked list and numbered citations.

    import sleuth
    sleuth.search("rust async runtimes", count=3).results

`__all__` is the public API. Names are imported on first use, so that `import sleuth` costs nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth import tools as tools
    from sleuth.answers.answer import Answer, ProgressEvent
    from sleuth.answers.summary import Digest
    from sleuth.api import Client, aask, aread, asearch, ask, asummarize, read, search, summarize
    from sleuth.base.errors import RequestError, SearchError, SettingsError, SleuthError, UnknownProviderError
    from sleuth.engine.outcome import Attempt, Outcome
    from sleuth.pages.page import Page, PageEvent
    from sleuth.relevance.hit import Hit
    from sleuth_providers.base import Details

__version__ = "0.1.0"
_API = {
    "sleuth.api": ("Client", "aask", "aread", "asearch", "ask", "asummarize", "read", "search", "summarize"),
    "sleuth.answers.answer": ("Answer", "ProgressEvent"),
    "sleuth.answers.summary": ("Digest",),
    "sleuth.base.errors": ("RequestError", "SearchError", "SettingsError", "SleuthError", "UnknownProviderError"),
    "sleuth.engine.outcome": ("Attempt", "Outcome"),
    "sleuth.pages.page": ("Page", "PageEvent"),
    "sleuth.relevance.hit": ("Hit",),
    "sleuth_providers.base": ("Details",),
}
__all__ = [
    "Answer",
    "Attempt",
    "Client",
    "Details",
    "Digest",
    "Hit",
    "Outcome",
    "Page",
    "PageEvent",
    "ProgressEvent",
    "RequestError",
    "SearchError",
    "SettingsError",
    "SleuthError",
    "UnknownProviderError",
    "aask",
    "aread",
    "asearch",
    "ask",
    "asummarize",
    "read",
    "search",
    "summarize",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "tools":
        return import_module("sleuth.tools")
    module = next((module for module, names in _API.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module 'sleuth' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "tools"])
