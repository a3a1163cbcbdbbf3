"""`sleuth search --batch`: the file or stdin in, one JSON object a line out, progress on stderr."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TextIO

from sleuth.base.errors import Exit, RequestError
from sleuth.base.files import unwritable
from sleuth.base.i18n import tr
from sleuth.engine.batch import BatchLine, answered, open_output, read_queries, run_batch
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import SearchRequest
from sleuth.runtime import Runtime

Finish = Callable[[Runtime, Outcome], Outcome]  # what is done with each outcome, such as reading its pages


def run_batch_command(
    runtime: Runtime,
    request: SearchRequest,
    path: str,
    output: str | None,
    jobs: int,
    finish: Finish,
    *,
    ordered: bool,
    resume: bool,
) -> int:
    """Search for every line; exit 1 when any of them failed."""
    if resume and not output:
        raise RequestError("--resume needs to know the file", "name it with -o FILE")
    done = answered(output) if output and resume else {}
    already = sum(done.values())
    failed = 0
    with ExitStack() as stack:
        source = runtime.stdin if path == "-" else stack.enter_context(_open(path))
        out = stack.enter_context(open_output(output, resume=resume)) if output else runtime.stdout
        total = _count(runtime, path)
        progress = _Progress(runtime.stderr, total - already if total is not None else None)
        stack.callback(progress.end)
        for line in run_batch(
            read_queries(source, done), lambda: _Worker(runtime, request, finish), jobs, ordered=ordered
        ):
            _write(out, line, output)
            failed += line.failed
            progress.step(line)
    if failed:
        runtime.warn(tr("{count} queries failed; their lines say why", count=failed))
    return Exit.FAILED if failed else Exit.DONE


def _write(out: TextIO, line: BatchLine, output: str | None) -> None:
    try:
        out.write(line.answer + "\n")
        out.flush()
    except OSError as problem:
        if output is None:
            raise
        raise unwritable(output, problem) from problem


class _Worker:
    """The engine of one thread: a database connection belongs to the thread that opened it."""

    def __init__(self, runtime: Runtime, request: SearchRequest, finish: Finish) -> None:
        self.finish = finish
        self.runtime = runtime.sibling()
        self.request = request

    def __call__(self, text: str) -> Outcome:
        try:
            return self.finish(self.runtime, self.runtime.searcher.search(self.request._replace(questions=(text,))))
        finally:
            self.runtime.searcher.finish()

    def close(self) -> None:
        """Close the thread's own database."""
        self.runtime.close()


class _Progress:
    """A line on a terminal: how many, how fast, how much longer."""

    def __init__(self, err: TextIO, total: int | None) -> None:
        self.err, self.total, self.done = err, total, 0
        self.started = self.shown = time.monotonic()
        self.visible = err.isatty()

    def step(self, line: BatchLine) -> None:
        """Count one more answer."""
        self.done += 1
        now = time.monotonic()
        if self.visible and now - self.shown > 0.1:
            self.shown = now
            rate = self.done / (now - self.started)
            left = f" · {(self.total - self.done) / rate:.0f} s" if self.total else ""
            self.err.write(f"\r\x1b[K{self.done}{f'/{self.total}' if self.total else ''} · {rate:.1f}/s{left}")
            self.err.flush()

    def end(self) -> None:
        """Take the line away."""
        if self.visible:
            self.err.write("\r\x1b[K")
            self.err.flush()


def _open(path: str) -> TextIO:
    try:
        return open(path, encoding="utf-8", errors="replace")
    except OSError as problem:
        raise RequestError(
            "cannot read {path} ({reason})", "name a file with one query a line", path=path, reason=problem.strerror
        ) from problem


def _count(runtime: Runtime, path: str) -> int | None:
    """Count the queries for the progress line, where the input can be read twice."""
    if path == "-" or not runtime.stderr.isatty():
        return None
    with open(path, "rb") as stream:
        return sum(1 for line in stream if line.strip())
