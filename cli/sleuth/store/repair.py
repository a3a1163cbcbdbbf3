"""Repair a damaged database: keep a copy, and move every row that can still be read into a new file."""

import glob
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from sleuth.base.errors import SettingsError
from sleuth.base.files import check_own_database, locked
from sleuth.store.database import DATABASE_ERRORS, Migration, locked_error, open_database, open_immutable, transaction
from sleuth_providers.records import Record

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
SIDE_FILES = ("-wal", "-shm")
# What columns without a default get that a damaged table lacks. Others get NULL or, if they may not, '' or 0.
SUBSTITUTES = {"name": "id", "adapter": "id", "type": "'api'", "api_host": "''"}
# Keys are bound to the host they were set for; without it, they would be sent to the default host of the adapter.
UNBOUND = "SELECT id FROM websearch_provider WHERE api_host = '' AND coalesce(api_key, basic_auth_password) IS NOT NULL"
CLEAR = "UPDATE websearch_provider SET api_host = NULL, api_key = NULL, basic_auth_password = NULL WHERE api_host = ''"


class Repair(Record):
    """The result of a repair: the copy of the damaged file, how many rows of each table were kept, and lost keys."""

    copy: str
    rows: dict[str, int]
    cleared: str  # ids of providers whose keys are cleared, because their host is missing


def repair(path: str, migrations: Sequence[Migration]) -> Repair:
    """Replace a damaged database by a new one with the rows that can still be read; the old file is kept as a copy."""
    with locked(f"{path}.lock") as held:
        if not held:
            raise locked_error(path)
        backups = sorted(glob.glob(f"{glob.escape(path)}.v*"), key=os.path.getmtime, reverse=True)
        path = os.path.realpath(path)  # SQLite keeps the side files there
        _check_unused(path)
        copy = f"{path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
        for end in ("", *SIDE_FILES):
            with suppress(FileNotFoundError):
                shutil.copy2(f"{path}{end}", f"{copy}{end}")
        new = f"{path}.new"
        for end in ("", *SIDE_FILES, ".lock"):
            Path(f"{new}{end}").unlink(missing_ok=True)
        with closing(open_database(new, migrations)) as target:
            rows = _copy_tables([copy, *backups], target)
            cleared = ", ".join(row["id"] for row in target.execute(UNBOUND))
            target.execute(CLEAR)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _check_unused(path)  # again: copying takes a while
        for side_file in (*(f"{path}{end}" for end in SIDE_FILES), f"{new}.lock"):
            Path(side_file).unlink(missing_ok=True)
        os.replace(new, path)
    return Repair(copy, rows, cleared)


def _check_unused(path: str) -> None:
    """Refuse if another process has the database open: its writes would go to the file that is replaced."""
    with suppress(OSError, ImportError), open(path, "r+b") as stream:  # not all file systems have locks
        import fcntl

        try:  # these bytes are what SQLite locks while it reads, and in WAL mode until it closes the file
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
        except BlockingIOError as problem:
            hint = "end sleuth serve, sleuth mcp and other commands first"
            raise SettingsError("{path} is in use by another process", hint, path=path) from problem


def _copy_tables(sources: list[str], target: sqlite3.Connection) -> dict[str, int]:
    """Fill each table from the first source that has rows of it."""
    rows: dict[str, int] = {}
    for (table,) in target.execute(TABLES).fetchall():
        columns = {row["name"]: _substitute(row) for row in target.execute(f'PRAGMA table_info("{table}")')}
        insert = f'INSERT OR IGNORE INTO "{table}" ({", ".join(columns)}) VALUES ({", ".join("?" * len(columns))})'  # noqa: S608 - names of our own tables
        for source in sources:
            with transaction(target):
                for values in _readable_rows(source, table, columns):
                    with suppress(sqlite3.Error):  # a damaged value that breaks a constraint
                        target.execute(insert, values)
            rows[table] = target.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608 - see above
            if rows[table]:
                break
    return rows


def _substitute(column: sqlite3.Row) -> str:
    """Return the SQL of the value for a missing column."""
    empty = "NULL" if not column["notnull"] else "''" if column["type"] == "TEXT" else "0"
    return column["dflt_value"] or SUBSTITUTES.get(column["name"], empty)


def _readable_rows(path: str, table: str, columns: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    """Yield rows from the start of a table, of its index and, backwards, of its end, each up to the damaged page."""
    with suppress(*DATABASE_ERRORS), closing(_open(path)) as connection:
        known = {row[1]: row[5] for row in connection.execute(f'PRAGMA table_info("{table}")')}
        shared = ", ".join(name if name in known else f"{value} AS {name}" for name, value in columns.items())
        key = next((name for name, is_key in known.items() if is_key), "rowid")
        for order in ("NOT INDEXED", f"ORDER BY {key}", f"ORDER BY {key} DESC"):
            with suppress(*DATABASE_ERRORS):
                yield from map(tuple, connection.execute(f'SELECT {shared} FROM "{table}" {order}'))  # noqa: S608 - names of our own tables
                return


def _open(path: str) -> sqlite3.Connection:
    """Open a copy with its write-ahead log, or without it if the log is damaged too."""
    check_own_database(path)
    connection = sqlite3.connect(path)
    connection.text_factory = lambda text: text.decode("utf-8", "replace")  # invalid text must not cost the row
    try:
        connection.execute("PRAGMA writable_schema = ON")  # else a file that is too short is not read at all
        connection.execute(TABLES).fetchall()
    except sqlite3.Error:
        connection.close()
        return open_immutable(path)
    return connection
