"""Assertions on output, raw servers on loopback, and processes whose peak memory is measured."""

import compileall
import contextlib
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sleuth.pages.article  # urllib3, which comes with it, warns when imported, and warnings are errors
import sleuth_providers
from sleuth.base import logs
from sleuth.base.text import INVISIBLE

sys.path.insert(0, str(Path(__file__).parent))  # harness.py, which several files of this folder import

JOINERS = "\u200c\u200d"
MAX_STACKED_MARKS = 4
STYLE = re.compile(r"\x1b\[([0-9;]*)m")
CURSOR_MOVES = re.compile(r"\r?\x1b\[(?:2K|1A|K)|\x1b\[\?25[lh]")  # the only ones that progress displays use
LINK = re.compile(r"\x1b\]8;(?:id=[0-9-]*)?;([!-~]*)\x1b\\")
# The styles that sleuth uses: bold, dim, italic, underline and the 16 colours. Hidden and blinking text is foreign.
OWN_STYLES = frozenset(["", "0", "1", "2", "3", "4", *(str(number) for number in (*range(30, 39), *range(90, 98)))])
CPU_LIMIT_S = 60  # of a measured process; the most expensive attack takes a few seconds


def assert_plain(
    output: str | bytes, *, links: Collection[str] | None = None, tabs: bool = False, marks: int = MAX_STACKED_MARKS
) -> str:
    """Return the visible text of an output, or fail if it has control, invisible or stacked characters.

    Tabs are allowed for formats that use them. `links`, given for output to a terminal, allows the styles of sleuth and
    hyperlinks to these addresses.
    """
    data = output if isinstance(output, bytes) else output.encode("utf-8", "replace")  # as the streams of sleuth do
    text = data.decode("utf-8")
    if links is not None:
        targets = {target for target in LINK.findall(text) if target}
        assert targets <= set(links), f"unexpected links: {sorted(targets - set(links))[:3]}"
        text = CURSOR_MOVES.sub("", LINK.sub("", text))
        styles = {number for found in STYLE.findall(text) for number in found.split(";")[:1]}
        assert styles <= OWN_STYLES, f"foreign styles: {styles - OWN_STYLES}"
        text = STYLE.sub("", text)
    allowed = "\n" + JOINERS + ("\t" if tabs else "")
    for line in text.split("\n"):
        bad = {character for character in set(line) if not character.isprintable()} - set(allowed)
        bad |= set() if line.isascii() else set(re.findall(INVISIBLE, line))
        assert not bad, f"{[f'U+{ord(character):04X}' for character in bad]} in {line[:500]!r}"
        run = 0
        for character in () if line.isascii() else line:
            run = run + 1 if character in JOINERS or unicodedata.category(character) in ("Mn", "Me") else 0
            assert run <= marks, f"stacked marks in {line[:500]!r}"
    return text


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile sleuth first: no process of these tests may write files that others then load."""
    for package in (sleuth, sleuth_providers):
        compileall.compile_dir(package.__path__[0], quiet=2)


@pytest.fixture(name="assert_plain")
def assert_plain_fixture() -> Callable[..., str]:
    return assert_plain


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove proxies, and the secrets that earlier commands registered: each command must redact its own."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    before = set(logs._secrets)
    logs._secrets.clear()
    yield
    logs._secrets.clear()
    logs._secrets.update(before)


Behaviour = Callable[["Exchange"], None]


class Exchange:
    """One connection to a test server: the request, and ways to respond well or badly."""

    def __init__(self, connection: socket.socket, test_over: threading.Event) -> None:
        self.connection, self.test_over = connection, test_over
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

    def respond(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        """Send a complete, valid response."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        if not any(line.lower().startswith("content-type") for line in headers):
            lines.append("Content-Type: application/json")
        self.send("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body)

    def drip(self, data: bytes, pause: float = 0.02) -> None:
        """Send a byte at a time, again and again, until the test is over."""
        while not self.test_over.is_set():
            for byte in data:
                self.send(bytes([byte]))
                if self.test_over.wait(pause):
                    return

    def flood(self, chunk: bytes, limit: int) -> None:
        """Send a chunk again and again, until so many bytes are sent or the client closes the connection."""
        sent = 0
        with contextlib.suppress(OSError):
            while sent < limit and not self.test_over.is_set():
                sent += self.connection.send(chunk)


class Server:
    """Listens on loopback, records every request and leaves the response to a behaviour."""

    def __init__(self, behaviour: Behaviour, host: str = "127.0.0.1") -> None:
        self.behaviour = behaviour
        self.requests: list[bytes] = []
        self.test_over = threading.Event()
        self.listener = socket.create_server((host, 0), backlog=64)
        self.port: int = self.listener.getsockname()[1]
        self.url = f"http://{host or '127.0.0.1'}:{self.port}"
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self._connections.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            exchange = Exchange(connection, self.test_over)
            self.requests.append(exchange.request)
            self.behaviour(exchange)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.test_over.set()
        self.listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):  # most are closed already
                connection.shutdown(socket.SHUT_RDWR)


def start_servers() -> Iterator[Callable[..., Server]]:
    """Start servers with a given behaviour, and close them after the test or the module."""
    servers: list[Server] = []

    def start(behaviour: Behaviour, host: str = "127.0.0.1") -> Server:
        servers.append(Server(behaviour, host))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


serve = pytest.fixture(start_servers, name="serve")
serve_module = pytest.fixture(start_servers, scope="module", name="serve_module")


class Measured(NamedTuple):
    """How a process ended, and its peak memory."""

    exit: int
    out: bytes
    err: bytes
    megabytes: float


MEASURED_MAIN = """
import re, sys
from sleuth.__main__ import main
code = main(sys.argv[2:])
sys.stdout.flush()
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())
open(sys.argv[1], "w").write(peak[1])
import os; os._exit(code)
"""


@pytest.fixture
def measure_memory(tmp_path: Path) -> Callable[..., Measured]:
    """Run sleuth in a separate process with limited CPU time, and measure its peak memory."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("needs /proc")

    def run(sleuth: Any, *arguments: str, **environ: str) -> Measured:
        peak = tmp_path / "peak"
        done = subprocess.run(
            [sys.executable, "-c", MEASURED_MAIN, str(peak), *arguments],
            env=sleuth.environ | environ,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S)),
        )
        megabytes = int(peak.read_text()) / 1024 if peak.exists() else 0.0
        return Measured(done.returncode, done.stdout, done.stderr, megabytes)

    return run
