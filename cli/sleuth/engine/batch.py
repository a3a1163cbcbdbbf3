"""Batch searches: one JSON object per line, bounded concurrency and memory, resumable output."""

import json
import os
import queue
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Protocol, TextIO

from sleuth.base.errors import RequestError, SleuthError, describe
from sleuth.base.files import append_private
from sleuth.base.json_output import json_text
from sleuth.engine.outcome import Outcome
from sleuth_providers.records import Record

BEGUN_ANSWER = re.compile(rb'\{"input": ?"(?:[^"\\]|\\.)*+", ?"(?:query|error)":')  # `jq -c` writes no spaces
ANSWER_FIELDS = ({"input", "query", "results"}, {"input", "error"})
MAX_LINE_BYTES = 50_000_000  # of the output
MAX_INPUT_CHARS = 1_000_000  # of a line


class Search(Protocol):
    """The search function of one worker thread."""

    def __call__(self, text: str) -> Outcome:
        """Search for one query."""

    def close(self) -> None:
        """Close what the thread opened."""


class BatchLine(Record):
    """The number of a query in the input, and its answer as JSON."""

    number: int
    answer: str
    failed: bool


def read_queries(source: TextIO, done: Counter[int]) -> Iterator[tuple[int, str]]:
    """Yield numbered queries of a file; blank lines, comments and queries answered already are skipped."""
    number = 0
    while line := source.readline(MAX_INPUT_CHARS + 1):
        text = line.strip()
        if len(line) > MAX_INPUT_CHARS:
            hint = "give --batch a file with one query per line"
            raise RequestError("a line of the batch is longer than {count} characters", hint, count=MAX_INPUT_CHARS)
        if done[hash(text)] > 0:  # a query that occurs twice is answered twice
            done[hash(text)] -= 1
        elif text and not text.startswith("#"):
            yield number, text
            number += 1


def run_batch(
    queries: Iterator[tuple[int, str]], make_search: Callable[[], Search], jobs: int, *, ordered: bool
) -> Iterator[BatchLine]:
    """Search for every query, `jobs` at a time, and yield the answers as they arrive, or in input order.

    At most `jobs * 8` queries are under way, so a million take no more memory than ten.
    """
    answers: queue.SimpleQueue[BatchLine | BaseException | None] = queue.SimpleQueue()
    lock, room = threading.Lock(), threading.Semaphore(jobs * 8)  # of answers that wait for an earlier one

    def next_query() -> tuple[int, str] | None:
        room.acquire()
        with lock:
            return next(queries, None)

    def work() -> None:
        try:
            with closing(make_search()) as search:
                while query := next_query():
                    answers.put(_answer(search, *query))
        except BaseException as problem:  # an unreadable file must end the run, not hang it
            answers.put(problem)
        answers.put(None)

    for _ in range(jobs):
        threading.Thread(target=work, daemon=True).start()
    waiting: dict[int, BatchLine] = {}
    next_number, left = 0, jobs
    while left:
        arrived = answers.get()
        if arrived is None:
            left -= 1
        elif isinstance(arrived, BaseException):
            raise arrived
        else:
            waiting[arrived.number if ordered else next_number] = arrived
            while next_number in waiting:
                room.release()
                yield waiting.pop(next_number)
                next_number += 1


def _answer(search: Search, number: int, text: str) -> BatchLine:
    try:
        outcome = search(text)
    except SleuthError as error:
        message, hint = describe(error)
        document = {"input": text, "error": {"code": error.code, "message": message, "hint": hint or None}}
        return BatchLine(number, json_text(document), failed=True)
    return BatchLine(number, json_text({"input": text} | outcome.as_json()), outcome.outcome == "failed")


def open_output(path: str, *, resume: bool) -> tuple[TextIO, Counter[int]]:
    """Open the output file, a new one or with --resume an existing one, and count the answers in it."""
    is_known = os.path.isfile(path) and os.path.getsize(path) > 0
    if is_known and not resume:
        raise RequestError("{path} exists already", "continue with --resume, or choose another file", path=path)
    handle = append_private(path, os.O_RDWR if is_known else os.O_WRONLY)
    try:
        done = _count_answered(handle) if is_known else Counter[int]()
    except (ValueError, RecursionError):
        os.close(handle)
        raise RequestError("{path} is not the output of a batch", "choose another file with -o", path=path) from None
    return open(handle, "a", encoding="utf-8", buffering=1), done


def _count_answered(handle: int) -> Counter[int]:
    """Count answers by the hash of their query, and truncate an unfinished last line; raise ValueError for other lines.

    Before the first answer, only a line that can be nothing else is truncated.
    """
    done: Counter[int] = Counter()  # hashes, because millions of queries take too much memory
    end = 0
    with open(handle, "rb", closefd=False) as stream:
        while line := stream.readline(MAX_LINE_BYTES):
            try:
                done[hash(_input(json.loads(line)))] += 1
            except ValueError:
                is_begun = line.startswith(b"{") if done else BEGUN_ANSWER.match(line)
                if not is_begun or line.endswith(b"\n") or stream.read(1):
                    raise
                os.ftruncate(handle, end)
                break
            end += len(line)
            if not line.endswith(b"\n"):
                os.write(handle, b"\n")
    return done


def _input(answer: Any) -> str:
    """Return the query of an answer; raise ValueError if the document is no answer."""
    if isinstance(answer, dict) and any(fields <= answer.keys() for fields in ANSWER_FIELDS):
        return str(answer["input"])
    raise ValueError("not an answer")
