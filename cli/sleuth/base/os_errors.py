"""Errors of the operating system as messages: disk full, too many open files, out of memory or threads."""

import errno

from sleuth.base.errors import SleuthError, UnwritableError

REINSTALL_HINT = "free some memory, or reinstall sleuth"
TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)
LOST_MEMORY_ERROR = "without exception set"  # text of the SystemError when Python has no memory for a MemoryError
DISK_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


def explain(problem: BaseException) -> SleuthError | None:
    """Return an error for a failure of the system; None for a bug in sleuth."""
    if isinstance(problem, BaseExceptionGroup):  # raised by the task groups of the servers
        return explain(problem.exceptions[0])
    if isinstance(problem, MemoryError) or (isinstance(problem, SystemError) and LOST_MEMORY_ERROR in str(problem)):
        return SleuthError("out of memory", "close other programs, or raise the limit: ulimit -v")
    if isinstance(problem, RuntimeError) and "new thread" in str(problem):
        return SleuthError("cannot start another thread", "raise the limits: ulimit -u, ulimit -v")
    # A compiled module that does not fit into memory, or a .pyc file that is truncated because the disk was full.
    if (isinstance(problem, ImportError) and ".so" in str(problem)) or isinstance(problem, EOFError):
        return SleuthError("cannot load a module ({reason})", REINSTALL_HINT, reason=str(problem))
    return _os_error(problem) if isinstance(problem, OSError) else None


def _os_error(problem: OSError) -> SleuthError | None:
    reason = problem.strerror or str(problem)
    if problem.errno in TOO_MANY_FILES:
        return SleuthError("too many files are open", "raise the limit: ulimit -n 256")
    if problem.filename is not None:
        hint = "check that it exists, its permissions and the free disk space"
        return UnwritableError("cannot use {path} ({reason})", hint, path=problem.filename, reason=reason)
    if problem.errno in DISK_ERRORS:
        return SleuthError("cannot write the output ({reason})", "check the free disk space", reason=reason)
    return None
