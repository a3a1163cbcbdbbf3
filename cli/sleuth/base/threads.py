"""Work done side by side within a time limit. Nobody waits for who is late, and nobody for an interrupt."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from sleuth.base.i18n import tr

T = TypeVar("T")


def run_parallel(jobs: Sequence[Callable[[], T]], seconds: float) -> Iterator[tuple[int, T | Exception]]:
    """Yield the place of each job and what came of it, as they finish; at the end of the time, who is late failed."""
    done: queue.SimpleQueue[tuple[int, T | Exception]] = queue.SimpleQueue()

    def work(place: int, job: Callable[[], T]) -> None:
        try:
            done.put((place, job()))
        except Exception as problem:  # a fault costs one job, not the others
            done.put((place, problem))

    for place, job in enumerate(jobs):
        threading.Thread(target=work, args=(place, job), daemon=True).start()
    end = time.monotonic() + seconds
    waiting = set(range(len(jobs)))
    while waiting:
        try:
            place, result = done.get(timeout=max(end - time.monotonic(), 0.0))
        except queue.Empty:
            break
        waiting.discard(place)
        yield place, result
    late = tr("no answer within {seconds:g} seconds", seconds=seconds)
    yield from ((place, TimeoutError(late)) for place in sorted(waiting))
