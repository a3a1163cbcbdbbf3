"""Fixtures of all tests: the real `main` with a separate home, in this process or in another, and HTTP servers."""

import gc
import io
import json
import os
import shutil
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
from sleuth.base import logs
from sleuth.library import handbook
from sleuth.library.library import Document, Library
from sleuth.runtime import Runtime

pytest_plugins = ["tests.site_server"]

ROOT = Path(__file__).parents[1]
# No test depends on the speed of the machine.
# CI runs the same examples every time; other runs look for new ones.
hypothesis.settings.register_profile("sleuth", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("sleuth")
# Shells let background jobs ignore interrupts, and child processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # ignored under nohup, and inherited by every command that a test starts
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
QUIET = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TERM": "xterm-256color", "NO_PROXY": "*"}
QUIET["SLEUTH_WEBSEARCH_KEYLESS"] = "false"  # no test sends a query to a service on the internet


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at thousands of tests and modules again and again."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test with `cpu_limit(SECONDS)` that computes for longer; unlike elapsed time, that depends on no load."""
    limit = item.get_closest_marker("cpu_limit")
    if limit is None:
        return (yield)

    def stop(*_: object) -> None:
        pytest.fail(f"took more than {limit.args[0]} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit.args[0])
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class Done(NamedTuple):
    """Exit code and output of a command."""

    exit: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal(io.StringIO):
    """A buffer that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


class Sleuth:
    """Runs commands in one home."""

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
        """Run a command in a separate process."""
        done = subprocess.run(
            [sys.executable, "-m", "sleuth", *arguments],
            env=self.environ | environ,
            input=stdin,
            capture_output=True,
            text=True,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(autouse=True)
def _own_secrets() -> Iterator[None]:
    """Forget the secrets that a test registers: messages of later tests in this process must not be redacted."""
    before = set(logs._secrets)
    yield
    logs._secrets.intersection_update(before)


@pytest.fixture(scope="session")
def make_httpserver(httpserver_listen_address: tuple[str | None, int | None]) -> Iterator[HTTPServer]:
    """The server of pytest-httpserver, with a thread for each request."""
    host, port = httpserver_listen_address
    with HTTPServer(host or "127.0.0.1", port or 0, threaded=True) as server:
        yield server


@pytest.fixture
def lone_server() -> Iterator[HTTPServer]:
    """A server of the test's own, for responses that may come after the test."""
    with HTTPServer("127.0.0.1", 0, threaded=True) as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def handbook_is_parsed_once() -> Iterator[None]:
    """Keep the parsed chapters: every new home indexes them, and parsing takes longer than most tests."""
    parsed: dict[str, list[Document]] = {}

    def chapters(folder: str) -> Iterator[Document]:
        state = handbook.fingerprint(folder)
        if state not in parsed:
            parsed[state] = list(original(folder))
        return iter(parsed[state])

    original = handbook.chapters
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handbook, "chapters", chapters)
        yield


@pytest.fixture(scope="session")
def handbook_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with nothing but the handbook, to copy: indexing the handbook takes longer than most tests."""
    path = tmp_path_factory.mktemp("handbook") / "library.db"
    library = Library(str(path))
    library.stats()
    library.close()
    return path


@pytest.fixture
def indexed_handbook(tmp_path: Path, handbook_database: Path) -> None:
    """Put the handbook into the library of the home, for searches that would have to index it within their timeout."""
    (tmp_path / "home" / "data").mkdir(parents=True)
    shutil.copy(handbook_database, tmp_path / "home" / "data")


@pytest.fixture
def sleuth(tmp_path: Path) -> Sleuth:
    return Sleuth(tmp_path / "home")


@pytest.fixture
def make_sleuth(tmp_path: Path) -> Callable[..., Sleuth]:
    return lambda name="home", **environ: Sleuth(tmp_path / name, **environ)
