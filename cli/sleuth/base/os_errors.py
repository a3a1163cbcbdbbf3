"""What a machine can do to a run, in words: a disk that is full, files, memory or threads that are used up."""

import errno

from sleuth.base.errors import SleuthError, UnwritableError

INSTALL = "free some memory, or install sleuth anew"
TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)
LOST = "without exception set"  # what Python says of a MemoryError that it had no memory to raise
NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


def explain(problem: BaseException) -> SleuthError | None:
    """Return the error that says what the machine did; None when it was no accident but a fault of ours."""
    if isinstance(problem, MemoryError) or (isinstance(problem, SystemError) and LOST in str(problem)):
        return SleuthError("there is not enough memory", "end other programs, or raise the limit: ulimit -v")
    if isinstance(problem, RuntimeError) and "new thread" in str(problem):
        return SleuthError("no more threads can be started", "raise the limits: ulimit -u, ulimit -v")
    if isinstance(problem, ImportError) and ".so" in str(problem):  # compiled code for which there is no room
        return SleuthError("a part of sleuth cannot be loaded ({reason})", INSTALL, reason=str(problem))
    if isinstance(problem, EOFError):
        return _cut_short(problem)
    return _refusal(problem) if isinstance(problem, OSError) else None


def _cut_short(problem: EOFError) -> SleuthError | None:
    """Explain the end of compiled code before its time: Python leaves such files behind on a disk that is full."""
    step = problem.__traceback__
    while step:
        if path := step.tb_frame.f_locals.get("bytecode_path"):
            return SleuthError("{path} is cut short", "delete it: Python makes it anew", path=path)
        step = step.tb_next
    return None


def _refusal(problem: OSError) -> SleuthError | None:
    reason = problem.strerror or str(problem)
    if problem.errno in TOO_MANY_FILES:
        return SleuthError("too many files are open", "raise the limit: ulimit -n 256")
    if problem.filename is not None:
        return UnwritableError(
            "cannot use {path} ({reason})",
            "check what is there, the permissions and the free space",
            path=problem.filename,
            reason=reason,
        )
    if problem.errno in NO_ROOM:
        return SleuthError(
            "the output cannot be written ({reason})", "check the free space where it goes", reason=reason
        )
    return None
