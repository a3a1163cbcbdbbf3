"""The tables of the library: write, remove, reindex and compact documents.

The FTS5 table is contentless, so each text is stored once; to remove a document, FTS5 must be given exactly the tokens
it was indexed with. The database therefore stores the tokens of PROBE_TEXT and is reindexed when they change, that is
when `relevance.words` has changed.
"""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sleuth.base import logs
from sleuth.relevance.words import index_text
from sleuth.store.database import run_script, transaction

if TYPE_CHECKING:
    from sleuth.library.library import Document

BATCH_SIZE = 300  # documents per transaction
BATCH_CHARS = 4_000_000  # of text per transaction
MERGE_STEP = 500  # index pages that FTS5 merges at a time; other processes can write in between
PROBE_TEXT = "The libraries' searching: C++, node.js v1.2.3 naïve 在SearXNG里启用JSON カタカナ 한국어 ไทย"

COLUMNS = ("url", "title", "site", "source", "kind", "lang", "published", "added_at", "modified", "size", "text")
UPSERT = (
    f"INSERT INTO page ({', '.join(COLUMNS)}) VALUES ({', '.join(f':{name}' for name in COLUMNS)})"  # noqa: S608 - constants
    f" ON CONFLICT (url) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS[1:])}"
)


MIGRATIONS = (run_script(os.path.join(os.path.dirname(__file__), "schema", "1-pages.sql")),)


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read one consistent state of the database, whatever other processes write meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def batches(pages: Iterable["Document"]) -> Iterator[list["Document"]]:
    """Yield documents in groups for one transaction each."""
    batch: list[Document] = []
    length = 0
    for page in pages:
        batch.append(page._replace(url=_storable(page.url), title=_storable(page.title), text=_storable(page.text)))
        length += len(page.text)
        if len(batch) >= BATCH_SIZE or length >= BATCH_CHARS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _storable(text: str) -> str:
    """Replace lone surrogates, which SQLite cannot store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def add(connection: sqlite3.Connection, batch: list["Document"]) -> dict[str, int]:
    """Write one batch and count the documents added, updated and unchanged; tokens are made before locking."""
    fresh = [found for page in batch if (found := _to_write(connection, page))]
    tokens = [(index_text(page.title), index_text(page.text)) for page in fresh]
    outcomes = Counter(unchanged=len(batch) - len(fresh))
    if fresh:
        with transaction(connection):
            outcomes.update(_write(connection, page, *pair) for page, pair in zip(fresh, tokens, strict=True))
    return outcomes


def document(connection: sqlite3.Connection, url: str) -> "Document | None":
    """Return the document at a URL."""
    from sleuth.library.library import Document

    fields = ", ".join(Document._fields)
    row = connection.execute(f"SELECT {fields} FROM page WHERE url = ?", (url,)).fetchone()  # noqa: S608 - constants
    return Document(*row) if row else None


def _to_write(connection: sqlite3.Connection, page: "Document") -> "Document | None":
    """Return a document as it is to be written; None if the library has it already."""
    known = document(connection, page.url)
    if known is None:
        return page
    if page.kind == "bookmark" and known.kind != "bookmark":  # the page is there with its text
        return known.bookmarked(page.bookmark) if page.bookmark != known.bookmark else None
    if (known.modified, known.size, known.source) == (page.modified, page.size, page.source):
        return None
    if page.source == "page" and known.kind != "bookmark" and known.text.startswith(page.text):
        return page._replace(text=known.text, size=known.size, source=known.source)  # only the beginning was read
    return page.bookmarked(known.bookmark) if page.source == "page" and known.bookmark else page


def _write(connection: sqlite3.Connection, page: "Document", title: str, body: str) -> str:
    """Write a document with its tokens and return the outcome: added, updated or unchanged."""
    old = connection.execute("SELECT id, title, text FROM page WHERE url = ?", (page.url,)).fetchone()
    inserted = connection.execute(UPSERT, page._asdict() | {"added_at": time.time()}).lastrowid
    if old:
        if (old["title"], old["text"]) == (page.title, page.text):
            return "unchanged"
        _remove_tokens(connection, old)
    id = old["id"] if old else inserted
    connection.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (id, title, body))
    return "updated" if old else "added"


def _delete(connection: sqlite3.Connection, row: sqlite3.Row) -> None:
    _remove_tokens(connection, row)
    connection.execute("DELETE FROM page WHERE id = ?", (row["id"],))


def _remove_tokens(connection: sqlite3.Connection, row: sqlite3.Row) -> None:
    connection.execute(
        "INSERT INTO words (words, rowid, title, body) VALUES ('delete', ?, ?, ?)",
        (row["id"], index_text(row["title"]), index_text(row["text"])),
    )


def remove(connection: sqlite3.Connection, ids: list[int]) -> None:
    """Delete documents and their tokens."""
    for start in range(0, len(ids), BATCH_SIZE):
        with transaction(connection):
            for id in ids[start : start + BATCH_SIZE]:
                row = connection.execute("SELECT id, title, text FROM page WHERE id = ?", (id,)).fetchone()
                if row:
                    _delete(connection, row)


def update(connection: sqlite3.Connection, max_reindexed: int | None = None, *, handbook: bool) -> None:
    """Reindex if the tokens have changed, and on request add a handbook that has changed.

    With `max_reindexed`, a library of more documents is not reindexed but searched as it is.
    """
    from sleuth.library.handbook import fingerprint, handbook_folder

    folder = handbook_folder() if handbook else None
    marks = {"tokens": index_text(PROBE_TEXT)} | ({"handbook": fingerprint(folder)} if folder else {})
    known = _marks(connection)
    if marks.items() <= known.items():
        return
    if known.get("tokens") != marks["tokens"] and max_reindexed is not None and last_id(connection) > max_reindexed:
        return
    with transaction(connection):  # the first process updates; others wait for the lock and find it done
        known = _marks(connection)
        if known.get("tokens") != marks["tokens"]:
            reindex(connection)
        if folder and known.get("handbook") != marks["handbook"]:
            _seed(connection, folder)
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", marks.items())


def _marks(connection: sqlite3.Connection) -> dict[str, str]:
    return {row[0]: row[1] for row in connection.execute("SELECT name, value FROM meta")}


def _seed(connection: sqlite3.Connection, folder: str) -> None:
    from sleuth.library.handbook import chapters

    pages = list(chapters(folder))
    urls = {page.url for page in pages}
    for row in connection.execute("SELECT id, url, title, text FROM page WHERE source = 'handbook'").fetchall():
        if row["url"] not in urls:
            _delete(connection, row)
    for page in pages:
        _write(connection, page, index_text(page.title), index_text(page.text))


def reindex(connection: sqlite3.Connection) -> None:
    """Rebuild the index from the stored texts."""
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    ids = [row[0] for row in connection.execute("SELECT id FROM page")]
    for id in ids:
        row = connection.execute("SELECT title, text FROM page WHERE id = ?", (id,)).fetchone()
        values = (id, index_text(row["title"]), index_text(row["text"]))
        connection.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", values)


def used_bytes(connection: sqlite3.Connection) -> int:
    """Return the size of the file without its free pages."""
    pages, free, size = _pragmas(connection, "page_count", "freelist_count", "page_size")
    return (pages - free) * size


def _pragmas(connection: sqlite3.Connection, *names: str) -> list[int]:
    return [int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in names]


def merge(connection: sqlite3.Connection) -> None:
    """Merge the index into one segment, step by step."""
    step = -MERGE_STEP  # a negative first step marks all segments for merging
    while True:
        before = connection.total_changes
        connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (step,))
        if step > 0 and connection.total_changes - before < 2:
            return
        step = MERGE_STEP


def vacuum(connection: sqlite3.Connection) -> None:
    """Return free space to the file system if a quarter of the file is free and no other process writes."""
    pages, free = _pragmas(connection, "page_count", "freelist_count")
    if free > 250 and free > 0.25 * pages:
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as problem:
            logs.log("library: not vacuumed: %s", problem)


def last_id(connection: sqlite3.Connection) -> int:
    """Return the highest id, which is close to the number of documents."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0])
