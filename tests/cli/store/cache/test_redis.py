"""The shared cache without a real server: addresses, hidden passwords, servers that stall or answer nonsense."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth.api import Client
from sleuth.base.errors import MissingExtraError, SettingsError
from sleuth.base.logs import safe
from sleuth.base.urls import mask_login
from sleuth.engine.found import found_as_json, found_from_json
from sleuth.store.cache.disk import DiskCache
from sleuth.store.cache.redis import contents
from sleuth.store.cache.redis.address import RedisAddress, find_address
from sleuth.store.cache.redis.cache import RedisCache
from sleuth.store.cache.redis.connection import RedisConnection, packed
from sleuth.store.cache.redis.server import RedisServer, RedisUnavailableError, key_slot
from sleuth_providers.base import DirectAnswer, Found, Result

HITS = {"results": [{"url": "https://a.example/1", "title": "First", "content": "About rust."}]}

# Addresses


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("redis://host", RedisAddress("host"), "redis://host:6379/0"),
        ("valkey://host:7000/3", RedisAddress("host", 7000, database=3), "redis://host:7000/3"),
        ("redis://host?db=4", RedisAddress("host", database=4), "redis://host:6379/4"),
        ("redis://:pw@host/", RedisAddress("host", password="pw"), "redis://host:6379/0"),
        (
            "rediss://me:p%40%2F@host",
            RedisAddress("host", user="me", password="p@/", secure=True),
            "rediss://host:6379/0",
        ),
        ("valkeys://host/1", RedisAddress("host", database=1, secure=True), "rediss://host:6379/1"),
        ("redis://[::1]:7000", RedisAddress("::1", 7000), "redis://[::1]:7000/0"),
        ("unix:///run/redis.sock", RedisAddress(path="/run/redis.sock"), "unix:///run/redis.sock"),
        (
            "unix://me:pw@/run/redis%20x?db=2",
            RedisAddress(path="/run/redis x", user="me", password="pw", database=2),
            "unix:///run/redis x?db=2",
        ),
    ],
)
def test_url_is_parsed_and_shown_without_login(text: str, address: RedisAddress, shown: str) -> None:
    found = find_address(text, {})
    assert found == address
    assert found.shown == shown


@pytest.mark.parametrize(
    "text",
    [
        "redis://",
        "redis://host:port",
        "redis://:secret/word@host",
        "redis://host/x",
        "redis://host/-1",
        "redis://host/99999999",
        "redis://[::1",
        "unix://host/path",
        "unix://",
        "http://host",
        "host:6379",
    ],
)
def test_invalid_url_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        find_address(text, {})
    said = f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
    assert "secret" not in said


def test_url_may_come_from_the_environment() -> None:
    assert find_address("env:CACHE", {"CACHE": "redis://host:7000"}).port == 7000
    assert find_address("cmd:echo redis://host:7001", {}).port == 7001
    with pytest.raises(SettingsError, match="env:CACHE"):
        find_address("env:CACHE", {})


def test_greeting_names_user_and_database_where_there_are_any() -> None:
    assert find_address("redis://host", {}).greeting == []
    assert find_address("redis://:pw@host/2", {}).greeting == [("AUTH", "pw"), ("SELECT", "2")]
    assert find_address("redis://me:pw@host", {}).greeting == [("AUTH", "me", "pw")]


def test_password_is_hidden_from_the_log() -> None:
    find_address("redis://:very%2Fsecret@host", {})
    assert "secret" not in safe("the server said very/secret and very%2Fsecret")


# Passwords are never shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("redis://me:secret@host:6379/0", "redis://…@host:6379/0"),
        ("redis://:se@cr/et@host", "redis://…@host"),
        ("me:secret@host", "…@host"),
        ("unix:///run/redis.sock?password=secret&db=1", "unix:///run/redis.sock?password=…&db=1"),
        ("https://me:secret@host/v1", "https://…@host/v1"),
        ("https://me:se/cret@host/v1", "https://…@host/v1"),
        ("https://host:8080/@me/v1", "https://host:8080/@me/v1"),
        ("'https://me:secret@host'", "'https://…@host'"),
        ("", ""),
    ],
)
def test_login_in_an_address_is_masked(address: str, shown: str) -> None:
    assert mask_login(address) == shown


@pytest.mark.parametrize(
    "words",
    [
        ("config", "show"),
        ("config", "show", "--json", "--origin"),
        ("config", "get", "cache.url"),
        ("config", "get", "llm.base_url", "--json"),
        ("config", "validate"),
        ("config", "set", "cache.url", "http://me:secret-word@host"),
        ("doctor", "--only", "install.settings"),
        ("doctor", "--only", "cache"),
        ("cache", "stats", "--json"),
        ("search", "--offline", "-p", "library", "--debug", "json"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("url", ["redis://me:secret-word@127.0.0.1:1", "https://me:secret-word@h", "me:secret-word@h"])
def test_password_in_an_address_reaches_no_output(sleuth: Any, words: tuple[str, ...], url: str) -> None:
    address = {"SLEUTH_LLM_BASE_URL": "https://me:secret-word@host/v1"}
    done = sleuth(*words, SLEUTH_CACHE_URL=url, **address)
    assert done.out + done.err
    assert "secret-word" not in done.out + done.err
    assert not any("secret-word" in path.read_text("utf-8", "replace") for path in sleuth.home.rglob("*.log"))


def test_value_of_another_kind_is_masked_too(sleuth: Any) -> None:
    sleuth.home.mkdir()
    sleuth("config", "set", "cache.ttl_minutes", "5")
    path = Path(sleuth("config", "path").out.strip())
    path.write_text('[cache]\nurl = ["redis://:secret-word@host"]\n')
    done = sleuth("config", "validate")
    assert done.exit == 2
    assert "…@host" in done.err
    assert "secret-word" not in done.err


def test_url_with_a_password_is_read_from_stdin(sleuth: Any) -> None:
    assert sleuth("config", "set", "cache.url", "-", stdin="redis://:secret-word@host\n").exit == 0
    assert sleuth("config", "get", "cache.url").out == "redis://…@host\n"
    assert "redis://:secret-word@host" in Path(sleuth("config", "path").out.strip()).read_text()


def test_empty_variable_is_a_warning(sleuth: Any) -> None:
    done = sleuth("search", "--offline", "-p", "library", "--json", "searxng", SLEUTH_CACHE_URL="env:NOWHERE")
    assert (done.exit, done.json["outcome"]) == (0, "success")
    assert "cache.url refers to env:NOWHERE, which is empty" in done.err


def test_missing_keyring_stops_no_search(sleuth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> str:
        raise MissingExtraError("the system keyring needs the `keyring` extra")

    monkeypatch.setattr("sleuth.store.cache.redis.address.resolve", missing)
    done = sleuth("search", "--offline", "-p", "library", "--json", "searxng", SLEUTH_CACHE_URL="keyring:")
    assert done.exit == 0
    assert "the system keyring needs the `keyring` extra" in done.err


# Servers that answer nonsense or stall


class FakeServer:
    """Answers every connection with what the test says, and remembers what it was sent."""

    def __init__(self, answer: Callable[[socket.socket], None]) -> None:
        self.answer, self.connections = answer, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=(caller,), daemon=True).start()

    def _talk(self, caller: socket.socket) -> None:
        with caller:
            try:
                while caller.recv(65536):
                    self.answer(caller)
            except OSError:
                return

    def stop(self) -> None:
        self.listener.close()
        self.thread.join(5)


@pytest.fixture
def serve() -> Iterator[Callable[..., FakeServer]]:
    """Give a function that starts a server which always says the same."""
    started: list[FakeServer] = []

    def start(answer: bytes | Callable[[socket.socket], None]) -> FakeServer:
        started.append(FakeServer((lambda caller: caller.sendall(answer)) if isinstance(answer, bytes) else answer))
        return started[-1]

    yield start
    for fake in started:
        fake.listener.shutdown(socket.SHUT_RDWR)
        fake.stop()


def at(url: str, warn: Callable[[str], None] = lambda _: None) -> RedisServer:
    return RedisServer(find_address(url, {}), warn)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"$9999999999999\r\n",
        b"$x\r\n",
        b"*1\r\n" * 50,
        b"*99999999999\r\n" + b":1\r\n" * 2_000_000,
        b"x" * 8_000_000,
        b":" + b"9" * 10_000 + b"\r\n",
        b"\r\n",
    ],
    ids=lambda answer: str(answer[:16]),
)
def test_invalid_reply_falls_back_to_the_disk_cache(
    serve: Callable[..., FakeServer], answer: bytes, tmp_path: Path
) -> None:
    warnings: list[str] = []
    server = at(serve(answer).url, warnings.append)
    cache = RedisCache(server, "answer", DiskCache(str(tmp_path), 10))
    assert cache.get("k") is None
    cache.put("k", 1, 60)
    assert cache.get("k")  # from the disk
    assert len(warnings) == 1
    assert "not a Redis or Valkey server" in warnings[0]
    server.close()


@pytest.mark.parametrize(
    ("text", "shown", "expected"),
    [
        (
            "redis://a:7000,b:7001,[::1]/0",
            "redis://a:7000,b:7001,[::1]:6379/0",
            {"others": (("b", 7001), ("::1", 6379))},
        ),
        (
            "redis+sentinel://a,b:5000/main/3",
            "redis+sentinel://a:26379,b:5000/main/3",
            {"service": "main", "database": 3},
        ),
        ("rediss+sentinel://u:p%40@a/main", "rediss+sentinel://a:26379/main/0", {"password": "p@", "secure": True}),
        (
            "rediss://a?ssl_certfile=/c.pem&ssl_keyfile=/k.pem&ssl_ca_certs=/ca.pem",
            "rediss://a:6379/0",
            {"certificate": "/c.pem", "key": "/k.pem", "authority": "/ca.pem"},
        ),
    ],
)
def test_nodes_sentinels_and_certificates_are_parsed(text: str, shown: str, expected: dict[str, Any]) -> None:
    address = find_address(text, {})
    assert address.shown == shown
    assert {name: getattr(address, name) for name in expected} == expected


@pytest.mark.parametrize("text", ["redis+sentinel://a:26379", "redis://a:0", "redis://a,b:x", "unix+sentinel:///a/b"])
def test_incomplete_addresses_are_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        find_address(text, {})


@pytest.mark.parametrize(
    ("command", "slot"),
    [
        (("GETRANGE", "foo", 0, 1), 12182),
        (("EVAL", "script", 1, "foo", "x"), 12182),
        (("SET", "a{foo}b", "x"), 12182),
        (("SET", "{}foo", "x"), 9500),
        (("SCAN", "0"), -1),
        (("PING",), -1),
    ],
)
def test_slot_of_a_key_is_that_of_the_cluster(command: tuple[str, ...], slot: int) -> None:
    assert key_slot(command) == slot


def test_number_in_place_of_an_entry_is_a_miss(serve: Callable[..., FakeServer], tmp_path: Path) -> None:
    server = at(serve(b":1\r\n:1\r\n").url)
    assert RedisCache(server, "answer", DiskCache(str(tmp_path), 10)).get("k") is None
    server.close()


def test_dripping_reply_times_out(serve: Callable[..., FakeServer], monkeypatch: pytest.MonkeyPatch) -> None:
    def drip(caller: socket.socket) -> None:
        caller.sendall(b"$100000\r\n")
        while True:
            caller.sendall(b"x")
            time.sleep(0.02)  # forever: only the deadline of the client ends it

    monkeypatch.setattr("sleuth.store.cache.redis.server.REPLY_TIMEOUT_S", 0.1)
    server = at(serve(drip).url)
    with pytest.raises(RedisUnavailableError, match="timed out"):
        server.execute(("GET", "k"))
    server.close()


def test_failed_server_is_not_used_again_for_a_while(serve: Callable[..., FakeServer], tmp_path: Path) -> None:
    fake = serve(lambda caller: caller.close())
    warnings: list[str] = []
    server = at(fake.url, warnings.append)
    cache = RedisCache(server, "answer", DiskCache(str(tmp_path), 10))
    for number in range(20):
        cache.put(str(number), number, 60)
        assert cache.get(str(number))
        with cache.single_flight(str(number), 5):
            pass
        assert server.reserve("x", 1, 1) is None
    assert fake.connections == 1
    assert len(warnings) == 1


def test_threads_of_a_program_share_the_failure(
    serve: Callable[..., FakeServer], sleuth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sleuth.store.cache.redis.server.RETRY_AFTER_S", 1e6)  # three searches of a busy machine
    fake = serve(lambda caller: caller.close())
    client = Client(sleuth.environ | {"SLEUTH_CACHE_URL": fake.url})

    def search() -> None:
        with client:
            client.search("searxng", providers="library", content=True)

    for _ in range(3):
        thread = threading.Thread(target=search)
        thread.start()
        thread.join()
    assert fake.connections == 1


def test_connection_of_work_that_outlives_the_server_is_closed(serve: Callable[..., FakeServer]) -> None:
    server = at(serve(b"+PONG\r\n").url)
    server.close()
    server.execute(("PING",))
    assert server._idle == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"-LOADING Redis is loading", "still loading"),
        (b"-OOM command not allowed", "out of memory"),
        (b"-READONLY You can't write", "replica"),
        (b"-MISCONF Redis is configured", "does not accept writes"),
        (b"-DENIED Redis is running in protected mode", "local connections only"),
        (b"-CLUSTERDOWN the cluster is down", "the cluster is down"),
        (b"-ERR max number of clients reached", "connection limit"),
        (b"-ERR invalid password", "wrong user name or password"),
        (b"-ERR Error running script (call to f_1): @user_script:3: -READONLY You can't write", "replica"),
        (b"-STRANGE \x1b[31m secret", "the error STRANGE"),
    ],
    ids=str,
)
def test_error_reply_is_explained(serve: Callable[..., FakeServer], line: bytes, reason: str) -> None:
    warnings: list[str] = []
    server = at(serve(line + b"\r\n").url, warnings.append)
    with pytest.raises(RedisUnavailableError, match=reason):
        server.execute(("PING",))
    assert reason in warnings[0]
    assert "\x1b" not in warnings[0]
    assert "secret" not in warnings[0]
    server.close()


@pytest.mark.parametrize(
    "answer", [b"+OK\r\n", b"*2\r\n$1\r\n0\r\n:1\r\n", b"*2\r\n$1\r\n5\r\n*1\r\n:1\r\n", b"*0\r\n"]
)
def test_invalid_scan_reply_ends_the_scan(serve: Callable[..., FakeServer], answer: bytes) -> None:
    with closing(at(serve(answer).url)) as server:
        assert contents.count(server, seconds=0.2) == (0, 0, False)


def test_invalid_limit_reply_is_ignored(serve: Callable[..., FakeServer]) -> None:
    with closing(at(serve(b"+soon\r\n").url)) as server:
        assert server.reserve("x", 1, 0) is None


def test_arguments_cannot_become_commands() -> None:
    assert packed(("SET", "a b\r\nFLUSHALL", 5, b"\xff")) == (
        b"*4\r\n$3\r\nSET\r\n$13\r\na b\r\nFLUSHALL\r\n$1\r\n5\r\n$1\r\n\xff\r\n"
    )


def test_name_lookup_that_hangs_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait())
    with pytest.raises(TimeoutError):
        RedisConnection(RedisAddress("host.example"))
    released.set()


def test_next_address_of_a_name_is_tried(serve: Callable[..., FakeServer], monkeypatch: pytest.MonkeyPatch) -> None:
    port = find_address(serve(b"+PONG\r\n").url, {}).port
    found = [(socket.AF_INET, 0, 0, "", ("127.0.0.1", number)) for number in (1, port)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with closing(RedisServer(RedisAddress("host.example"), print)) as server:
        assert server.execute(("PING",)) == [b"PONG"]


# What others wrote

FOUND = Found(
    (Result("t", "https://a.example", "s", engines=("e",), score=1.5),),
    (DirectAnswer("a", "https://a.example"),),
    ("more",),
    ("spelling",),
    {"bing": "timeout"},
    ("lang",),
    0.01,
)


def test_stored_answer_is_read_back_unchanged() -> None:
    assert found_from_json(found_as_json(FOUND)) == FOUND


@pytest.mark.parametrize(
    "change",
    [
        {"results": None},
        {"results": {"a": 1}},
        {"results": "text"},
        {"results": [{"title": "t", "url": 5, "engines": []}]},
        {"results": [{"title": "t", "url": "u", "engines": "", "score": "high"}]},
        {"results": [{"title": "t", "url": "u", "engines": [["e"]]}]},
        {"results": [{"title": "t", "url": "u", "engines": [], "extra": 1}]},
        {"results": [{}] * 1001},
        {"answers": [{"text": None}]},
        {"answers": ["text"]},
        {"suggestions": [1]},
        {"not_applied": 5},
        {"engines": ["e"]},
        {"engines": {"e": 1}},
        {"cost": 10**400},
        {"cost": "free"},
    ],
    ids=str,
)
def test_stored_answer_of_another_form_is_a_miss(change: dict[str, Any]) -> None:
    assert found_from_json(found_as_json(FOUND) | change) is None


@pytest.mark.parametrize("document", [None, [], "text", 5, {}])
def test_stored_value_that_is_no_document_is_a_miss(document: Any) -> None:
    assert found_from_json(document) is None


# Start-up

SCRIPT = """
import sys
sys.argv = ["sleuth", *{arguments!r}]
from sleuth.__main__ import main
code = main()
sys.stderr.write("MODULES " + " ".join(sorted(sys.modules)) + "\\n")
sys.exit(code)
"""


def test_shared_cache_hit_imports_nothing_heavy(
    make_sleuth: Any, httpserver: HTTPServer, serve: Callable[..., FakeServer]
) -> None:
    import json

    text = json.dumps({"kept": 900, "value": found_as_json(FOUND)}).encode()
    left = 1000 * (86400 + 800)
    fake = serve(b"$%d\r\n%b\r\n:%d\r\n" % (len(text), text, left))
    sleuth = make_sleuth(SEARXNG_URL=httpserver.url_for(""), SLEUTH_CACHE_URL=fake.url)
    words = ["search", "-p", "searxng", "--json", "x"]
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(arguments=words)],
            env=sleuth.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert json.loads(done.stdout)["cached"]
    loaded = set(done.stderr.rpartition("MODULES ")[2].split())
    assert loaded & {"redis", "asyncio", "ssl", "http.client", "diskcache", "httpx", "logging"} == set()
