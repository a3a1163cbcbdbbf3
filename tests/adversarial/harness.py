"""A home under siege: how it is made, how sleuth is run in it under bad conditions, and one strict judge of the end."""

import ctypes
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from sleuth.__main__ import run
from sleuth.runtime import Runtime

LONG = os.environ.get("SLEUTH_LONG_TESTS") == "long"
EXITS = frozenset([*range(8), 130])
SLOWEST = 20.0  # seconds; nothing here takes one on a machine that has time
# What must never be said: a fault of ours, however politely.
FAULTS = (
    b"Traceback",
    b"ResourceWarning",
    b"Exception ignored",
    b"Fatal Python",
    b"something unexpected",
    b"unexpected error (",
    b"--debug tells more",
    b"for details, add --debug",
)
CAPABILITIES = (1, 2, 3)  # to override, to search, to own: with these root passes by all permissions
DROP_CAPABILITY = 24
# Tells through a pipe when interrupts are heeded; what comes before is Python's own start.
START = """
import os
from sleuth import __main__
from sleuth.base import process
heed = process.handle_interrupts
process.handle_interrupts = lambda: heed() or os.write({}, b'.')
__main__.start()
"""

Setup = Callable[[], None]
Word = str | bytes


class Ended(NamedTuple):
    """How a process ended; a negative exit is the signal that ended it."""

    exit: int
    out: bytes
    err: bytes
    seconds: float = 0.0

    @property
    def said(self) -> str:
        return self.err.decode("utf-8", "backslashreplace")


class Running(NamedTuple):
    """A process whose main has begun."""

    process: "subprocess.Popen[bytes]"
    began: float

    def end(self) -> Ended:
        out, err = self.process.communicate(timeout=60)
        return Ended(self.process.returncode, out, err, time.monotonic() - self.began)


class Home:
    """A home with a folder to work in beside it, and a server that answers searches and has pages."""

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
            "SLEUTH_SEARXNG_TIMEOUT": "60",
            "PYTHONDONTWRITEBYTECODE": "1",  # Python itself cuts compiled files short where there is no room for them
        }

    def copy(self, folder: Path) -> "Home":
        """Return another home with all that is in this one."""
        shutil.copytree(self.path, folder / "home", symlinks=True)
        return Home(folder, self.url)

    def ask(self, *words: str, exits: Collection[int] = (0,), **environ: str) -> Ended:
        """Run a command line in this process, quicker than in one of its own; it must end as it should."""
        out, err, started = io.StringIO(), io.StringIO(), time.monotonic()
        code = run(Runtime(self.environ | environ, io.StringIO(), out, err), list(words))
        written, said = out.getvalue().encode("utf-8", "replace"), err.getvalue().encode("utf-8", "replace")
        return sound(Ended(int(code), written, said, time.monotonic() - started), exits=exits)

    def run(self, *words: Word, before: Setup | None = None, flags: Collection[str] = (), **more: Any) -> Ended:
        """Run a command line to its end, `before` being done in the new process first."""
        environ = {name: value for name, value in (self.environ | more.pop("environ", {})).items() if value is not None}
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if "input" in more:
            del streams["stdin"]
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, *flags, "-m", "sleuth", *words],
            env=environ,
            preexec_fn=before,
            timeout=60,
            **streams | more,
        )
        return Ended(done.returncode, done.stdout or b"", done.stderr or b"", time.monotonic() - started)

    def start(self, *words: Word) -> Running:
        """Start a command line and return when its main begins."""
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-c", START.format(writer), *words],
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writer],
        )
        os.close(writer)
        assert os.read(reader, 1) == b".", process.communicate()
        os.close(reader)
        return Running(process, time.monotonic())

    def file(self, name: str, text: str | bytes = "") -> str:
        """Write a file to work with, and return its path."""
        path = self.work / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)


def good(caller: Any) -> None:
    """Answer searches with ten results in three scripts, and anything below /page with a page."""
    if caller.path.startswith("/page"):
        lines = (
            f"<p>Sentence {n} on async runtimes, 启用 JSON 格式, and long enough to be text.</p>" for n in range(30)
        )
        page = f"<html><title>A page 页</title><body><article>{''.join(lines)}</article></body></html>"
        caller.answer(page.encode(), "Content-Type: text/html; charset=utf-8")
        return
    results = [
        {"url": f"https://a{n}.test/页{n}", "title": f"标题 title {n} 日本語", "content": "snippet 内容 é 한국어 " * 8}
        for n in range(10)
    ]
    caller.answer(json.dumps({"results": results}, ensure_ascii=False).encode())


def sound(ended: Ended, *, exits: Collection[int] = EXITS, slowest: float = SLOWEST, deaf: bool = False) -> Ended:
    """Return how a process ended, or fail: a documented exit, in time, and at most two lines of error, none of fault.

    `deaf` is said where stderr leads nowhere.
    """
    assert ended.exit in exits, ended
    assert ended.seconds < slowest, ended
    for fault in FAULTS:
        assert fault not in ended.err, ended.said
    told = [line for line in ended.said.splitlines() if line.strip() and not line.startswith(("warning:", "note:"))]
    errors = [line for line in told if line.startswith(("error:", "hint:", '{"error":'))]
    if ended.exit in range(1, 8) and not deaf:
        assert errors or ended.out or b"warning: " in ended.err, ("failed without a word", ended)
    if errors:
        assert [line.partition(":")[0] for line in told[-2:]] in (["error", "hint"], ["error"], ['{"error"']), told
        assert len(errors) <= 2, told
    return ended


def unprivileged() -> None:
    """Let permissions hold for root too."""
    for capability in CAPABILITIES:
        ctypes.CDLL(None).prctl(DROP_CAPABILITY, capability, 0, 0, 0)


def limited(kind: int, most: int) -> Setup:
    """Return what limits a resource of a process."""
    return lambda: resource.setrlimit(kind, (most, most))


def hurt(data: bytes, chance: random.Random) -> bytes:
    """Return data with a wound: bytes changed, a stretch of noise or zeros, something cut out or cut off."""
    wounded = bytearray(data)
    place = chance.randrange(len(wounded))
    length = min(chance.choice((1, 16, 100, 4096)), len(wounded) - place)
    kind = chance.randrange(6)
    if kind == 0:
        for _ in range(chance.randint(1, 30)):
            wounded[chance.randrange(len(wounded))] = chance.randrange(256)
    elif kind == 1:
        wounded[place : place + length] = chance.randbytes(length)
    elif kind == 2:
        wounded[place : place + length] = bytes(length)
    elif kind == 3:
        del wounded[place : place + length]
    elif kind == 4:
        del wounded[place:]
    else:
        wounded[chance.randrange(min(100, len(wounded)))] ^= 1 << chance.randrange(8)
    return bytes(wounded)
