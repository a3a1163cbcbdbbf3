"""An answer without a model: passages of the pages, word for word, each with the number of its source."""

from collections.abc import Iterable
from itertools import groupby

from sleuth.answers.research import FoundSource
from sleuth.answers.summary import as_quotes
from sleuth.relevance.bm25 import rank
from sleuth.relevance.sentences import joined
from sleuth.relevance.summary import summarise

MIN_SCORE_SHARE = 0.35  # of the best page's BM25 score; pages below it are about something else
LENGTH = "long"  # one passage, and from the next pages what adds new terms to it


def quote_pages(ranked: Iterable[FoundSource], question: str) -> str:
    """Return what the pages say about a question, or the snippets if no page could be read."""
    sources = list(ranked)
    sources = [one for one in sources if one.text] or [one for one in sources if one.snippet]
    relevant = _relevant(sources, question)
    overall = summarise([one.text or one.snippet for one in relevant], question, LENGTH).overall
    parts = groupby(as_quotes(overall), key=lambda quote: relevant[quote.citation - 1].citation)
    return "\n\n".join(f"{joined(quote.text for quote in quotes)} [{number}]" for number, quotes in parts)


def _relevant(sources: list[FoundSource], question: str) -> list[FoundSource]:
    """Drop sources that have little to do with the question: the summary would follow what most pages agree on."""
    scores = rank(question, [f"{one.title}\n{one.text or one.snippet}" for one in sources])
    best = max(scores, default=0.0)
    return [one for one, score in zip(sources, scores, strict=True) if score >= MIN_SCORE_SHARE * best]
