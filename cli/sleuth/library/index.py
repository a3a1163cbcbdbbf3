"""Pages and their tokens in the library's database: put in, taken out, indexed anew, kept small.

The index is contentless: a page's text is stored once, and taking a page out means handing FTS5 the very tokens it was
given. So the database remembers what a probe became, and is indexed anew when `relevance.words` has changed.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sleuth.base import logs
from sleuth.store.database import transaction

if TYPE_CHECKING:
    from sleuth.library.library import Counts, Document

BATCH = 300  # pages in one transaction
BATCH_TEXT = 4_000_000  # characters in one transaction
MERGE = 500  # index pages that FTS5 tidies in one go, so that others can write in between
PROBE = "The libraries' searching: C++, node.js v1.2.3 naïve 在SearXNG里启用JSON カタカナ 한국어 ไทย"


def _first(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE page (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            url TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            site TEXT NOT NULL,
            source TEXT NOT NULL CHECK (source IN ('handbook', 'file', 'page', 'bookmark')),
            kind TEXT NOT NULL,
            lang TEXT NOT NULL,
            published TEXT NOT NULL,
            added_at REAL NOT NULL,
            modified REAL NOT NULL,
            size INTEGER NOT NULL,
            text TEXT NOT NULL
        )"""
    )
    connection.execute("CREATE INDEX page_source ON page (source, added_at)")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (title, body, content = '', tokenize = 'ascii')")
    connection.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")


MIGRATIONS = (_first,)


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let everything read inside come from one moment, whatever others write meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def batches(pages: Iterable["Document"]) -> Iterator[list["Document"]]:
    """Yield pages in groups that are written at once."""
    batch: list[Document] = []
    length = 0
    for page in pages:
        batch.append(page._replace(url=_storable(page.url), title=_storable(page.title), text=_storable(page.text)))
        length += len(page.text)
        if len(batch) >= BATCH or length >= BATCH_TEXT:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _storable(text: str) -> str:
    """Return text without the halves of characters that SQLite cannot keep."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def add(connection: sqlite3.Connection, batch: list["Document"], counts: "Counts") -> "Counts":
    """Write one batch; the tokens are made before the write lock is taken."""
    from sleuth.relevance.words import index_text

    fresh = [_whole(connection, page) for page in batch if not _is_known(connection, page)]
    tokens = [(index_text(page.title), index_text(page.text)) for page in fresh]
    become = {"unchanged": len(batch) - len(fresh), "added": 0, "updated": 0}
    if fresh:
        with transaction(connection):
            for page, (title, body) in zip(fresh, tokens, strict=True):
                become[_put(connection, page, title, body)] += 1
    return counts._replace(**{name: count + become[name] for name, count in counts._asdict().items()})


def _is_known(connection: sqlite3.Connection, page: "Document") -> bool:
    row = connection.execute("SELECT modified, size, source FROM page WHERE url = ?", (page.url,)).fetchone()
    if row is None:
        return False
    poorer = page.source == "bookmark" and row["source"] != "bookmark"  # the page itself is there, with all its text
    return poorer or (row["modified"], row["size"], row["source"]) == (page.modified, page.size, page.source)


def _whole(connection: sqlite3.Connection, page: "Document") -> "Document":
    """Return a page with the text that is known of it, where this time only the beginning was read."""
    if page.source != "page":
        return page
    row = connection.execute("SELECT text, size FROM page WHERE url = ? AND source = 'page'", (page.url,)).fetchone()
    return page._replace(text=row["text"], size=row["size"]) if row and row["text"].startswith(page.text) else page


def _put(connection: sqlite3.Connection, page: "Document", title: str, body: str) -> str:
    """Write a page with its tokens and tell what became of it."""
    facts = (
        *(page.title, page.site, page.source, page.kind, page.lang, page.published),
        *(time.time(), page.modified, page.size, page.text, page.url),
    )
    old = connection.execute("SELECT id, title, text FROM page WHERE url = ?", (page.url,)).fetchone()
    if old is None:
        id = connection.execute(
            "INSERT INTO page (title, site, source, kind, lang, published, added_at, modified, size, text, url)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            facts,
        ).lastrowid
    else:
        id = old["id"]
        connection.execute(
            "UPDATE page SET title = ?, site = ?, source = ?, kind = ?, lang = ?, published = ?, added_at = ?,"
            " modified = ?, size = ?, text = ? WHERE url = ?",
            facts,
        )
        if (old["title"], old["text"]) == (page.title, page.text):
            return "unchanged"
        _take_tokens(connection, old)
    connection.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (id, title, body))
    return "updated" if old else "added"


def _take_tokens(connection: sqlite3.Connection, row: sqlite3.Row) -> None:
    from sleuth.relevance.words import index_text

    connection.execute(
        "INSERT INTO words (words, rowid, title, body) VALUES ('delete', ?, ?, ?)",
        (row["id"], index_text(row["title"]), index_text(row["text"])),
    )


def take_out(connection: sqlite3.Connection, ids: list[int]) -> None:
    """Delete pages and their tokens."""
    for start in range(0, len(ids), BATCH):
        with transaction(connection):
            for id in ids[start : start + BATCH]:
                row = connection.execute("SELECT id, title, text FROM page WHERE id = ?", (id,)).fetchone()
                if row:
                    _take_tokens(connection, row)
                    connection.execute("DELETE FROM page WHERE id = ?", (id,))


def freshen(connection: sqlite3.Connection, patience: int | None = None) -> None:
    """Index anew if words have become other tokens since, and put in the newest handbook; most often neither is needed.

    With `patience`, a library of more pages than that is left as it is, to be searched at once.
    """
    from sleuth.library.handbook import handbook_folder, mark
    from sleuth.relevance.words import index_text

    folder = handbook_folder()
    marks = {"tokens": index_text(PROBE), "handbook": mark(folder) if folder else ""}
    known = _marks(connection)
    if known == marks:
        return
    if known.get("tokens") != marks["tokens"] and patience is not None and last(connection) > patience:
        return
    with transaction(connection):  # whoever comes first does it, the others wait and find it done
        known = _marks(connection)
        if known.get("tokens") != marks["tokens"]:
            index_anew(connection)
        if folder and known.get("handbook") != marks["handbook"]:
            _seed(connection, folder)
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", marks.items())


def _marks(connection: sqlite3.Connection) -> dict[str, str]:
    return {row[0]: row[1] for row in connection.execute("SELECT name, value FROM meta")}


def _seed(connection: sqlite3.Connection, folder: str) -> None:
    from sleuth.library.handbook import chapters
    from sleuth.relevance.words import index_text

    pages = list(chapters(folder))
    urls = {page.url for page in pages}
    for row in connection.execute("SELECT id, url, title, text FROM page WHERE source = 'handbook'").fetchall():
        if row["url"] not in urls:
            _take_tokens(connection, row)
            connection.execute("DELETE FROM page WHERE id = ?", (row["id"],))
    for page in pages:
        _put(connection, page, index_text(page.title), index_text(page.text))


def index_anew(connection: sqlite3.Connection) -> None:
    """Make the index of all pages from their text."""
    from sleuth.relevance.words import index_text

    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    ids = [row[0] for row in connection.execute("SELECT id FROM page")]
    for id in ids:
        row = connection.execute("SELECT title, text FROM page WHERE id = ?", (id,)).fetchone()
        values = (id, index_text(row["title"]), index_text(row["text"]))
        connection.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", values)


def used(connection: sqlite3.Connection) -> int:
    """Return the bytes of the file that hold something."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def merge(connection: sqlite3.Connection) -> None:
    """Let FTS5 make one sorted whole of its index, step by step, so that others can write in between."""
    step = -MERGE  # the first step marks everything for merging
    while True:
        before = connection.total_changes
        connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (step,))
        if step > 0 and connection.total_changes - before < 2:
            return
        step = MERGE


def shrink(connection: sqlite3.Connection) -> None:
    """Give free space back to the system where there is much of it and nobody else is writing."""
    pages, free = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
    if free > 250 and free > 0.25 * pages:
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as problem:
            logs.log("library: not shrunk: %s", problem)


def last(connection: sqlite3.Connection) -> int:
    """Return the newest page's id, which is about how many pages there are."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0])
