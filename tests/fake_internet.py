"""A fake internet on loopback: the hosts of the default chains answer with the samples of their adapters.

Names resolve to one local server, which knows them by the Host header. Only TLS is left out: https URLs are sent as
plain HTTP, everything else of the HTTP layer is real.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from sleuth.store.default_chains import CHAINS, GENERAL
from sleuth_providers import registry
from sleuth_providers.base import Request, Response, Sample
from sleuth_providers.net import client
from sleuth_providers.net.http1 import exchange

Reply = tuple[int, dict[str, str], bytes]
HTML = {"Content-Type": "text/html; charset=utf-8"}
LOGIN_PAGE = b"<html><title>Free Wi-Fi</title><form action=/login><input name=room></form></html>"
OVER_QUOTA: Reply = (429, {"Content-Type": "application/json"}, b'{"error": "daily limit reached"}')
WALL: Reply = (
    202,
    HTML,
    b"<html><div class='anomaly-modal__title'>Unfortunately, bots use DuckDuckGo too.</div></html>",
)
PORTAL: Reply = (200, HTML, LOGIN_PAGE)
PORTAL_REDIRECT: Reply = (302, HTML | {"Location": "http://login.hotspot.example/"}, b"")


class FakeInternet:
    """The server, what each host replies, and which hosts were asked."""

    def __init__(self, family: socket.AddressFamily) -> None:
        self.replies: dict[str, Reply] = {}  # by host; "" for all others; the samples of adapters if neither is given
        self.hanging: set[str] = set()
        self.unknown: Callable[[str], bool] = lambda host: False
        self.asked: list[str] = []
        self.ended = threading.Event()
        self.samples = list(_samples())
        self.server = type("Server", (ThreadingHTTPServer,), {"address_family": family, "internet": self})(
            ("::1" if family == socket.AF_INET6 else "127.0.0.1", 0), _Handler
        )
        self.address, self.port = self.server.server_address[:2]

    def reply(self, host: str, target: str) -> Reply:
        """Return the reply of a host to a request."""
        self.asked.append(host)
        if host in self.hanging:
            self.ended.wait(60)
        known = self.replies.get(host) or self.replies.get("")
        return known or self._sample(host, target)

    def _sample(self, host: str, target: str) -> Reply:
        """Return the sample that was recorded at this address, with the most equal parameters."""
        wanted = urlsplit(target)
        here = [
            (len({*parse_qsl(place.query)} & {*parse_qsl(wanted.query)}), sample)
            for place, sample in self.samples
            if (_site(place.hostname), place.path.rstrip("/")) == (_site(host), wanted.path.rstrip("/"))
        ]
        if not here:
            return 404, HTML, b""
        sample = max(here, key=lambda entry: entry[0])[1]
        headers = {name: value for name, value in sample.headers.items() if name.lower() != "content-length"}
        return sample.status, headers, sample.body.encode()

    def transport(self, request: Request, *more: Any) -> Response:
        """Send a request to the server, as plain HTTP under the name of its host."""
        parts = urlsplit(request.url)
        here = request._replace(url=parts._replace(scheme="http", netloc=f"{parts.hostname}:{self.port}").geturl())
        return exchange(here, *more)._replace(url=request.address)

    def resolve(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        """Return the address of the server for every name that exists."""
        if self.unknown(host):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(self.server.address_family, socket.SOCK_STREAM, 6, "", (self.address, port))]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Read the body and send the reply of the host."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, body = self.server.internet.reply(self.headers["Host"].partition(":")[0], self.path)  # type: ignore[attr-defined]  # see FakeInternet
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _site(host: str | None) -> str:
    """Return a host; those of all Wikipedias are one."""
    return "wikipedia.org" if (host or "").endswith(".wikipedia.org") else host or ""


def _samples() -> Iterator[tuple[Any, Sample]]:
    """Yield the successful samples of all adapters in the default chains, with their addresses."""
    entries = [*GENERAL, *(entry for chain in CHAINS.values() for entry in chain)]
    known = set(registry.names())
    for id in dict.fromkeys(id for entry in entries for id in entry.split("+") if id in known and id != "library"):
        for sample in registry.load(id).samples:
            if not sample.error and sample.finds:
                yield urlsplit(sample.sends.split(" ", 1)[1]), sample


@contextmanager
def fake_internet(
    monkeypatch: pytest.MonkeyPatch, family: socket.AddressFamily = socket.AF_INET
) -> Iterator[FakeInternet]:
    """Run the server, and send every request of this process to it."""
    internet = FakeInternet(family)
    thread = threading.Thread(target=internet.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setattr(client, "transmit", internet.transport)
    monkeypatch.setattr(socket, "getaddrinfo", internet.resolve)
    try:
        yield internet
    finally:
        internet.ended.set()
        internet.server.shutdown()
        internet.server.server_close()
        monkeypatch.undo()
