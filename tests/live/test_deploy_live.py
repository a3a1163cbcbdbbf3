"""deploy/: the Dockerfile under a linter that knows the usual mistakes, and the proxy in front of two servers."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.live.conftest import free_port, needs, program, wait_for
from tests.servers import ROOT, WHEELS, environment

pytestmark = pytest.mark.live


@pytest.mark.skipif("hadolint" not in WHEELS, reason="there is no wheel of hadolint for this platform")
def test_linter_finds_no_fault_with_the_dockerfile() -> None:
    hadolint = environment("hadolint") / "bin" / "hadolint"
    done = subprocess.run([hadolint, ROOT / "deploy" / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


class Backend(BaseHTTPRequestHandler):
    """A server that says which one it is."""

    def do_GET(self) -> None:
        body = str(self.server.server_port).encode()  # type: ignore[attr-defined]  # of every HTTPServer
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[int]:
    """Give the port of the proxy of compose.yaml, in front of two servers on this machine."""
    caddy = needs("caddy")
    with ExitStack() as stack:
        backends = [ThreadingHTTPServer(("127.0.0.1", 0), Backend) for _ in range(2)]
        for backend in backends:
            threading.Thread(target=backend.serve_forever, daemon=True).start()
            stack.callback(backend.server_close)
            stack.callback(backend.shutdown)
        port, file = free_port(), tmp_path / "Caddyfile"
        servers = " ".join(f"127.0.0.1:{backend.server_port}" for backend in backends)
        text = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
        file.write_text(text.replace("dynamic a sleuth 7373", f"to {servers}").replace("\n:7373", f"\n:{port}"))
        words = [caddy, "run", "--config", str(file), "--adapter", "caddyfile"]
        own = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        process = stack.enter_context(program(words, tmp_path / "log", own))
        wait_for(port, process, tmp_path / "log")
        yield port


def answering(port: int, path: str, token: str) -> str:
    """Return which server answers a request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def test_proxy_keeps_an_mcp_session_on_one_server(proxy: int) -> None:
    for token in ("alice", "bob", "carol"):
        assert len({answering(proxy, "/mcp", token) for _ in range(10)}) == 1
    assert len({answering(proxy, "/mcp", f"token{number}") for number in range(30)}) == 2
    assert len({answering(proxy, "/healthz", "alice") for _ in range(60)}) == 2
