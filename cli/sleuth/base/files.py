"""Private files and folders, atomic writes, and locks between processes."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sleuth.base.append import NONBLOCK, is_file_at, try_lock
from sleuth.base.errors import RequestError, SettingsError, SleuthError, UnwritableError

PLANTED = "a symbolic link of another user"
MAX_DATABASE_BYTES = 10_000_000_000
LOCK_STALL_TIMEOUT_S = 30.0  # without the lock changing hands; one writer needs milliseconds
LOCK_POLL_S = 0.01  # constant: with a backoff, newcomers would overtake earlier waiters


def private_folder(path: str, hint: str = "") -> str:
    """Create a folder with mode 0700, and its parents, and return it; `hint` is for one that is not sleuth's own."""
    try:
        _make_folder(os.path.abspath(path))
    except OSError as problem:
        own = "check its permissions, or set SLEUTH_HOME to another folder"
        message = "cannot create the folder {path} ({reason})"
        raise UnwritableError(message, hint or own, path=path, reason=problem.strerror or problem) from problem
    return path


def _make_folder(path: str) -> None:
    """Create a folder and its parents; os.makedirs applies the mode to the last one only."""
    if os.path.isdir(path):
        return
    _make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # another process created it, or it is a file
        if not os.path.isdir(path):
            raise


def unwritable(path: str, problem: Exception) -> UnwritableError:
    """Return the error for a file that cannot be written."""
    import shlex

    hint = "check its permissions and the free disk space"
    if isinstance(problem, FileNotFoundError):
        hint = "create the folder first: mkdir -p {folder}"
    elif isinstance(problem, IsADirectoryError | NotADirectoryError):
        hint = "choose another file"
    folder, reason = shlex.quote(os.path.dirname(path)), getattr(problem, "strerror", None) or problem
    return UnwritableError("cannot write {path} ({reason})", hint, path=path, reason=reason, folder=folder)


@contextmanager
def explain_unwritable(path: str) -> Iterator[None]:
    """Turn an OSError into the error for a file that cannot be written."""
    try:
        yield
    except OSError as problem:
        raise unwritable(path, problem) from problem


def text_beside(module: str, name: str) -> str:
    """Return the text of a data file next to a module."""
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as stream:
        return stream.read()


def unreadable(path: str, problem: Exception, hint: str = "") -> SleuthError:
    """Return the error for a file that cannot be read; without a hint, for one of sleuth's settings."""
    message = "cannot read {path} ({reason})"
    reason = getattr(problem, "strerror", None) or problem
    if hint:
        return RequestError(message, hint, path=path, reason=reason)
    import shlex

    check = "check type, owner and permissions: ls -ld {places}"
    places = shlex.join([os.path.dirname(path) or ".", path])
    return SettingsError(message, check, path=path, reason=reason, places=places)


def read_file(path: str, max_bytes: int, *, own: bool = True) -> bytes:
    """Return the content of a file; raise OSError for a larger one, and by default for one that is not sleuth's own.

    Then pipes and devices are refused without blocking, and files that other users own, write or replace: settings and
    the database can name commands to run.
    """
    with open(path, "rb", opener=(lambda name, flags: os.open(name, flags | NONBLOCK)) if own else None) as stream:
        if own:
            check_own(path, os.fstat(stream.fileno()), max_bytes)
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, "too large", path)
    return data


def check_own(path: str, state: os.stat_result, max_bytes: int) -> None:
    """Raise OSError for a file that is not regular or too large, or that others except root own, write or replace."""
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    if state.st_size > max_bytes:
        raise OSError(errno.EFBIG, "too large", path)
    _check_owners(path, state)


def check_own_database(path: str) -> None:
    """Raise OSError for a database, missing or not, whose files other users except root own, write or replace.

    SQLite applies a log or journal that it finds next to the database, which adds any row to it.
    """
    _check_owners(path)
    for file in (path, *(os.path.realpath(path) + end for end in ("-wal", "-shm", "-journal"))):
        with suppress(FileNotFoundError):
            check_own(file, os.stat(file), MAX_DATABASE_BYTES)


def _check_owners(path: str, *states: os.stat_result) -> None:
    """Raise OSError if another user owns a file, links to it, or owns its folder, or if anyone may write to them.

    Folders above are not checked: private folders are created in volumes of containers that anyone may write.
    """
    for place in (path, os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.realpath(path))):
        with suppress(FileNotFoundError):
            states += os.lstat(place), os.stat(place)
    if any(map(_is_foreign, states)):
        raise PermissionError(errno.EPERM, "another user owns it or its folder, or may write to them", path)


def _is_foreign(state: os.stat_result) -> bool:
    """Tell whether another user except root owns a file or folder, or anyone may write to it.

    A folder such as /tmp is not foreign: its sticky bit keeps users from replacing the files of others.
    """
    is_sticky = stat.S_ISDIR(state.st_mode) and state.st_mode & stat.S_ISVTX
    is_writable = state.st_mode & stat.S_IWOTH and not is_sticky and not stat.S_ISLNK(state.st_mode)
    return hasattr(os, "geteuid") and bool(state.st_uid not in (0, os.geteuid()) or is_writable)


def write_atomic(path: str, data: bytes, mode: int = 0o600, *, sync: bool = True, follow: bool = True) -> None:
    """Replace a file atomically: after a crash there is either the old file or the new one.

    Without `sync` this holds for a crash of the program but not of the machine; use it for what can be recreated.
    A link is written through, or, without `follow`, replaced: use that for a name that the user did not choose.
    """
    special, planted = _is_special(path), _is_planted(path)
    path = os.path.realpath(path) if follow else os.path.abspath(path)
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.{time.monotonic_ns()}")
    with explain_unwritable(path):
        if special:  # replacing /dev/null with a file would break the machine
            raise OSError(errno.EINVAL, "not a regular file")
        if planted:
            raise OSError(errno.EACCES, PLANTED)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                if sync:
                    os.fsync(handle)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):  # an interrupt may come after the rename
                os.unlink(temporary)
            raise
        if sync:
            _sync_folder(folder)


def remove_leftovers(path: str) -> None:
    """Delete temporary files of killed writers; the caller must hold the lock of the file."""
    folder, name = os.path.split(os.path.realpath(path))
    with suppress(OSError):
        for entry in os.listdir(folder):
            pid, _, moment = entry.removeprefix(f".{name}.").partition(".")
            if entry.startswith(f".{name}.") and pid.isdigit() and moment.isdigit():
                os.unlink(os.path.join(folder, entry))


def write_out(path: str, data: bytes) -> None:
    """Replace a file atomically, or write straight to a device or a pipe such as /dev/stdout."""
    if not _is_special(path):
        write_atomic(path, data)
        return
    with explain_unwritable(path), open(path, "wb") as stream:
        stream.write(data)


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # does not exist yet
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _is_planted(path: str) -> bool:
    """Tell whether a path is another user's link in a shared folder; the kernel would not follow it either."""
    try:
        link, folder = os.lstat(path), os.stat(os.path.dirname(os.path.abspath(path)))
    except (OSError, ValueError):
        return False
    is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    return bool(stat.S_ISLNK(link.st_mode) and is_shared and link.st_uid not in (os.geteuid(), folder.st_uid))


def _sync_folder(folder: str) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append_private(path: str, access: int = os.O_WRONLY) -> int:
    """Open a file for appending, created with mode 0600, and return its handle; pipes and planted links are errors."""
    if _is_planted(path):
        raise OSError(errno.EACCES, PLANTED, path)
    handle = os.open(path, access | os.O_CREAT | os.O_APPEND | NONBLOCK, 0o600)
    if NONBLOCK:
        os.set_blocking(handle, True)
    return handle


def touch(path: str) -> None:
    """Set the modification time of a file to now, and create it if it is missing; a failure is ignored."""
    with suppress(OSError):
        os.close(append_private(path))
        os.utime(path)


@contextmanager
def locked(path: str, stall_timeout: float = LOCK_STALL_TIMEOUT_S, *, once: bool = False) -> Iterator[bool]:
    """Hold a lock file shared by all processes of this machine; yields False when the lock could not be acquired.

    Waiting has no overall limit. `stall_timeout` counts the seconds in which the lock did not change hands and the
    file was not touched, so a long queue that moves is no error, and a holder that hangs is. With `once`, the holder
    deletes the file at the end, and those who waited for that do not get the lock: the work is done.
    """
    with explain_unwritable(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    held = _acquire(handle, path, stall_timeout) and (not once or is_file_at(handle, path))
    try:
        yield held
    finally:
        if once and held:
            with suppress(OSError):  # deleted already, for example with its folder
                os.unlink(path)
        os.close(handle)


def wait_for_writers(path: str, timeout: float = 1.0) -> bool:
    """Wait until no process appends to a renamed file; False when one still does after `timeout` seconds."""
    handle = os.open(path, os.O_RDWR)
    try:
        return _acquire(handle, path, timeout)
    finally:
        os.close(handle)


def _acquire(handle: int, path: str, stall_timeout: float) -> bool:
    """Lock a file and touch it, which is how others see that the lock changed hands."""
    last_change, deadline = 0, 0.0
    while not try_lock(handle):
        change, now = os.fstat(handle).st_mtime_ns, time.monotonic()
        if change != last_change:
            last_change, deadline = change, now + stall_timeout
        if now >= deadline:
            return False
        time.sleep(LOCK_POLL_S)
    with suppress(OSError):  # the lock is held all the same
        os.utime(path)
    return True
