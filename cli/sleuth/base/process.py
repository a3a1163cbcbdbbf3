"""The process sleuth runs in: streams that take anything, and an interrupt that ends it cleanly and in time."""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of; its enumerations take longer than an answer
import _thread
import atexit
import os
import sys
import time
from io import TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn, TextIO

INTERRUPTED = 130
PATIENCE = 0.2  # seconds to tidy up in after an interrupt
FAR = 20  # steps back to what caused a problem
SOON = 0.002  # seconds until an interrupt that came at a bad moment is tried again


class LenientStream(TextIOWrapper):
    """Standard error on which nothing fails: what cannot be said there can be said nowhere."""

    def write(self, text: str) -> int:
        """Write what can be written."""
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Bring out what can be brought out."""
        try:
            super().flush()
        except OSError:
            return


def harden_streams() -> None:
    """Make the three streams usable whatever they are: closed ones lead nowhere, none fails on a character."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if type(sys.stderr) is TextIOWrapper:
        encoding = sys.stderr.encoding
        sys.stderr = LenientStream(sys.stderr.detach(), encoding, "replace", line_buffering=True)


def leave(code: int) -> "NoReturn":
    """End the process without taking Python apart, which takes longer than an answer from the cache.

    All is written by now, what must be closed is closed, and threads that still wait for a server are not waited for.
    With `-X dev` Python does it at length and tells what was left open.
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
    """Let nothing more be written to where nothing can be written, not even by the interpreter on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
    except (OSError, ValueError):
        return


def handle_interrupts() -> None:
    """Let an interrupt end what is being done, wherever it strikes; one that is ignored or taken stays as it is."""
    if _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return
    try:
        _signal.signal(_signal.SIGINT, _interrupt)
    except ValueError:  # not the main thread: then interrupts are somebody else's
        return
    sys.unraisablehook = _not_lost


def was_interrupted(problem: BaseException) -> bool:
    """Tell whether an interrupt is behind a problem: Python makes another error of one that strikes in a class body."""
    cause: BaseException | None = problem
    for _ in range(FAR):  # a chain of causes may be a circle
        if cause is None or isinstance(cause, KeyboardInterrupt):
            break
        cause = cause.__cause__ or cause.__context__
    return isinstance(cause, KeyboardInterrupt)


def exit_soon() -> None:
    """End within moments, whatever is still being written or waited for; another interrupt ends at once."""
    ignore_interrupts()
    try:
        _thread.start_new_thread(_leave, ())
    except RuntimeError:  # no thread to be had: then it takes as long as it takes
        return


def ignore_interrupts() -> None:
    """Let the system deal with interrupts from now on: it ends the process without a word."""
    if _signal.getsignal(_signal.SIGINT) is _interrupt:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        if hasattr(_signal, "setitimer"):
            _signal.setitimer(_signal.ITIMER_REAL, 0)


def _leave() -> None:
    time.sleep(PATIENCE)
    os._exit(INTERRUPTED)


def _interrupt(_number: int, frame: "FrameType | None") -> None:
    """Raise KeyboardInterrupt, but not in the middle of an import, whose locks would stay held for ever."""
    importing = frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")
    if not importing or not _try_again():
        raise KeyboardInterrupt


def _not_lost(unraisable: "sys.UnraisableHookArgs") -> None:
    """Bring back an interrupt that struck where Python drops exceptions, such as in a finaliser."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt) or not _try_again():
        sys.__unraisablehook__(unraisable)


def _try_again() -> bool:
    if not hasattr(_signal, "setitimer"):  # Windows
        return False
    _signal.signal(_signal.SIGALRM, _interrupt)
    _signal.setitimer(_signal.ITIMER_REAL, SOON)
    return True
