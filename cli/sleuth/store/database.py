"""Opening a SQLite file: private from birth, WAL, numbered migrations after a backup, clear words when it is broken."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from urllib.parse import quote

from sleuth.base.errors import SettingsError, UnwritableError
from sleuth.base.files import locked, private_folder

Migration = Callable[[sqlite3.Connection], None]
BUSY = 10.0  # seconds to wait for another process
MEMORY = ":memory:"
UNWRITABLE = ("unable to open", "readonly", "disk I/O", "is full")
FAULTS = (sqlite3.Error, UnicodeDecodeError)  # of a damaged file not even SQLite's message need be text


def open_database(path: str, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open a database at its newest schema; one from a newer sleuth, or a broken one, is refused and left alone."""
    if path == MEMORY:
        connection = _connect(path)
        _migrate(connection, path, migrations)
        return connection
    try:
        if os.path.exists(path) and (current := _connect_current(path, len(migrations))):
            return current
        private_folder(os.path.dirname(path))
        with locked(f"{path}.lock") as held:
            if not held:
                raise SettingsError("another process keeps {path} locked", "try again in a moment", path=path)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = _connect(path)
            try:
                _migrate(connection, path, migrations)
            except BaseException:
                connection.close()
                raise
            return connection
    except FAULTS as problem:
        raise broken(path, problem) from problem
    except OSError as problem:
        raise UnwritableError(
            "cannot open {path} ({reason})",
            "check the permissions there, or choose another place with SLEUTH_HOME",
            path=path,
            reason=problem.strerror or problem,
        ) from problem


def open_frozen(path: str) -> sqlite3.Connection:
    """Open an existing database where nothing can be written, to read it as it is."""
    connection = sqlite3.connect(f"file:{quote(path)}?immutable=1", uri=True, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def open_to_read(path: str, patience: float = BUSY) -> sqlite3.Connection:
    """Open a database to look at it; where nothing can be written beside it, as it is on disk."""
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=patience, isolation_level=None)
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError:
        return open_frozen(path)
    connection.row_factory = sqlite3.Row
    return connection


def open_copy(path: str, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open a copy in memory, at the newest schema, of a database that cannot be written, or of none."""
    connection = _connect(MEMORY)
    with in_words(path):
        if os.path.exists(path):
            with closing(open_to_read(path)) as source:
                source.backup(connection)
        _migrate(connection, MEMORY, migrations)
    return connection


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Let what goes wrong with a database be said as what it is."""
    try:
        yield
    except FAULTS as problem:
        raise broken(path, problem) from problem


def broken(path: str, problem: Exception) -> SettingsError:
    """Return the error for a database that cannot be used."""
    if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
        return SettingsError("another process keeps {path} locked", "try again in a moment", path=path)
    if isinstance(problem, sqlite3.OperationalError) and any(word in str(problem) for word in UNWRITABLE):
        return UnwritableError(
            "cannot write the database {path} ({reason})",
            "check the permissions and the free space there, or choose another place with SLEUTH_HOME",
            path=path,
            reason=problem,
        )
    return SettingsError(
        "the database {path} cannot be used ({reason})",
        "set it aside and start afresh: mv {path} {path}.broken; older copies: ls {path}.v*",
        path=path,
        reason=problem,
    )


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA synchronous = NORMAL")  # reads the file, and fails where it is no database
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # a key that was taken out is not left in the file
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect_current(path: str, version: int) -> sqlite3.Connection | None:
    connection = _connect(path)
    if connection.execute("PRAGMA user_version").fetchone()[0] == version:
        return connection
    connection.close()
    return None


def _migrate(connection: sqlite3.Connection, path: str, migrations: Sequence[Migration]) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise SettingsError(
            "{path} was made by a newer sleuth (schema {found}, this one knows {known})",
            "update sleuth, or use another home with SLEUTH_HOME; the file was left as it is",
            path=path,
            found=version,
            known=len(migrations),
        )
    if 0 < version < len(migrations) and path != MEMORY:
        _back_up(connection, f"{path}.v{version}")
    connection.execute("PRAGMA journal_mode = WAL")  # not before the version is known: it changes the file
    for number in range(version, len(migrations)):
        with transaction(connection):
            migrations[number](connection)
            connection.execute(f"PRAGMA user_version = {number + 1}")


def _back_up(connection: sqlite3.Connection, path: str) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
    copy = sqlite3.connect(path)
    try:
        connection.backup(copy)
    finally:
        copy.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Run statements as one; the write lock is taken first, so that nothing read can have changed when written."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
        raise
