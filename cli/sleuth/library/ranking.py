"""Which pages fit a query best, by BM25, in a time that hardly grows with the library.

FTS5 finds and counts in no time, but scores no more than 500,000 pages a second. So no expression may score more than
BUDGET pages: all that have one of the query's words where so few do, and otherwise those with its rare words and those
with all of its common ones together. Measured on Chinese and English questions, nothing is lost while BUDGET is a
twentieth of the library, and one answer in a hundred at a hundredth.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

BUDGET = 1_000
UBIQUITOUS = 0.2  # a term that this share of the pages has tells little, and costs most in a large library
SCORE = "bm25(words, 4.0, 1.0)"  # a word in the title counts four times; lower is better
COUNT = "SELECT count(*), max(rowid) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)"
RANKED = f"""SELECT rowid, score FROM
    (SELECT rowid, {SCORE} AS score FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)
    ORDER BY score, rowid LIMIT ?"""  # noqa: S608 - nothing from outside


def best(connection: sqlite3.Connection, terms: Sequence[str], wanted: int) -> list[tuple[int, float]]:
    """Return the ids of the best pages and their scores, the higher the better; `terms` are quoted for FTS5."""
    last = connection.execute("SELECT max(id) FROM page").fetchone()[0]
    if not terms or not last:
        return []
    found: dict[int, float] = {}
    if last <= 2 * BUDGET:  # one look at everything costs less than planning
        _score(connection, _any(terms), wanted, found, last)
        return _sorted(found, wanted)
    rare, common = _divide(_holders(connection, terms, last), last)
    if rare:
        _score(connection, _any(rare), wanted, found)
    if rare and common:
        _score(connection, f"({_any(rare)}) AND ({_any(common)})", wanted, found)
    for expression in _together(common):
        _score(connection, expression, wanted, found)
        if len(found) >= wanted:
            break
    return _sorted(found, wanted)


def _holders(connection: sqlite3.Connection, terms: Iterable[str], last: int) -> dict[str, float]:
    """Return how many pages have each term: counted up to BUDGET, and from there on estimated."""
    holders: dict[str, float] = {}
    for term in terms:
        count, reached = connection.execute(COUNT, (term, BUDGET)).fetchone()
        if count:
            holders[term] = count if count < BUDGET else count * last / reached
    return holders


def _divide(holders: dict[str, float], last: int) -> tuple[list[str], list[str]]:
    """Return the rare terms, which no more than BUDGET pages have between them, and the others, rarest first."""
    terms = sorted(holders, key=holders.__getitem__)
    telling = [term for term in terms if holders[term] < max(UBIQUITOUS * last, 5 * BUDGET)] or terms[:2]
    rare: list[str] = []
    common: list[str] = []
    spent = 0.0
    for term in telling:
        spent += holders[term]
        (rare if spent <= BUDGET else common).append(term)
    return rare, common


def _together(common: list[str]) -> Iterator[str]:
    """Yield what to look for where many pages have each term: all of them, all but the most common one, and so on."""
    for size in range(len(common), 0, -1):
        if size == 1:
            yield f"title : {common[0]}"
        yield " AND ".join(common[:size])


def _score(
    connection: sqlite3.Connection, expression: str, wanted: int, found: dict[int, float], budget: int = 0
) -> None:
    """Add the best of the newest pages that an expression finds; a page keeps its best score."""
    for page, score in connection.execute(RANKED, (expression, budget or BUDGET, wanted)):
        found[page] = max(-score, found.get(page, 0.0))


def _any(terms: Iterable[str]) -> str:
    return " OR ".join(terms)


def _sorted(found: dict[int, float], wanted: int) -> list[tuple[int, float]]:
    return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:wanted]
