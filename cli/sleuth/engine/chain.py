"""Which providers a search without -p uses, and in which order."""

from __future__ import annotations

from sleuth.store.default_chains import CHAINS
from sleuth.store.settings import CHAINS_BY_CATEGORY, FALLBACK, Settings
from sleuth_providers.base import Provider, Query

# What some providers of the default chain lack; a search that needs one of these goes to the others first.
ORDERING_OPTIONS = frozenset({"lang", "region", "safe", "page"})


def chain_entries(settings: Settings, query: Query) -> tuple[list[str], bool]:
    """Return the entries of the chain for a query, and whether the user wrote it.

    A list in `websearch.fallback` replaces every default chain.
    """
    fallback, chains = settings.look_up(FALLBACK), settings[CHAINS_BY_CATEGORY]
    if fallback.origin != "default":
        return fallback.value, True
    name = "general-zh" if query.category == "general" and is_chinese(query) else query.category
    if name in chains:
        return chains[name], settings.look_up(CHAINS_BY_CATEGORY).origin != "default"
    return CHAINS.get(name, fallback.value), False


def ordering_needs(query: Query, adapter: Provider) -> set[str]:
    """Return the options of a query that a provider lacks and others of its chain may have."""
    lacking = {name for name in adapter.not_applied(query) if name in ORDERING_OPTIONS}
    return lacking - {"lang"} if is_chinese(query) else lacking  # Chinese sources have no other language


def is_chinese(query: Query) -> bool:
    """Tell whether a query wants Chinese pages: by its language, else by its characters."""
    if query.lang:
        return query.lang.partition("-")[0] == "zh"
    # Comparisons, because compiling a regular expression with so wide a range takes a tenth of a search on Python 3.11.
    has_han = any("\u3400" <= sign <= "\u9fff" for sign in query.text)
    has_kana_or_hangul = any("\u3040" <= sign <= "\u30ff" or "\uac00" <= sign <= "\ud7a3" for sign in query.text)
    return has_han and not has_kana_or_hangul
