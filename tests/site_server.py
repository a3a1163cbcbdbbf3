"""A raw HTTP server that can misbehave, and page readers that may connect to it."""

import contextlib
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sleuth.pages.reader import Reader
from sleuth.store.cache.disk import Cache, DiskCache
from sleuth.store.settings import Settings

Behaviour = Callable[[Callable[[bytes], None]], None]  # takes the function that sends bytes


class ReceivedRequest(NamedTuple):
    """A request as received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Site:
    """A site on loopback: a behaviour for each path, and all requests received."""

    def __init__(self) -> None:
        self.behaviours: dict[str, Behaviour] = {}
        self.requests: list[ReceivedRequest] = []
        site = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    site.handle(self.rfile, self.wfile.write)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.server.request_queue_size = 128
        self.server.server_bind()
        self.server.server_activate()
        self.port: int = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle(self, stream: Any, send: Callable[[bytes], None]) -> None:
        method, path, _ = stream.readline().decode().split(" ", 2)
        headers = {}
        while line := stream.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        self.requests.append(ReceivedRequest(method, path, headers, body))
        behaviour = self.behaviours.get(path) or self.behaviours.get(path.partition("?")[0]) or self.behaviours.get("*")
        if behaviour:
            behaviour(send)
        else:
            send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone")

    def page(
        self,
        path: str,
        body: str | bytes,
        content_type: str = "text/html; charset=utf-8",
        status: int = 200,
        **headers: str,
    ) -> str:
        """Serve a body at a path and return its URL."""
        data = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(data)}"]
        lines += [f"Content-Type: {content_type}"] if content_type else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"
        return self.behaves(path, lambda send: send(head + data))

    def behaves(self, path: str, behaviour: Behaviour) -> str:
        """Serve a path with a behaviour and return its URL."""
        self.behaviours[path] = behaviour
        return f"{self.address}{path}"

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


def article(title: str = "A good title", text: str = "", language: str = "en", charset: str = "") -> str:
    """Return a page of three paragraphs with navigation and footer."""
    words = (
        text or "The quick brown fox jumps over the lazy dog, and nobody in the quiet village minds it at all today. "
    )
    meta = f'<meta charset="{charset}">' if charset else ""
    return (
        f'<!DOCTYPE html><html lang="{language}"><head>{meta}<title>{title}</title></head><body>'
        "<nav><a href=/>Home</a> <a href=/about>About us</a></nav>"
        f"<article><h1>{title}</h1><p>{words * 2}</p><p>{words * 3}</p><p>{words * 2}</p></article>"
        "<footer>All rights reserved</footer></body></html>"
    )


@pytest.fixture
def make_site() -> Iterator[Callable[[], Site]]:
    sites: list[Site] = []

    def make() -> Site:
        sites.append(Site())
        return sites[-1]

    yield make
    for site in sites:
        site.server.shutdown()
        site.server.server_close()


@pytest.fixture
def site(make_site: Callable[[], Site]) -> Site:
    return make_site()


@pytest.fixture
def make_article() -> Callable[..., str]:
    return article


@pytest.fixture
def make_reader(tmp_path: Path) -> Callable[..., Reader]:
    """Return a factory of readers that may read loopback addresses; external services are off by default."""

    def make(
        *,
        cache: bool = False,
        guard: Any = lambda host, addresses: None,
        reader: Mapping[str, Any] | None = None,
        **environ: str,
    ) -> Reader:
        off = {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
        slow = {"SLEUTH_FETCH_TIMEOUT": "120"}  # for busy machines
        settings = Settings(str(tmp_path / "config.toml"), off | slow | environ)
        store: Cache = DiskCache(str(tmp_path / "cache"), 100) if cache else Cache()
        return Reader(settings, store, guard=guard, **(reader or {}))

    return make


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
