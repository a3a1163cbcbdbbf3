"""Files that sleuth keeps: database, cache and library are readable, intact, current and private."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped, warn
from sleuth.doctor.fixes import shell
from sleuth.doctor.links import Link
from sleuth.store.database import Migration, open_read_only
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.settings import CACHE_TTL, Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

LOCK_TIMEOUT_S = 2.0
COUNT_ENTRIES = "SELECT count(*), sum(raw != 1 OR mode != 1 OR filename IS NOT NULL) FROM Cache"


def check_database(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that the database is readable, intact and of a known version."""
    return _check_file(runtime.paths.database, MIGRATIONS, Link.DATABASE)


def _check_file(path: str, migrations: Sequence[Migration], link: str) -> Finding:
    if not os.path.exists(path):
        return _missing(path, link)
    try:
        with closing(open_read_only(path, LOCK_TIMEOUT_S)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            result = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as problem:
        return _unusable(path, str(problem), link)
    if result != "ok":
        return _unusable(path, result, link)
    facts = {"path": path, "version": version, "known": len(migrations), "size": os.path.getsize(path)}
    if version <= len(migrations):
        return ok(tr("{path}: intact, version {version}, {size} bytes", **facts))
    evidence = tr("{path}: version {version}, this sleuth supports {known}", **facts)
    cause = tr("a newer sleuth wrote it; this one does not touch it")
    return fail(evidence, Remedy(cause, (tr("# update sleuth, in the folder of its source:"), "pipx install ."), link))


def _missing(path: str, link: str) -> Finding:
    """Report a file that does not exist, which is fine where it can be created."""
    folder = os.path.dirname(path)
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return skipped(tr("{path} does not exist yet; it is created when needed", path=path))
    cause = tr("{folder} is not a writable folder", folder=folder)
    fix = (f"ls -ld {shell(folder)}", tr("# or keep sleuth's files elsewhere:"), "export SLEUTH_HOME=~/sleuth")
    return fail(path, Remedy(cause, fix, link))


def _unusable(path: str, reason: str, link: str) -> Finding:
    evidence = f"{path}: {clean(reason, 200, entities=False)}"
    if "locked" in reason:
        return warn(evidence, Remedy(tr("another process has locked it"), (f"fuser -v {shell(path)}",), link))
    if "unable to open" in reason or "readonly" in reason:
        cause = tr("it cannot be read; after a run with sudo it may belong to root")
        fix = (f"ls -l {shell(path)}", f'sudo chown -R "$USER" {shell(os.path.dirname(path))}')
        return fail(evidence, Remedy(cause, fix, link))
    cause = tr("the file is damaged; move it away and the next command creates a new one (copies end in .v1, .v2 …)")
    return fail(evidence, Remedy(cause, (f"mv {shell(path)} {shell(path)}.broken", f"ls {shell(path)}.v*"), link))


def check_modes(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that other users cannot read files that may hold keys."""
    if os.name != "posix":
        yield skipped(tr("only checked on Unix"))
        return
    paths = runtime.paths
    files = [f"{paths.database}{end}" for end in ("", "-wal", "-shm")] + [paths.library, paths.config_file]
    wanted = {folder: 0o700 for folder in (paths.data, paths.cache, paths.state) if os.path.isdir(folder)}
    wanted |= {file: 0o600 for file in files if os.path.isfile(file)}
    if not wanted:
        yield skipped(tr("there are no files yet"))
        return
    status = {path: os.stat(path) for path in wanted}
    foreign = [path for path in wanted if status[path].st_uid != os.getuid()]
    readable = [path for path in wanted if status[path].st_mode & 0o077]
    if foreign:
        cause = tr("they belong to another user, often after a run with sudo")
        fix = tuple(f'sudo chown "$USER" {shell(path)}' for path in foreign)
        yield warn(", ".join(foreign), Remedy(cause, fix, Link.DATABASE))
    if readable:
        evidence = ", ".join(f"{path}: {stat.S_IMODE(status[path].st_mode):04o}" for path in readable)
        fix = tuple(f"chmod {wanted[path]:o} {shell(path)}" for path in readable)
        cause = tr("other users of this machine can read them, and they may hold keys")
        yield warn(evidence, Remedy(cause, fix, Link.DATABASE))
    if not foreign and not readable:
        yield ok(trn("{count} file or folder is private", "{count} files and folders are private", len(wanted)))


def check_cache(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that the cache can be read and written, and holds only text."""
    if not settings[CACHE_TTL]:
        return ok(tr("turned off: cache.ttl_minutes is 0"))
    folder = os.path.join(runtime.paths.cache, "answers")
    path = os.path.join(folder, "cache.db")
    if not os.path.exists(path):
        return _missing(path, Link.CACHE)
    try:
        with closing(open_read_only(path, LOCK_TIMEOUT_S)) as connection:
            count, foreign = connection.execute(COUNT_ENTRIES).fetchone()
    except sqlite3.Error as problem:
        cause = tr("a cache that cannot be read is not used; deleting it is safe")
        evidence = f"{path}: {clean(problem, 200, entities=False)}"
        return warn(evidence, Remedy(cause, (f"rm -r {shell(folder)}",), Link.CACHE))
    if foreign:
        cause = tr("some entries are not plain text; sleuth did not write them and does not read them")
        evidence = tr("{path}: {foreign} of {count} entries", path=path, foreign=foreign, count=count)
        return warn(evidence, Remedy(cause, ("sleuth cache clear",), Link.CACHE))
    if not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        cause = tr("results cannot be stored there; searches work without the cache")
        return warn(path, Remedy(cause, (f'sudo chown -R "$USER" {shell(folder)}',), Link.CACHE))
    return ok(trn("{path}: {count} entry", "{path}: {count} entries", count, path=path))


def check_library(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that the library is intact and that the handbook is installed."""
    from sleuth.library import index
    from sleuth.library.handbook import handbook_folder

    if not _has_full_text():
        cause = tr("this SQLite lacks full-text search (FTS5), which the library needs")
        yield fail(f"SQLite {sqlite3.sqlite_version}", Remedy(cause, ("sudo apt install python3",), Link.LIBRARY))
        return
    if handbook_folder() is None:
        cause = tr("the handbook is missing from this installation")
        fix = (tr("# in the folder of sleuth's source:"), "pipx install --force .")
        yield warn("handbook", Remedy(cause, fix, Link.LIBRARY))
    path = runtime.paths.library
    found = _check_file(path, index.MIGRATIONS, Link.LIBRARY)
    if found.state != "ok":
        yield found
        return
    with closing(open_read_only(path, LOCK_TIMEOUT_S)) as connection:
        sources = dict(connection.execute("SELECT source, count(*) FROM page GROUP BY source").fetchall())
    shown = ", ".join(f"{name}: {count}" for name, count in sorted(sources.items()))
    yield ok(f"{path}: {shown}") if sources else skipped(tr("{path} is empty", path=path))


def _has_full_text() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (body)")
        except sqlite3.OperationalError:
            return False
    return True
