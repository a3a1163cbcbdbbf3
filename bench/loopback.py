"""A server on loopback that responds like the providers, over HTTP and HTTPS, fast or slowly, and serves pages."""

import json
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

SLOWEST_S = 0.8  # the delay of the last of eight instances
SENTENCE = "Tokio and async-std are runtimes for asynchronous Rust programs. "


def hits(count: int) -> list[dict[str, object]]:
    """Return results in the format of SearXNG."""
    return [
        {
            "url": f"https://example.org/page/{number}",
            "title": f"Result {number} about async runtimes in Rust",
            "content": SENTENCE * 2,
            "engines": ["one", "two"],
            "score": 1.0 / number,
        }
        for number in range(1, count + 1)
    ]


def _searxng(count: int) -> bytes:
    return json.dumps({"query": "q", "results": hits(count), "answers": [], "unresponsive_engines": []}).encode()


HTML = "".join(
    f'<div class="result results_links results_links_deep web-result">'
    f'<h2 class="result__title"><a class="result__a" href="{hit["url"]}">{hit["title"]}</a></h2>'
    f'<a class="result__snippet" href="{hit["url"]}">{hit["content"]}</a></div>'
    for hit in hits(10)
)
DUCKDUCKGO = f'<html><body><div id="links" class="results">{HTML}</div></body></html>'.encode()
SEARXNG = _searxng(10)
TAVILY = json.dumps({"query": "q", "results": hits(10), "response_time": 0.1}).encode()
# 100 kB each: an article with navigation, and plain text.
PARAGRAPH = f"<p>{SENTENCE * 5}</p>\n"
ARTICLE = f"<html><head><title>A page</title></head><body><nav><a href='/'>Home</a></nav><article>{PARAGRAPH * 300}"
ARTICLE_PAGE = f"{ARTICLE[:99_900]}</article></body></html>".encode()
TEXT_PAGE = (SENTENCE * 8 + "\n\n").encode() * 192


class Handler(BaseHTTPRequestHandler):
    """Responds like SearXNG, DuckDuckGo and Tavily within a millisecond, and serves pages."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Respond to a search of SearXNG, at /slow/N/search after a delay, or send a page."""
        parts = urlsplit(self.path)
        first, *rest = parts.path.strip("/").split("/")
        if first in ("article", "text"):
            body = ARTICLE_PAGE if first == "article" else TEXT_PAGE
            self._respond(body, f"text/{'html' if first == 'article' else 'plain'}; charset=utf-8")
            return
        if first == "slow":
            time.sleep(SLOWEST_S * int(rest[0]) / 8)
        words = parse_qs(parts.query).get("q", [""])[0].split()
        many = int(words[-1]) if len(words) > 1 and words[-2] == "results" else 0
        self._respond(_searxng(many) if many else SEARXNG, "application/json")

    def do_POST(self) -> None:
        """Respond to the form of DuckDuckGo or the API of Tavily."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        page = self.path.startswith("/html")
        self._respond(DUCKDUCKGO if page else TAVILY, "text/html; charset=utf-8" if page else "application/json")

    def _respond(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """Accepts many connections at once; with the default backlog of five, others wait a second to retry."""

    request_queue_size = 128
    daemon_threads = True


class Addresses(NamedTuple):
    """The URLs of the server, and a folder with its certificate for SSL_CERT_DIR.

    Programs load the certificates of the system as usual, some of them the whole bundle.
    """

    http: str
    https: str
    certificates: Path


def _hashed(certificate: Path) -> Path:
    """Return a folder with the certificate under its hashed name, as OpenSSL expects it."""
    command = ["openssl", "x509", "-noout", "-hash", "-in", str(certificate)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    folder = certificate.with_name("certificates")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.0").write_bytes(certificate.read_bytes())
    return folder


@contextmanager
def serve(folder: Path) -> Iterator[Addresses]:
    """Serve on loopback while the block runs."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    request += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(request, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    plain, secure = (Server(("127.0.0.1", 0), Handler) for _ in range(2))
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    for server in (plain, secure):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        http, https = f"http://127.0.0.1:{plain.server_port}", f"https://127.0.0.1:{secure.server_port}"
        yield Addresses(http, https, _hashed(certificate))
    finally:
        for server in (plain, secure):
            server.shutdown()
            server.server_close()
