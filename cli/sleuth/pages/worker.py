"""The process that extracts the text of pages for `worker_pool`. Run as a program, with pickles on both pipes.

A page that never ends, in a loop of a C library or a regular expression, would keep Python's lock and with it freeze
every thread of its process, whatever deadline they watch. So the kernel ends this process at the deadline of its page,
and limits its memory.
"""

import gc
import os
import pickle
import signal
import sys
import time
from contextlib import suppress

from sleuth.pages.errors import UnreadableError
from sleuth.pages.extract import extract
from sleuth.pages.fetch import received
from sleuth.pages.links import find_links
from sleuth_providers.base import Response
from sleuth_providers.errors import ProviderError

MAX_MEMORY_BYTES = 500_000_000  # of address space; pages of 10 MB take up to 150 MB
GRACE_S = 1.0  # beyond the deadline, at which the parent gives up
GC_THRESHOLD = 100_000  # new objects; with the default of 700, half the time of a long Markdown page is spent on them
READY = "ready"
CONTENT, LINKS = "content", "links"  # jobs


def main() -> None:
    """Answer each response on standard input with its content or its error, until the input ends."""
    _limit_memory()
    gc.set_threshold(GC_THRESHOLD)
    inbox, outbox = sys.stdin.buffer, sys.stdout.buffer
    _send(outbox, READY)
    try:
        import sleuth.pages.article  # noqa: F401 - takes longer than the first page to arrive, so it is done by then
    except Exception:  # raised again where it is needed
        outbox.flush()
    while True:
        try:
            job, reply, requested, timeout = pickle.load(inbox)  # noqa: S301 - the parent process wrote it
        except EOFError:
            os._exit(0)
        _end_after(timeout + GRACE_S)
        _send(outbox, _result(job, reply, requested, timeout))
        _end_after(0)


def run(job: str, reply: Response, requested: str, until: float) -> object:
    """Return the content of a page, or with `links` its links."""
    page = received(reply, requested)
    return find_links(page) if job == LINKS else extract(page, until)


def _result(job: str, reply: Response, requested: str, timeout: float) -> object:
    try:
        return run(job, reply, requested, time.monotonic() + timeout)
    except ProviderError as error:
        return error
    except MemoryError:
        return UnreadableError("the page needs too much memory")
    except Exception as problem:  # a bug
        return ProviderError("{kind}", message="{provider}: the page could not be read", kind=type(problem).__name__)


def _send(outbox: object, value: object) -> None:
    pickle.dump(value, outbox, pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]  # a binary stream
    outbox.flush()  # type: ignore[attr-defined]  # see above


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # Windows; macOS does not enforce it
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MAX_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MAX_MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _end_after(seconds: float) -> None:
    """Let the kernel end this process; 0 cancels."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main()
