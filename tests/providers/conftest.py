"""Servers for tests of the HTTP layer: real sockets on loopback, each connection answered by a function of the test."""

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

Answer = bytes | Callable[[Any, bytes], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Listens on loopback; every request is recorded, then answered with bytes or by a function."""

    def __init__(self, answer: Answer, host: str, context: ssl.SSLContext | None) -> None:
        self.answer, self.context = answer, context
        self.requests: list[bytes] = []
        self.over = threading.Event()  # set when the test ends: what drips waits on it instead of sleeping
        self.listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.listener.bind((host, 0))
        self.listener.listen(64)
        self.port: int = self.listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        self.netloc = f"{name}:{self.port}"
        self.url = f"{'https' if context else 'http'}://{self.netloc}"
        self.open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Any) -> None:
        with contextlib.suppress(OSError):
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            request = read_request(connection)
            if request:
                self.requests.append(request)
            if callable(self.answer):
                self.answer(connection, request)
            else:
                connection.sendall(self.answer)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def drip(self, connection: socket.socket, data: bytes, pause: float = 0.01) -> None:
        """Send a byte at a time, again and again, until the test is over."""
        while not self.over.is_set():
            for byte in data:
                connection.sendall(bytes([byte]))
                if self.over.wait(pause):
                    return

    def close(self) -> None:
        self.over.set()
        self.listener.close()
        for connection in self.open:
            connection.close()


def read_request(connection: Any) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return data
        data += more
        if data[0] == 0x16:  # a TLS handshake where plain text was meant
            return data
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


Serve = Callable[..., Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers: serve(answer, host, context)."""
    servers: list[Server] = []

    def start(answer: Answer = OK, host: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> Server:
        servers.append(Server(answer, host, context))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def blackhole() -> Iterator[int]:
    """Return a port where connections are never accepted: its queue is full, so that the system drops new ones."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = []
    for _ in range(4):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
        waiting.append(caller)
    yield listener.getsockname()[1]
    for each in (*waiting, listener):
        each.close()


class Certificate(NamedTuple):
    file: str
    context: ssl.SSLContext


@pytest.fixture(scope="session")
def make_certificate(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Certificate]:
    """Make a self-signed certificate for a name, and the server side of it."""
    folder: Path = tmp_path_factory.mktemp("certificates")
    if not shutil.which("openssl"):
        pytest.skip("needs the openssl command")

    def make(names: str, subject: str = "test") -> Certificate:
        file, key = (str(folder / f"{abs(hash((names, subject)))}.{ending}") for ending in ("pem", "key"))
        if not os.path.exists(file):
            command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
            command += f" -subj /CN={subject} -keyout {key} -out {file}"
            command += f" -addext subjectAltName={names}" if names else ""
            subprocess.run(command.split(), check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file, key)
        return Certificate(file, context)

    return make


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
