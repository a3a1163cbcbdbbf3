"""Runs sleuth under bad conditions in a separate home, and asserts that it exits cleanly."""

import ctypes
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from sleuth.__main__ import run
from sleuth.runtime import Runtime

LONG = os.environ.get("SLEUTH_LONG_TESTS") == "long"
EXIT_CODES = frozenset([*range(8), 130])
# What an internal error looks like. None of this may ever reach stderr.
INTERNAL_ERRORS = (
    b"Traceback",
    b"ResourceWarning",
    b"Exception ignored",
    b"Fatal Python",
    b"something unexpected",
    b"unexpected error (",
    b"--debug tells more",
    b"for details, add --debug",
)
# Root ignores file permissions as long as it has these: DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER.
CAPABILITIES = (1, 2, 3)
PR_CAPBSET_DROP = 24
CALLS_PER_TICK = 200
# Runs sleuth and writes a byte to a pipe every few function calls, once the handler for interrupts is installed. Tests
# count these bytes to stop a process at a reproducible place, however slow the machine is. The file name makes the
# handler treat the hook as part of an import, where it never raises but tries again a moment later.
START = """
import itertools, os, sys, threading
from sleuth import __main__
from sleuth.base import process

calls = itertools.count()

def tick(frame, event, argument):
    if next(calls) % {calls} == 0:
        os.write({pipe}, b".")

def handle_interrupts(install=process.handle_interrupts):
    install()
    os.set_inheritable({pipe}, False)
    threading.setprofile(tick)
    sys.setprofile(tick)

process.handle_interrupts = handle_interrupts
__main__.start()
"""

Setup = Callable[[], None]
Word = str | bytes


class ProcessResult(NamedTuple):
    """How a process ended; a negative exit code is the signal that ended it."""

    exit: int
    out: bytes
    err: bytes

    @property
    def message(self) -> str:
        return self.err.decode("utf-8", "backslashreplace")


class Running:
    """A process whose `main` has started, and the pipe that counts its function calls."""

    def __init__(self, process: "subprocess.Popen[bytes]", ticks: int) -> None:
        self.process, self._ticks = process, ticks
        if not self.wait_for_ticks(1):
            raise AssertionError(process.communicate())

    def wait_for_ticks(self, number: int) -> int:
        """Return after so many ticks, or when the process has ended; return how many ticks there were."""
        seen = 0
        while seen < number and (ticks := os.read(self._ticks, number - seen)):
            seen += len(ticks)
        return seen

    def end(self) -> ProcessResult:
        out, err = self.process.communicate()
        os.close(self._ticks)
        return ProcessResult(self.process.returncode, out, err)


class Home:
    """A SLEUTH_HOME with a work folder next to it, and a server for searches and pages."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.path, self.work = folder / "home", folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.environ: dict[str, Any] = {
            "PATH": os.environ.get("PATH", ""),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "NO_PROXY": "*",
            "HOME": str(self.path),
            "SLEUTH_HOME": str(self.path),
            "SEARXNG_URL": url,
            "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
            "SLEUTH_SEARXNG_TIMEOUT": "600",
            "PYTHONDONTWRITEBYTECODE": "1",  # on a full disk, Python itself truncates compiled files
        }

    def copy(self, folder: Path) -> "Home":
        """Return another home with the same files."""
        shutil.copytree(self.path, folder / "home", symlinks=True)
        return Home(folder, self.url)

    def main(self, *words: str, exits: Collection[int] = (0,), **environ: str) -> ProcessResult:
        """Run a command in this process, which is faster; it must exit cleanly."""
        out, err = io.StringIO(), io.StringIO()
        code = run(Runtime(self.environ | environ, io.StringIO(), out, err), list(words))
        streams = (stream.getvalue().encode("utf-8", "replace") for stream in (out, err))
        return assert_clean(ProcessResult(int(code), *streams), exits=exits)

    def run(self, *words: Word, before: Setup | None = None, flags: Collection[str] = (), **more: Any) -> ProcessResult:
        """Run a command in a separate process, which calls `before` first."""
        environ = {name: value for name, value in (self.environ | more.pop("environ", {})).items() if value is not None}
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if "input" in more:
            del streams["stdin"]
        command = [sys.executable, *flags, "-m", "sleuth", *words]
        done = subprocess.run(command, env=environ, preexec_fn=before, **streams | more)
        return ProcessResult(done.returncode, done.stdout or b"", done.stderr or b"")

    def start(self, *words: Word) -> Running:
        """Start a command and return once its `main` handles interrupts."""
        reader, writer = os.pipe()
        source = START.format(pipe=writer, calls=CALLS_PER_TICK)
        process = subprocess.Popen(
            [sys.executable, "-c", f"exec(compile({source!r}, '<frozen importlib hook>', 'exec'))", *words],
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writer],
        )
        os.close(writer)
        return Running(process, reader)

    def popen(self, *words: Word, **more: Any) -> "subprocess.Popen[bytes]":
        """Start a command with pipes for its streams."""
        environ = self.environ | more.pop("environ", {})
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen([sys.executable, "-m", "sleuth", *words], env=environ, **pipes | more)

    def file(self, name: str, text: str | bytes = "") -> str:
        """Write a file to the work folder and return its path."""
        path = self.work / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


def well_behaved(exchange: Any) -> None:
    """Answer searches with ten results in three scripts, and every path below /page with a page."""
    if exchange.path.startswith("/page"):
        lines = (
            f"<p>Sentence {n} on async runtimes, 启用 JSON 格式, and long enough to be text.</p>" for n in range(30)
        )
        page = f"<html><title>A page 页</title><body><article>{''.join(lines)}</article></body></html>"
        exchange.respond(page.encode(), "Content-Type: text/html; charset=utf-8")
        return
    results = [
        {"url": f"https://a{n}.test/页{n}", "title": f"标题 title {n} 日本語", "content": "snippet 内容 é 한국어 " * 8}
        for n in range(10)
    ]
    exchange.respond(json.dumps({"results": results}, ensure_ascii=False).encode())


def assert_clean(
    result: ProcessResult, *, exits: Collection[int] = EXIT_CODES, stderr_lost: bool = False
) -> ProcessResult:
    """Assert a documented exit code and, on failure, one error with at most one hint; no internal error."""
    assert result.exit in exits, result
    for text in INTERNAL_ERRORS:
        assert text not in result.err, result.message
    lines = [
        line for line in result.message.splitlines() if line.strip() and not line.startswith(("warning:", "note:"))
    ]
    errors = [line for line in lines if line.startswith(("error:", "hint:", '{"error":'))]
    if result.exit in range(1, 8) and not stderr_lost:
        assert errors or result.out or b"warning: " in result.err, ("failed without a message", result)
    if errors:
        assert [line.partition(":")[0] for line in lines[-2:]] in (["error", "hint"], ["error"], ['{"error"']), lines
        assert len(errors) <= 2, lines
    return result


def drop_privileges() -> None:
    """Make file permissions apply to root too."""
    for capability in CAPABILITIES:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def limit_resource(kind: int, limit: int) -> Setup:
    """Return a function that limits a resource of its process."""
    return lambda: resource.setrlimit(kind, (limit, limit))


def corrupt(data: bytes, chance: random.Random) -> bytes:
    """Return damaged data: bytes changed, overwritten with noise or zeros, removed, or truncated."""
    damaged = bytearray(data)
    start = chance.randrange(len(damaged))
    length = min(chance.choice((1, 16, 100, 4096)), len(damaged) - start)
    kind = chance.randrange(6)
    if kind == 0:
        for _ in range(chance.randint(1, 30)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    elif kind == 1:
        damaged[start : start + length] = chance.randbytes(length)
    elif kind == 2:
        damaged[start : start + length] = bytes(length)
    elif kind == 3:
        del damaged[start : start + length]
    elif kind == 4:
        del damaged[start:]
    else:
        damaged[chance.randrange(min(100, len(damaged)))] ^= 1 << chance.randrange(8)
    return bytes(damaged)
