"""Files that are private from birth, replaced whole or not at all, and locks between processes."""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sleuth.base.errors import UnwritableError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # checked where it is used


def private_folder(path: str) -> str:
    """Make a folder that only its owner can enter, parents too, and return it."""
    try:
        _make_folder(os.path.abspath(path))
    except OSError as problem:
        raise UnwritableError(
            "cannot make the folder {path} ({reason})",
            "give that folder to yourself, or choose another with SLEUTH_HOME",
            path=path,
            reason=problem.strerror or problem,
        ) from problem
    return path


def _make_folder(path: str) -> None:
    """Do what os.makedirs does, which gives the mode to the last folder only."""
    if os.path.isdir(path):
        return
    _make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # somebody else was faster, or there is a file in the way
        if not os.path.isdir(path):
            raise


def unwritable(path: str, problem: OSError) -> UnwritableError:
    """Return the error for a file that cannot be written."""
    return UnwritableError(
        "cannot write {path} ({reason})",
        "check the permissions and the free space there",
        path=path,
        reason=problem.strerror or problem,
    )


def write_atomic(path: str, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Put data in place of a file at one instant: after a crash there is the old file or the new one, whole.

    Without `sync` that holds for a crash of the program, not of the machine; it is for what can be made again.
    """
    special = _is_special(path)
    path = os.path.realpath(path)  # a link keeps pointing where it did
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        if special:  # a device or a pipe must not become a file: /dev/null would be gone for everybody
            raise OSError(errno.EINVAL, "not a regular file")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                if sync:
                    os.fsync(handle)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):  # an interrupt may come when it has its name already
                os.unlink(temporary)
            raise
        if sync:
            _sync_folder(folder)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def remove_leftovers(path: str) -> None:
    """Remove what writers that were killed left beside a file; for who holds its lock, so that nobody else writes."""
    folder, name = os.path.split(os.path.realpath(path))
    with suppress(OSError):
        for left in os.listdir(folder):
            process, _, moment = left.removeprefix(f".{name}.").partition(".")
            if left.startswith(f".{name}.") and process.isdigit() and moment.isdigit():
                os.unlink(os.path.join(folder, left))


def write_out(path: str, data: bytes) -> None:
    """Put data in place of a file at one instant, or straight into a device or a pipe, such as /dev/stdout."""
    if not _is_special(path):
        write_atomic(path, data)
        return
    try:
        with open(path, "wb") as stream:
            stream.write(data)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # nothing there yet
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _sync_folder(folder: str) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append_private(path: str) -> int:
    """Open a file for appending that only its owner can read, and return its handle."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


@contextmanager
def locked(path: str, patience: float = 10.0, *, remove: bool = False) -> Iterator[bool]:
    """Hold a lock shared by all processes of this machine; yields False when it could not be had in time."""
    if fcntl is None:
        yield True
        return
    until = time.monotonic() + patience
    while True:
        handle = _open_lock(path)
        held = _acquire(handle, until)
        if not held or not remove or _is_same(handle, path):
            break
        os.close(handle)  # its holder removed the file while we waited for it
    try:
        yield held
    finally:
        if remove and held:
            with suppress(OSError):  # whoever emptied the folder removed it already
                os.unlink(path)
        os.close(handle)


def _open_lock(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def _is_same(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _acquire(handle: int, until: float) -> bool:
    pause = 0.002
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= until:
                return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
