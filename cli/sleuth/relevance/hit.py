"""A result of the merged list, and what each provider contributed to its score."""

from __future__ import annotations

from sleuth_providers.base import Details
from sleuth_providers.records import Record


class Vote(Record):
    """What one provider's rank adds to the score of a result."""

    provider: str
    rank: int
    weight: float
    points: float


class Hit(Record):
    """A result of the merged list, sanitised."""

    citation: int
    title: str
    url: str
    snippet: str = ""
    content: str | None = None  # page text; None if pages were not read
    site_name: str = ""
    published: str = ""
    score: float = 0.0
    providers: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    thumbnail: str = ""
    author: str = ""
    length: str = ""
    image: str = ""
    details: Details = Details()
    votes: tuple[Vote, ...] = ()
    adjustments: tuple[str, ...] = ()  # of the score by rules, recency and reranking, for --explain
    passages: tuple[tuple[int, int, float], ...] = ()  # in `content`: start and end in the page, score

    @property
    def text(self) -> str:
        """Return the page text, or the snippet if the page was not read: `content` of the JSON form."""
        return self.snippet if self.content is None else self.content
