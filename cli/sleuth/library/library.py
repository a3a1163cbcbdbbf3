"""The library: pages kept in SQLite with an FTS5 index of their words, searched without a network; and its provider.

The index holds text that `relevance.words` has cut into tokens, so that Chinese is found as well as English. The
handbook is put in when the library is first opened, and again when it has changed.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from sleuth.base import logs
from sleuth.base.errors import SleuthError, UnwritableError
from sleuth.library import index
from sleuth.store.database import DATABASE_ERRORS, MEMORY, database_error, open_database, open_immutable, transaction
from sleuth_providers.base import Account, Found, Provider, Query, Result, Sender
from sleuth_providers.errors import ProviderError
from sleuth_providers.records import Record

PATIENCE = 3_000  # pages that a search waits for to be indexed anew; more are left to the next `add`
POOL = 500  # pages looked through when some are filtered out
MAX_CONTENT = 100_000  # characters handed out with one result
LARGEST = 1e11  # no size and no time is larger


class Document(Record):
    """Something to be found again."""

    url: str
    title: str
    text: str
    site: str = ""
    modified: float = 0.0  # of a file; when a web page was read
    size: int = 0
    kind: str = "text"  # text markdown rst html pdf bookmark
    source: str = "file"  # handbook file page bookmark
    published: str = ""
    lang: str = ""


class Counts(Record):
    """What became of pages that were added."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0


class LibraryEntry(Record):
    """One page of a listing."""

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
    """A part of all pages, and how many there are in all."""

    items: tuple[LibraryEntry, ...]
    total: int


class LibraryStats(Record):
    """How much is in the library."""

    pages: int
    sources: dict[str, int]
    bytes: int


Keep = Callable[[str], bool]
Progress = Callable[[Counts], None]
Results = list[Result]


class Library:
    """The embedded index. Every thread has a connection of its own; whoever starts a thread closes it there."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._local = threading.local()

    def search(
        self, text: str, count: int, offset: int = 0, *, content: bool = False, keep: Keep | None = None
    ) -> Results:
        """Return the pages that fit best; `keep` decides by address, `content` adds the whole text."""
        from sleuth.library.ranking import best
        from sleuth.relevance.words import match_expression

        terms = [term for term in match_expression(text).split(" OR ") if term]
        with self._reading() as connection, index.snapshot(connection):
            ranked = best(connection, terms, POOL if keep else offset + count)
            if keep:
                ranked = [entry for entry in ranked if keep(_url(connection, entry[0]))]
            found = [_result(connection, id, score, text, content) for id, score in ranked[offset : offset + count]]
            return [result for result in found if result]

    def add(self, pages: Iterable[Document], *, progress: Progress | None = None) -> Counts:
        """Put pages in, a few hundred at a time; what is there already and has not changed is left alone."""
        counts = Counts()
        with self._writing() as connection:
            for batch in index.batches(pages):
                counts = index.add(connection, batch, counts)
                if progress:
                    progress(counts)
            if counts.added + counts.updated > index.BATCH + 0.25 * index.last(connection):
                index.merge(connection)
        return counts

    def holds(self, url: str, modified: float, size: int) -> bool:
        """Tell whether a page is there and has not changed since."""
        with self._reading() as connection:
            sql = "SELECT 1 FROM page WHERE url = ? AND modified = ? AND size = ?"
            return connection.execute(sql, (url, modified, size)).fetchone() is not None

    def has_read(self, url: str) -> bool:
        """Tell whether a web page is there with its text, not just as a bookmark."""
        with self._reading() as connection:
            sql = "SELECT 1 FROM page WHERE url = ? AND source = 'page'"
            return connection.execute(sql, (url,)).fetchone() is not None

    def remove(self, pattern: str) -> int:
        """Take out the page at an address, or with `*` at the end all whose addresses begin so; never the handbook."""
        prefix = pattern.removesuffix("*")
        beyond = f"{prefix}\U0010ffff" if pattern.endswith("*") else prefix
        sql = "SELECT id FROM page WHERE url BETWEEN ? AND ? AND source != 'handbook'"
        with self._writing() as connection:
            ids = [row[0] for row in connection.execute(sql, (prefix, beyond))]
            index.take_out(connection, ids)
            index.shrink(connection)
        return len(ids)

    def remove_all(self) -> int:
        """Take out everything but the handbook."""
        with self._writing() as connection:
            with transaction(connection):
                removed = connection.execute("DELETE FROM page WHERE source != 'handbook'").rowcount
                index.index_anew(connection)
            index.shrink(connection)
        return removed

    def stats(self) -> LibraryStats:
        """Count the pages of each source, and the bytes in use."""
        with self._reading() as connection:
            rows = connection.execute("SELECT source, count(*) FROM page GROUP BY source").fetchall()
            sources = {str(row[0]): int(row[1]) for row in rows}
            return LibraryStats(sum(sources.values()), sources, index.used(connection))

    def trim(self, max_megabytes: int) -> int:
        """Take out the pages read longest ago until the library fits, and return how many; what was added stays."""
        with self._writing() as connection:
            excess = index.used(connection) - max_megabytes * 1_000_000
            if excess <= 0:
                return 0
            ids, freed = [], 0.0
            for id, size in connection.execute(
                "SELECT id, length(CAST(text AS BLOB)) FROM page WHERE source = 'page' ORDER BY added_at"
            ):
                ids.append(id)
                freed += 2 * size  # the index takes about as much as the text
                if freed > 1.1 * excess:
                    break
            index.take_out(connection, ids)
            if ids:
                index.merge(connection)
                index.shrink(connection)
            return len(ids)

    def close(self) -> None:
        """Close this thread's connection."""
        connection = self._local.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def list(self, limit: int, offset: int = 0, *, source: str = "") -> Listing:
        """Return pages by address, and how many there are."""
        where = "WHERE source = ?" if source else "WHERE source != ?"
        with self._reading() as connection:
            total = connection.execute(f"SELECT count(*) FROM page {where}", (source,)).fetchone()[0]  # noqa: S608 - ours
            rows = connection.execute(
                "SELECT url, title, site, source, kind, size, modified, added_at, published FROM page"  # noqa: S608 - ours
                f" {where} ORDER BY url LIMIT ? OFFSET ?",
                (source, limit, offset),
            )
            return Listing(tuple(map(_entry, rows)), total)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection, with the newest handbook in it where it can be written."""
        try:
            if "connection" not in self._local.__dict__:
                self._local.connection, self._local.problem = self._open()
                try:
                    index.freshen(self._local.connection, PATIENCE)
                except sqlite3.OperationalError as problem:  # locked or read-only: what is there can still be searched
                    logs.log("library: not brought up to date: %s", problem)
            yield self._local.connection
        except DATABASE_ERRORS as problem:
            self.close()
            raise database_error(self.path, problem) from problem

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection:
            if self._local.problem:
                raise self._local.problem
            index.freshen(connection)
            yield connection

    def _open(self) -> tuple[sqlite3.Connection, UnwritableError | None]:
        """Open the file; where nothing can be written it is read as it is, or the handbook alone from memory."""
        try:
            return open_database(self.path, index.MIGRATIONS), None
        except UnwritableError as problem:
            logs.log("library: %s", problem)
            if os.path.exists(self.path):
                frozen = open_immutable(self.path)
                if frozen.execute("PRAGMA user_version").fetchone()[0] == len(index.MIGRATIONS):
                    return frozen, problem
                frozen.close()
            return open_database(MEMORY, index.MIGRATIONS), problem


class LibraryProvider(Provider):
    """The library as a provider like any other: asked by name, or last of the chain."""

    id = "library"
    name = "Library"
    type = "local"
    notes = "On this machine: sleuth's handbook, what you have added, and the pages sleuth has read. Needs no network."
    supports = frozenset({"page", "include", "exclude", "content"})
    max_results = 50
    price = "free"
    weight = 0.7  # narrow: it knows what its owner has met, and its best page may be a poor one
    offline = True
    files = True

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Look into the index; every job is a thread, which leaves no connection behind."""
        library = self._library()
        keep = _filter(query) if query.include or query.exclude else None
        try:
            offset = (query.page - 1) * query.count
            return Found(tuple(library.search(query.text, query.count, offset, content=query.content, keep=keep)))
        except SleuthError as problem:
            values = {name: str(value) for name, value in problem.values.items()}
            raise ProviderError(message=problem.message, hint=problem.hint, values=values) from problem
        finally:
            library.close()


def _filter(query: Query) -> Keep:
    from sleuth.relevance.urls import matches_domain

    def keep(url: str) -> bool:
        wanted = not query.include or any(matches_domain(url, domain) for domain in query.include)
        return wanted and not any(matches_domain(url, domain) for domain in query.exclude)

    return keep


def _entry(row: sqlite3.Row) -> LibraryEntry:
    """Return a page of a listing; what damage left in place of a text or a number counts as none."""
    url, title, site, source, kind, size, modified, added_at, published = row
    url, title, site, source, kind, published = map(_text, (url, title, site, source, kind, published))
    size, modified, added_at = map(_number, (size, modified, added_at))
    return LibraryEntry(url, title, site, source, kind, int(size), modified, added_at, published)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < LARGEST else 0.0


def _url(connection: sqlite3.Connection, id: int) -> str:
    row = connection.execute("SELECT url FROM page WHERE id = ?", (id,)).fetchone()
    return _text(row[0]) if row else ""


def _result(connection: sqlite3.Connection, id: int, score: float, query: str, content: bool) -> Result | None:
    """Return what is found at a page; None where a damaged index names one that is not there."""
    from sleuth.library.snippet import passage

    row = connection.execute("SELECT url, title, site, published, text FROM page WHERE id = ?", (id,)).fetchone()
    if row is None:
        return None
    url, title, site, published, text = map(_text, row)
    return Result(
        title=title,
        url=url,
        snippet=passage(text, query),
        content=text[:MAX_CONTENT] if content else "",
        published=published,
        site=site,
        score=score,
    )
