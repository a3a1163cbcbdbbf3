"""Open SQLite databases: private files, WAL, numbered migrations after a backup, and readable errors."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from urllib.parse import quote

from sleuth.base.errors import DatabaseError, SettingsError, UnwritableError
from sleuth.base.files import append_private, check_own_database, explain_unwritable, locked, private_folder

Migration = Callable[[sqlite3.Connection], None]
SHARED_MEMORY_BYTES = 32_768  # of a write-ahead log
BUSY_TIMEOUT_S = 10.0  # for which a lock may not change hands
MEMORY = ":memory:"
UNWRITABLE_MESSAGES = ("unable to open", "readonly", "disk I/O", "is full")
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # the message about a damaged file may not be UTF-8


def run_script(path: str) -> Migration:
    """Return a migration that runs the statements of an SQL file; each ends with a semicolon and a line break."""

    def migrate(connection: sqlite3.Connection) -> None:
        with open(path, encoding="utf-8") as stream:
            for statement in stream.read().split(";\n"):
                connection.execute(statement)

    return migrate


def open_database(path: str, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open a database and migrate it to the newest schema; a damaged or newer one is refused and left unchanged."""
    if path == MEMORY:
        return _migrate(_connect(path), path, migrations)
    with explain_errors(path), explain_unwritable(path):
        private_folder(os.path.dirname(path))
        check_files(path)
        if os.path.exists(path):
            connection = _connect(path)
            if _version(connection) == len(migrations):
                return connection
            connection.close()
        with locked(f"{path}.lock") as held:
            if not held:
                raise locked_error(path)
            os.close(append_private(path))
            return _migrate(_connect(path), path, migrations)


def open_immutable(path: str) -> sqlite3.Connection:
    """Open a database read-only without creating any file next to it, ignoring its write-ahead log."""
    check_files(path)
    return _open(f"file:{quote(path)}?mode=ro&immutable=1", BUSY_TIMEOUT_S)


def open_read_only(path: str, timeout: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Open a database read-only; in a folder that is not writable, without its write-ahead log."""
    check_files(path)
    try:
        connection = _open(f"file:{quote(path)}?mode=ro", timeout)
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError:
        return open_immutable(path)
    return connection


def open_copy(path: str, migrations: Sequence[Migration], *, newer: bool = False) -> sqlite3.Connection:
    """Open a copy in memory, migrated to the newest schema, of a database that cannot be written or does not exist.

    With `newer`, a database of a newer sleuth is copied as it is.
    """
    connection = _connect(MEMORY)
    with explain_errors(path), explain_unwritable(path):
        with suppress(FileNotFoundError, NotADirectoryError):  # but not one that may exist in an unreadable folder
            os.stat(path)
            with closing(open_read_only(path)) as source:
                source.backup(connection)
        is_newer = _version(connection) > len(migrations)
        return connection if newer and is_newer else _migrate(connection, path, migrations)


@contextmanager
def explain_errors(path: str) -> Iterator[None]:
    """Turn errors of a database into SettingsError."""
    try:
        yield
    except DATABASE_ERRORS as problem:
        raise database_error(path, problem) from problem


def database_error(path: str, problem: Exception) -> SettingsError:
    """Return the SettingsError for an error of SQLite."""
    if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
        return locked_error(path)
    if isinstance(problem, sqlite3.OperationalError) and any(word in str(problem) for word in UNWRITABLE_MESSAGES):
        hint = "check its permissions and the free disk space, or set SLEUTH_HOME to another folder"
        reason = os.strerror(errno.ENOSPC) if "disk I/O" in str(problem) and _is_full(path) else problem
        return UnwritableError("cannot write the database {path} ({reason})", hint, path=path, reason=reason)
    hint = "see how to repair it: sleuth doctor"
    return DatabaseError("the database {path} is damaged ({reason})", hint, path=path, reason=problem)


def _is_full(path: str) -> bool:
    """Tell whether the disk has no room for the shared memory of SQLite, which then reports an I/O error."""
    from shutil import disk_usage

    with suppress(OSError):
        return disk_usage(os.path.dirname(path)).free < SHARED_MEMORY_BYTES
    return False


def locked_error(path: str) -> SettingsError:
    """Return the error for a file whose lock another process keeps."""
    return SettingsError("{path} is locked by another process", "try again in a moment", path=path)


def check_files(path: str) -> None:
    """Refuse a pipe, which SQLite would wait for, and files of another user, whose keys can be commands."""
    try:
        check_own_database(path)
    except OSError as problem:
        message = "the database {path} is not used ({reason})"
        hint = "move it away, or set SLEUTH_HOME to another folder"
        raise DatabaseError(message, hint, path=problem.filename, reason=problem.strerror) from problem


def _open(path: str, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, uri=path.startswith("file:"))
    connection.row_factory = sqlite3.Row
    return connection


def _connect(path: str) -> sqlite3.Connection:
    connection = _open(path, BUSY_TIMEOUT_S)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")  # reads the file, so a file that is not a database fails here
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # a deleted key must not remain in the file
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: str, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Migrate a database, one on disk after a backup, and close it if that fails."""
    try:
        version = _version(connection)
        if version > len(migrations):
            message = "{path} was written by a newer sleuth (schema {found}, this version supports {known})"
            hint = "update sleuth, or set SLEUTH_HOME to another folder"
            raise DatabaseError(message, hint, path=path, found=version, known=len(migrations))
        if 0 < version < len(migrations) and connection.execute("PRAGMA database_list").fetchone()[2]:
            check_files(f"{path}.v{version}")
            os.close(os.open(f"{path}.v{version}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            with closing(sqlite3.connect(f"{path}.v{version}")) as copy:
                connection.backup(copy)
        connection.execute("PRAGMA journal_mode = WAL")  # after the version check: it changes the file
        for number in range(version, len(migrations)):
            with transaction(connection):
                migrations[number](connection)
                connection.execute(f"PRAGMA user_version = {number + 1}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Run statements as one transaction; it starts with the write lock, so nothing read in it is out of date."""
    _begin(connection)
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise


def _begin(connection: sqlite3.Connection) -> None:
    """Take the write lock; the busy timeout starts again whenever another process has committed meanwhile."""
    while True:
        version = _data_version(connection)
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) or _data_version(connection) == version:
                raise


def _data_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
