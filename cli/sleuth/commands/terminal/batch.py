"""`sleuth search --batch`: queries from a file or stdin, one JSON object per line on stdout or in a file."""

import functools
import os
import time
from collections import Counter
from contextlib import ExitStack, nullcontext
from typing import TextIO

from sleuth.base.errors import Exit, RequestError
from sleuth.base.files import explain_unwritable, unreadable
from sleuth.base.i18n import trn
from sleuth.commands.terminal.progress import Progress
from sleuth.engine.batch import BatchLine, open_output, read_queries, run_batch
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import SearchRequest
from sleuth.engine.search_options import SearchOptions
from sleuth.runtime import Runtime


def run_batch_command(runtime: Runtime, request: SearchRequest, options: SearchOptions) -> int:
    """Search for every line of the input; the exit status is 1 if any query failed."""
    path, output = options.batch or "-", options.output
    if options.resume and not output:
        raise RequestError("--resume needs an output file", "add -o FILE")
    out, done, failed = runtime.stdout, Counter[int](), 0
    with ExitStack() as stack:
        source = runtime.stdin if path == "-" else stack.enter_context(_open(path))
        if output:
            out, done = open_output(output, resume=options.resume)
            stack.enter_context(out)
        progress = stack.enter_context(Progress(runtime, "auto"))
        total, started = _count(runtime, path, sum(done.values())), time.monotonic()
        queries = read_queries(source, done)
        make_worker = functools.partial(_Worker, runtime, request, options)
        for number, line in enumerate(run_batch(queries, make_worker, options.jobs, ordered=options.ordered), 1):
            _write(out, line, output)
            failed += line.failed
            _done(progress, number, total, started)
    if failed:
        runtime.warn(trn("{count} query failed; see its line", "{count} queries failed; see their lines", failed))
    return Exit.FAILED if failed else Exit.DONE


def _write(out: TextIO, line: BatchLine, output: str | None) -> None:
    with nullcontext() if output is None else explain_unwritable(output):
        out.write(line.answer + "\n")
        out.flush()


class _Worker:
    """The engine of one thread: a database connection belongs to the thread that opened it."""

    def __init__(self, runtime: Runtime, request: SearchRequest, options: SearchOptions) -> None:
        self.runtime, self.request, self.options = runtime.sibling(), request, options

    def __call__(self, text: str) -> Outcome:
        try:
            outcome = self.runtime.searcher.search(self.request._replace(questions=(text,)))
            return self.runtime.add_content(outcome, self.options)
        finally:
            self.runtime.searcher.finish()

    def close(self) -> None:
        """Close the thread's own database."""
        self.runtime.close()


def _done(progress: Progress, done: int, total: int | None, started: float) -> None:
    """Show queries done, rate and time left."""
    rate = done / max(time.monotonic() - started, 0.001)
    left = f" · {(total - done) / rate:.0f} s" if total else ""
    progress.show(f"{done}{f'/{total}' if total else ''} · {rate:.1f}/s{left}")


def _open(path: str) -> TextIO:
    try:
        return open(path, encoding="utf-8", errors="replace")
    except OSError as problem:
        raise unreadable(path, problem, "give --batch a file with one query per line") from problem


def _count(runtime: Runtime, path: str, done: int) -> int | None:
    """Count the queries that are left for the progress line, if the input can be read twice."""
    if not os.path.isfile(path) or not runtime.stderr.isatty():
        return None
    with open(path, "rb") as stream:
        return sum(1 for line in stream if line.strip() and not line.startswith(b"#")) - done
