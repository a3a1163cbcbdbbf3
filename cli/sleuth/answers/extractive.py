"""An answer without a model: passages of the pages themselves, word for word, each with the number of its source."""

from itertools import groupby

from sleuth.answers.digest import as_quotes
from sleuth.answers.findings import Findings, SourceFinding
from sleuth.relevance.bm25 import rank
from sleuth.relevance.summary import summarise

NEAR = 0.5  # share of the best page's score below which a page speaks of something else
LENGTH = "long"  # one window and, from the next pages, what adds something to it


def quoted(found: Findings, question: str) -> str:
    """Return what the pages say to a question, or the snippets where none could be read."""
    ranked = found.ranked()
    told = _to_the_point([one for one in ranked if one.text] or [one for one in ranked if one.snippet], question)
    overall = summarise([one.text or one.snippet for one in told], question, LENGTH).overall
    parts = groupby(as_quotes(overall), key=lambda quote: quote.citation)
    return "\n\n".join(
        f"{' '.join(quote.text for quote in quotes)} [{told[place - 1].citation}]" for place, quotes in parts
    )


def _to_the_point(found: list[SourceFinding], question: str) -> list[SourceFinding]:
    """Return the sources that have to do with the question; what all others agree on may be something else."""
    scores = rank(question, [f"{one.title}\n{one.text or one.snippet}" for one in found])
    best = max(scores, default=0.0)
    return [one for one, score in zip(found, scores, strict=True) if score >= NEAR * best]
