"""The process: streams that accept any text, interrupts that end it cleanly, and a quick exit."""

import _signal  # type: ignore[import-not-found]  # signal without its enums, which take longer to build than an answer
import _thread
import atexit
import gc
import os
import sys
import time
from io import TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn, TextIO

INTERRUPTED = 130  # exit status
EXIT_GRACE_S = 0.2  # time to clean up after an interrupt
MAX_CAUSES = 20  # a chain of causes may be circular
INTERRUPT_RETRY_S = 0.002  # delay until an interrupt is raised again that came at a bad moment
GC_THRESHOLD = 10_000  # a search creates little garbage, and collecting it takes time


class LenientStream(TextIOWrapper):
    """Standard error that never raises: there is no other place to report the failure."""

    def write(self, text: str) -> int:
        """Write, ignoring errors of the operating system."""
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Flush, ignoring errors of the operating system."""
        try:
            super().flush()
        except OSError:
            return


def set_up() -> None:
    """Prepare this process for a command: private files, safe streams, clean interrupts."""
    gc.set_threshold(GC_THRESHOLD)
    os.umask(0o077)
    harden_streams()
    handle_interrupts()


def harden_streams() -> None:
    """Replace closed standard streams by the null device, and let none fail on a character it cannot encode."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - open until exit
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if type(sys.stderr) is TextIOWrapper:
        encoding = sys.stderr.encoding
        sys.stderr = LenientStream(sys.stderr.detach(), encoding, "replace", line_buffering=True)


def leave(code: int) -> "NoReturn":
    """End the process without Python's own teardown, which takes longer than an answer from the cache.

    By now everything is written and closed; threads that still wait for a server are abandoned. With `-X dev` Python
    tears down as usual and reports what was left open.
    """
    if sys.flags.dev_mode:
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


def silence(stdout: "TextIO") -> None:
    """Redirect a broken stream to the null device, so that the interpreter's last flush cannot fail either."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
    except (OSError, ValueError):
        return


def handle_interrupts() -> None:
    """Turn Ctrl-C into KeyboardInterrupt at a safe moment, unless another handler is installed or it is ignored."""
    if _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return
    try:
        _signal.signal(_signal.SIGINT, _interrupt)
    except ValueError:  # not the main thread
        return
    sys.unraisablehook = _raise_again


def was_interrupted(problem: BaseException) -> bool:
    """Whether an interrupt caused an exception: Python wraps one that is raised in a class body."""
    cause: BaseException | None = problem
    for _ in range(MAX_CAUSES):
        if cause is None or isinstance(cause, KeyboardInterrupt):
            break
        cause = cause.__cause__ or cause.__context__
    return isinstance(cause, KeyboardInterrupt)


def exit_soon() -> None:
    """End the process within `EXIT_GRACE_S`, whatever it still waits for; another interrupt ends it at once."""
    ignore_interrupts()
    try:
        _thread.start_new_thread(_exit_after_grace, ())
    except RuntimeError:  # no thread available: cleaning up takes as long as it takes
        return


def ignore_interrupts() -> None:
    """Give interrupts back to the system, which ends the process without a message."""
    if _signal.getsignal(_signal.SIGINT) is _interrupt:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        if hasattr(_signal, "setitimer"):
            _signal.setitimer(_signal.ITIMER_REAL, 0)


def _exit_after_grace() -> None:
    time.sleep(EXIT_GRACE_S)
    os._exit(INTERRUPTED)


def _interrupt(_number: int, frame: "FrameType | None") -> None:
    """Raise KeyboardInterrupt, but not during an import: its locks would never be released."""
    importing = frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")
    if not importing or not _retry_later():
        raise KeyboardInterrupt


def _raise_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that came where Python drops exceptions, such as in a finaliser."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt) or not _retry_later():
        sys.__unraisablehook__(unraisable)


def _retry_later() -> bool:
    if not hasattr(_signal, "setitimer"):  # Windows
        return False
    _signal.signal(_signal.SIGALRM, _interrupt)
    _signal.setitimer(_signal.ITIMER_REAL, INTERRUPT_RETRY_S)
    return True


def terminal_columns(default: int = 80) -> int:
    """Return the width of the terminal; COLUMNS overrides it."""
    return _terminal_size("COLUMNS", 0) or default


def terminal_lines() -> int:
    """Return the height of the terminal; LINES overrides it."""
    return _terminal_size("LINES", 1) or 24


def _terminal_size(name: str, index: int) -> int:
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        pass
    for handle in (1, 2, 0):
        try:
            return os.get_terminal_size(handle)[index]
        except OSError:
            continue
    return 0
