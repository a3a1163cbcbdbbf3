"""The servers of sleuth as processes, and clients that can send anything at any time."""

import json
import re
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness import Home, ProcessResult


class Program:
    """A running server and its stderr."""

    def __init__(self, home: Home, *words: str, **streams: Any) -> None:
        self.stderr = home.work / f"stderr{time.monotonic_ns()}"
        with self.stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sleuth", *words],
                env=home.environ,
                **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stderr} | streams,
            )

    @property
    def megabytes(self) -> float:
        """Peak memory."""
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())
        assert peak
        return int(peak[1]) / 1024

    def end(self, number: int = 0) -> ProcessResult:
        """Stop it with a signal or by closing its stdin."""
        assert self.process.stdin
        assert self.process.stdout
        if number:
            self.process.send_signal(number)
        else:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        return ProcessResult(self.process.wait(), b"", self.stderr.read_bytes())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]


class Agent(Program):
    """`sleuth mcp`, and a client of it that can send anything."""

    def __init__(self, home: Home, *options: str) -> None:
        super().__init__(home, "mcp", *options)
        self.number = 0
        client = {"name": "\x1b[31m\u202e", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self.number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode())
        return self.number

    def receive(self, number: int) -> list[Any]:
        """Return all messages up to the response to a request."""
        assert self.process.stdout
        messages: list[Any] = []
        while not messages or messages[-1].get("id") != number:
            line = self.process.stdout.readline()
            assert line, self.stderr.read_text()
            messages.append(json.loads(line))
        return messages

    def ask(self, method: str, **params: Any) -> list[Any]:
        return self.receive(self.send(method, **params))

    def call(self, name: str, **arguments: Any) -> list[Any]:
        return self.ask("tools/call", name=name, arguments=arguments, _meta={"progressToken": self.number})


class Host(Program):
    """`sleuth serve`, and clients of it that can send anything."""

    def __init__(self, home: Home, *options: str) -> None:
        super().__init__(home, "serve", "--port", "0", *options)
        while not (found := re.search(rb"http://127.0.0.1:(\d+)", self.stderr.read_bytes())):
            assert self.process.poll() is None, self.stderr.read_text()
            time.sleep(0.02)
        self.port = int(found[1])
        token = home.environ["SLEUTH_SERVE_TOKEN"]
        self.usual = f"Host: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {token}\r\n"

    def open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port))

    def exchange(self, data: bytes, *, half_close: bool = False) -> bytes:
        """Send bytes and return everything until the server closes the connection."""
        received = b""
        with self.open() as stream, suppress(ConnectionError):
            stream.sendall(data)
            if half_close:
                stream.shutdown(socket.SHUT_WR)
            while part := stream.recv(65536):
                received += part
        return received

    def request(self, method: str, path: str, body: Any = None, more: str = "") -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self.usual}Connection: close\r\n{more}"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        return f"{head}\r\n".encode("utf-8", "surrogatepass") + data

    def call(self, method: str, path: str, body: Any = None, more: str = "") -> tuple[int, bytes]:
        """Make a valid request, and return status and body of the response."""
        head, _, received = self.exchange(self.request(method, path, body, more)).partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), received
