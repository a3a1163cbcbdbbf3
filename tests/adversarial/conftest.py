"""What the siege is made of: a judge of everything printed, raw servers on loopback, and processes on a scale."""

import compileall
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sleuth.pages.article  # urllib3, which comes with it, warns when imported, and warnings are errors
import sleuth_providers
from sleuth.base import logs

sys.path.insert(0, str(Path(__file__).parent))  # harness.py, which several files of this folder need

JOINERS = "\u200c\u200d"
MOST_MARKS = 4
STYLE = re.compile(r"\x1b\[([0-9;]*)m")
MOVES = re.compile(r"\r?\x1b\[(?:2K|1A|K)|\x1b\[\?25[lh]")  # how a display that changes moves, and no other way
LINK = re.compile(r"\x1b\]8;(?:id=[0-9-]*)?;([!-~]*)\x1b\\")
# What sleuth paints with: bold, dim, underline, the eight colours and their like. Hidden or blinking is foreign.
OWN_STYLES = frozenset(["", "0", "1", "2", "3", "4", *(str(number) for number in (*range(30, 39), *range(90, 98)))])


def judge(
    output: str | bytes, *, links: Collection[str] | None = None, tabs: bool = False, marks: int = MOST_MARKS
) -> str:
    """Return what is to be read of an output, or fail: nothing in it may steer, hide, or lead astray.

    Only text, line breaks and, where a format has them, tabs are allowed; and on a terminal, where `links` says which
    addresses may be linked, the colours of sleuth and links to those.
    """
    data = output if isinstance(output, bytes) else output.encode("utf-8", "replace")  # as the streams of sleuth do
    text = data.decode("utf-8")
    if links is not None:
        targets = {target for target in LINK.findall(text) if target}
        assert targets <= set(links), f"links nobody asked for: {sorted(targets - set(links))[:3]}"
        text = MOVES.sub("", LINK.sub("", text))
        styles = {number for found in STYLE.findall(text) for number in found.split(";")[:1]}
        assert styles <= OWN_STYLES, f"foreign styles: {styles - OWN_STYLES}"
        text = STYLE.sub("", text)
    allowed = "\n" + JOINERS + ("\t" if tabs else "")
    for line in text.split("\n"):
        bad = {character for character in set(line) if not character.isprintable()} - set(allowed)
        assert not bad, f"{[f'U+{ord(character):04X}' for character in bad]} in {line[:500]!r}"
        run = 0
        for character in () if line.isascii() else line:
            run = run + 1 if character in JOINERS or unicodedata.category(character) in ("Mn", "Me") else 0
            assert run <= marks, f"marks are stacked in {line[:500]!r}"
    return text


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile sleuth first, since nothing under siege may write what all others then read."""
    for package in (sleuth, sleuth_providers):
        compileall.compile_dir(package.__path__[0], quiet=2)


@pytest.fixture(name="judge")
def the_judge() -> Callable[..., str]:
    return judge


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxy, and no memory of the secrets of an earlier command: each must hide its own."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    before = set(logs._secrets)
    logs._secrets.clear()
    yield
    logs._secrets.clear()
    logs._secrets.update(before)


Behaviour = Callable[["Caller"], None]


class Caller:
    """One connection to a server under the test's control: what was asked, and ways to answer badly."""

    def __init__(self, connection: socket.socket, over: threading.Event) -> None:
        self.connection, self.over = connection, over
        self.request = b""
        while not self._is_whole() and (more := connection.recv(65536)):
            self.request += more

    def _is_whole(self) -> bool:
        head, end, body = self.request.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
        return bool(end) and len(body) >= (int(length[1]) if length else 0)

    @property
    def path(self) -> str:
        return self.request.split(b" ", 2)[1].decode("latin-1") if self.request.count(b" ") > 1 else ""

    @property
    def origin(self) -> str:
        return "http://{}:{}".format(*self.connection.getsockname())

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def answer(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        """Answer as a good server does."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        if not any(line.lower().startswith("content-type") for line in headers):
            lines.append("Content-Type: application/json")
        self.send("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body)

    def drip(self, data: bytes, pause: float = 0.02) -> None:
        """Send a byte at a time, again and again, until the test is over."""
        while not self.over.is_set():
            for byte in data:
                self.send(bytes([byte]))
                if self.over.wait(pause):
                    return

    def pour(self, chunk: bytes, most: int) -> int:
        """Send a chunk again and again; return how many bytes were taken before the other side had enough."""
        sent = 0
        with contextlib.suppress(OSError):
            while sent < most and not self.over.is_set():
                sent += self.connection.send(chunk)
        return sent


class Server:
    """Listens on loopback; every connection is recorded and left to a behaviour."""

    def __init__(self, behaviour: Behaviour, host: str = "127.0.0.1") -> None:
        self.behaviour = behaviour
        self.requests: list[bytes] = []
        self.over = threading.Event()
        self.listener = socket.create_server((host, 0), backlog=64)
        self.port: int = self.listener.getsockname()[1]
        self.url = f"http://{host or '127.0.0.1'}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.settimeout(20)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            caller = Caller(connection, self.over)
            self.requests.append(caller.request)
            self.behaviour(caller)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.over.set()
        self.listener.close()


def serving() -> Iterator[Callable[..., Server]]:
    """Start servers that behave as the test says; they end with it, or with all tests of a module."""
    servers: list[Server] = []

    def start(behaviour: Behaviour, host: str = "127.0.0.1") -> Server:
        servers.append(Server(behaviour, host))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


serve = pytest.fixture(serving)
serve_all = pytest.fixture(serving, scope="module", name="serve_all")


class Weighed(NamedTuple):
    """How a process ended, how long it took and how much memory it had at its fattest."""

    exit: int
    out: bytes
    err: bytes
    seconds: float
    megabytes: float


SCALE = """
import re, sys
from sleuth.__main__ import main
code = main(sys.argv[2:])
sys.stdout.flush()
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())
open(sys.argv[1], "w").write(peak[1])
import os; os._exit(code)
"""


@pytest.fixture
def weigh(tmp_path: Path) -> Callable[..., Weighed]:
    """Run sleuth in a process of its own and on a scale; what it weighed before exec does not count."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("needs /proc")

    def run(sleuth: Any, *arguments: str, **environ: str) -> Weighed:
        note = tmp_path / "peak"
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", SCALE, str(note), *arguments],
            env=sleuth.environ | environ,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        seconds = time.monotonic() - started
        peak = int(note.read_text()) / 1024 if note.exists() else 0.0
        return Weighed(done.returncode, done.stdout, done.stderr, seconds, peak)

    return run
