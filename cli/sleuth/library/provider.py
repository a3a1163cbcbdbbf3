"""The library as a search provider."""

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from sleuth.base.errors import SleuthError
from sleuth_providers.base import Account, Found, Provider, Query, Sender
from sleuth_providers.errors import ProviderError

if TYPE_CHECKING:
    from sleuth.library.library import Library


class LibraryProvider(Provider):
    """Searches the library: when named, or as the last provider of the chain."""

    id = "library"
    name = "Library"
    type = "local"
    notes = "On this machine: sleuth's handbook, what you have added, and the pages sleuth has read. Needs no network."
    supports = frozenset({"page", "include", "exclude", "content"})
    max_results = 50
    price = "free"
    weight = 0.7  # below the web's 1.0: it holds few pages, so its best match may be a poor one
    kind = "local"
    offline = True
    caveat = "documents on this machine, not the web"
    files = True

    def __init__(self, library: Callable[[], "Library"]) -> None:
        self._library = library

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Search the index, and close the connection of this thread: each search runs in its own."""
        offset = (query.page - 1) * query.count
        keep = partial(_is_allowed, query) if query.include or query.exclude else None
        with closing(self._library()) as library:
            try:
                return Found(tuple(library.search(query.text, query.count, offset, content=query.content, keep=keep)))
            except SleuthError as problem:
                raise ProviderError(message=problem.message, hint=problem.hint, **problem.values) from problem

    def holds(self, url: str) -> bool:
        """Tell whether a document is in the library."""
        with closing(self._library()) as library, suppress(SleuthError):
            return library.get(url) is not None
        return False


def _is_allowed(query: Query, url: str) -> bool:
    from sleuth.relevance.urls import matches_domain

    wanted = not query.include or any(matches_domain(url, domain) for domain in query.include)
    return wanted and not any(matches_domain(url, domain) for domain in query.exclude)
