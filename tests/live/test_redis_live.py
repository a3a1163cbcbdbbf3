"""Machines that share cache, single flight and rate limits through a real Redis, and how they work without it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from tests.live.conftest import free_port
from werkzeug import Request, Response

from sleuth.api import Client
from sleuth.store.cache.disk import MAX_ENTRY_CHARS, DiskCache
from sleuth.store.cache.redis import contents
from sleuth.store.cache.redis.address import find_address
from sleuth.store.cache.redis.cache import STALE_S, RedisCache
from sleuth.store.cache.redis.server import CLEARED, PREFIX, RedisServer, RedisUnavailableError
from sleuth.store.cache.redis.usage import DAYS
from sleuth_providers.net.guard import AddressGuard

pytestmark = pytest.mark.live

ANSWER = {"results": [{"title": "Ünïcode 中文", "n": 1.5, "none": None}], "deep": [[[[]]]]}
HITS = {"results": [{"url": "https://a.example/1", "title": "First", "content": "About rust."}]}
SEARCH = ("search", "-p", "searxng", "--json", "rust async")

Connect = Callable[..., RedisServer]


def usage_key() -> str:
    """Return the key of today's counts."""
    return f"{DAYS}{time.strftime('%Y-%m-%d', time.gmtime())}"


def place(server: Any) -> str:
    """Return host and port of a server."""
    return str(server.url).partition("://")[2].partition("/")[0]


@pytest.fixture(autouse=True)
def patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for servers that work: on a busy machine, one may need more than the second that a search waits."""
    if "trouble" not in request.fixturenames:
        monkeypatch.setattr("sleuth.store.cache.redis.connection.CONNECT_TIMEOUT_S", 10.0)
        monkeypatch.setattr("sleuth.store.cache.redis.server.REPLY_TIMEOUT_S", 10.0)


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Give a function that connects as another machine would."""
    opened: list[RedisServer] = []

    def start(url: str, warn: Callable[[str], None] = lambda _: None) -> RedisServer:
        opened.append(RedisServer(find_address(url, {}), warn))
        return opened[-1]

    yield start
    for server in opened:
        server.close()


@pytest.fixture
def server(lasting_redis: Any, connect: Connect) -> RedisServer:
    """Give a connection to a server that is empty."""
    server = connect(lasting_redis.url)
    server.execute(("FLUSHALL",))
    return server


@pytest.fixture
def redis_server(server: RedisServer, lasting_redis: Any) -> Any:
    """Give the address of that server."""
    return lasting_redis


@pytest.fixture
def cache(server: RedisServer, tmp_path: Path) -> RedisCache:
    return RedisCache(server, "answer", DiskCache(str(tmp_path / "own"), 10))


class Upstream:
    """A SearXNG on loopback that counts what it is asked."""

    def __init__(self, server: HTTPServer) -> None:
        self.asked: list[str] = []
        self.before: Callable[[], None] = lambda: None
        server.expect_request("/search").respond_with_handler(self._answer)
        self.url = server.url_for("")

    def _answer(self, request: Request) -> Response:
        self.asked.append(request.args["q"])
        self.before()
        return Response(json.dumps(HITS), content_type="application/json")


@pytest.fixture
def upstream(httpserver: HTTPServer) -> Upstream:
    return Upstream(httpserver)


@pytest.fixture
def machine(make_sleuth: Any, upstream: Upstream) -> Callable[..., Any]:
    """Give a function that sets up a machine with a separate home."""
    return lambda name, url: make_sleuth(name, SEARXNG_URL=upstream.url, SLEUTH_CACHE_URL=url)


# Keeping


def test_value_is_shared_with_other_machines(cache: RedisCache, connect: Connect, redis_server: Any) -> None:
    assert cache.get("k") is None
    cache.put("k", ANSWER, 60)
    other = RedisCache(connect(redis_server.url), "answer", cache.fallback)
    entry = other.get("k")
    assert entry
    assert (entry.value, entry.fresh_s > 0) == (ANSWER, True)
    assert 0 <= entry.age < 30
    assert RedisCache(other.server, "page", cache.fallback).get("k") is None
    assert cache.fallback.get("k") is None


def test_entry_is_plain_json_that_expires(cache: RedisCache, redis_server: Any) -> None:
    cache.put("k", ANSWER, 60)
    host, _, port = place(redis_server).partition(":")

    def ask(*words: str) -> str:
        command = ["redis-cli", "-h", host, "-p", port, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert json.loads(ask("GET", "sleuth:1:answer:k")) == {"kept": 60, "value": ANSWER}
    assert STALE_S < int(ask("TTL", "sleuth:1:answer:k")) <= STALE_S + 60


def test_expired_value_is_marked(cache: RedisCache, server: RedisServer) -> None:
    cache.put("k", 1, 60)
    server.execute(("PEXPIRE", f"{PREFIX}answer:k", round(STALE_S * 1000) - 5000))
    entry = cache.get("k")
    assert entry
    assert entry.fresh_s <= 0
    assert 65 <= entry.age < 120


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, "\ud800", "x" * MAX_ENTRY_CHARS], ids=["object", "set", "half", "huge"]
)
def test_value_that_cannot_be_stored_is_ignored(cache: RedisCache, value: Any) -> None:
    cache.put("k", value, 60)
    cache.put("none", 1, 0)
    assert cache.get("k") is None
    assert cache.get("none") is None
    cache.put("k", 1, 60)
    assert cache.get("k")


GOOD = json.dumps({"kept": 60, "value": 1})


@pytest.mark.parametrize(
    ("words", "lasting"),
    [
        (("SET", GOOD), None),
        (("SET", "not json"), 60),
        (("SET", "[1, 2]"), 60),
        (("SET", '"text"'), 60),
        (("SET", '{"value": 1}'), 60),
        (("SET", '{"kept": 60}'), 60),
        (("SET", '{"kept": NaN, "value": 1}'), 60),
        (("SET", '{"kept": 1e999, "value": 1}'), 60),
        (("SET", '{"kept": -1, "value": 1}'), 60),
        (("SET", '{"kept": "60", "value": 1}'), 60),
        (("SET", GOOD), STALE_S + 3600),
        (("SET", "[" * 100_000), 60),
        (("SET", '{"kept": 60, "value": ' + "9" * 5000 + "}"), 60),
        (("SET", b"\xff\xfe{}"), 60),
        (("SET", b'{"kept": 60, "value": "' + b"x" * MAX_ENTRY_CHARS + b'"}'), 60),
        (("RPUSH", GOOD), 60),
        (("HSET", "field", GOOD), 60),
    ],
    ids=lambda value: str(value)[:40],
)
def test_foreign_entry_is_a_miss(
    cache: RedisCache, server: RedisServer, words: tuple[Any, ...], lasting: float | None
) -> None:
    name = f"{PREFIX}answer:k"
    server.execute((words[0], name, *words[1:]))
    if lasting is not None:
        server.execute(("PEXPIRE", name, round(lasting * 1000)))
    assert cache.get("k") is None
    cache.put("k", "good", 60)
    entry = cache.get("k")
    assert entry
    assert entry.value == "good"


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"results": 5},
        {"results": [{"title": ["a"], "url": {}, "engines": []}]},
        {"results": [{"title": "a", "url": "https://a.example", "engines": [1]}]},
        {"results": [{"title": "a", "url": "https://a.example", "engines": [], "published": 10**400}]},
        {"results": [], "cost": 10**400},
        {"results": [{}] * 2000},
    ],
    ids=lambda value: str(value)[:40],
)
def test_planted_answer_is_requested_again(
    machine: Callable[..., Any], upstream: Upstream, server: RedisServer, redis_server: Any, value: Any
) -> None:
    rest = {"answers": [], "suggestions": [], "corrections": [], "not_applied": [], "engines": {}, "cost": 0}
    one = machine("one", redis_server.url)
    assert one(*SEARCH).exit == 0
    [name] = server.execute(("KEYS", f"{PREFIX}answer:*"))[0]
    planted = rest | value if isinstance(value, dict) else value
    server.execute(("SET", name, json.dumps({"kept": 900, "value": planted}), "PX", round((STALE_S + 900) * 1000)))
    done = machine("two", redis_server.url)(*SEARCH)
    assert (done.exit, done.json["cached"], done.json["results"][0]["title"]) == (0, False, "First")


def test_planted_text_cannot_steer_the_terminal(
    machine: Callable[..., Any], server: RedisServer, redis_server: Any
) -> None:
    one = machine("one", redis_server.url)
    assert one(*SEARCH).exit == 0
    [name] = server.execute(("KEYS", f"{PREFIX}answer:*"))[0]
    document = json.loads(server.execute(("GET", name))[0])
    document["value"]["results"][0] |= {"title": "\x1b]0;owned\x07 bad", "snippet": "\x1b[2J", "url": "javascript:x"}
    document["value"]["results"].append(document["value"]["results"][0] | {"url": "https://b.example"})
    document["value"]["not_applied"] = ["\x1b[31m"]
    server.execute(("SET", name, json.dumps(document), "PX", round((STALE_S + 800) * 1000)))
    done = machine("two", redis_server.url)("search", "-p", "searxng", "rust async")
    assert "bad" in done.out
    assert "\x1b" not in done.out + done.err
    assert "javascript" not in done.out


def test_pages_are_shared_and_planted_ones_are_harmless(
    make_sleuth: Any,
    httpserver: HTTPServer,
    server: RedisServer,
    redis_server: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Private pages are never shared; take this one for a page of the web.
    for name, seen in (("private", False), ("public", True)):
        constant = property(lambda _, seen=seen: seen, lambda _, value: None)
        monkeypatch.setattr(AddressGuard, name, constant, raising=False)
    facts = ("has no garbage collector", "was made for speed", "is checked for faults when it is compiled")
    text = "".join(f"<p>Rust is a language that {fact}, which many people like very much.</p>" for fact in facts)
    page = f"<html><head><title>Rust</title></head><body><article><h1>Rust</h1>{text}</article></body></html>"
    httpserver.expect_ordered_request("/page").respond_with_data(page, content_type="text/html")
    shared = {"SLEUTH_CACHE_URL": redis_server.url, "SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_FETCH_TIMEOUT": "120"}
    words = ("summarize", httpserver.url_for("/page"), "--json")
    assert make_sleuth("one", **shared)(*words).exit == 0
    assert make_sleuth("two", **shared)(*words).exit == 0  # the server would not answer a second time
    [name] = server.execute(("KEYS", f"{PREFIX}page:*"))[0]
    document = json.loads(server.execute(("GET", name))[0])
    document["value"]["title"] = "\x1b[31mtitle"
    document["value"]["blocks"][0][1] = "\x1b[2JRust is a language that can be planted in a cache."
    document["value"]["blocks"][0][2] = 10**12
    server.execute(("SET", name, json.dumps(document), "PX", round((STALE_S + 800) * 1000)))
    done = make_sleuth("three", **shared)("summarize", httpserver.url_for("/page"))
    assert "planted" in done.out
    assert "\x1b" not in done.out + done.err
    document["value"]["blocks"] = [["heading", "x", 1e999]]
    server.execute(("SET", name, json.dumps(document), "PX", round((STALE_S + 800) * 1000)))
    assert make_sleuth("four", **shared)(*words).exit != 0  # asked anew, and the server is not there for it


# One at a time


def test_one_machine_works_while_the_others_wait(connect: Connect, redis_server: Any, tmp_path: Path) -> None:
    caches = [
        RedisCache(connect(redis_server.url), "answer", DiskCache(str(tmp_path / str(number)), 10))
        for number in range(4)
    ]
    working: list[int] = []

    def work(number: int) -> None:
        with caches[number].single_flight("k", 10):
            if caches[number].get("k") is None:
                working.append(number)
                caches[number].put("k", "answer", 60)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(working) == 1
    assert caches[0].server.execute(("KEYS", f"{PREFIX}lock:*")) == [[]]


def test_caller_goes_ahead_when_the_lock_holder_hangs(cache: RedisCache, server: RedisServer) -> None:
    assert server.acquire("answer:k", 60)
    with cache.single_flight("k", 0):
        assert not server.acquire("answer:k", 60)  # the other machine still holds it


def test_expired_lock_cannot_be_released_by_its_former_holder(connect: Connect, redis_server: Any) -> None:
    first, second = connect(redis_server.url), connect(redis_server.url)
    lock = first.acquire("k", 60)
    assert lock
    assert not second.acquire("k", 60)
    first.execute(("DEL", lock.name))  # as when it expires
    assert second.acquire("k", 60)
    first.release(lock)
    assert not first.acquire("k", 60)
    second.close()  # as at the end of a run whose work is abandoned
    assert first.acquire("k", 60)


def test_lock_is_released_after_an_error(cache: RedisCache, server: RedisServer) -> None:
    with pytest.raises(ZeroDivisionError), cache.single_flight("k", 1):
        raise ZeroDivisionError
    assert server.acquire("answer:k", 60)


def test_eight_machines_make_one_request_for_one_question(
    machine: Callable[..., Any], upstream: Upstream, redis_server: Any
) -> None:
    machines = [machine(f"machine{number}", redis_server.url) for number in range(8)]
    upstream.before = lambda: time.sleep(1.5)  # so that all have started when the first is answered
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "sleuth", *SEARCH, "--timeout", "20"],
            env=one.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for one in machines
    ]
    done = [process.communicate(timeout=300) for process in processes]
    assert [err for _, err in done] == [""] * 8
    assert upstream.asked == ["rust async"]
    assert sorted(json.loads(out)["cached"] for out, _ in done) == [False] + [True] * 7


def test_lock_of_a_killed_machine_expires(machine: Callable[..., Any], upstream: Upstream, redis_server: Any) -> None:
    held = threading.Event()
    upstream.before = lambda: held.wait(300) and None
    words = [sys.executable, "-m", "sleuth", *SEARCH, "--timeout", "20"]
    victim = subprocess.Popen(words, env=machine("one", redis_server.url).environ)
    while not upstream.asked:
        time.sleep(0.02)
    victim.kill()
    victim.wait()
    upstream.before = lambda: None
    held.set()
    assert machine("two", redis_server.url)(*SEARCH, "--timeout", "20").exit == 0
    assert len(upstream.asked) == 2


def test_lock_is_renewed_while_the_work_lasts(
    cache: RedisCache, connect: Connect, redis_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sleuth.store.cache.redis.cache.LOCK_TTL_S", 0.5)
    renewed, renew = threading.Semaphore(0), cache.server.renew

    def count(*arguments: Any) -> bool:
        renewed.release()
        return renew(*arguments)

    monkeypatch.setattr(cache.server, "renew", count)
    other = connect(redis_server.url)
    with cache.single_flight("k", 5):
        for _ in range(6):  # every quarter of the time to live: by then it would have expired
            renewed.acquire()
        assert not other.acquire("answer:k", 60)
    assert other.acquire("answer:k", 60)


# Limits


def test_machines_share_a_limit(connect: Connect, redis_server: Any) -> None:
    one, two = (connect(redis_server.url) for _ in range(2))
    assert [one.reserve("x", 3, 0), two.reserve("x", 3, 0), one.reserve("x", 3, 0)] == [None] * 3
    minute = two.reserve("x", 3, 0)
    assert minute
    assert two.reserve("other", 3, 0) is None
    assert one.reserve("day", 5, 2) is None
    assert two.reserve("day", 5, 2) is None
    free_at = one.reserve("day", 5, 2)
    assert free_at
    assert free_at > minute + 80_000
    assert two.reserve("day", 5, 0) is None  # a request that was refused has taken no place


def test_capacity_is_free_again_after_its_window(connect: Connect, redis_server: Any) -> None:
    server = connect(redis_server.url)
    limits, name = server, f"{PREFIX}limit:{{x}}:minute"
    seconds, _ = server.execute(("TIME",))[0]
    now = int(seconds) * 1000
    server.execute(
        ("ZADD", name, now - 61_000, "old", now - 50_000, "young", "+inf", "mad", now + 30_000, "clock set back")
    )
    assert limits.reserve("x", 3, 0) is None
    free_at = limits.reserve("x", 3, 0)
    assert free_at
    assert round(free_at - now / 1000) in range(9, 12)  # when the minute of the young one is over
    server.execute(("DEL", name), ("SET", name, "planted"))
    assert limits.reserve("x", 3, 0) is None


def test_two_machines_stay_within_their_common_limit(
    machine: Callable[..., Any], upstream: Upstream, redis_server: Any
) -> None:
    machines = [machine(name, redis_server.url) for name in ("one", "two")]
    for one in machines:
        assert one("providers", "set", "searxng", "--option", "per_minute=3").exit == 0
    done = [machines[number % 2]("search", "-p", "searxng", "--no-cache", f"question {number}") for number in range(6)]
    assert [one.exit for one in done] == [0, 0, 0, 5, 5, 5]
    assert "the rate limit set in sleuth for" in done[3].err
    assert len(upstream.asked) == 3


def test_local_limit_holds_when_the_server_was_emptied(
    machine: Callable[..., Any], upstream: Upstream, server: RedisServer, redis_server: Any
) -> None:
    one = machine("one", redis_server.url)
    one("providers", "set", "searxng", "--option", "per_minute=1")
    assert one("search", "-p", "searxng", "--no-cache", "first").exit == 0
    server.execute(("FLUSHALL",))
    assert one("search", "-p", "searxng", "--no-cache", "second").exit == 5
    assert len(upstream.asked) == 1


# Whole commands


def test_requests_of_all_machines_are_counted(
    machine: Callable[..., Any], server: RedisServer, redis_server: Any, tmp_path: Path
) -> None:
    one, two = (machine(name, redis_server.url) for name in ("one", "two"))
    assert "no searches in this period" in one("usage", "--team").err
    for searcher, words in ((one, "first"), (two, "first"), (two, "second")):  # the second search finds the answer
        assert searcher("search", "-p", "searxng", words).exit == 0
    assert two("search", "-p", "crossref", "nothing listens there").exit == 6
    for searcher in (one, two):
        report = searcher("usage", "--team", "--json", "--days", "2").json
        assert {entry["provider"]: entry["states"] for entry in report["providers"]} == {
            "searxng": {"ok": 2},
            "crossref": {"unreachable": 1},
        }
        assert (report["requests"]["total"], report["requests"]["failed"]) == (3, 1)
        assert report["providers"][0]["meanMs"] is not None
        assert report["days"][-1] == {"date": report["to"], "requests": 3, "failed": 1, "cost": 0.0}
    assert one("usage", "--team", "-p", "crossref", "--json").json["requests"]["total"] == 1
    assert [line.split()[:2] for line in one("usage", "--team").out.splitlines()[2:5]] == [
        ["provider", "requests"],
        ["searxng", "2"],
        ["crossref", "1"],
    ]
    assert 0 < server.execute(("TTL", usage_key()))[0] <= 100 * 86400


def test_planted_counts_are_ignored_and_disturb_no_search(
    machine: Callable[..., Any], server: RedisServer, redis_server: Any
) -> None:
    planted = ("searxng ok", "x", "searxng ms", "-5", "\x1b[31m ok", "3", "searxng \x1b", "3", "no space", "1" * 30)
    server.execute(("HSET", usage_key(), *planted))
    one = machine("one", redis_server.url)
    assert one("search", "-p", "searxng", "rust").err == ""
    done = one("usage", "--team", "--json")
    assert done.json["requests"]["total"] == 0
    assert "\\u001b" not in done.out
    server.execute(("DEL", usage_key()), ("SET", usage_key(), "text"))
    assert one("search", "-p", "searxng", "go").err == ""
    assert one("usage", "--team", "--json").json["providers"] == []


def test_team_report_needs_a_server(machine: Callable[..., Any]) -> None:
    done = machine("one", "")("usage", "--team")
    assert (done.exit, done.err.splitlines()[0]) == (2, "error: --team needs a shared cache")
    done = machine("two", f"redis://127.0.0.1:{free_port()}")("usage", "--team")
    assert (done.exit, done.out) == (6, "")
    assert "is unavailable (connection refused)" in done.err


def test_answer_of_one_machine_is_used_by_another(
    machine: Callable[..., Any], upstream: Upstream, server: RedisServer, redis_server: Any
) -> None:
    assert not machine("one", redis_server.url)(*SEARCH).json["cached"]
    two = machine("two", redis_server.url)
    done = two(*SEARCH)
    assert (done.json["cached"], done.json["ageSeconds"], done.err) == (True, 0, "")
    assert len(upstream.asked) == 1
    [name] = server.execute(("KEYS", f"{PREFIX}answer:*"))[0]
    server.execute(("PEXPIRE", name, 60_000))  # old, and still there
    assert two(*SEARCH, "--offline").json["cached"]
    assert not two(*SEARCH).json["cached"]


def test_clear_reaches_the_memory_of_other_machines(
    machine: Callable[..., Any], redis_server: Any, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sleuth.store.cache.redis.server.CLEARED_POLL_S", 0)
    with Client(machine("one", redis_server.url).environ) as client:
        for _ in range(4):
            client.search("rust async", providers="searxng")
        assert len(upstream.asked) == 1
        assert machine("two", redis_server.url)("cache", "clear").exit == 0
        assert not client.search("rust async", providers="searxng").cached
    assert len(upstream.asked) == 2


def test_stats_and_clear_ignore_foreign_keys(
    machine: Callable[..., Any], server: RedisServer, redis_server: Any
) -> None:
    one = machine("one", redis_server.url)
    one(*SEARCH)
    names = [word for number in range(2500) for word in (f"{PREFIX}page:{number}", "x")]
    server.execute(("MSET", *names, "foreign", "x", "sleuth:2:answer:new", "x"))
    server.reserve("x", 3, 0)
    shown = one("cache", "stats").out
    assert f"shared cache redis://{place(redis_server)}/0 (" in shown
    assert "results 1, pages 2500" in shown
    shared = one("cache", "stats", "--json").json["shared"]
    assert shared.pop("latencyMs") > 0
    assert shared.pop("software") in ("redis", "valkey")
    assert shared.pop("version")
    assert shared == {
        "address": f"redis://{place(redis_server)}/0",
        "reachable": True,
        "problem": None,
        "answers": 1,
        "pages": 2500,
        "complete": True,
    }
    assert not contents.count(server, seconds=0).complete
    done = one("cache", "clear")
    assert f"shared cache redis://{place(redis_server)}/0, for all machines: results 1, pages 2500" in done.out
    left = {name.decode() for name in server.execute(("KEYS", "*"))[0]}
    own = {CLEARED, f"{PREFIX}limit:{{x}}:minute", usage_key()}
    assert left == {"foreign", "sleuth:2:answer:new"} | own


def test_stats_and_clear_report_an_unreachable_server(machine: Callable[..., Any]) -> None:
    one = machine("one", "redis://name:secret-word@127.0.0.1:1/0")
    shared = one("cache", "stats", "--json").json["shared"]
    assert (shared["reachable"], shared["problem"], shared["answers"]) == (False, "connection refused", 0)
    done = one("cache", "clear")
    assert done.exit == 6
    assert done.err.count("is unavailable (connection refused)") == 1
    assert "secret-word" not in str(shared) + done.out + done.err


@pytest.mark.parametrize("scheme", ["redis", "valkey", "unix"])
def test_every_form_of_address_works(
    machine: Callable[..., Any], upstream: Upstream, make_redis: Any, tmp_path: Path, scheme: str
) -> None:
    socket = tmp_path / "redis.sock"
    server = make_redis("--unixsocket", str(socket), "--requirepass", "p@ss/wörd")
    where = f"{socket}?db=3" if scheme == "unix" else f"{place(server)}/3"
    url = f"{scheme}://:p%40ss%2Fw%C3%B6rd@{where}"
    done = [machine(name, url)(*SEARCH) for name in ("one", "two")]
    assert [one.json["cached"] for one in done] == [False, True]
    assert [one.err for one in done] == ["", ""]
    assert len(upstream.asked) == 1


def test_encrypted_connection_works_where_the_certificate_is_trusted(
    machine: Callable[..., Any], make_redis: Any, certificate: tuple[Path, Path]
) -> None:
    file, key = map(str, certificate)
    options = ("--tls-cert-file", file, "--tls-key-file", key, "--tls-ca-cert-file", file, "--tls-auth-clients", "no")
    server = make_redis(*options, secure=True)
    one = machine("one", server.url)
    assert one.process(*SEARCH, SSL_CERT_FILE=file).err == ""
    assert one.process("cache", "stats", "--json", SSL_CERT_FILE=file).json["shared"]["answers"] == 1
    distrusted = one.process("search", "-p", "searxng", "other", SSL_CERT_DIR="/nowhere")
    assert distrusted.exit == 0
    assert "is unavailable (bad certificate: " in distrusted.err
    plain = one.process("search", "-p", "searxng", "another", SLEUTH_CACHE_URL=server.url.replace("valkeys", "redis"))
    assert plain.exit == 0
    assert plain.err.count("warning: the shared cache at ") == 1


def test_user_with_the_documented_rights_can_do_everything(
    machine: Callable[..., Any], server: RedisServer, redis_server: Any
) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "sharing.md").read_text(encoding="utf-8")
    line = next(line for line in docs.splitlines() if line.startswith("ACL SETUSER"))
    assert server.execute(tuple(line.replace("PASSWORD", "secret-word").split())) == [b"OK"]
    one = machine("one", f"redis://sleuth:secret-word@{place(redis_server)}/0")
    one("providers", "set", "searxng", "--option", "per_minute=9")
    for words in (SEARCH, SEARCH, ("cache", "stats"), ("cache", "clear")):
        done = one(*words)
        assert (done.exit, done.err) == (0, "")
    assert one("doctor", "--only", "cache.shared").exit == 0


# Gone


def refused(make_redis: Any) -> str:
    return "redis://name:secret-word@127.0.0.1:1/0"


def wants_password(make_redis: Any) -> str:
    return str(make_redis("--requirepass", "another").url)


def wrong_password(make_redis: Any) -> str:
    return f"redis://:secret-word@{place(make_redis('--requirepass', 'another'))}/0"


def may_not_write(make_redis: Any) -> str:
    where = place(make_redis())
    administrator = RedisServer(find_address(f"redis://{where}", {}), print)
    administrator.execute(("ACL", "SETUSER", "reader", "on", ">secret-word", "~*", "+@read", "+@connection"))
    administrator.close()
    return f"redis://reader:secret-word@{where}/0"


def replica(make_redis: Any) -> str:
    return str(make_redis("--replicaof", "127.0.0.1", "1").url)


def too_few_replicas(make_redis: Any) -> str:
    return str(make_redis("--min-replicas-to-write", "1").url)


def full(make_redis: Any) -> str:
    return str(make_redis("--maxmemory", "100kb", "--maxmemory-policy", "noeviction").url)


def hanging(make_redis: Any) -> str:
    server = make_redis()
    os.kill(server.process.pid, signal.SIGSTOP)
    return str(server.url)


def pausing(make_redis: Any) -> str:
    server = make_redis()
    connection = RedisServer(find_address(server.url, {}), print)
    connection.execute(("CLIENT", "PAUSE", 60_000, "ALL"))
    connection.close()
    return str(server.url)


def no_database(make_redis: Any) -> str:
    return str(make_redis().url).replace("/0", "/99")


STATES = {
    refused: "connection refused",
    wants_password: "password required",
    wrong_password: "wrong user name or password",
    may_not_write: "this user lacks permission for the commands that sleuth needs",
    replica: "the server is a read-only replica",
    too_few_replicas: "the server does not accept writes at the moment",
    full: "the server is out of memory",
    hanging: "timed out",
    pausing: "timed out",
    no_database: "the server has no database with that number",
}


@pytest.fixture(params=STATES, ids=lambda state: state.__name__)
def trouble(request: pytest.FixtureRequest, make_redis: Any) -> Iterator[tuple[str, str]]:
    """Give the address of a server that cannot be used, and the reason."""
    started: list[Any] = []

    def start(*options: str) -> Any:
        started.append(make_redis(*options))
        return started[-1]

    yield request.param(start), STATES[request.param]
    for server in started:
        os.kill(server.process.pid, signal.SIGKILL)  # one that was stopped does not hear anything else


def test_search_continues_with_one_warning(
    machine: Callable[..., Any], upstream: Upstream, trouble: tuple[str, str]
) -> None:
    url, reason = trouble
    one = machine("one", url)
    one("providers", "set", "searxng", "--option", "per_minute=9")
    done = one(*SEARCH, "--debug")
    warning = f"the shared cache at {place_of(url)} is unavailable ({reason}); using the local cache"
    assert (done.exit, done.err.count("warning: "), done.err.count(warning)) == (0, 1, 1)
    again = one(*SEARCH)
    assert (again.json["cached"], len(upstream.asked)) == (True, 1)
    log = (one.home / "state" / "sleuth.log").read_text()
    assert reason in log
    assert "secret-word" not in done.out + done.err + log


def place_of(url: str) -> str:
    return url.partition("://")[2].rpartition("@")[2].partition("/")[0]


def test_doctor_explains_the_failure_and_the_fix(machine: Callable[..., Any], trouble: tuple[str, str]) -> None:
    url, reason = trouble
    one = machine("one", url)
    done = one("doctor", "--only", "cache.shared", "--json")
    [check] = done.json["checks"]
    assert (done.exit, check["id"], check["state"]) == (1, "cache.shared", "fail")
    assert reason in check["evidence"]
    assert check["cause"]
    assert check["fix"]
    assert "secret-word" not in done.out + done.err
    chinese = one("doctor", "--only", "cache.shared", LC_ALL="zh_CN.UTF-8").out
    assert check["cause"] not in chinese


def test_doctor_warns_about_a_server_that_never_evicts(machine: Callable[..., Any], make_redis: Any) -> None:
    good = machine("one", make_redis("--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru").url)
    assert good("doctor", "--only", "cache.shared", "--json").json["checks"][0]["state"] == "ok"
    stubborn = machine("two", make_redis("--maxmemory", "50mb", "--maxmemory-policy", "noeviction").url)
    [check] = stubborn("doctor", "--only", "cache.shared", "--json").json["checks"]
    assert check["state"] == "warn"
    assert "CONFIG SET maxmemory-policy allkeys-lru" in check["fix"]


def test_server_may_die_during_a_search(machine: Callable[..., Any], upstream: Upstream, make_redis: Any) -> None:
    mortal = make_redis()
    upstream.before = mortal.process.kill
    one = machine("one", mortal.url)
    done = one(*SEARCH)
    assert (done.exit, done.json["outcome"]) == (0, "success")
    assert done.err.count("is unavailable") == 1
    assert one(*SEARCH).json["cached"]  # it went into the cache of this machine


def test_failed_server_is_tried_again_later(make_redis: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_redis()
    warnings: list[str] = []
    server = connect(first.url, warnings.append)
    assert server.execute(("PING",)) == [b"PONG"]
    first.stop()
    for _ in range(3):
        with pytest.raises(RedisUnavailableError):
            server.execute(("PING",))
    make_redis(port=int(place(first).rpartition(":")[2]))
    with pytest.raises(RedisUnavailableError):
        server.execute(("PING",))
    later = time.monotonic() + 31
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert server.execute(("PING",)) == [b"PONG"]
    assert len(warnings) == 1


def test_closed_connection_is_replaced(server: RedisServer) -> None:
    assert server.execute(("PING",)) == [b"PONG"]
    server.execute_raw(("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"))
    assert server.execute(("PING",)) == [b"PONG"]


# Forked processes


FORKED_SEARCHES = """
import json, multiprocessing, sys
import sleuth

def search(worker):
    queries = [f"worker {worker} {n}" for n in range(15)] + [f"common {n}" for n in range(15)]
    return [(query, sleuth.search(query, providers="searxng").results[0].title) for query in queries]

sleuth.search("warm", providers="searxng")  # leaves an idle connection, which every child inherits
with multiprocessing.get_context("fork").Pool(6) as pool:
    print(json.dumps(sum(pool.map(search, range(6)), [])))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_get_their_own_answers(redis_server: Any, httpserver: HTTPServer, tmp_path: Path) -> None:
    def answer(request: Request) -> Response:
        hit = {"url": "https://a.example/1", "title": request.args["q"], "content": "Text."}
        return Response(json.dumps({"results": [hit]}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    variables = {"SLEUTH_HOME": str(tmp_path), "SEARXNG_URL": httpserver.url_for(""), "NO_PROXY": "*"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED_SEARCHES],
        env=os.environ | variables | {"SLEUTH_CACHE_URL": redis_server.url},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert len(found) == 180
    assert [(query, title) for query, title in found if query != title] == []


def test_lock_of_the_parent_is_not_the_childs(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = server.acquire("k", 60)
    assert lock
    monkeypatch.setattr(os, "getpid", lambda: -1)  # what a forked process sees
    server.release(lock)
    assert server.acquire("k", 60) is None


# Client certificates, sentinels, clusters


def test_client_certificate_is_sent_where_the_server_requires_one(
    machine: Callable[..., Any], upstream: Upstream, make_redis: Any, certificate: tuple[Path, Path]
) -> None:
    file, key = map(str, certificate)
    options = ("--tls-cert-file", file, "--tls-key-file", key, "--tls-ca-cert-file", file, "--tls-auth-clients", "yes")
    where = place(make_redis(*options, secure=True))
    trusted = f"rediss://{where}/0?ssl_ca_certs={file}"
    without = machine("one", trusted).process(*SEARCH)
    assert (without.exit, without.err.count("the server requires a client certificate")) == (0, 1), without.err
    url = f"{trusted}&ssl_certfile={file}&ssl_keyfile={key}"
    done = [machine(name, url).process(*SEARCH) for name in ("two", "three")]
    assert [(one.err, one.json["cached"]) for one in done] == [("", False), ("", True)]


def test_sentinels_name_the_primary_server_also_after_a_failover(
    machine: Callable[..., Any], connect: Connect, make_redis: Any, tmp_path: Path
) -> None:
    primary, other = make_redis(), make_redis()
    sentinel = make_redis(sentinel=("main", place(primary)))
    url = f"redis+sentinel://127.0.0.1:1,{place(sentinel)}/main/0"
    server = connect(url)
    RedisCache(server, "answer", DiskCache(str(tmp_path / "own"), 10)).put("k", ANSWER, 60)
    assert connect(primary.url).execute(("EXISTS", f"{PREFIX}answer:k")) == [1]
    assert machine("one", url)(*SEARCH).err == ""
    host, _, port = place(other).partition(":")
    watching = connect(sentinel.url)
    watching.execute(("SENTINEL", "REMOVE", "main"))
    watching.execute(("SENTINEL", "MONITOR", "main", host, int(port), 1))
    primary.stop()
    assert server.execute(("SET", f"{PREFIX}answer:new", "x")) == [b"OK"]
    assert connect(other.url).execute(("EXISTS", f"{PREFIX}answer:new")) == [1]
    unknown = machine("two", url.replace("main", "nobody"))(*SEARCH)
    assert "Sentinel has no primary with that name" in unknown.err


@pytest.fixture
def cluster(make_redis: Any, connect: Connect) -> list[Any]:
    """Give two nodes that share the slots of a cluster."""
    ports = [free_port(), free_port()]
    nodes = [
        make_redis(
            "--cluster-enabled", "yes", "--cluster-config-file", f"nodes{port}.conf", "--cluster-port", str(port)
        )
        for port in ports
    ]
    first, second = (connect(node.url) for node in nodes)
    first.execute(("CLUSTER", "ADDSLOTSRANGE", 0, 8191))
    second.execute(("CLUSTER", "ADDSLOTSRANGE", 8192, 16383))
    host, _, port = place(nodes[1]).partition(":")
    first.execute(("CLUSTER", "MEET", host, int(port), ports[1]))
    while any(b"cluster_state:ok" not in node.execute(("CLUSTER", "INFO"))[0] for node in (first, second)):
        time.sleep(0.05)  # until both know each other
    return nodes


def test_any_node_of_a_cluster_is_enough(
    machine: Callable[..., Any], upstream: Upstream, cluster: list[Any], connect: Connect, tmp_path: Path
) -> None:
    server = connect(f"redis://127.0.0.1:1,{place(cluster[0])}/0")
    cache = RedisCache(server, "answer", DiskCache(str(tmp_path / "own"), 10))
    for number in range(40):
        with cache.single_flight(f"k{number}", 5):
            cache.put(f"k{number}", number, 60)
    assert [cache.get(f"k{number}").value for number in range(40)] == list(range(40))  # type: ignore[union-attr]  # no None
    assert cache.fallback.get("k0") is None
    sizes = [connect(node.url).execute(("DBSIZE",))[0] for node in cluster]
    assert all(sizes)
    assert server.reserve("searxng", 1, 0) is None
    assert server.reserve("searxng", 1, 0)
    one = machine("one", str(cluster[1].url))
    assert (one(*SEARCH).err, one("cache", "stats", "--json").json["shared"]["answers"]) == ("", 41)
    assert "results 41" in one("cache", "clear").out
    assert contents.count(server).answers == 0
    assert one("usage", "--team", "--json").json["requests"]["total"] == 1


@pytest.mark.parametrize("state", [replica, full, may_not_write, too_few_replicas], ids=lambda state: state.__name__)
def test_stats_tell_that_a_server_cannot_be_used(machine: Callable[..., Any], make_redis: Any, state: Any) -> None:
    shared = machine("one", state(make_redis))("cache", "stats", "--json").json["shared"]
    assert (shared["reachable"], shared["problem"]) == (True, STATES[state])
