"""Attacks on the servers, `sleuth mcp` and `sleuth serve`: hostile text, hostile clients, signals at bad moments.

INVALID_LINES has messages that no MCP client should send, INVALID_REQUESTS the same for HTTP.
"""

import json
import random
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from html import escape
from pathlib import Path
from typing import Any

import pytest
from clients import Agent, Host, Program
from harness import LONG, Home, assert_clean, drop_privileges, well_behaved
from test_secrets import echo
from test_text import SHORT, URLS, hostile_server, parsed, strings

pytestmark = pytest.mark.adversarial

SECRETS = {
    "BRAVE_API_KEY": "brv-Xk4Pq8Wz2Lm6Tn",
    "SLEUTH_LLM_API_KEY": "llm-Jd7Rv3Hs9Yb5Gc",
    "SLEUTH_SERVE_TOKEN": "tok-Nf6Zt1Kp4Qx8Vw-Bm3Ds",
}
PASSWORD = "pwd-Cy2Lg7Ue9Sa5Ho"
STOPS = 24 if LONG else 4  # signals for each program while it starts
KILLS = 16 if LONG else 3
TICKS = 3000  # both programs need more to start
MAX_GROWTH_MB = 60
LINKS = "<!doctype html><title>Links</title><article><p>Many a link.</p>{}</article>"


def hostile_services(exchange: Any) -> None:
    """Answer with attacks, with an echo of the request, with links, or never, depending on the query."""
    words = exchange.request.decode("latin-1")
    if "stall" in words:
        exchange.test_over.wait()
    elif exchange.path.startswith("/links"):
        links = "".join(f'<p>Words around <a href="{escape(url)}">{escape(url)}</a>.</p>' for url in URLS)
        exchange.respond(LINKS.format(links).encode("utf-8", "replace"), "Content-Type: text/html; charset=utf-8")
    elif "echo" in words:
        echo(exchange)
    else:
        hostile_server(exchange)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, serve_module: Any) -> Home:
    """A home with secrets, whose servers are all hostile."""
    url = serve_module(hostile_services).url
    home = Home(tmp_path_factory.mktemp("serving"), url)
    home.environ |= SECRETS | {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    home.environ |= {"SLEUTH_WEBSEARCH_RETRIES": "1", "SLEUTH_WEBSEARCH_FALLBACK": "searxng"}
    home.environ |= {"SLEUTH_LLM_BASE_URL": url, "SEARXNG_URL": url.replace("://", f"://me:{PASSWORD}@")}
    home.main("providers", "set", "brave", "--api-host", url, "--api-key", "env:BRAVE_API_KEY")
    return home


@pytest.fixture(scope="module")
def benign(tmp_path_factory: pytest.TempPathFactory, serve_module: Any) -> Home:
    """A home with secrets and a well-behaved server."""
    home = Home(tmp_path_factory.mktemp("benign"), serve_module(well_behaved).url)
    home.environ |= SECRETS
    home.main("providers", "list")
    return home


@pytest.fixture
def keep() -> Iterator[Callable[[Any], Any]]:
    """Kill programs at the end of the test."""
    with ExitStack() as stack:
        yield lambda program: stack.callback(program.close) and program


def leaks(text: bytes) -> list[str]:
    hidden = {name: secret[4:-2] for name, secret in {**SECRETS, "password": PASSWORD}.items()}
    return [name for name, part in hidden.items() if part.encode() in text]


def examine(program: Program, home: Home, assert_plain: Any) -> None:
    """Check the stderr, log and command line of a running program."""
    assert_plain(response := program.stderr.read_bytes())
    assert_plain(log := (home.path / "state" / "sleuth.log").read_bytes())
    assert b"unexpected" not in response + log
    assert not leaks(response + log + Path(f"/proc/{program.process.pid}/cmdline").read_bytes())


# Hostile text

BAD = " ".join(SHORT).encode("utf-8", "replace").decode()  # JSON has no lone surrogates
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("web_search", {"query": "anything", "count": 10}),
    ("web_search", {"query": "echo"}),
    ("web_search", {"query": "no401 echo"}),
    ("web_search", {"query": BAD}),
    ("web_search", {"query": "x", "freshness": BAD}),
    ("web_search", {"query": "x", BAD: BAD}),
    ("fetch_page", {"url": "{url}/page0"}),
    ("fetch_page", {"url": "{url}/page1", "query": "village", "max_chars": 1000}),
    ("fetch_page", {"url": "{url}/page?echo"}),
    ("fetch_page", {"url": "{url}/moved"}),
    ("fetch_page", {"url": f"https://{BAD}"}),
    ("summarize", {"urls": ["{url}/page0", "{url}/page2", "{url}/moved"], "query": "village"}),
    ("summarize", {"urls": [*URLS[:10]]}),
    ("library_search", {"query": BAD}),
    ("ask", {"question": "anything"}),
    ("ask", {"question": "echo"}),
    (BAD, {BAD: BAD}),
)


def test_agent_gets_clean_text_and_no_secret(home: Home, assert_plain: Any, keep: Any) -> None:
    agent = keep(Agent(home, "--debug", "--provider", "searxng,brave"))
    received: list[Any] = [agent.ask("tools/list"), agent.ask("resources/read", uri=BAD)]
    for name, arguments in CALLS:
        received.append(agent.call(name, **json.loads(json.dumps(arguments).replace("{url}", home.url))))
    page = agent.call("fetch_page", url=f"{home.url}/links")[-1]["result"]["structuredContent"]
    parsed(page["content"])
    assert {message.get("method") for messages in received for message in messages} == {None, "notifications/progress"}
    for string in strings(received):
        assert_plain(string, tabs=True)
        assert not leaks(string.encode())
    examine(agent, home, assert_plain)
    assert agent.end().exit == 0


PATHS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/healthz", None),
    ("GET", "/openapi.json", None),
    ("GET", "/websearch-providers?limit=100", None),
    ("GET", "/websearch-providers/brave", None),
    ("GET", "/websearch-providers/{bad}", None),
    ("GET", "/websearch-providers?page={bad}&limit={bad}&{bad}", None),
    ("GET", "/{bad}", None),
    ("PATCH", "/websearch-providers/mojeek", {"basicAuthUsername": BAD}),
    ("PATCH", "/websearch-providers/mojeek", {"apiHost": f"https://{BAD}"}),
    ("PATCH", "/websearch-providers/mojeek", {"engines": [BAD], BAD: BAD}),
    ("PATCH", "/websearch-providers/brave", {"apiKey": SECRETS["BRAVE_API_KEY"]}),
    ("POST", "/websearch-providers/searxng/test", None),
    ("POST", "/websearch-providers/brave/test", None),
    ("POST", "/websearch/search", {"providerId": "searxng", "questions": ["anything"]}),
    ("POST", "/websearch/search", {"providerId": "brave", "questions": ["echo"]}),
    ("POST", "/websearch/search", {"providerId": "searxng", "questions": ["no401 echo"]}),
    ("POST", "/websearch/search", {"providerId": BAD, "questions": ["x"]}),
    ("POST", "/websearch/search", {"providerId": "searxng", "questions": [BAD[:400]], "tracing": {"user": BAD[:90]}}),
    ("POST", "/websearch/search", {"providerId": "searxng", "questions": ["summarize"], "links": ["{url}/page3"]}),
    ("POST", "/ask", {"question": "anything", "providerId": "searxng", "search": "on", "maxIterations": 1}),
    ("POST", "/ask", {"question": "echo", "providerId": "searxng", "search": "on", "maxIterations": 1}),
    ("POST", "/ask", {"question": "x", "language": BAD}),
)


def test_http_client_gets_clean_text_and_no_secret(home: Home, assert_plain: Any, keep: Any) -> None:
    host = keep(Host(home, "--debug"))
    quoted = "".join(f"%{byte:02x}" for byte in BAD.encode()[:3000])
    headers = f"User-Agent: {BAD.translate(dict.fromkeys([0, 10, 11, 12, 13, 28, 29, 30, 133]))}\r\n"
    inspect(host.exchange(host.request("GET", "/healthz", None, headers)), assert_plain)
    statuses = set()
    for method, path, body in PATHS:
        given = json.loads(json.dumps(body).replace("{url}", home.url))
        response = host.exchange(
            host.request(method, path.replace("{bad}", quoted), given, "Accept: text/event-stream\r\n")
        )
        inspect(response, assert_plain)
        statuses.add(response.split(b" ")[1])
    assert statuses >= {b"200", b"400", b"404", b"500"}
    for token in ("", "Bearer ", f"Bearer x{SECRETS['SLEUTH_SERVE_TOKEN']}", "Bearer \u202e\u009b", "Basic bWU6bWU="):
        usual = f"Host: 127.0.0.1:{host.port}\r\nAuthorization: {token}\r\nConnection: close\r\n\r\n"
        response = host.exchange(f"GET /openapi.json HTTP/1.1\r\n{usual}".encode())
        assert response.startswith((b"HTTP/1.1 401 ", b"HTTP/1.1 400 "))
        inspect(response, assert_plain)
    examine(host, home, assert_plain)
    assert host.end(signal.SIGTERM).exit == 0


def inspect(response: bytes, assert_plain: Any) -> None:
    """Check the head of a response, its body, and every string in its JSON or events."""
    head, _, body = response.partition(b"\r\n\r\n")
    assert_plain(head.replace(b"\r\n", b"\n"))
    assert not leaks(response), response[:3000]
    events = re.findall(rb"^data: (.*)$", body, re.MULTILINE) if b"text/event-stream" in head else [body]
    assert events
    for event in events:
        assert_plain(event)
        for string in strings(json.loads(event)):
            assert_plain(string, tabs=True)


# Hostile clients

CALL = b'{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "web_search", "arguments": %b}}'
INVALID_LINES: dict[str, bytes] = {
    "a line that breaks off": b'{"jsonrpc": "2.0", "id": "x", "method": "pi',
    "a deep line": b"[" * 10_000 + b"]" * 10_000,
    "deep arguments": CALL % (b'{"a": ' * 10_000 + b"1" + b"}" * 10_000),
    "arguments just not too deep": CALL % (b'{"a": ' * 150 + b"1" + b"}" * 150),
    "no number": CALL % b'{"query": "x", "count": NaN}',
    "an endless number": CALL % b'{"query": "x", "count": 1e999}',
    "a number of 5000 digits": b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}',
    "a list for an id": b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}',
    "nothing for an id": b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    "half a number for an id": b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    "a batch": b'[{"jsonrpc": "2.0", "id": "x", "method": "ping"}]',
    "a list for parameters": b'{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": [1]}',
    "a list for arguments": CALL % b"[1]",
    "an answer to nothing": b'{"jsonrpc": "2.0", "id": "x", "result": {}}',
    "an error that is none": b'{"jsonrpc": "2.0", "id": "x", "error": {"code": "x", "message": 5}}',
    "notifications of nothing": b'{"jsonrpc": "2.0", "method": "notifications/nothing"}\n' * 3000,
    "a call that is none": b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}',
    "bytes that are no text": b"\xff\xfe\x00\x9b31m",
    "half a character": CALL % b'{"query": "\\ud800"}',
}


def test_invalid_lines_do_not_disturb_the_next_call(home: Home, assert_plain: Any, keep: Any) -> None:
    agent = keep(Agent(home))
    before = agent.megabytes
    for name, line in INVALID_LINES.items():
        agent.write(line)
        received = agent.ask("ping")
        assert received[-1]["result"] == {}, name
        assert_plain(json.dumps(received, ensure_ascii=False))
    assert agent.megabytes - before < MAX_GROWTH_MB
    assert agent.call("library_search", query="searxng")[-1]["result"]["structuredContent"]["results"]
    assert agent.end()[::2] == (0, b"")


def test_call_over_the_limit_is_refused(home: Home, keep: Any) -> None:
    agent = keep(Agent(home))
    for number in range(16 + 256 + 1):
        last = agent.send("tools/call", name="web_search", arguments={"query": f"stall {number}"})
    received = agent.receive(last)
    assert "code: BUSY" in received[-1]["result"]["content"][0]["text"]
    assert agent.ask("ping")[-1]["result"] == {}
    assert_clean(agent.end(), exits=(0,))


USUAL = "POST /websearch/search HTTP/1.1\r\n{usual}Content-Type: application/json\r\n"
BODY = '{"providerId": "library", "questions": ["x"]}'
HIDDEN = "GET /hidden HTTP/1.1\r\n{usual}\r\n"
INVALID_REQUESTS: dict[str, str] = {  # the client ends those that wait for more, the server all others
    "waits: a body that is shorter than declared": USUAL + "Content-Length: 500\r\n\r\n" + BODY,
    "waits: a chunk that is shorter than declared": USUAL + "Transfer-Encoding: chunked\r\n\r\nfffffffffff\r\nabc\r\n",
    "waits: half a head": USUAL + "X",
    "a body that is longer than declared": USUAL + "Connection: close\r\nContent-Length: 10\r\n\r\n" + BODY,
    "two lengths": USUAL + "Content-Length: 45\r\nContent-Length: 46\r\n\r\n" + BODY,
    "a length and chunks": USUAL + "Content-Length: 45\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunks and a length": USUAL + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + HIDDEN,
    "chunks that are none": USUAL + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n" + HIDDEN,
    "a chunk of less than nothing": USUAL + "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n" + HIDDEN,
    "a code nobody knows": USUAL + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "two codes": USUAL + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + HIDDEN,
    "a name with a blank": USUAL + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    "endless trailers": USUAL + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + "x: y\r\n" * 20_000,
    "a header of 100 kB": USUAL + "Connection: close\r\nX: " + "x" * 100_000 + "\r\n\r\n",
    "10,000 headers": USUAL + "Connection: close\r\n" + "X: y\r\n" * 10_000 + "\r\n",
    "a deep body": USUAL + "Connection: close\r\nContent-Length: 20000\r\n\r\n" + "[" * 10_000 + "]" * 10_000,
    "a body of one number": USUAL + "Connection: close\r\nContent-Length: 900000\r\n\r\n" + "9" * 900_000,
    "an address of another": "GET http://evil.test/healthz HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "two slashes": "GET //evil.test/healthz HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "a way up": "GET /openapi.json/../healthz HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "a zero in the path": "GET /websearch-providers/%00 HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "a zero in a header": "GET /healthz HTTP/1.1\r\n{usual}X: a\0b\r\n\r\n",
    "a TLS handshake": "\x16\x03\x01\x02\0\x01\0\x01\x7c\x03\x03" + "\0" * 100 + "\r\n\r\n",
    "garbage": "GARBAGE\r\n\r\n",
    "HTTP/0.9": "GET /healthz\r\n\r\n",
    "a tunnel": "CONNECT evil.test:443 HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "a trace": "TRACE / HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "a method of 3000 letters": "M" * 3000 + " / HTTP/1.1\r\n{usual}Connection: close\r\n\r\n",
    "a name that begins like ours": "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:{port}.evil.test\r\n\r\n",
    "two tokens": "GET /openapi.json HTTP/1.1\r\nAuthorization: Bearer x\r\n{usual}Connection: close\r\n\r\n",
}


def test_invalid_requests_cost_neither_memory_nor_the_next_request(benign: Home, assert_plain: Any, keep: Any) -> None:
    host = keep(Host(benign))
    before = host.megabytes
    for name, text in INVALID_REQUESTS.items():
        filled = text.replace("{usual}", host.usual).replace("{port}", str(host.port))
        response = host.exchange(filled.encode(), half_close=name.startswith("waits"))
        assert_plain(response.replace(b"\r\n", b"\n"))
        assert re.findall(rb"HTTP/1.1 (\d)", response) in ([b"4"], []), (name, response)
        assert response or name.startswith("waits") or len(text) > 50_000, (
            name
        )  # long requests may be reset while they are sent
        assert host.call("GET", "/healthz")[0] == 200, name
    assert b"/hidden" not in (benign.path / "state" / "sleuth.log").read_bytes(), "a body was taken for a request"
    assert host.megabytes - before < MAX_GROWTH_MB
    assert assert_clean(host.end(signal.SIGTERM), exits=(0,)).out == b""


def test_idle_slow_and_vanishing_clients_do_not_block_others(home: Home, keep: Any) -> None:
    host = keep(Host(home))
    before = host.megabytes
    slow = host.request("POST", "/websearch/search", {"providerId": "searxng", "questions": ["x" * 300]})
    question = {"question": "stall", "providerId": "searxng", "search": "on"}
    with ExitStack() as crowd:
        idle = [crowd.enter_context(host.open()) for _ in range(200)]
        for stream in [crowd.enter_context(host.open()) for _ in range(6)]:
            stream.sendall(host.request("POST", "/ask", question, "Accept: text/event-stream\r\n"))
            assert b"text/event-stream" in stream.recv(4096)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # gone with a reset
            stream.close()
        for place in range(0, len(slow) - 20, 9):
            for number, stream in enumerate(idle[:30]):
                stream.sendall(slow[place : place + 1] if number % 2 else slow[: -5 - number] if not place else b"")
            if place % 5 == 0:
                assert host.call("GET", "/healthz")[0] == 200
        assert host.call("POST", "/websearch/search", {"providerId": "library", "questions": ["searxng"]})[0] == 200
    assert host.megabytes - before < MAX_GROWTH_MB
    assert_clean(host.end(signal.SIGTERM), exits=(0,))


# Imported by every Python process of a home: pages about freezing are never parsed to the end, and keep Python's lock.
FREEZE = """
import re
from pathlib import Path
from sleuth.pages import extract as module
original = module.extract

def extract(page, until=None):
    if b"freeze" in page.body:
        Path({mark!r}).touch()
        re.match("(a|a)*b", "a" * 100)
    return original(page, until)

module.extract = extract
"""


@pytest.fixture
def freezing(benign: Home, tmp_path: Path, serve: Any) -> tuple[Home, str, Path]:
    """A home whose parser freezes on one page, the URL of the page, and a file that exists once it is parsed."""

    def respond(exchange: Any) -> None:
        exchange.respond(b"freeze" if exchange.path == "/freeze" else b"A larch.", "Content-Type: text/plain")

    home, mark, url = benign.copy(tmp_path / "freezing"), tmp_path / "mark", serve(respond).url
    (tmp_path / "sitecustomize.py").write_text(FREEZE.format(mark=str(mark)))
    home.environ |= SECRETS | {"PYTHONPATH": str(tmp_path), "SLEUTH_FETCH_TIMEOUT": "5"}
    home.environ |= {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    return home, url, mark


def wait_for(mark: Path) -> None:
    while not mark.exists():
        time.sleep(0.01)


@pytest.mark.timeout(300)
def test_page_that_freezes_the_parser_ends_in_an_error_while_the_http_server_answers(
    freezing: tuple[Home, str, Path], keep: Any
) -> None:
    home, url, mark = freezing
    host = keep(Host(home))

    def summarize(path: str) -> tuple[int, bytes]:
        body = {"providerId": "auto", "questions": ["summarize"], "links": [f"{url}/{path}"]}
        status, received = host.call("POST", "/websearch/search", body)
        return int(status), received

    assert summarize("larch")[0] == 200  # by now there is a worker
    with ThreadPoolExecutor(1) as client:
        frozen = client.submit(summarize, "freeze")
        wait_for(mark)
        assert host.call("GET", "/healthz")[0] == 200
        status, received = frozen.result()
    assert (status, b"was not read in time" in received) == (500, True)
    assert summarize("larch?again")[0] == 200


@pytest.mark.timeout(300)
def test_page_that_freezes_the_parser_ends_in_an_error_while_the_agent_is_answered(
    freezing: tuple[Home, str, Path], keep: Any
) -> None:
    home, url, mark = freezing
    agent = keep(Agent(home))
    assert "larch" in str(agent.call("fetch_page", url=f"{url}/larch")[-1])
    frozen = agent.send("tools/call", name="fetch_page", arguments={"url": f"{url}/freeze"})
    wait_for(mark)
    pinged = agent.send("ping")
    messages = agent.receive(frozen)
    assert pinged in [message.get("id") for message in messages[:-1]]
    assert "was not read in time" in messages[-1]["result"]["content"][0]["text"]
    assert "larch" in str(agent.call("fetch_page", url=f"{url}/larch?again")[-1])


# Signals and crashes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("words", [("mcp",), ("serve", "--port", "0")], ids=lambda words: words[0])
def test_signal_during_start_ends_it(words: tuple[str, ...], number: signal.Signals, benign: Home) -> None:
    chance = random.Random(f"{words} {number}")
    for _ in range(STOPS):
        running = benign.start(*words)
        running.wait_for_ticks(chance.randint(0, TICKS))
        running.process.send_signal(number)
        result = running.end()
        errors = b"".join(line for line in result.err.splitlines(True) if not line.startswith(b"serving "))
        assert_clean(result._replace(err=errors), exits=(130, -number) if number == signal.SIGINT else (0, -number))
        assert errors.strip() in (b"", b"error: interrupted")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_signal_ends_a_server_whose_searches_all_hang(number: signal.Signals, home: Home, keep: Any) -> None:
    host = keep(Host(home))
    search = {"providerId": "searxng", "questions": ["stall"]}
    with ExitStack() as streams:
        for _ in range(20):
            streams.enter_context(host.open()).sendall(host.request("POST", "/websearch/search", search))
        assert host.call("GET", "/healthz")[0] == 200
        result = host.end(number)
    assert result.exit == (130 if number == signal.SIGINT else 0)
    assert b"Traceback" not in result.err


def test_read_only_home_and_full_stderr_do_not_stop_the_servers(benign: Home, tmp_path: Path, keep: Any) -> None:
    locked = benign.copy(tmp_path)
    locked.environ |= SECRETS
    folders = [path for path in (locked.path, *locked.path.rglob("*")) if path.is_dir()]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with open("/dev/full", "wb") as full:
        try:
            for folder in folders:
                folder.chmod(0o500)
            server = keep(Program(locked, "serve", "--port", str(port), stderr=full, preexec_fn=drop_privileges))
            reply = b""
            while not reply:
                with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)) as stream:
                    stream.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
                    reply = stream.recv(4096)
                time.sleep(0.05)
            assert reply.startswith(b"HTTP/1.1 200 ")
            assert server.end(signal.SIGTERM).exit == 0
            result = locked.run("mcp", before=drop_privileges)
            assert (result.exit, result.out, result.err) == (0, b"", b"")
        finally:
            for folder in folders:
                folder.chmod(0o700)


BAD_OPTIONS = (
    "--port -1",
    "--port 65536",
    "--port x",
    "--port {taken}",
    "--host \x1b[31m\u202e",
    "--host 192.0.2.1",
)


@pytest.mark.parametrize("line", BAD_OPTIONS)
def test_invalid_address_is_an_error_of_two_lines(line: str, benign: Home, assert_plain: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        result = benign.main("serve", *line.format(taken=listener.getsockname()[1]).split(), exits=(1, 2))
    assert len(assert_plain(result.err).splitlines()) == 2


def test_concurrent_searches_and_changes_lose_nothing(benign: Home, keep: Any) -> None:
    host = keep(Host(benign))

    def send(number: int) -> tuple[int, Any]:
        if number % 4 == 0:
            change = {"basicAuthUsername": f"user {number}"}
            status, body = host.call("PATCH", "/websearch-providers/mojeek", change)
        else:
            search = {"providerId": "searxng", "questions": [f"crowd {number % 8}"]}
            status, body = host.call("POST", "/websearch/search", search)
        return status, json.loads(body)

    with ThreadPoolExecutor(64) as pool:
        replies = list(pool.map(send, range(64)))
    assert {status for status, _ in replies} == {200}
    assert [body["basicAuthUsername"] for _, body in replies[::4]] == [f"user {number}" for number in range(0, 64, 4)]
    assert all(len(body["results"]) == 5 for place, (_, body) in enumerate(replies) if place % 4)
    assert_clean(host.end(signal.SIGTERM), exits=(0,))


def test_confirmed_change_survives_a_kill(benign: Home, keep: Any) -> None:
    chance, done, begun = random.Random("kills"), 0, 0
    for _ in range(KILLS):
        host = keep(Host(benign))
        last = begun + chance.randint(2, 6)
        with suppress(OSError, IndexError):
            while True:
                begun += 1
                if begun == last:
                    threading.Timer(chance.uniform(0, 0.05), host.process.kill).start()
                change = {"basicAuthUsername": f"{begun}", "apiHost": f"https://h{begun}.test"}
                assert host.call("PATCH", "/websearch-providers/mojeek", change)[0] == 200
                done = begun
        row = json.loads(benign.main("providers", "show", "mojeek", "--json").out)
        assert row["basicAuthUsername"] in (f"{done}", f"{begun}")
        assert row["apiHost"] == f"https://h{row['basicAuthUsername']}.test", "a change was written in part"
        done = int(row["basicAuthUsername"])
    assert done >= KILLS
