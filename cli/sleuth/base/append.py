"""Append to files that many processes share and one of them may rotate, and the flock calls this takes.

Not part of `files`: a cached search imports this module, and `files` brings in contextlib and enum.
"""

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # checked where it is used

NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a pipe fails instead of waiting for the other end
MAX_ATTEMPTS = 20  # to open the file while others rotate it; the last attempt writes without a lock


def append(path: str, data: bytes, limit: int = 0) -> int:
    """Append data to a private file in one write and return its size; at `limit` bytes nothing more is added.

    A writer holds a shared lock and has checked that the path still names the file it opened. To rotate the file,
    rename it, then wait for its writers with `files.wait_for_writers`: nothing is added to it after that.
    """
    attempts_left = MAX_ATTEMPTS
    while True:
        attempts_left -= 1
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NONBLOCK, 0o600)
        try:
            if attempts_left and not (try_lock(handle, shared=True) and is_file_at(handle, path)):
                continue
            size = os.fstat(handle).st_size
            return size if limit and size >= limit else size + os.write(handle, data)
        finally:
            os.close(handle)


def try_lock(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file without waiting; False when another process holds the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def is_file_at(handle: int, path: str) -> bool:
    """Tell whether a path still names the file that was opened."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
