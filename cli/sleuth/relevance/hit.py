"""One result of the merged list, and how each provider contributed to its rank."""

from __future__ import annotations

from sleuth_providers.records import Record


class Vote(Record):
    """What one provider's rank adds to a result's place."""

    provider: str
    rank: int
    weight: float
    points: float


class Hit(Record):
    """One result of the merged list, safe to show."""

    citation: int
    title: str
    url: str
    snippet: str = ""
    content: str | None = None  # page text; None: none was asked for, and the snippet stands in
    site_name: str = ""
    published: str = ""
    score: float = 0.0
    providers: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    thumbnail: str = ""
    author: str = ""
    length: str = ""
    image: str = ""
    votes: tuple[Vote, ...] = ()
    adjustments: tuple[str, ...] = ()  # what rules, recency or reranking did to the score, for --explain
    passages: tuple[tuple[int, int, float], ...] = ()  # of the page, in `content`: start, end, score
