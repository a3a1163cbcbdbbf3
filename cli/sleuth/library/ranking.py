"""Ranks documents by BM25 in a time that hardly grows with the library.

FTS5 finds and counts quickly, but scores only some 500,000 documents per second. So no expression may score more than
BUDGET documents: all that have one of the query's words if there are so few, otherwise those with its rare words and
those with all of its common words together. Measured on Chinese and English questions, no answer is lost while BUDGET
is a twentieth of the library, and one in a hundred at a hundredth.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

BUDGET = 1_000  # documents that one expression may score
UBIQUITOUS = 0.2  # share of documents; a term in more of them says little, and costs most in a large library
SCORE = "bm25(words, 4.0, 1.0)"  # a word in the title counts four times; the lower the score, the better
COUNT = "SELECT count(*), max(rowid) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)"
RANKED = f"""SELECT rowid, score FROM
    (SELECT rowid, {SCORE} AS score FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)
    ORDER BY score, rowid LIMIT ?"""  # noqa: S608 - built from constants


def best(connection: sqlite3.Connection, terms: Sequence[str], wanted: int) -> list[tuple[int, float]]:
    """Return the ids of the best documents and their scores, highest first; `terms` are quoted for FTS5."""
    last = connection.execute("SELECT max(id) FROM page").fetchone()[0]
    if not terms or not last:
        return []
    found: dict[int, float] = {}
    if last <= 2 * BUDGET:  # scoring everything costs less than counting first
        _score(connection, _any(terms), wanted, found, last)
        return _sorted(found, wanted)
    rare, common = _split_by_frequency(_holders(connection, terms, last), last)
    if rare:
        _score(connection, _any(rare), wanted, found)
    if rare and common:
        _score(connection, f"({_any(rare)}) AND ({_any(common)})", wanted, found)
    for expression in _conjunctions(common):
        _score(connection, expression, wanted, found)
        if len(found) >= wanted:
            break
    return _sorted(found, wanted)


def _holders(connection: sqlite3.Connection, terms: Iterable[str], last: int) -> dict[str, float]:
    """Return how many documents have each term: counted up to BUDGET, estimated beyond.

    The estimate assumes that a term is spread evenly over the ids: if BUDGET documents with it were found up to id
    `reached`, there are BUDGET × last ÷ reached in all.
    """
    counts = ((term, *connection.execute(COUNT, (term, BUDGET)).fetchone()) for term in terms)
    return {term: count if count < BUDGET else count * last / reached for term, count, reached in counts if count}


def _split_by_frequency(holders: dict[str, float], last: int) -> tuple[list[str], list[str]]:
    """Return the rare terms, which together occur in at most BUDGET documents, and the others, rarest first.

    Ubiquitous terms are left out unless there is nothing else; in a small library, "ubiquitous" starts at 5 × BUDGET.
    """
    terms = sorted(holders, key=holders.__getitem__)
    useful = [term for term in terms if holders[term] < max(UBIQUITOUS * last, 5 * BUDGET)] or terms[:2]
    rare: list[str] = []
    common: list[str] = []
    spent = 0.0
    for term in useful:
        spent += holders[term]
        (rare if spent <= BUDGET else common).append(term)
    return rare, common


def _conjunctions(common: list[str]) -> Iterator[str]:
    """Yield expressions for common terms, strictest first: all of them, all but the most common one, and so on."""
    for size in range(len(common), 0, -1):
        if size == 1:
            yield f"title : {common[0]}"
        yield " AND ".join(common[:size])


def _score(connection: sqlite3.Connection, match: str, wanted: int, found: dict[int, float], budget: int = 0) -> None:
    """Add the best of the newest documents that match an expression; a document keeps its best score."""
    for document, score in connection.execute(RANKED, (match, budget or BUDGET, wanted)):
        found[document] = max(-score, found.get(document, 0.0))


def _any(terms: Iterable[str]) -> str:
    return " OR ".join(terms)


def _sorted(found: dict[int, float], wanted: int) -> list[tuple[int, float]]:
    return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:wanted]
