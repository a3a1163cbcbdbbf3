"""A loopback server that replays recorded and made-up answers."""

import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sleuth.doctor.finding import Finding
from sleuth.doctor.server.examination import examine
from sleuth.doctor.server.session import Environment
from sleuth_providers.base import Account

FIXTURES = Path(__file__).parents[2] / "fixtures" / "searxng"
NOW = 1_794_787_200.0  # 2026-11-16, when the answers were recorded
ENVIRONMENT = Environment(search_path="/nowhere", now=NOW)
NO_ACCOUNT = Account()

Routes = dict[str, Any]  # by path; `search`, `probe`, and `*` for all others


class Asked(NamedTuple):
    """One request that arrived."""

    path: str
    headers: str


class Replay(NamedTuple):
    """A running server: its address and the requests it got."""

    url: str
    asked: list[Asked]

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.asked]


def recorded(name: str, *, date: float = NOW) -> bytes:
    """Return a recorded answer with its date and length made true."""
    head, body = re.split(rb"\r?\n\r?\n", (FIXTURES / f"{name}.http").read_bytes(), maxsplit=1)
    lines = [line for line in head.decode().splitlines() if not line.lower().startswith(("date:", "content-length:"))]
    lines += [f"Date: {formatdate(date, usegmt=True)}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


SIGNS = {
    "searxng": {"Server": "granian", "Server-Timing": "total;dur=0.6, render;dur=0", "X-Download-Options": "noopen"},
    "bare": {"Server": "granian", "Server-Timing": "total;dur=0.6, render;dur=0"},  # before any setting is read
    "nginx": {"Server": "nginx/1.22.1"},
    "python": {"Server": "SimpleHTTP/0.6 Python/3.11.7"},
}


def made(server: str, status: str, body: str | None = None, headers: dict[str, str] | None = None) -> bytes:
    """Return a made-up answer: the server, its status, its body (a page by default)."""
    text = f"<!doctype html><html><head><title>{status}</title></head></html>" if body is None else body
    fields = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(text.encode()))}
    fields |= {"Date": formatdate(NOW, usegmt=True)} | SIGNS[server] | (headers or {})
    return "\r\n".join([f"HTTP/1.1 {status}", *(f"{k}: {v}" for k, v in fields.items()), "", text]).encode()


def compose(spec: Any) -> bytes:
    """Return the bytes of an answer: the name of a recorded one, the parts of a made one, or itself."""
    if isinstance(spec, bytes):
        return spec
    return recorded(spec) if isinstance(spec, str) else made(*spec)


@pytest.fixture
def replay() -> Iterator[Callable[..., Replay]]:
    """Give a function that serves answers by path."""
    servers = []

    def start(routes: Routes, *, closes: bool = False) -> Replay:
        asked: list[Asked] = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                words = self.rfile.readline().decode("latin-1").split()
                lines = iter(lambda: self.rfile.readline().decode("latin-1").strip(), "")
                headers = "\n".join(lines)
                if len(words) < 2 or closes:
                    return
                path = re.sub(r"^http://[^/]+", "", words[1])  # a proxy is given the whole address
                asked.append(Asked(path, headers))
                name = "search" if "q=" in path else "probe" if "format=json" in path else path
                self.wfile.write(compose(routes.get(name) or routes.get("*") or ("nginx", "404 Not Found")))

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return Replay(f"http://127.0.0.1:{server.server_address[1]}", asked)

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def healthy() -> Routes:
    """Give the answers of a server without fault."""
    return {
        "/healthz": "healthz",
        "/config": "config",
        "probe": "no_query_probe",
        "search": "search_ok",
        "/stats/errors": "stats_errors",
        "*": ("searxng", "404 Not Found"),
    }


class Examined(dict[str, Finding]):
    """The findings of one examination, by id."""

    @property
    def failed(self) -> list[str]:
        return [id for id, finding in self.items() if finding.state == "fail"]

    @property
    def problems(self) -> list[str]:
        return [id for id, finding in self.items() if finding.state in ("warn", "fail")]


@pytest.fixture
def examined() -> Callable[..., Examined]:
    """Give a function that examines an address and returns what was found, by id."""

    def run(address: str, account: Account = NO_ACCOUNT, timeout: float = 5.0, **environment: object) -> Examined:
        findings = list(examine(address, account, timeout, ENVIRONMENT._replace(**environment)))
        assert len({finding.id for finding in findings}) == len(findings)
        return Examined({finding.id: finding for finding in findings})

    return run
