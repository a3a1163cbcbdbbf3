"""Lines added to files that many processes write to, while one of them may set the file aside. Cheap to import."""

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # checked where it is used

TRIES = 20  # a file that is set aside again and again while we open it is no longer worth waiting for


def append(path: str, data: bytes, limit: int = 0) -> int:
    """Add data to a file, private from birth, in one write; returns its size. At `limit` nothing more is added.

    A writer holds a shared lock and has seen that the name still means the file it opened. Whoever sets the file aside
    renames it, then waits for the writers (`settle`): after that nothing can be added to it any more.
    """
    left = TRIES
    while True:
        left -= 1
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if left and not (_lock(handle, shared=True) and _is_at(handle, path)):
                continue
            size = os.fstat(handle).st_size
            return size if limit and size >= limit else size + os.write(handle, data)
        finally:
            os.close(handle)


def settle(path: str, patience: float = 1.0) -> bool:
    """Wait until nobody adds to a file that has been renamed; False when somebody does not come to an end."""
    import time

    end = time.monotonic() + patience
    handle = os.open(path, os.O_RDWR)
    try:
        while not _lock(handle, shared=False):
            if time.monotonic() >= end:
                return False
            time.sleep(0.001)
    finally:
        os.close(handle)
    return True


def _lock(handle: int, *, shared: bool) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
