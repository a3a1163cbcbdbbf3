"""A real `sleuth serve` in its own process with a SearXNG behind it; every response is checked against OpenAPI."""

import functools
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
from jsonschema import Draft202012Validator

from sleuth.api import Client
from sleuth.serving.http.app import ApiState, create_app
from sleuth.serving.http.auth import AccessMiddleware, AccessRules, allowed_hosts
from sleuth.serving.http.server import HttpServer, listen
from sleuth.serving.http.tokens import Token

TOKEN = "token-of-the-tests-0123456789"
QUIET = {
    "PATH": os.environ.get("PATH", ""),
    "LANG": "C.UTF-8",
    "NO_PROXY": "*",
    "SLEUTH_WEBSEARCH_FALLBACK": "searxng",  # no other machine is ever contacted
    "SLEUTH_WEBSEARCH_RETRIES": "1",
    "SLEUTH_FETCH_JINA": "false",
    "SLEUTH_FETCH_ARCHIVE": "false",
}
PAGE = "<html><head><title>Tokio</title></head><body><article><p>{}</p></article></body></html>"
SENTENCES = "Tokio is an asynchronous runtime for Rust. It drives futures to completion. Many servers are built on it."


@functools.cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document; generating it takes longer than most tests."""
    return create_app(ApiState(Client({}))).openapi()


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])


class Upstream(BaseHTTPRequestHandler):
    """A fake SearXNG that also serves a page."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    asked: list[str] = []
    released = threading.Event()
    answer_slow = threading.Event()

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        words = parse_qs(parts.query).get("q", [""])[0]
        self.asked.append(words)
        if "slow" in words:
            self.answer_slow.wait(300)
        if "hang" in words:
            self.released.wait(300)
        if parts.path == "/page":
            self._send("text/html", PAGE.format(SENTENCES))
            return
        hits = [{"url": f"https://a.example/{n}", "title": f"{words} {n}", "content": f"Text {n}."} for n in range(3)]
        self._send("application/json", json.dumps({"results": [] if "nothing" in words else hits}))

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture(scope="session")
def upstream() -> Iterator[str]:
    """Give the URL of a SearXNG on loopback that always has three results."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Upstream.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def asked() -> list[str]:
    """Give the queries that SearXNG has received."""
    return Upstream.asked


@pytest.fixture
def finish() -> threading.Event:
    """Give the event that lets that SearXNG answer slow queries."""
    Upstream.answer_slow.clear()
    return Upstream.answer_slow


class Served:
    """A running server."""

    def __init__(self, process: "subprocess.Popen[str]", home: Path) -> None:
        self.process, self.home = process, home
        assert process.stderr
        self.said = process.stderr.readline()
        while (line := self.said.splitlines()[-1]).startswith("warning:") and "://" not in line:
            self.said += process.stderr.readline()
        found = re.search(r"http://([\d.]+):(\d+)", line)
        assert found, self.said + process.stderr.read()
        self.host, self.port, self.url = found[1], int(found[2]), found[0]
        file = home / "state" / "serve-token"
        self.token = file.read_text().strip() if file.exists() else ""

    @property
    def log(self) -> str:
        return (self.home / "state" / "sleuth.log").read_text()

    def call(self, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: str) -> Reply:
        """Call the API, and check the response against the OpenAPI document."""
        reply = call(self.port, method, path, body, self.token if token is None else token, headers)
        conforms(method, path, reply)
        return reply

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Stop it, and return its exit code, stdout and stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


def call(port: int, method: str, path: str, body: Any, token: str, headers: dict[str, str]) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body)
        sent["Content-Type"] = "application/json"
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read().decode())
    finally:
        connection.close()


def conforms(method: str, path: str, reply: Reply) -> None:
    """Check a response against the OpenAPI document; other paths and methods must be errors."""
    operation: dict[str, Any] = {}
    for template, methods in document()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path.partition("?")[0]):
            operation = methods.get(method.lower(), {})
    if not operation:
        assert reply.status >= 400 or method in ("HEAD", "OPTIONS")
    response = operation.get("responses", {}).get(str(reply.status))
    assert response or not operation, f"{reply.status} is not documented: {reply.text}"
    kind = reply.headers.get("content-type", "").partition(";")[0]
    if kind == "application/json" and method != "HEAD":
        error = {"$ref": "#/components/schemas/ErrorBody"}
        schema = response["content"][kind]["schema"] if response else error
        Draft202012Validator(document() | schema).validate(reply.json)
    for name in (response or {}).get("headers", {}):
        assert name.lower() in reply.headers


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory, upstream: str) -> Iterator[Callable[..., Served]]:
    """Give a function that starts a server with its own home."""
    with ExitStack() as stack:

        def start(*options: str, home: Path | None = None, **environ: str) -> Served:
            home = home or tmp_path_factory.mktemp("serve") / "home"
            variables = QUIET | {"SLEUTH_HOME": str(home), "HOME": str(home), "SEARXNG_URL": upstream} | environ
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "sleuth", "serve", "--port", "0", *options],
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(process.kill)
            return Served(process, home)

        yield start


class Inside(NamedTuple):
    """A server in this process, for tests that patch or inspect it."""

    port: int
    state: ApiState
    server: HttpServer

    def call(self, method: str, path: str, body: Any = None, *, token: str = TOKEN, **headers: str) -> Reply:
        """Call the API, and check the response against the OpenAPI document."""
        reply = call(self.port, method, path, body, token, headers)
        conforms(method, path, reply)
        return reply

    def open(self, seconds: float = 10.0) -> socket.socket:
        """Open a raw connection."""
        return socket.create_connection(("127.0.0.1", self.port), seconds)


@pytest.fixture
def inside(tmp_path: Path, upstream: str) -> Iterator[Callable[..., Inside]]:
    """Give a function that starts a server in this process, with any kind of client."""
    home = {"SLEUTH_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "SEARXNG_URL": upstream}
    with ExitStack() as stack:

        def start(kind: type[Client] = Client, **environ: str) -> Inside:
            listener = listen("127.0.0.1", 0, remote=False)
            port = listener.getsockname()[1]
            state = ApiState(kind(QUIET | home | environ))
            state.start()
            ready = threading.Event()
            rules = AccessRules((Token(TOKEN),), allowed_hosts("127.0.0.1", port, ()))
            app = AccessMiddleware(create_app(state), rules, state.metrics)
            server = HttpServer(app, ready.set, state.stop)
            thread = threading.Thread(target=server.run, args=([listener],))
            thread.start()
            stack.callback(state.close)
            stack.callback(thread.join)
            stack.callback(setattr, server, "should_exit", True)
            assert ready.wait(300)
            return Inside(port, state, server)

        yield start


@pytest.fixture(scope="module")
def server(serve: Callable[..., Served]) -> Served:
    """Give a server that all tests of a file share."""
    return serve(SLEUTH_FETCH_ALLOW_PRIVATE="true", SLEUTH_FETCH_TIMEOUT="120")
