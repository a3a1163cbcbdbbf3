"""What every test may use: the real `main` in this process with buffers and a home of its own, or in a subprocess."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
from pytest_httpserver import HTTPServer

from sleuth.__main__ import run
from sleuth.runtime import Runtime

pytest_plugins = ["tests.site_server"]

ROOT = Path(__file__).parents[1]
# A machine that is busy with the other half of the tests must not fail one that is slow for a moment.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")
# A shell lets what it runs in the background ignore interrupts, and all that is started from there would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
QUIET = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TERM": "xterm-256color", "NO_PROXY": "*"}


class Done(NamedTuple):
    """How a run ended."""

    exit: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal(io.StringIO):
    """A buffer that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Sleuth:
    """Runs command lines in one home."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        self.environ = (
            QUIET | {"SLEUTH_HOME": str(home), "HOME": str(home), "SEARXNG_URL": "http://127.0.0.1:1"} | environ
        )

    def __call__(self, *arguments: str, stdin: str = "", terminal: bool = False, **environ: str) -> Done:
        out = Terminal() if terminal else io.StringIO()
        err = io.StringIO()
        runtime = Runtime(self.environ | environ, io.StringIO(stdin), out, err)
        code = run(runtime, list(arguments))
        return Done(int(code), out.getvalue(), err.getvalue())

    def process(self, *arguments: str, stdin: str | None = None, **environ: str) -> Done:
        """Run it for real, in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "sleuth", *arguments],
            env=self.environ | environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def make_httpserver(httpserver_listen_address: tuple[str | None, int | None]) -> Iterator[HTTPServer]:
    """The server of pytest-httpserver, answering several requests at the same time."""
    host, port = httpserver_listen_address
    with HTTPServer(host or "127.0.0.1", port or 0, threaded=True) as server:
        yield server


@pytest.fixture
def lone_server() -> Iterator[HTTPServer]:
    """A server of the test's own, for answers that come after the test is over."""
    with HTTPServer("127.0.0.1", 0, threaded=True) as server:
        yield server


@pytest.fixture
def sleuth(tmp_path: Path) -> Sleuth:
    return Sleuth(tmp_path / "home")


@pytest.fixture
def make_sleuth(tmp_path: Path) -> Callable[..., Sleuth]:
    return lambda name="home", **environ: Sleuth(tmp_path / name, **environ)
