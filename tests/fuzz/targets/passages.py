"""Sentences, passages, summaries and budgets: every span is verbatim in its page, and no limit is exceeded.

Lines of %% separate the parts of a case: a query, then pages.
"""

from sleuth.relevance import tokens
from sleuth.relevance.compress import GAP, compress
from sleuth.relevance.passages import split
from sleuth.relevance.sentences import cut, sentences
from sleuth.relevance.summary import summarise
from sleuth.relevance.words import words

PARTS = "\n%%\n"
WORDS = (
    "\n%%\n ¦ .  ¦ 。 ¦ !  ¦ … ¦ \n\n ¦ \n ¦ \u3000\u3000 ¦ e.g.  ¦ Mr.  ¦ 1.  ¦ -  ¦ ” ¦ rust ¦ 语言 ¦ a.b.c ¦ "
    "\u200d ¦ ́"
)
ROUNDS = 60
LARGE = 50_000  # bytes: a page is cut and chosen from in many ways here


def check(data: bytes) -> None:
    """Cut, choose and summarise."""
    query, *pages = data.decode("utf-8", "replace").split(PARTS)
    pages = pages[:4]
    for page in pages:
        _check_spans(page, sentences(page), whole=True)
        _check_spans(page, split(page), whole=True)
        for limit in (0, 1, 50):
            assert 0 <= cut(page, limit) <= max(limit, 0) or len(page) <= limit
            assert tokens.count(tokens.cut(page, limit)) <= limit
        assert all(words(page[:2000]))
    for method, limit, most in (
        ("none", 0, 0),
        ("cutoff", 60, 0),
        ("rag", 60, 0),
        ("rag", 0, 0),
        ("rag", 0, 20),
        ("none", 0, 7),
    ):
        _check_compressed(query, pages, method, limit, most)
    _check_summary(query, pages)


def _check_spans(text: str, spans: list[tuple[int, int]], whole: bool) -> None:
    place = 0
    for start, end in spans:
        assert place <= start < end <= len(text), "spans"
        assert not whole or not text[place:start].strip(), "nothing but blanks is left out"
        place = end
    assert not whole or not text[place:].strip(), "the end is there"


def _check_compressed(query: str, pages: list[str], method: str, limit: int, most: int) -> None:
    done = compress(query, pages, method, limit=limit, max_tokens=most)
    assert done.phase != "rag_failed", done.warnings
    assert len(done.pages) == len(pages)
    for page, left in zip(pages, done.pages, strict=True):
        assert all(0 <= kept.start < kept.end <= len(page) for kept in left.passages)
        assert all(part in page for part in left.content.split(GAP)) or GAP in page, "word for word"
    if limit:
        assert sum(len(left.content) for left in done.pages) <= limit, "characters"
    if most:
        assert sum(tokens.count(left.content) for left in done.pages) <= most, "tokens"


def _check_summary(query: str, pages: list[str]) -> None:
    for length in ("short", 30):
        summary = summarise(pages, query, length)
        for one in (*summary.overall, *(one for page in summary.per_page for one in page)):
            assert pages[one.page][one.start : one.end] == one.text, "word for word"
        if length == 30:
            assert all(sum(len(one.text) for one in page) <= length for page in (*summary.per_page, summary.overall))
