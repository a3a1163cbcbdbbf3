"""Attacks by servers: each ends in a clear error within the time limit and in bounded memory, and gains nothing.

To add a malformed response, add it to RESPONSES; an oversized one, to BOMBS. New providers are covered automatically.
"""

import copy
import gzip
import json
import random
import re
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness import INTERNAL_ERRORS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth_providers import registry
from sleuth_providers.base import Provider, Sample
from sleuth_providers.net import guard

pytestmark = pytest.mark.adversarial

KEY = "sk-attacked-0123456789abcdef"
GOOD = json.dumps({"results": [{"url": f"https://a{n}.test/", "title": f"title {n}"} for n in range(3)]}).encode()
TIMEOUT_S = 0.5  # for servers that never finish: the command must end on its own
NO_TIMEOUT_S = 500  # for all others: what limits the search must not be the time
PROVIDERS = [name for name in registry.names() if name != "library"]
NO_SERVICES = {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}


def search(sleuth: Any, assert_plain: Any, url: str, timeout: float = NO_TIMEOUT_S) -> Any:
    """Search at a server; whatever it responds, the command ends cleanly."""
    environ = {"SEARXNG_URL": url, "SLEUTH_WEBSEARCH_RETRIES": "1", "SLEUTH_WEBSEARCH_FALLBACK": "[]"}
    done = sleuth("search", "-p", "searxng", "--no-cache", "--timeout", str(timeout), "x", **environ)
    check(assert_plain, done)
    return done


def read(sleuth: Any, assert_plain: Any, url: str, **environ: str) -> Any:
    """Read a page; whatever the server responds, the command ends cleanly."""
    done = sleuth("summarize", "--timeout", str(NO_TIMEOUT_S), url, **NO_SERVICES | environ)
    check(assert_plain, done)
    return done


def check(assert_plain: Any, done: Any) -> None:
    assert_plain(done.out, tabs=True)
    lines = assert_plain(done.err).splitlines()
    assert not [text for text in INTERNAL_ERRORS if text.decode() in done.err]
    assert done.exit in (0, 1, 4, 5, 6) or "rejected the request" in done.err, done.err
    if done.exit:
        assert [line.partition(":")[0] for line in lines[-2:]] == ["error", "hint"], lines
    else:
        assert not any(line.startswith("error") for line in lines)


# Malformed responses. Tests of sleuth_providers.net have the details of HTTP; these are the kinds of attack.


def raw(head: bytes, body: bytes = GOOD) -> Callable[[Any], None]:
    return lambda exchange: exchange.send(head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body)


def chunked(*parts: bytes) -> Callable[[Any], None]:
    return raw(JSON + b"\nTransfer-Encoding: chunked", b"".join(parts))


def encoded(encoding: str, body: bytes) -> Callable[[Any], None]:
    return lambda exchange: exchange.respond(body, f"Content-Encoding: {encoding}")


def typed(content_type: str, body: bytes = GOOD) -> Callable[[Any], None]:
    return lambda exchange: exchange.respond(body, f"Content-Type: {content_type}")


def interim(*lines: bytes, times: int = 1) -> Callable[[Any], None]:
    def behave(exchange: Any) -> None:
        exchange.send(b"".join(line + b"\r\nLink: </x>; rel=preload\r\n\r\n" for line in lines) * times)
        exchange.respond(GOOD)

    return behave


def dripping(start: bytes, piece: bytes) -> Callable[[Any], None]:
    def behave(exchange: Any) -> None:
        exchange.send(start)
        exchange.drip(piece)

    return behave


def flooding(start: bytes, piece: bytes) -> Callable[[Any], None]:
    def behave(exchange: Any) -> None:
        exchange.send(start)
        exchange.flood(piece * (65536 // len(piece)), 200_000_000)

    return behave


def reset(exchange: Any) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + GOOD[:50])
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.connection.close()


def never_respond(exchange: Any) -> None:
    exchange.test_over.wait()


def smuggle(exchange: Any) -> None:
    exchange.respond(GOOD)
    exchange.send(b"HTTP/1.1 200 OK\r\n\r\nsmuggled")


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
JSON = b"HTTP/1.1 200 OK\nContent-Type: application/json"
SUCCESS, FAILURE, TIMED_OUT = (0,), (1, 6), (6,)
RESPONSES: dict[str, tuple[Callable[[Any], None], tuple[int, ...]]] = {
    "early hints": (interim(b"HTTP/1.1 103 Early Hints"), SUCCESS),
    "early hints without end": (flooding(b"", b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"), FAILURE),
    "switching protocols": (interim(b"HTTP/1.1 101 Switching Protocols"), FAILURE),
    "length too long": (raw(JSON + b"\nContent-Length: 99999"), FAILURE),
    "length too short": (raw(JSON + b"\nContent-Length: 20"), FAILURE),
    "length of 5000 digits": (raw(JSON + b"\nContent-Length: " + b"9" * 5000), FAILURE),
    "two lengths": (raw(JSON + b"\nContent-Length: 5\nContent-Length: %d" % len(GOOD)), FAILURE),
    "invalid length": (raw(JSON), SUCCESS),
    "a second response": (smuggle, SUCCESS),
    "chunks": (chunked(b"%x\r\n" % len(GOOD), GOOD, b"\r\n0\r\n\r\n"), SUCCESS),
    "chunk without a size": (chunked(b"size\r\n", GOOD, b"\r\n0\r\n\r\n"), FAILURE),
    "chunks without an end": (chunked(b"%x\r\n" % len(GOOD), GOOD, b"\r\n"), FAILURE),
    "chunks and a length": (raw(JSON + b"\nContent-Length: 3\nTransfer-Encoding: chunked", b"0\r\n\r\n"), FAILURE),
    "gzip": (encoded("gzip", gzip.compress(GOOD)), SUCCESS),
    "gzip in gzip": (encoded("gzip", gzip.compress(gzip.compress(GOOD))), FAILURE),
    "truncated gzip": (encoded("gzip", gzip.compress(GOOD)[:-9]), FAILURE),
    "unknown encoding": (encoded("\x1b[31m" + "x" * 500, GOOD), FAILURE),
    "html": (typed("text/html", b"<html>" + GOOD), FAILURE),
    "image": (typed("image/png", b"\x89PNG\r\n"), FAILURE),
    "no type": (typed("", GOOD), SUCCESS),
    "type with control characters": (typed("application/json; charset=\x1b[31m" + "x" * 1000, GOOD), SUCCESS),
    "byte order mark": (typed("application/json", b"\xef\xbb\xbf" + GOOD), SUCCESS),
    "utf-16": (typed("application/json; charset=utf-16", GOOD.decode().encode("utf-16")), FAILURE),
    "latin-1": (typed("application/json", GOOD.replace(b"title 0", b"\xe9\xff")), SUCCESS),
    "empty body": (typed("application/json", b""), FAILURE),
    "NaN": (typed("application/json", GOOD.replace(b"[{", b'[{"score": NaN, ', 1)), SUCCESS),
    "nested lists": (typed("application/json", b'{"results": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), FAILURE),
    "nested objects": (typed("application/json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000), FAILURE),
    "number of 9999 digits": (typed("application/json", b'{"results": [{"score": ' + b"9" * 9999 + b"}]}"), FAILURE),
    "nothing": (lambda exchange: None, FAILURE),
    "another protocol": (lambda exchange: exchange.send(b"SSH-2.0-OpenSSH_9.9\r\n" * 10), FAILURE),
    "status of seven digits": (raw(b"HTTP/1.1 2000000 OK"), FAILURE),
    "reset": (reset, FAILURE),
    "endless headers": (flooding(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n"), FAILURE),
    "endless status line": (flooding(b"HTTP/1.1 200 ", b"O" * 1000), FAILURE),
    # Servers that never finish
    "silence": (never_respond, TIMED_OUT),
    "dripping headers": (dripping(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n"), TIMED_OUT),
    "dripping body": (dripping(HEAD + b"\r\n", b" "), TIMED_OUT),
}  # fmt: skip


@pytest.mark.parametrize("name", RESPONSES)
def test_response_is_read_or_ends_in_a_clear_error(sleuth: Any, assert_plain: Any, serve: Any, name: str) -> None:
    behaviour, exits = RESPONSES[name]
    done = search(sleuth, assert_plain, serve(behaviour).url, TIMEOUT_S if exits == TIMED_OUT else NO_TIMEOUT_S)
    assert done.exit in exits, done
    if exits == SUCCESS:
        assert "https://a0.test/" in done.out
        assert "smuggled" not in done.out


# Another client talks to proxies, so what depends on the client is tested again.
PROXY_RESPONSES = (
    *("early hints", "length too long", "chunk without a size", "gzip in gzip", "unknown encoding", "nested lists"),
    *("reset", "another protocol", "endless headers", "silence", "dripping headers", "dripping body"),
)


@pytest.mark.parametrize("name", PROXY_RESPONSES)
def test_response_of_a_proxy_is_read_or_ends_in_a_clear_error(
    sleuth: Any, assert_plain: Any, serve: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    behaviour, exits = RESPONSES[name]
    monkeypatch.setenv("http_proxy", serve(behaviour).url.replace("http://", f"http://me:{KEY}@"))
    done = search(sleuth, assert_plain, "http://search.test", TIMEOUT_S if exits == TIMED_OUT else NO_TIMEOUT_S)
    assert done.exit in exits, done
    assert KEY not in done.out + done.err


def test_truncated_response_is_an_error_wherever_it_is_cut(sleuth: Any, assert_plain: Any, serve: Any) -> None:
    whole = HEAD + b"Content-Length: %d\r\n\r\n" % len(GOOD) + GOOD
    cut = [0]
    server = serve(lambda exchange: exchange.send(whole[: cut[0]]))
    for cut[0] in range(0, len(whole), 10):
        done = search(sleuth, assert_plain, server.url)
        assert done.exit == 6, (cut, done)
        assert done.out == ""
    cut[0] = len(whole)
    assert search(sleuth, assert_plain, server.url).exit == 0


# Valid JSON and HTML with unexpected content

UNEXPECTED: tuple[Any, ...] = (
    None, True, False, 0, 7, -1, 1.5e308, 10**300, -(10**400), "", "text", "https://b.test/", [], {}, [None], [[7]],
    {"x": None}, [{"x": []}], ["\ud800"], float("nan"), float("inf"), "9" * 5000, [[[[[[[[]]]]]]]], {"url": {}}, "null",
)  # fmt: skip


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in entries:
        yield from paths(entry, (*path, name))


def mutated(body: str, chance: random.Random) -> bytes:
    """Return a response with a few values replaced, deleted, repeated or nested; a page loses or repeats pieces."""
    try:
        document = json.loads(body)
    except ValueError:
        return mutated_text(body, chance).encode("utf-8", "replace")
    for _ in range(chance.randint(1, 4)):
        choices = [path for path in paths(document) if path]
        if not choices:
            break
        *path, last = chance.choice(choices)
        parent = document
        for name in path:
            parent = parent[name]
        entry = parent[last]
        change = chance.choice(("replace", "replace", "replace", "delete", "repeat", "nest"))
        if change == "replace":
            parent[last] = copy.deepcopy(chance.choice(UNEXPECTED))
        elif change == "delete":
            del parent[last]
        elif change == "repeat" and isinstance(entry, list):
            parent[last] = entry * 3
        else:
            parent[last] = chance.choice(([entry], {"value": entry}, [[entry]]))
    text = json.dumps(document)
    if chance.random() < 0.1:
        text = text.replace("null", "[" * 10_000 + "]" * 10_000, 1)
    if chance.random() < 0.1:  # a duplicate key
        text = re.sub(r'"(\w+)": ', r'"\1": 7, "\1": ', text, count=1)
    return text.encode("utf-8", "surrogatepass")


def mutated_text(page: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 5)):
        first, last = sorted(chance.randrange(len(page) + 1) for _ in range(2))
        page = chance.choice((page[:first] + page[last:], page + page[first:last], page[:first] + "<" + page[first:]))
    return page


def set_up(sleuth: Any, provider: Provider, url: str, sample: Sample) -> list[str]:
    """Point a provider at our server, configured as in its sample; return the search command of the sample."""
    host = f"{url}/page?q=%s" if provider.type == "local" else url
    words = ["--api-host", host, *[f"--option={name}=x" for name in provider.required_options]]
    words += [f"--option={name}={value}" for name, value in sample.account.options.items()]
    if sample.account.engines:
        words += ["--engines", ",".join(sample.account.engines)]
    done = sleuth("providers", "set", provider.id, *words, "--option=per_minute=100000", "--api-key", "-", stdin=KEY)
    assert done.exit == 0, done.err
    query = sample.query
    command = [
        "search",
        "-p",
        provider.id,
        "--no-cache",
        "--timeout",
        str(NO_TIMEOUT_S),
        "--category",
        query.category,
        "-n",
        "50",
    ]
    command += ["--lang", query.lang] if query.lang else []
    return [*command, *(f"--engine={name}" for name in query.engines), query.text]


@pytest.mark.parametrize("name", PROVIDERS)
def test_provider_survives_unexpected_content(sleuth: Any, assert_plain: Any, serve: Any, name: str) -> None:
    provider = registry.load(name)
    samples = provider.samples
    body = [b""]
    status = ["200 OK"]
    headers: list[str] = []
    server = serve(lambda exchange: exchange.respond(body[0], *headers, status=status[0]))
    sleuth.environ.pop("SEARXNG_URL")

    @settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False), st.sampled_from(samples))
    def attack(chance: random.Random, sample: Sample) -> None:
        body[0], status[0] = mutated(sample.body, chance), f"{sample.status} Status"
        headers[:] = [f"Content-Type: {sample.headers.get('content-type', 'application/json')}"]
        done = sleuth(*set_up(sleuth, provider, server.url, sample), SLEUTH_WEBSEARCH_RETRIES="1")
        check(assert_plain, done)
        assert KEY not in done.out + done.err

    attack()


# Oversized responses


def endless(exchange: Any) -> None:
    exchange.send(HEAD + b"\r\n" + b'{"results": [')
    exchange.flood(b'{"url": "https://a.test/", "title": "x"},' * 2000, 1_000_000_000)


def promise_terabytes(exchange: Any) -> None:
    exchange.send(HEAD + b"Content-Length: 1000000000000\r\n\r\n")
    exchange.flood(b" " * 100_000, 1_000_000_000)


def inflate(exchange: Any, start: bytes = b'{"a": [', filling: bytes = b" ", kind: str = "application/json") -> None:
    """Send a gigabyte compressed to a megabyte: one block again and again."""
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    first = engine.compress(start) + engine.flush(zlib.Z_FULL_FLUSH)
    again = engine.compress(filling * (10_000_000 // len(filling))) + engine.flush(zlib.Z_FULL_FLUSH)
    exchange.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\n\r\n".encode() + first)
    exchange.flood(again, 100 * len(again))


def repeated(start: bytes, piece: bytes, end: bytes, size: int = 4_900_000, kind: str = "application/json") -> Any:
    """Return a complete response just below the size limit, made of one small piece."""
    body = start + piece * ((size - len(start) - len(end)) // len(piece)) + end
    return lambda exchange: exchange.respond(body, f"Content-Type: {kind}")


def distinct(template: str, start: bytes, end: bytes, number: int = 10**6) -> Any:
    """Return a complete response of pieces that all differ: `number` of them, or as many as fit."""
    number = min(number, 4_900_000 // (len(template) + 6))
    return lambda exchange: exchange.respond(start + ",".join(template % n for n in range(number)).encode() + end)


def near_duplicates(exchange: Any) -> None:
    """Send results with one title and site: deduplication must compare each with all others."""
    letters = "".join(random.Random(1).choices("abcdefghij ", k=2_000_000))
    texts = [letters[at : at + 2000] for at in range(0, len(letters), 2000)]
    hits = [{"url": f"https://a.test/{text[:12]}", "title": "t", "content": text} for text in texts]
    exchange.respond(json.dumps({"results": hits}).encode())


def page(*parts: str) -> Callable[[Any], None]:
    return lambda exchange: exchange.respond("".join(parts).encode(), f"Content-Type: {HTML}")


def numbered(count: int) -> str:
    """Return attributes with different names."""
    return " ".join(f"a{number}" for number in range(count))


HTML = "text/html; charset=utf-8"
HIT = b'{"results": [{"url": "https://a.test/", "title": "t"}], '
BOMBS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "endless body": ("searxng", endless),
    "promised terabyte": ("searxng", promise_terabytes),
    "compressed gigabyte": ("searxng", inflate),
    "objects": ("searxng", repeated(b'{"results": [', b"{},", b"{}]}")),
    "a long title with an emoji": ("searxng", repeated(HIT.removesuffix(b't"}], ') + "😀".encode(), b"a", b'"}]}')),
    "keys": ("searxng", distinct('"n%d":0', HIT + b'"x": {', b"}}", 199_000)),
    "results": ("searxng", distinct('{"url":"https://a.test/%d"}', b'{"results": [', b"]}", 99_000)),
    "near duplicates": ("searxng", near_duplicates),
    "suggestions": ("searxng", distinct('"word%d"', HIT + b'"suggestions": [', b"]}", 199_000)),
    "tags": ("duckduckgo", repeated(b"<html><body>", b"<p>", b"", kind=HTML)),
    "tags with attributes": ("duckduckgo", repeated(b"<html><body>", b"<p a=b c>x", b"", size=490_000, kind=HTML)),
    "endless attributes": ("duckduckgo", page("<html><p ", numbered(600_000), ">")),
    "many attributes": ("duckduckgo", page("<html>", f"<p {numbered(990)}>" * 100)),
    "a long page with an emoji": ("duckduckgo", repeated("<html><body>😀".encode(), b"a", b"", kind=HTML)),
    "slow charset": ("duckduckgo", repeated(b"<html>", b"a-b", b"", kind="text/html; charset=punycode")),
    "links": ("local-google", page("<html>", '<a href="https://a.test/"><h3>t</h3></a>' * 20_000)),
}  # fmt: skip


@pytest.fixture(scope="module")
def baseline() -> dict[str, float]:
    """Peak memory of an ordinary command, by name."""
    return {}


@pytest.mark.parametrize("name", BOMBS)
def test_oversized_response_takes_little_memory(
    sleuth: Any, assert_plain: Any, serve: Any, measure_memory: Any, baseline: dict[str, float], name: str
) -> None:
    id, behaviour = BOMBS[name]
    provider = registry.load(id)
    sample = next(sample for sample in provider.samples if sample.finds)

    def measure(behaviour: Callable[[Any], None]) -> Any:
        sleuth.environ.pop("SEARXNG_URL", None)
        url = serve(behaviour).url
        host = f"{url}/page?q=%s" if provider.type == "local" else url
        key = ("--api-key", f"env:{provider.env[0]}") if provider.env else ()
        assert sleuth("providers", "set", provider.id, "--api-host", host, *key).exit == 0
        return measure_memory(sleuth, "search", "-p", id, "--timeout", "3", "x", SLEUTH_WEBSEARCH_RETRIES="1")

    if id not in baseline:
        baseline[id] = measure(typed(sample.headers["content-type"], sample.body.encode())).megabytes
    check_measured(assert_plain, measure(behaviour), baseline[id] + 60)


def check_measured(assert_plain: Any, done: Any, max_megabytes: float) -> None:
    assert_plain(done.out, tabs=True)
    assert_plain(done.err)
    assert not [text for text in INTERNAL_ERRORS if text in done.err]
    assert done.exit in (0, 1, 5, 6)
    assert done.megabytes < max_megabytes


# Where keys and requests go

# Providers that send a key in a header, in the body or in the URL, and one that sends a password.
KEY_SENDERS = ("brave", "tavily", "serpapi", "searxng", "kagi", "google")
STATUSES = ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent")


@pytest.mark.parametrize("name", KEY_SENDERS)
def test_redirect_takes_the_key_to_no_other_host(sleuth: Any, assert_plain: Any, serve: Any, name: str) -> None:
    thief = serve(lambda exchange: exchange.respond(GOOD, "Set-Cookie: stolen=1"))
    status = [""]
    server = serve(lambda exchange: exchange.respond(b"", f"Location: {target[0]}{exchange.path}", status=status[0]))
    target = [thief.url]
    provider = registry.load(name)
    sample = next(sample for sample in provider.samples if sample.finds)
    sleuth.environ.pop("SEARXNG_URL")
    command = set_up(sleuth, provider, server.url, sample)
    words = ["--basic-auth-username", "me", "--basic-auth-password", "-"]
    assert sleuth("providers", "set", name, *words, stdin=KEY).exit == 0
    other = thief.url.replace("127.0.0.1", "localhost")
    for target[0] in (thief.url, other, other.replace("http://", "http://me:pw@"), f"//127.0.0.1:{thief.port}"):
        for status[0] in STATUSES:
            done = sleuth(*command, SLEUTH_WEBSEARCH_RETRIES="1")
            check(assert_plain, done)
            assert done.exit == 1
            assert "redirected to another host" in done.err
    assert thief.requests == []
    assert len(server.requests) == 20


INVALID_TARGETS = (
    "file:///etc/passwd",
    "gopher://127.0.0.1:1/",
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
    "http://",
    "http://[::1",
    "http://127.0.0.1:99999/",
    "http://\x1b]0;owned\x07/",
    "\\\\127.0.0.1\\share",
    "//\x00",
    "/" + "x" * 100_000,
    "",
)


@pytest.mark.parametrize("target", INVALID_TARGETS)
def test_redirect_to_an_invalid_target_is_an_error(sleuth: Any, assert_plain: Any, serve: Any, target: str) -> None:
    server = serve(lambda exchange: exchange.respond(b"", f"Location: {target}", status="302 Found"))
    assert search(sleuth, assert_plain, server.url).exit in (1, 2, 6)
    assert read(sleuth, assert_plain, server.url, SLEUTH_FETCH_ALLOW_PRIVATE="true").exit == 1


# Pages


@pytest.fixture
def loopback_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat 127.0.0.1 as a public address, but no other address of this machine."""
    real = guard.is_public
    monkeypatch.setattr(guard, "is_public", lambda address: address == "127.0.0.1" or real(address))


PAGE = "<!doctype html><html><title>T</title><p>{}</p>".format("The quiet village has a library of many books. " * 9)
PRIVATE_HOSTS = (
    "127.0.0.2",
    "localhost",
    "[::1]",
    "0.0.0.0",
    "2130706434",
    "0x7f000002",
    "127.0.0.2.",
    "[::ffff:127.0.0.2]",
)


@pytest.mark.usefixtures("loopback_is_public")
def test_page_redirects_to_no_private_address(
    sleuth: Any, assert_plain: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = serve(lambda exchange: exchange.respond(PAGE.encode(), "Content-Type: text/html"), host="")
    public = serve(
        lambda exchange: exchange.respond(b"", f"Location: http://{target[0]}:{private.port}/", status="302 Found")
    )
    real = socket.getaddrinfo
    names = {"localhost": "127.0.0.3", "127.0.0.2.": "127.0.0.2"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: real(names.get(text(host), host), *rest, **more)
    )
    target = [f"127.0.0.1:{private.port}/#"]
    assert read(sleuth, assert_plain, public.url).exit == 0, "the redirect itself works"
    private.requests.clear()
    for target[0] in PRIVATE_HOSTS:
        assert read(sleuth, assert_plain, f"{public.url}/{target[0]}").exit == 1
    assert private.requests == []


@pytest.mark.usefixtures("loopback_is_public")
def test_dns_rebinding_reaches_no_private_address(
    sleuth: Any, assert_plain: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first lookup of the name returns a public address, all others a private one."""
    private = serve(lambda exchange: exchange.respond(PAGE.encode(), "Content-Type: text/html"), host="127.0.0.2")
    lookups: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if text(host) != "rebind.test":
            return real(host, port, *rest, **more)
        lookups.append(text(host))
        return real("127.0.0.1" if len(lookups) == 1 else "127.0.0.2", port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert read(sleuth, assert_plain, f"http://rebind.test:{private.port}/").exit == 1
    assert private.requests == []
    assert lookups == ["rebind.test"]


def text(host: Any) -> str:
    return host.decode() if isinstance(host, bytes) else str(host)


START = "<!doctype html><html><title>T</title><p>"
PAGE_BOMBS: dict[str, Callable[[Any], None]] = {
    "compressed page": lambda exchange: inflate(exchange, START.encode(), b"word ", "text/html"),
    "page of tags": page(START, "".join(f"<i>{number}" for number in range(900_000))),
    "page of attributes": page(START, PAGE, f"<b {numbered(280_000)}>"),
    "page of one long word": page(START, "a" * 9_900_000),
    "wide text": typed("text/plain", "😀".encode() + b"word. " * 1_600_000),
    "objects of json": typed("application/json", b"[" + b"{}," * 330_000 + b"{}]"),
    "markdown of brackets": typed("text/markdown", b"[" * 50_000 + b"](" * 50_000 + b"*_`" * 50_000),
}


@pytest.mark.parametrize("name", PAGE_BOMBS)
def test_oversized_page_takes_little_memory(
    sleuth: Any, assert_plain: Any, serve: Any, measure_memory: Any, baseline: dict[str, float], name: str
) -> None:
    def measure(behaviour: Callable[[Any], None]) -> Any:
        environ = NO_SERVICES | {"SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
        return measure_memory(sleuth, "summarize", "--timeout", "3", serve(behaviour).url, **environ)

    if "page" not in baseline:
        baseline["page"] = measure(typed("text/html", PAGE.encode())).megabytes
    check_measured(assert_plain, measure(PAGE_BOMBS[name]), baseline["page"] + 100)
