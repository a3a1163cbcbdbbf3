"""Speed of `sleuth serve` and `sleuth mcp` on loopback: cached searches a second, and ratios to bare servers.

    python -m bench.serve --seconds 5

The client takes part of the machine: both cores are busy with it and the servers.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench import loopback

TOKEN = "token-of-the-benchmark"  # noqa: S105 - for a server on loopback that ends with this program
CONNECTIONS = 8
ROUNDS = 5  # of every comparison, in turn
BARE_APP = """
import socket, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def health(request):
    return JSONResponse({"status": "ok", "version": "1"})

listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
config = uvicorn.Config(Starlette(routes=[Route("/healthz", health)]), http="h11", loop="asyncio", log_config=None)
uvicorn.Server(config).run([listener])
"""
BARE_MCP = """
import asyncio
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def main():
    server = Server("bare", version="1")
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

asyncio.run(main())
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


class HttpConnection:
    """A kept-alive connection that costs little: requests are ready-made bytes."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, request: bytes) -> tuple[int, bytes]:
        """Send a request and return the status and the body of the response."""
        self._socket.sendall(request)
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._receive()
        length = re.search(rb"content-length: (\d+)", data[:end].lower())
        assert length, data
        while len(data) < end + 4 + int(length[1]):
            data += self._receive()
        return int(data[9:12]), data[end + 4 :]

    def _receive(self) -> bytes:
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("closed by the server")
        return data

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def request(method: str, path: str, port: int, document: object = None, accept: str = "*/*") -> bytes:
    """Return the bytes of a request."""
    body = json.dumps(document).encode() if document is not None else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    return (
        f"{head}Accept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        + body
    )


@contextmanager
def serving(words: Sequence[str], environ: dict[str, str]) -> Iterator[int]:
    """Run a server that prints its URL on stderr, and give its port."""
    process = subprocess.Popen(words, env=environ, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line + process.stderr.read()
        yield int(found[1])
    finally:
        process.terminate()
        process.communicate(timeout=30)


def sleuth_environment(folder: Path, searxng: str, **more: str) -> dict[str, str]:
    """Return the variables of a sleuth that talks to loopback only."""
    variables = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    own = {"SLEUTH_HOME": str(folder), "SLEUTH_SERVE_TOKEN": TOKEN, "SEARXNG_URL": searxng, "NO_PROXY": "*"}
    return variables | own | {"SLEUTH_WEBSEARCH_FALLBACK": "searxng", "SLEUTH_WEBSEARCH_RETRIES": "1"} | more


def sleuth_server(environ: dict[str, str]) -> "contextmanager[int]":  # type: ignore[type-arg]  # as contextlib has it
    """Return a context with a running `sleuth serve`."""
    return serving([sys.executable, "-m", "sleuth", "serve", "--port", "0"], environ)


def rate(ports: Sequence[int], seconds: float) -> float:
    """Return the cached searches a second that servers answer together."""
    counts = [0] * CONNECTIONS
    end = time.perf_counter() + seconds

    def work(place: int) -> None:
        port = ports[place % len(ports)]
        body = {"providerId": "searxng", "questions": ["rust async runtimes"]}
        connection, sent = HttpConnection(port), request("POST", "/websearch/search", port, body)
        while time.perf_counter() < end:
            status, _ = connection.exchange(sent)
            assert status == 200
            counts[place] += 1
        connection.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(CONNECTIONS)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - started)


def health_time(port: int) -> float:
    """Return the median seconds of a kept-alive GET /healthz."""
    connection, sent, times = HttpConnection(port), request("GET", "/healthz", port), []
    for _ in range(300):
        started = time.perf_counter()
        assert connection.exchange(sent)[0] == 200
        times.append(time.perf_counter() - started)
    connection.close()
    return statistics.median(times)


def ready_time(words: Sequence[str], environ: dict[str, str]) -> float:
    """Return the seconds from the start of an MCP server to its answer to `initialize`."""
    started = time.perf_counter()
    with subprocess.Popen(words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        print(json.dumps(INITIALIZE), file=process.stdin, flush=True)
        assert '"serverInfo"' in process.stdout.readline()
        passed = time.perf_counter() - started
        process.stdin.close()
    return passed


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each measurement of a rate")
    seconds = parser.parse_args().seconds
    print("load average", os.getloadavg()[0])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        searxng = stack.enter_context(loopback.serve(folder)).http
        environ = sleuth_environment(folder / "home", searxng)
        ports = [stack.enter_context(sleuth_server(environ)) for _ in range(2)]
        bare = stack.enter_context(serving([sys.executable, "-c", BARE_APP], environ))
        for port in ports:
            rate([port], 0.5)  # the first search fills the cache and imports what it needs
        for number in (1, 2):
            best = max(rate(ports[:number], seconds) for _ in range(3))
            print(f"cached searches a second, {number} process{'es' if number > 1 else ''}: {best:.0f}")
        times = [(health_time(ports[0]), health_time(bare)) for _ in range(ROUNDS)]
        own, other = (min(column) for column in zip(*times, strict=True))
        ratio = f"{own * 1000:.2f} ms; bare Starlette {other * 1000:.2f} ms: {own / other:.2f} x"
        print(f"GET /healthz, kept alive, p50: {ratio}")
        words = [sys.executable, "-m", "sleuth", "mcp"], [sys.executable, "-c", BARE_MCP]
        starts = [tuple(ready_time(command, environ) for command in words) for _ in range(ROUNDS)]
        own, other = (min(column) for column in zip(*starts, strict=True))
        print(f"sleuth mcp ready: {own:.2f} s; bare server {other:.2f} s: {own / other:.2f} x")


if __name__ == "__main__":
    main()
