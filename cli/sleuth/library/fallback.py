"""Decides whether the library can answer a web search that no provider could answer."""

from collections.abc import Iterable

from sleuth.library.handbook import SITE
from sleuth.relevance.words import GRAMMAR_CHARACTERS, TokenCounter, query_terms, words
from sleuth.store.settings import TABLE
from sleuth_providers.base import Result

# Words that make a query one about sleuth or SearXNG, the subjects of the handbook.
SUBJECTS = ("sleuth", "searxng", "searx", "settings.yml", "limiter.toml", "websearch.")


def answering(query: str, results: Iterable[Result]) -> tuple[Result, ...]:
    """Return the results that contain most of a query's words; those of the handbook only if it is their subject."""
    terms = [term for term in dict.fromkeys(query_terms(query)) if term not in GRAMMAR_CHARACTERS]
    counter = TokenCounter(words(query))
    about_sleuth = any(word in query.lower() for word in (*SUBJECTS, *TABLE))

    def answers(result: Result) -> bool:
        share = len(counter.of(f"{result.title}\n{result.content}")[0].keys() & terms) / max(1, len(terms))
        # Half is enough for the handbook: its subject is certain, and a Chinese query matches its English names only.
        return about_sleuth and share >= 0.5 if result.site.startswith(SITE) else share > 0.5

    return tuple(filter(answers, results))
