"""Files that sleuth keeps: database, cache and library are readable, writable, intact, current and private."""

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from sleuth.base.extras import upgrade_command
from sleuth.base.files import check_own_database
from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, fail, ok, shell, skipped, warn
from sleuth.store.database import MEMORY, Migration, open_database, open_read_only
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.provider_table import ALL_ROWS
from sleuth.store.settings import CACHE_TTL, Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

LOCK_TIMEOUT_S = 2.0
PROBE_BYTES = 100_000  # a search needs less; SQLite alone 32 KB
DAMAGED = "file-damaged"
MISSING = "{path} does not exist yet; it is created when needed"
COLUMNS = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
COUNT_ENTRIES = "SELECT count(*), sum(raw != 1 OR mode != 1 OR filename IS NOT NULL) FROM Cache"


def check_disk(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Do what searches do in each folder: write a file, and take the write lock of the database in it."""
    paths = runtime.paths
    problems: dict[str, dict[str, int]] = {}  # the places by reason, each with the number of the error
    files = {paths.data: paths.database, paths.cache: _cache_file(runtime), paths.state: ""}
    for folder, file in files.items():
        place = _existing(folder)
        try:
            with TemporaryFile(dir=place) as stream:
                stream.write(bytes(PROBE_BYTES))
                stream.flush()
                os.fsync(stream.fileno())
            if os.path.exists(file):
                place = file
                check_own_database(file)
                with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("ROLLBACK")
        except OSError as problem:
            problems.setdefault(problem.strerror or str(problem), {})[place] = problem.errno or 0
        except sqlite3.DatabaseError as problem:  # what is damaged is reported by another check
            if isinstance(problem, sqlite3.OperationalError) and "locked" not in str(problem):  # locked: being written
                problems.setdefault(str(problem), {})[place] = 0
    for reason, places in problems.items():
        report = fail if {paths.database, _existing(paths.data)} & places.keys() else warn
        remedy = "disk-full" if {*places.values()} <= {errno.ENOSPC, errno.EDQUOT} else "not-writable"
        evidence = tr("{places}: {reason}", places=", ".join(places), reason=reason)
        yield report(evidence, remedy, places=" ".join(map(shell, places)))
    if not problems:
        yield ok(", ".join(dict.fromkeys(map(_existing, files))))


def _cache_file(runtime: "Runtime") -> str:
    return os.path.join(runtime.paths.cache, "answers", "cache.db")


def _existing(folder: str) -> str:
    """Return a folder, or the first one above it that exists."""
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def check_database(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that the database is readable, intact and of a known version."""
    return _check_file(runtime.paths.database, MIGRATIONS)


def is_damaged(path: str) -> bool:
    """Tell whether a database exists and is damaged, rather than locked or unreadable; raise if it is not used."""
    return os.path.exists(path) and _remedy_of(_inspect(path, MIGRATIONS)[1]) == DAMAGED


def _inspect(path: str, migrations: Sequence[Migration]) -> tuple[int, str]:
    """Return the version of a database and what is wrong with it, or "ok"."""
    try:
        with closing(open_read_only(path, LOCK_TIMEOUT_S)) as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            problem = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            expected, known = _columns(migrations[:version]), _columns(migrations)
            # Those that are missing, and those of a later version, which cannot be migrated to.
            wrong = (expected ^ {*map(tuple, connection.execute(COLUMNS))}) & known
            if problem == "ok" and wrong:
                first = min(wrong)
                problem = f"{'no such' if first in expected else 'unexpected'} column: {'.'.join(first)}"
            elif problem == "ok" and version and migrations is MIGRATIONS:
                connection.execute(ALL_ROWS).fetchall()  # quick_check finds neither wrong indexes nor invalid text
            return version, problem
    except sqlite3.Error as problem:
        return 0, str(problem)


def _columns(migrations: Sequence[Migration]) -> set[tuple[str, ...]]:
    """Return the columns after these migrations, each with its table."""
    with closing(open_database(MEMORY, migrations)) as empty:
        return {*map(tuple, empty.execute(COLUMNS))}


def _remedy_of(problem: str) -> str:
    if problem == "ok":
        return ""
    if "locked" in problem:
        return "file-locked"
    return "file-unreadable" if "unable to open" in problem or "readonly" in problem else DAMAGED


def _check_file(path: str, migrations: Sequence[Migration]) -> Finding:
    if not os.path.exists(path):
        return skipped(tr(MISSING, path=path))
    version, problem = _inspect(path, migrations)
    if name := _remedy_of(problem):
        if name == DAMAGED and migrations is not MIGRATIONS:
            name = "library-damaged"  # its index cannot be copied row by row
        evidence = f"{path}: {clean(problem, 200, entities=False)}"
        report = warn if name == "file-locked" else fail
        return report(evidence, name, path=shell(path), folder=shell(os.path.dirname(path)))
    facts = {"path": path, "version": version, "known": len(migrations), "size": os.path.getsize(path)}
    if version <= len(migrations):
        return ok(tr("{path}: intact, version {version}, {size} bytes", **facts))
    evidence = tr("{path}: version {version}, this sleuth supports {known}", **facts)
    return fail(evidence, "file-too-new", upgrade=upgrade_command())


def check_modes(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that other users cannot read files that may hold keys."""
    if os.name != "posix":
        yield skipped(tr("only checked on Unix"))
        return
    paths = runtime.paths
    files = [f"{paths.database}{end}" for end in ("", "-wal", "-shm", "-journal")] + [paths.library, paths.config_file]
    wanted = {folder: 0o700 for folder in (paths.data, paths.cache, paths.state) if os.path.isdir(folder)}
    wanted |= {file: 0o600 for file in files if os.path.isfile(file)}
    if not wanted:
        yield skipped(tr("there are no files yet"))
        return
    status = {path: os.stat(path) for path in wanted}
    foreign = [path for path in (*wanted, paths.config) if os.path.exists(path) and os.stat(path).st_uid != os.getuid()]
    readable = [path for path in wanted if status[path].st_mode & 0o077]
    if foreign:
        change_owner = [f'sudo chown "$USER" {shell(path)}' for path in foreign]
        yield warn(", ".join(foreign), "files-of-another-user", change_owner=change_owner)
    if readable:
        evidence = ", ".join(f"{path}: {stat.S_IMODE(status[path].st_mode):04o}" for path in readable)
        change_mode = [f"chmod {wanted[path]:o} {shell(path)}" for path in readable]
        yield warn(evidence, "files-not-private", change_mode=change_mode)
    if not foreign and not readable:
        yield ok(trn("{count} file or folder is private", "{count} files and folders are private", len(wanted)))


def check_cache(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that the cache can be read, and holds only text."""
    if not settings[CACHE_TTL]:
        return ok(tr("off: cache.ttl_minutes is 0"))
    path = _cache_file(runtime)
    if not os.path.exists(path):
        return skipped(tr(MISSING, path=path))
    try:
        with closing(open_read_only(path, LOCK_TIMEOUT_S)) as connection:
            count, foreign = connection.execute(COUNT_ENTRIES).fetchone()
    except sqlite3.Error as problem:
        evidence = f"{path}: {clean(problem, 200, entities=False)}"
        return warn(evidence, "cache-unreadable", folder=shell(os.path.dirname(path)))
    if foreign:
        evidence = tr("{path}: {foreign} of {count} entries", path=path, foreign=foreign, count=count)
        return warn(evidence, "cache-foreign-entries")
    return ok(trn("{path}: {count} entry", "{path}: {count} entries", count, path=path))


def check_library(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that the library is intact and that the handbook is installed."""
    from sleuth.library import index
    from sleuth.library.handbook import handbook_folder

    if not _has_full_text():
        yield fail(f"SQLite {sqlite3.sqlite_version}", "sqlite-without-fts5")
        return
    if handbook_folder() is None:
        yield warn("handbook", "handbook-missing", upgrade=upgrade_command())
    path = runtime.paths.library
    found = _check_file(path, index.MIGRATIONS)
    if found.state != "ok":
        yield found
        return
    with closing(open_read_only(path, LOCK_TIMEOUT_S)) as connection:
        is_complete = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'page'").fetchone()
        counts = "SELECT source, count(*) FROM page GROUP BY source"
        sources = dict(connection.execute(counts).fetchall()) if is_complete else {}
    shown = ", ".join(f"{name}: {count}" for name, count in sorted(sources.items()))
    yield ok(f"{path}: {shown}") if sources else skipped(tr("{path} is empty", path=path))


def _has_full_text() -> bool:
    with closing(sqlite3.connect(MEMORY)) as connection, suppress(sqlite3.OperationalError):
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (body)")
        return True
    return False
