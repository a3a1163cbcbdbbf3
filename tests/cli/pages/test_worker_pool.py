"""Pages are extracted in processes that end at the deadline of their page."""

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from sleuth.pages import worker_pool
from sleuth.pages.errors import EmptyPageError, UnreadableError
from sleuth.pages.extract import ExtractedPage
from sleuth.pages.worker_pool import SMALL_PAGE_BYTES, SPARE_WORKERS, ExtractionPool
from sleuth_providers.base import Response
from sleuth_providers.errors import DeadlineError

# A worker that never ends a page about "hang", holding the lock of Python, as a regular expression can.
HANG = """
import re
from sleuth.pages import worker
extract = worker.extract
def hang(page, until):
    return re.match("(a|a)*b", "a" * 100) if b"hang" in page.body else extract(page, until)
worker.extract = hang
worker.main()
"""

# A worker that answers with how often it looked for garbage.
COLLECTIONS = """
import gc
from sleuth.pages import worker
from sleuth.pages.extract import ExtractedPage
extract = worker.extract
def count(page, until):
    extract(page, until)
    return ExtractedPage(str(sum(kind["collections"] for kind in gc.get_stats())))
worker.extract = count
worker.main()
"""

GREEDY = """
from sleuth.pages import worker
extract = worker.extract
def greedy(page, until):
    return bytearray(2_000_000_000) if b"greedy" in page.body else extract(page, until)
worker.extract = greedy
worker.main()
"""


@pytest.fixture
def pool() -> Iterator[ExtractionPool]:
    made = ExtractionPool(2)
    yield made
    made.close()


def page(text: str, content_type: str = "text/plain") -> Response:
    return Response(200, {"content-type": content_type}, text.encode(), "http://example.org/")


def read(pool: ExtractionPool, text: str, content_type: str = "text/plain", timeout: float = 60) -> ExtractedPage:
    return pool.extract(page(text, content_type), "http://example.org/", time.monotonic() + timeout)


def test_a_worker_returns_the_content_of_a_page_or_its_error(pool: ExtractionPool) -> None:
    pool.prepare(1)
    assert read(pool, "# Title\n\nText", "text/markdown").title == "Title"
    with pytest.raises(EmptyPageError):
        read(pool, " ")
    with pytest.raises(UnreadableError) as caught:
        read(pool, "x", "image/png")
    assert (caught.value.detail.template, caught.value.detail.values) == ("{kind}", {"kind": "image/png"})


def test_a_page_that_never_ends_costs_one_worker_and_freezes_nothing(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", ("-P", "-c", HANG))
    problems: list[BaseException] = []

    def hang() -> None:
        with pytest.raises(DeadlineError) as caught:
            read(pool, "hang", timeout=0.2)
        problems.append(caught.value)

    threads = [threading.Thread(target=hang) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(problems) == 2
    assert read(pool, "hello").title == "hello"


def test_a_page_waits_for_a_worker_no_longer_than_its_deadline(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", ("-P", "-c", HANG))
    pool.limit = 1
    read(pool, "hello")

    def hang() -> None:
        with pytest.raises(DeadlineError):
            read(pool, "hang", timeout=3)

    busy = threading.Thread(target=hang)
    busy.start()
    while pool._idle:
        time.sleep(0.001)
    with pytest.raises(DeadlineError):
        read(pool, "hello", timeout=0.1)
    busy.join()


def test_slow_pages_do_not_keep_others_from_being_read(pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", ("-P", "-c", HANG))
    monkeypatch.setattr(worker_pool, "MAX_WAIT_S", 0)

    def hang() -> None:
        with pytest.raises(UnreadableError):
            read(pool, "hang" + " " * SMALL_PAGE_BYTES)

    threads = [threading.Thread(target=hang) for _ in range(2 + SPARE_WORKERS)]
    for thread in threads:
        thread.start()
    while len(pool._workers) - len(pool._idle) < len(threads):
        time.sleep(0.001)
    assert read(pool, "hello").title == "hello"
    with pytest.raises(DeadlineError, match="too many pages"):
        read(pool, "hello" + " " * SMALL_PAGE_BYTES, timeout=0.1)
    for worker in pool._workers:
        worker.process.kill()
    for thread in threads:
        thread.join()


def test_workers_beyond_the_limit_end_when_they_are_idle(pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "MAX_WAIT_S", 0)
    workers = [pool._acquire(time.monotonic() + 60, 0) for _ in range(4)]
    for worker in filter(None, workers):
        pool._release(worker)
    assert pool._workers == pool._idle == workers[:2]
    assert [worker.process.poll() is None for worker in workers if worker] == [True, True, False, False]


def test_a_long_page_is_not_searched_for_garbage_again_and_again(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", ("-P", "-c", COLLECTIONS))
    before = int(read(pool, "a", "text/markdown").title)
    assert int(read(pool, "\n- > a" * 5_000, "text/markdown").title) < before + 10


def test_no_further_worker_is_started_while_pages_are_finished(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = pool._acquire(time.monotonic() + 60, 0)
    clock = iter((100.0, 150.0))  # the page waits for 50 seconds
    pool._last_finished = 149.9
    monkeypatch.setattr(worker_pool, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(pool._changed, "wait", lambda timeout: worker and pool._idle.append(worker))
    assert pool._next_idle(until=200, size=0) is worker
    assert len(pool._workers) == 1


@pytest.mark.parametrize("command", [("-c", "raise SystemExit"), ("--no-such-option",)])
def test_without_workers_pages_are_extracted_in_this_process(
    command: tuple[str, ...], pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", command)
    assert read(pool, "hello").title == "hello"
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    assert read(ExtractionPool(), "hello").title == "hello"


def test_workers_are_used_as_soon_as_they_can_be_started_again(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("sys.executable", "/nonexistent/python")
        assert (read(pool, "hello").title, pool._workers) == ("hello", [])
    assert (read(pool, "hello").title, len(pool._workers)) == ("hello", 1)


def test_a_worker_that_a_page_took_over_cannot_run_code_here(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    evil = f"import os, pickle, sys\nclass E:\n def __reduce__(self): return os.mkdir, ({str(tmp_path / 'x')!r},)\n"
    script = "sys.stdout.buffer.write(pickle.dumps('ready') + pickle.dumps(E())); sys.stdout.flush(); sys.stdin.read()"
    monkeypatch.setattr(worker_pool, "COMMAND", ("-c", evil + script))
    with pytest.raises(UnreadableError, match="crashes the parser"):
        read(pool, "hello")
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_a_page_that_needs_too_much_memory_is_refused(pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", ("-P", "-c", GREEDY))
    with pytest.raises(UnreadableError, match="too much memory"):
        read(pool, "greedy")
    assert read(pool, "hello").title == "hello"


@pytest.mark.timeout(60)
def test_a_worker_is_ended_by_its_parent_where_the_kernel_has_no_timer(
    pool: ExtractionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "COMMAND", ("-P", "-c", f"import signal\ndel signal.setitimer\n{HANG}"))
    monkeypatch.setattr(worker_pool, "HAS_TIMER", False)
    with pytest.raises(DeadlineError):
        read(pool, "hang", timeout=0.2)
    assert read(pool, "hello").title == "hello"


@pytest.mark.parametrize(("pages", "workers"), [(1, 1), (9, 1), (10, 2), (500, 2)])
def test_many_pages_use_all_cores(pool: ExtractionPool, pages: int, workers: int) -> None:
    pool.prepare(pages)
    assert len(pool._workers) == workers


def test_workers_end_with_the_pool(pool: ExtractionPool) -> None:
    read(pool, "hello")
    [worker] = pool._workers
    pool.close()
    assert worker.process.returncode is not None
