"""What sleuth keeps on disk: database, cache and library are whole, of the right version, and for the owner alone."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.verdict import shell
from sleuth.store.database import Migration, open_read_only
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.settings import CACHE_TTL, Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

DATABASE_LINK = "troubleshooting.md#database-is-damaged-locked-or-too-new-sleuthdb"
CACHE_LINK = "troubleshooting.md#old-results-the-cache"
LIBRARY_LINK = "providers.md#the-library-search-without-a-network"
PATIENCE = 2.0  # seconds for a database that another process keeps locked
FOREIGN = "SELECT count(*), sum(raw != 1 OR mode != 1 OR filename IS NOT NULL) FROM Cache"


def check_database(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that the database can be read, is whole, and is of a version this sleuth knows."""
    yield _examine(runtime.paths.database, MIGRATIONS, tr("it is made at the first search"))


def _examine(path: str, migrations: Sequence[Migration], later: str) -> Finding:
    if not os.path.exists(path):
        return _not_yet(path, later)
    try:
        with closing(open_read_only(path, PATIENCE)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as problem:
        return _damaged(path, str(problem))
    if verdict != "ok":
        return _damaged(path, verdict)
    if version > len(migrations):
        known = len(migrations)
        evidence = tr("{path}: version {version}, this sleuth knows {known}", path=path, version=version, known=known)
        cause = tr("it was made by a newer sleuth, and is left alone")
        return Finding("", "fail", "", evidence, cause, ("pip install --upgrade sleuth",), DATABASE_LINK)
    facts = {"path": path, "version": version, "size": os.path.getsize(path)}
    return Finding("", "ok", "", tr("{path}: whole, version {version}, {size} bytes", **facts))


def _not_yet(path: str, later: str) -> Finding:
    """Judge a file that is not there: that is fine where it can be made."""
    folder = os.path.dirname(path)
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return Finding("", "skipped", "", f"{path}: {later}")
    cause = tr("nothing can be written in {folder}", folder=folder)
    fix = (f"ls -ld {shell(folder)}", "export SLEUTH_HOME=~/sleuth")
    return Finding("", "fail", "", path, cause, fix, DATABASE_LINK)


def _damaged(path: str, reason: str) -> Finding:
    evidence = f"{path}: {clean(reason, 200, entities=False)}"
    if "locked" in reason:
        cause = tr("another process keeps it locked")
        return Finding("", "warn", "", evidence, cause, (f"fuser -v {shell(path)}",), DATABASE_LINK)
    if "unable to open" in reason or "readonly" in reason:
        cause = tr("it cannot be read: it may belong to another user, often after a run with sudo")
        fix = (f"ls -l {shell(path)}", f'sudo chown -R "$USER" {shell(os.path.dirname(path))}')
        return Finding("", "fail", "", evidence, cause, fix, DATABASE_LINK)
    cause = tr(
        "the file is damaged; set it aside, and the next command makes a new one. Older copies end in .v1, .v2 …"
    )
    fix = (f"mv {shell(path)} {shell(path)}.broken", f"ls {shell(path)}.v*")
    return Finding("", "fail", "", evidence, cause, fix, DATABASE_LINK)


def check_modes(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that nobody else can read what may hold keys."""
    if os.name != "posix":
        yield Finding("", "skipped", "", tr("permissions are looked at on Unix alone"))
        return
    paths = runtime.paths
    folders = [folder for folder in (paths.data, paths.cache, paths.state) if os.path.isdir(folder)]
    files = [f"{paths.database}{end}" for end in ("", "-wal", "-shm")] + [paths.library, paths.config_file]
    files = [file for file in files if os.path.isfile(file)]
    seen, fix, foreign = [], [], []
    for path, right in [(folder, 0o700) for folder in folders] + [(file, 0o600) for file in files]:
        state = os.stat(path)
        mode = stat.S_IMODE(state.st_mode)
        if mode & 0o077:
            seen.append(f"{path}: {mode:04o}")
            fix.append(f"chmod {right:o} {shell(path)}")
        if state.st_uid != os.getuid():
            foreign.append(path)
    if foreign:
        cause = tr("they belong to another user, often after a run with sudo")
        commands = tuple(f'sudo chown "$USER" {shell(path)}' for path in foreign)
        yield Finding("", "warn", "", ", ".join(foreign), cause, commands, DATABASE_LINK)
    if seen:
        cause = tr("other users of this machine can read them, and keys may be inside")
        yield Finding("", "warn", "", ", ".join(seen), cause, tuple(fix), DATABASE_LINK)
    elif not folders and not files:
        yield Finding("", "skipped", "", tr("there are no files yet"))
    elif not foreign:
        counted = tr("{folders} folders and {files} files are yours alone", folders=len(folders), files=len(files))
        yield Finding("", "ok", "", counted)


def check_cache(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that the cache can be used and holds nothing but text."""
    if not settings[CACHE_TTL]:
        yield Finding("", "ok", "", tr("turned off: cache.ttl_minutes is 0"))
        return
    folder = os.path.join(runtime.paths.cache, "answers")
    path = os.path.join(folder, "cache.db")
    if not os.path.exists(path):
        yield _not_yet(path, tr("it is made at the first search"))
        return
    try:
        with closing(open_read_only(path, PATIENCE)) as connection:
            count, foreign = connection.execute(FOREIGN).fetchone()
    except sqlite3.Error as problem:
        cause = tr("a cache that cannot be read is not used; clearing it is always safe")
        evidence = f"{path}: {clean(problem, 200, entities=False)}"
        yield Finding("", "warn", "", evidence, cause, (f"rm -r {shell(folder)}",), CACHE_LINK)
        return
    if foreign:
        cause = tr("entries that are not plain text; sleuth refuses to read them, and did not write them")
        evidence = tr("{path}: {foreign} of {count} entries", path=path, foreign=foreign, count=count)
        yield Finding("", "warn", "", evidence, cause, ("sleuth cache clear",), CACHE_LINK)
    elif not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        cause = tr("answers cannot be kept there; searches work without")
        yield Finding("", "warn", "", path, cause, (f'sudo chown -R "$USER" {shell(folder)}',), CACHE_LINK)
    else:
        yield Finding("", "ok", "", tr("{path}: {count} answers, text alone", path=path, count=count))


def check_library(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that the library is whole and has the handbook in it."""
    from sleuth.library import index
    from sleuth.library.handbook import handbook_folder

    if not _has_full_text():
        cause = tr("this SQLite was built without full-text search (FTS5), which the library needs")
        yield Finding("", "fail", "", sqlite3.sqlite_version, cause, ("apt install python3",), LIBRARY_LINK)
        return
    if handbook_folder() is None:
        cause = tr("the handbook is missing from this installation")
        yield Finding("", "warn", "", "handbook", cause, ("pip install --force-reinstall sleuth",), LIBRARY_LINK)
    path = runtime.paths.library
    found = _examine(path, index.MIGRATIONS, tr("it is made when first searched"))
    if found.state != "ok":
        yield found._replace(link=LIBRARY_LINK)
        return
    with closing(open_read_only(path, PATIENCE)) as connection:
        sources = dict(connection.execute("SELECT source, count(*) FROM page GROUP BY source").fetchall())
    shown = ", ".join(f"{name}: {count}" for name, count in sorted(sources.items())) or tr("empty")
    yield Finding("", "ok" if sources else "skipped", "", f"{path}: {shown}")


def _has_full_text() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (body)")
        except sqlite3.OperationalError:
            return False
    return True
