"""The library: documents in SQLite with an FTS5 index, searched without a network.

The index holds tokens made by `relevance.words`, so that Chinese is found as well as English. The handbook is added
when the library is first read, and again when it has changed.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from sleuth.base import logs
from sleuth.base.errors import DatabaseError, UnwritableError
from sleuth.library import index
from sleuth.store.database import DATABASE_ERRORS, MEMORY, database_error, open_database, open_immutable, transaction
from sleuth_providers.base import Result
from sleuth_providers.records import Record

MAX_REINDEXED = 3_000  # documents that a search reindexes first; a larger library is left to the next `add`
MAX_FILTERED = 500  # best documents that a filter chooses from; more than the handbook has sections
HANDBOOK_WEIGHT = 0.5  # of the score of its sections: what the user has added is more likely meant
MAX_CONTENT_CHARS = 100_000  # of one result
# What is listed of a document. In a damaged file, a value may have any type.
LISTED = [f"coalesce(CAST({name} AS TEXT), '')" for name in ("url", "title", "site", "source", "kind", "published")]
LISTED[5:5] = ["CAST(size AS INTEGER)", "min(max(modified, 0), 4e9)", "min(max(added_at, 0), 4e9)"]


class Document(Record):
    """A file, a web page, a bookmark or a section of the handbook."""

    url: str
    title: str
    text: str
    site: str = ""
    modified: float = 0.0  # for a web page, when it was read
    size: int = 0
    kind: str = "text"  # text | markdown | rst | html | pdf | bookmark
    source: str = "file"  # handbook | file | page | bookmark
    published: str = ""
    lang: str = ""

    @property
    def bookmark(self) -> str:
        """Return the title, folder and note of a bookmark, which are the last paragraph if its page has been read."""
        if self.source != "bookmark":
            return ""
        return f"{self.title}\n{self.text}" if self.kind == "bookmark" else self.text.rpartition("\n\n")[2]

    def bookmarked(self, bookmark: str) -> "Document":
        """Return a page with the text of its bookmark, instead of any it has, so that it is found by either."""
        own = self.text.removesuffix(f"\n\n{self.bookmark}") if self.bookmark else self.text
        return self._replace(source="bookmark", text=f"{own}\n\n{bookmark}")


class Counts(Record):
    """How many documents were added, updated and left unchanged."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0

    def plus(self, other: "Counts") -> "Counts":
        """Return the sums of two counts."""
        return Counts(*map(sum, zip(self, other, strict=True)))


class LibraryEntry(Record):
    """A document in a listing, without its text."""

    url: str
    title: str
    site: str
    source: str
    kind: str
    size: int
    modified: float
    added_at: float
    published: str


class Listing(Record):
    """Some of the documents, and how many there are in total."""

    items: tuple[LibraryEntry, ...]
    total: int


class LibraryStats(Record):
    """How many documents there are, by source, and the bytes they take."""

    pages: int
    sources: dict[str, int]
    bytes: int


MAX_COMPLETE = 5_000  # documents with all words of a query that are ranked before the others
MATCHING = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"

Keep = Callable[[str], bool]
Progress = Callable[[Counts], None]
Results = list[Result]


class Library:
    """The embedded index. Each thread has its own connection and must close it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.source = ""  # handbook, file, page or bookmark; own is all but the handbook; searches are limited to it
        self._local = threading.local()

    def search(
        self, text: str, count: int, offset: int = 0, *, content: bool = False, keep: Keep | None = None
    ) -> Results:
        """Return the best matches, those of the user first; `keep` filters by URL, `content` adds the whole text."""
        from sleuth.library.ranking import best
        from sleuth.relevance.words import match_expression

        terms = [term for term in match_expression(text).split(" OR ") if term]
        with self._reading() as connection, index.snapshot(connection):
            ranked = self._own_first(connection, terms, best(connection, terms, max(MAX_FILTERED, offset + count)))
            if keep:
                ranked = [entry for entry in ranked if keep(_url(connection, entry[0]))]
            found = [_result(connection, id, score, text, content) for id, score in ranked[offset : offset + count]]
            return [result for result in found if result]

    def _own_first(
        self, connection: sqlite3.Connection, terms: list[str], ranked: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        """Return the documents of the wanted source; the user's own that have all the terms come first."""
        from sleuth.relevance.words import index_text

        if not ranked:
            return []
        marks = ", ".join("?" * len(ranked))
        listed = f"SELECT id, source, CAST(title AS TEXT) FROM page WHERE id IN ({marks})"  # noqa: S608 - question marks
        rows = connection.execute(listed, [id for id, _ in ranked]).fetchall()
        sources = {id: source for id, source, _ in rows}
        titles = {id: index_text(title or "").split() for id, source, title in rows if source == "handbook"}
        complete = {row[0] for row in connection.execute(MATCHING, (" AND ".join(terms), MAX_COMPLETE))}

        def order(entry: tuple[int, float]) -> tuple[bool, float, int]:
            id, score = entry
            if id in titles:  # BM25 hardly rewards a section for a title with all of the words
                share = sum(term.strip('"') in titles[id] for term in terms) / len(terms)
                return True, -score * HANDBOOK_WEIGHT * (1 + share), id
            return id not in complete, -score, id

        allowed = [entry for entry in ranked if self.source in ("", sources.get(entry[0]))]
        if self.source == "own":
            allowed = [entry for entry in ranked if entry[0] not in titles]
        return sorted(allowed, key=order)

    def get(self, url: str) -> Document | None:
        """Return the document at a URL, with its text as it was when it was added."""
        with self._reading() as connection:
            return index.document(connection, url)

    def add(self, documents: Iterable[Document], *, progress: Progress | None = None) -> Counts:
        """Add or update documents, a few hundred per transaction, each reported to `progress`."""
        counts = Counts()
        with self._writing() as connection:
            for batch in index.batches(documents):
                written = Counts(**index.add(connection, batch))
                counts = counts.plus(written)
                if progress:
                    progress(written)
            if counts.added + counts.updated > index.BATCH_SIZE + 0.25 * index.last_id(connection):
                index.merge(connection)
        return counts

    def holds(self, url: str, modified: float, size: int) -> bool:
        """Tell whether this version of a document is in the library."""
        return self._has("SELECT 1 FROM page WHERE url = ? AND modified = ? AND size = ?", url, modified, size)

    def has_read(self, url: str) -> bool:
        """Tell whether a web page is in the library with its text, not just as a bookmark."""
        return self._has("SELECT 1 FROM page WHERE url = ? AND kind != 'bookmark'", url)

    def _has(self, sql: str, *values: object) -> bool:
        with self._reading(handbook=False) as connection:
            return connection.execute(sql, values).fetchone() is not None

    def remove(self, pattern: str) -> int:
        """Remove the document at a URL, or all whose URL starts with a pattern that ends in `*`; never the handbook."""
        prefix = pattern.removesuffix("*")
        last = f"{prefix}\U0010ffff" if pattern.endswith("*") else prefix
        sql = "SELECT id FROM page WHERE url BETWEEN ? AND ? AND source != 'handbook'"
        with self._writing() as connection:
            ids = [row[0] for row in connection.execute(sql, (prefix, last))]
            index.remove(connection, ids)
            index.vacuum(connection)
        return len(ids)

    def remove_all(self) -> int:
        """Remove everything except the handbook."""
        with self._writing() as connection:
            with transaction(connection):
                removed = connection.execute("DELETE FROM page WHERE source != 'handbook'").rowcount
                index.reindex(connection)
            index.vacuum(connection)
        return removed

    def stats(self) -> LibraryStats:
        """Count the documents of each source, and the bytes in use."""
        with self._reading() as connection:
            rows = connection.execute("SELECT source, count(*) FROM page GROUP BY source").fetchall()
            sources = {str(row[0]): int(row[1]) for row in rows}
            return LibraryStats(sum(sources.values()), sources, index.used_bytes(connection))

    def trim(self, max_megabytes: int) -> int:
        """Remove the pages read longest ago until the library fits; files and bookmarks stay. Return how many."""
        with self._writing() as connection:
            excess = index.used_bytes(connection) - max_megabytes * 1_000_000
            if excess <= 0:
                return 0
            ids, freed = [], 0.0
            for id, size in connection.execute(
                "SELECT id, length(CAST(text AS BLOB)) FROM page WHERE source = 'page' ORDER BY added_at"
            ):
                ids.append(id)
                freed += 2 * size  # the index is about as large as the text
                if freed > 1.1 * excess:
                    break
            index.remove(connection, ids)
            if ids:
                index.merge(connection)
                index.vacuum(connection)
            return len(ids)

    def close(self) -> None:
        """Close this thread's connection."""
        connection = self._local.__dict__.pop("connection", None)
        self._local.__dict__.clear()
        if connection:
            connection.close()

    def list(self, limit: int, offset: int = 0, *, source: str = "") -> Listing:
        """Return documents ordered by URL, the handbook last, and how many there are."""
        where = "WHERE source = ?" if source else "WHERE source != ?"
        with self._reading() as connection:
            total = connection.execute(f"SELECT count(*) FROM page {where}", (source,)).fetchone()[0]  # noqa: S608 - a constant clause
            rows = connection.execute(
                f"SELECT {', '.join(LISTED)} FROM page"  # noqa: S608 - constant clauses
                f" {where} ORDER BY source = 'handbook', url LIMIT ? OFFSET ?",
                (source, limit, offset),
            )
            return Listing(tuple(LibraryEntry(*row) for row in rows), total)

    @contextmanager
    def _reading(self, *, handbook: bool = True) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection; it is brought up to date once, if the file is writable."""
        local = self._local.__dict__
        try:
            if "connection" not in local:
                local["connection"], local["problem"] = self._open()
            if "updated" not in local or handbook > local["updated"]:
                local["updated"] = handbook
                try:
                    index.update(local["connection"], MAX_REINDEXED, handbook=handbook)
                except sqlite3.OperationalError as problem:  # locked or read-only: search what is there
                    logs.log("library: not updated: %s", problem)
            yield local["connection"]
        except DATABASE_ERRORS as problem:
            self.close()
            raise database_error(self.path, problem) from problem

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for changes. The handbook can wait: adding it takes longer than adding a page."""
        with self._reading(handbook=False) as connection:
            if self._local.problem:
                raise self._local.problem
            index.update(connection, handbook=False)
            yield connection

    def _open(self) -> tuple[sqlite3.Connection, UnwritableError | None]:
        """Open the file; if it cannot be written, open it read-only, or put the handbook alone into memory."""
        try:
            return open_database(self.path, index.MIGRATIONS), None
        except DatabaseError:
            raise
        except UnwritableError as problem:
            logs.log("library: %s", problem)
            if os.path.exists(self.path):
                frozen = open_immutable(self.path)
                if frozen.execute("PRAGMA user_version").fetchone()[0] == len(index.MIGRATIONS):
                    return frozen, problem
                frozen.close()
            return open_database(MEMORY, index.MIGRATIONS), problem


def _url(connection: sqlite3.Connection, id: int) -> str:
    row = connection.execute("SELECT url FROM page WHERE id = ?", (id,)).fetchone()
    return row[0] if row else ""


def _result(connection: sqlite3.Connection, id: int, score: float, query: str, content: bool) -> Result | None:
    """Return a document as a search result; None if a damaged index names one that does not exist."""
    from sleuth.library.snippet import best_passage

    row = connection.execute("SELECT url, title, site, published, text FROM page WHERE id = ?", (id,)).fetchone()
    if row is None:
        return None
    url, title, site, published, text = row
    return Result(
        title=title,
        url=url,
        snippet=best_passage(text, query),
        content=text[:MAX_CONTENT_CHARS] if content else "",
        published=published,
        site=site,
        score=score,
    )
