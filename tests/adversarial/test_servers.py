"""Servers gone mad end in time, in bounded memory, with a clear error, and learn nothing that is not theirs.

A new trick on the wire is a function in TRICKS, a new bomb one in BOMBS; providers join by themselves.
"""

import copy
import gzip
import json
import random
import re
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth_providers import registry
from sleuth_providers.base import Provider, Sample
from sleuth_providers.net import guard

pytestmark = pytest.mark.adversarial

KEY = "sk-besieged-0123456789abcdef"
GOOD = json.dumps({"results": [{"url": f"https://a{n}.test/", "title": f"title {n}"} for n in range(3)]}).encode()
PATIENCE = 0.8  # seconds that a search may take here
SLACK = 2.5  # more, on a machine that does other things too
PROVIDERS = [name for name in registry.names() if name != "library"]


def ask(sleuth: Any, judge: Any, server: Any, patience: float = PATIENCE) -> Any:
    """Search at a server; whatever it does, the end is clean, clear and in time."""
    started = time.monotonic()
    done = sleuth("search", "-p", "searxng", "--no-cache", "--timeout", str(patience), "x", **quiet(server))
    took = time.monotonic() - started
    assert took < patience + SLACK
    check(judge, done)
    return done


def patience_for(exits: tuple[int, ...]) -> float:
    """Return how long to wait for an end: what drips takes all of it, everything else ends by itself."""
    return PATIENCE if exits == (6,) else 10


def quiet(server: Any) -> dict[str, str]:
    return {"SEARXNG_URL": server.url, "SLEUTH_WEBSEARCH_RETRIES": "1", "SLEUTH_WEBSEARCH_FALLBACK": "[]"}


def check(judge: Any, done: Any) -> None:
    judge(done.out, tabs=True)
    told = judge(done.err).splitlines()
    assert "--debug tells more" not in done.err, "a fault of ours, not a finding of theirs"
    assert "unexpected" not in done.err
    assert done.exit in (0, 1, 4, 5, 6) or "does not accept this request" in done.err, done.err
    if done.exit:
        assert [line.partition(":")[0] for line in told[-2:]] == ["error", "hint"], told
    else:
        assert not any(line.startswith("error") for line in told)


# On the wire


def plainly(head: bytes, body: bytes = GOOD) -> Callable[[Any], None]:
    return lambda caller: caller.send(head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body)


def chunked(*parts: bytes) -> Callable[[Any], None]:
    return plainly(JSON + b"\nTransfer-Encoding: chunked", b"".join(parts))


def coded(coding: str, body: bytes) -> Callable[[Any], None]:
    return lambda caller: caller.answer(body, f"Content-Encoding: {coding}")


def typed(kind: str, body: bytes = GOOD) -> Callable[[Any], None]:
    return lambda caller: caller.answer(body, f"Content-Type: {kind}")


def interim(*lines: bytes, times: int = 1) -> Callable[[Any], None]:
    def answer(caller: Any) -> None:
        caller.send(b"".join(line + b"\r\nLink: </x>; rel=preload\r\n\r\n" for line in lines) * times)
        caller.answer(GOOD)

    return answer


def dripping(before: bytes, again: bytes) -> Callable[[Any], None]:
    def answer(caller: Any) -> None:
        caller.send(before)
        caller.drip(again)

    return answer


def pouring(before: bytes, again: bytes) -> Callable[[Any], None]:
    def answer(caller: Any) -> None:
        caller.send(before)
        caller.pour(again * (65536 // len(again)), 200_000_000)

    return answer


def reset(caller: Any) -> None:
    caller.send(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + GOOD[:50])
    caller.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    caller.connection.close()


def deaf(caller: Any) -> None:
    caller.over.wait(20)


def smuggled(caller: Any) -> None:
    caller.answer(GOOD)
    caller.send(b"HTTP/1.1 200 OK\r\n\r\nsmuggled")


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
JSON = b"HTTP/1.1 200 OK\nContent-Type: application/json"
ANSWERED, FAILED, EITHER = (0,), (1, 6), (0, 1, 6)
TRICKS: dict[str, tuple[Callable[[Any], None], tuple[int, ...]]] = {
    # Interim replies, which a client must pass over
    "early hints": (interim(b"HTTP/1.1 103 Early Hints"), ANSWERED),
    "continue": (interim(b"HTTP/1.1 100 Continue"), ANSWERED),
    "processing": (interim(b"HTTP/1.1 102 Processing", b"HTTP/1.1 103 Early Hints"), ANSWERED),
    "flood of hints": (interim(b"HTTP/1.1 103 Early Hints", times=50_000), FAILED),
    "flood of continues": (interim(b"HTTP/1.1 100 Continue", times=50_000), FAILED),
    "endless hints": (pouring(b"", b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"), FAILED),
    "switched": (interim(b"HTTP/1.1 101 Switching Protocols"), FAILED),
    # Lengths
    "length too long": (plainly(JSON + b"\nContent-Length: 99999"), FAILED),
    "length too short": (plainly(JSON + b"\nContent-Length: 20"), FAILED),
    "length below nothing": (plainly(JSON + b"\nContent-Length: -1"), EITHER),
    "length no number": (plainly(JSON + b"\nContent-Length: ten"), EITHER),
    "length beyond numbers": (plainly(JSON + b"\nContent-Length: " + b"9" * 5000), FAILED),
    "two lengths": (plainly(JSON + b"\nContent-Length: 5\nContent-Length: %d" % len(GOOD)), FAILED),
    "no length": (plainly(JSON), ANSWERED),
    "more than its length": (smuggled, ANSWERED),
    # Chunks
    "good chunks": (chunked(b"%x\r\n" % len(GOOD), GOOD, b"\r\n0\r\n\r\n"), ANSWERED),
    "chunk of no size": (chunked(b"\r\n", GOOD, b"\r\n0\r\n\r\n"), FAILED),
    "chunk below nothing": (chunked(b"-5\r\n", GOOD, b"\r\n0\r\n\r\n"), FAILED),
    "chunk beyond numbers": (chunked(b"f" * 5000 + b"\r\n", GOOD), FAILED),
    "chunk of words": (chunked(b"size\r\n", GOOD, b"\r\n0\r\n\r\n"), FAILED),
    "chunk too long": (chunked(b"fffffff\r\n", GOOD), FAILED),
    "chunks without end": (chunked(b"%x\r\n" % len(GOOD), GOOD, b"\r\n"), FAILED),
    "chunk with an endless extension": (chunked(b"5;" + b"x" * 200_000), FAILED),
    "chunks and length": (plainly(JSON + b"\nContent-Length: 3\nTransfer-Encoding: chunked", b"0\r\n\r\n"), FAILED),
    "coded transfer": (plainly(JSON + b"\nTransfer-Encoding: gzip, chunked", b"0\r\n\r\n"), FAILED),
    # Codings
    "gzip": (coded("gzip", gzip.compress(GOOD)), ANSWERED),
    "gzip in gzip": (coded("gzip", gzip.compress(gzip.compress(GOOD))), FAILED),
    "gzip twice": (coded("gzip, gzip", gzip.compress(gzip.compress(GOOD))), FAILED),
    "gzip cut off": (coded("gzip", gzip.compress(GOOD)[:-9]), FAILED),
    "gzip that is none": (coded("gzip", GOOD), FAILED),
    "deflate": (coded("deflate", zlib.compress(GOOD)), ANSWERED),
    "deflate garbage": (coded("deflate", bytes(range(256))), FAILED),
    "empty gzip": (coded("gzip", b""), FAILED),
    "brotli": (coded("br", GOOD), FAILED),
    "zstd": (coded("zstd", b"\x28\xb5\x2f\xfd" + GOOD), FAILED),
    "unknown coding": (coded("\x1b[31m" + "x" * 500, GOOD), FAILED),
    # Types and encodings of text
    "html": (typed("text/html", b"<html>" + GOOD), FAILED),
    "image": (typed("image/png", b"\x89PNG\r\n"), FAILED),
    "no type": (typed("", GOOD), ANSWERED),
    "type of an enemy": (typed("application/json; charset=\x1b[31m" + "x" * 1000, GOOD), ANSWERED),
    "mark before": (typed("application/json", b"\xef\xbb\xbf" + GOOD), ANSWERED),
    "utf-16": (typed("application/json; charset=utf-16", GOOD.decode().encode("utf-16")), FAILED),
    "latin-1": (typed("application/json", b'{"results": [{"url": "https://a.test/", "title": "\xe9\xff"}]}'), FAILED),
    "nothing": (typed("application/json", b""), FAILED),
    "no number": (typed("application/json", b'{"results": NaN}'), FAILED),
    "deep lists": (typed("application/json", b'{"results": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), FAILED),
    "deep objects": (typed("application/json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000), FAILED),
    "many digits": (typed("application/json", b'{"results": [{"score": ' + b"9" * 9999 + b"}]}"), FAILED),
    # No HTTP
    "silence": (lambda caller: None, FAILED),
    "old http": (lambda caller: caller.send(GOOD), FAILED),
    "another protocol": (lambda caller: caller.send(b"SSH-2.0-OpenSSH_9.9\r\n" * 10), FAILED),
    "status of letters": (plainly(b"HTTP/1.1 OK 200"), FAILED),
    "status of many digits": (plainly(b"HTTP/1.1 2000000 OK"), FAILED),
    "status of other digits": (plainly("HTTP/1.1 ２００ OK".encode()), FAILED),
    "reset": (reset, FAILED),
    # Endless
    "deaf": (deaf, (6,)),
    "status drips": (dripping(b"", b"HTTP/1.1 200 OK"), (6,)),
    "headers drip": (dripping(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n"), (6,)),
    "body drips": (dripping(HEAD + b"\r\n", b" "), (6,)),
    "chunks drip": (dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), (6,)),
    "trailers drip": (dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"), FAILED),
    "endless headers": (pouring(b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n"), FAILED),
    "endless header": (pouring(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1000), FAILED),
    "endless status": (pouring(b"HTTP/1.1 200 ", b"O" * 1000), FAILED),
    "endless trailers": (pouring(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Y: z\r\n"), FAILED),
}  # fmt: skip


@pytest.mark.parametrize("name", TRICKS)
def test_trick_on_the_wire_ends_well(sleuth: Any, judge: Any, serve: Any, name: str) -> None:
    behaviour, exits = TRICKS[name]
    done = ask(sleuth, judge, serve(behaviour), patience_for(exits))
    assert done.exit in exits, done
    if exits == ANSWERED:
        assert "https://a0.test/" in done.out
        assert "smuggled" not in done.out


THROUGH = ("early hints", "length too long", "chunk of words", "gzip in gzip", "unknown coding", "reset")
THROUGH += ("old http", "endless headers", "headers drip", "body drips", "deaf", "status of many digits", "deep lists")


@pytest.mark.parametrize("name", THROUGH)
def test_trick_of_a_proxy_ends_well(
    sleuth: Any, judge: Any, serve: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy is a server too, and another client talks to it."""
    behaviour, exits = TRICKS[name]
    monkeypatch.setenv("http_proxy", serve(behaviour).url.replace("http://", f"http://me:{KEY}@"))
    done = ask(sleuth, judge, NamedPlace("http://search.test"), patience_for(exits))
    assert done.exit in exits, done
    assert KEY not in done.out + done.err


class NamedPlace(NamedTuple):
    """A server by its name alone."""

    url: str


def test_answer_cut_off_anywhere_is_no_answer(sleuth: Any, judge: Any, serve: Any) -> None:
    whole = HEAD + b"Content-Length: %d\r\n\r\n" % len(GOOD) + GOOD
    cut = [0]
    server = serve(lambda caller: caller.send(whole[: cut[0]]))
    for cut[0] in range(0, len(whole), 10):
        done = ask(sleuth, judge, server, 10)
        assert done.exit == 6, (cut, done)
        assert done.out == ""
    cut[0] = len(whole)
    assert ask(sleuth, judge, server, 10).exit == 0


# Answers that are not what they should be

WRONG: tuple[Any, ...] = (
    None, True, False, 0, 7, -1, 1.5e308, 10**300, -(10**400), "", "text", "https://b.test/", [], {}, [None], [[7]],
    {"x": None}, [{"x": []}], ["\ud800"], float("nan"), float("inf"), "9" * 5000, [[[[[[[[]]]]]]]], {"url": {}}, "null",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value within a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in entries:
        yield from places(entry, (*path, name))


def mutated(body: str, chance: random.Random) -> bytes:
    """Return an answer with a few of its values swapped, deleted, doubled or buried; of pages, pieces."""
    try:
        document = json.loads(body)
    except ValueError:
        return torn(body, chance).encode("utf-8", "replace")
    for _ in range(chance.randint(1, 4)):
        ways = [place for place in places(document) if place]
        if not ways:
            break
        *path, last = chance.choice(ways)
        parent = document
        for name in path:
            parent = parent[name]
        entry = parent[last]
        deed = chance.choice(("swap", "swap", "swap", "delete", "double", "wrap"))
        if deed == "swap":
            parent[last] = copy.deepcopy(chance.choice(WRONG))
        elif deed == "delete":
            del parent[last]
        elif deed == "double" and isinstance(entry, list):
            parent[last] = entry * 3
        else:
            parent[last] = chance.choice(([entry], {"value": entry}, [[entry]]))
    text = json.dumps(document)
    if chance.random() < 0.1:
        text = text.replace("null", "[" * 10_000 + "]" * 10_000, 1)
    if chance.random() < 0.1:  # the same name twice
        text = re.sub(r'"(\w+)": ', r'"\1": 7, "\1": ', text, count=1)
    return text.encode("utf-8", "surrogatepass")


def torn(page: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 5)):
        first, last = sorted(chance.randrange(len(page) + 1) for _ in range(2))
        page = chance.choice((page[:first] + page[last:], page + page[first:last], page[:first] + "<" + page[first:]))
    return page


def set_up(sleuth: Any, provider: Provider, url: str, sample: Sample) -> list[str]:
    """Let a provider ask our server as its sample was asked; return the words of that search."""
    host = f"{url}/page?q=%s" if provider.type == "local" else url
    words = ["--api-host", host, *[f"--option={name}=x" for name in provider.required_options]]
    words += [f"--option={name}={value}" for name, value in sample.account.options.items()]
    if sample.account.engines:
        words += ["--engines", ",".join(sample.account.engines)]
    done = sleuth("providers", "set", provider.id, *words, "--option=per_minute=100000", "--api-key", "-", stdin=KEY)
    assert done.exit == 0, done.err
    query = sample.query
    search = ["search", "-p", provider.id, "--no-cache", "--timeout", "5", "--category", query.category, "-n", "50"]
    search += ["--lang", query.lang] if query.lang else []
    return [*search, *(f"--engine={name}" for name in query.engines), query.text]


@pytest.mark.parametrize("name", PROVIDERS)
def test_no_answer_surprises_a_provider(sleuth: Any, judge: Any, serve: Any, name: str) -> None:
    provider = registry.load(name)
    samples = provider.samples
    body = [b""]
    status = ["200 OK"]
    headers: list[str] = []
    server = serve(lambda caller: caller.answer(body[0], *headers, status=status[0]))
    sleuth.environ.pop("SEARXNG_URL")

    @settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False), st.sampled_from(samples))
    def attack(chance: random.Random, sample: Sample) -> None:
        body[0], status[0] = mutated(sample.body, chance), f"{sample.status} Said"
        headers[:] = [f"Content-Type: {sample.headers.get('content-type', 'application/json')}"]
        search = set_up(sleuth, provider, server.url, sample)
        done = sleuth(*search, SLEUTH_WEBSEARCH_RETRIES="1")
        check(judge, done)
        assert KEY not in done.out + done.err

    attack()


# Bombs


def endless(caller: Any) -> None:
    caller.send(HEAD + b"\r\n" + b'{"results": [')
    caller.pour(b'{"url": "https://a.test/", "title": "x"},' * 2000, 1_000_000_000)


def promised(caller: Any) -> None:
    caller.send(HEAD + b"Content-Length: 1000000000000\r\n\r\n")
    caller.pour(b" " * 100_000, 1_000_000_000)


def inflated(caller: Any, start: bytes = b'{"a": [', filling: bytes = b" ", kind: str = "application/json") -> None:
    """Send a gigabyte in a megabyte: one compressed block again and again."""
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    first = engine.compress(start) + engine.flush(zlib.Z_FULL_FLUSH)
    again = engine.compress(filling * (10_000_000 // len(filling))) + engine.flush(zlib.Z_FULL_FLUSH)
    caller.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip\r\n\r\n".encode() + first)
    caller.pour(again, 100 * len(again))


def filled(start: bytes, piece: bytes, end: bytes, size: int = 4_900_000, kind: str = "application/json") -> Any:
    """Return a whole answer, just below the limit, of as many small pieces as fit."""
    body = start + piece * ((size - len(start) - len(end)) // len(piece)) + end
    return lambda caller: caller.answer(body, f"Content-Type: {kind}")


def unlike(template: str, start: bytes, end: bytes, number: int = 10**6) -> Any:
    """Return a whole answer of pieces that all differ, as many as fit or as are named."""
    number = min(number, 4_900_000 // (len(template) + 6))
    return lambda caller: caller.answer(start + ",".join(template % n for n in range(number)).encode() + end)


def rivals(caller: Any) -> None:
    """Send pages of one site and one title, each of which must be compared with all others to know that it differs."""
    letters = "".join(random.Random(1).choices("abcdefghij ", k=2_000_000))
    texts = [letters[at : at + 2000] for at in range(0, len(letters), 2000)]
    hits = [{"url": f"https://a.test/{text[:12]}", "title": "t", "content": text} for text in texts]
    caller.answer(json.dumps({"results": hits}).encode())


def page(*parts: str) -> Callable[[Any], None]:
    return lambda caller: caller.answer("".join(parts).encode(), f"Content-Type: {HTML}")


def numbered(count: int) -> str:
    """Return attributes of which no two are alike."""
    return " ".join(f"a{number}" for number in range(count))


HTML = "text/html; charset=utf-8"
HIT = b'{"results": [{"url": "https://a.test/", "title": "t"}], '
BOMBS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "endless body": ("searxng", endless),
    "promised gigabytes": ("searxng", promised),
    "compressed gigabyte": ("searxng", inflated),
    "objects": ("searxng", filled(b'{"results": [', b"{},", b"{}]}")),
    "one long title of wide letters": ("searxng", filled(HIT.removesuffix(b't"}], ') + "😀".encode(), b"a", b'"}]}')),
    "names": ("searxng", unlike('"n%d":0', HIT + b'"x": {', b"}}", 199_000)),
    "results": ("searxng", unlike('{"url":"https://a.test/%d"}', b'{"results": [', b"]}", 99_000)),
    "rivals": ("searxng", rivals),
    "suggestions": ("searxng", unlike('"word%d"', HIT + b'"suggestions": [', b"]}", 199_000)),
    "tags": ("duckduckgo", filled(b"<html><body>", b"<p>", b"", kind=HTML)),
    "tags with attributes": ("duckduckgo", filled(b"<html><body>", b"<p a=b c>x", b"", size=490_000, kind=HTML)),
    "endless attributes": ("duckduckgo", page("<html><p ", numbered(600_000), ">")),
    "many attributes": ("duckduckgo", page("<html>", f"<p {numbered(990)}>" * 100)),
    "wide letters of a page": ("duckduckgo", filled("<html><body>😀".encode(), b"a", b"", kind=HTML)),
    "slow charset": ("duckduckgo", filled(b"<html>", b"a-b", b"", kind="text/html; charset=punycode")),
    "links": ("local-google", page("<html>", '<a href="https://a.test/"><h3>t</h3></a>' * 20_000)),
}  # fmt: skip


@pytest.fixture(scope="module")
def usual() -> dict[str, float]:
    """What a search of each provider weighs when nobody attacks, once it is known."""
    return {}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_costs_little_memory_and_no_more_than_its_time(
    sleuth: Any, judge: Any, serve: Any, weigh: Any, usual: dict[str, float], name: str
) -> None:
    id, behaviour = BOMBS[name]
    provider = registry.load(id)
    sample = next(sample for sample in provider.samples if sample.finds)
    if id not in usual:
        good = filled(sample.body.encode(), b" ", b"", size=len(sample.body) + 100, kind=sample.headers["content-type"])
        usual[id] = weighed(sleuth, weigh, provider, serve(good)).megabytes
    done = weighed(sleuth, weigh, provider, serve(behaviour))
    judge(done.out, tabs=True)
    judge(done.err)
    assert b"--debug tells more" not in done.err
    assert done.exit in (0, 1, 5, 6)
    assert done.megabytes - usual[id] < 60
    assert done.seconds < 3 + 3


def weighed(sleuth: Any, weigh: Any, provider: Provider, server: Any) -> Any:
    sleuth.environ.pop("SEARXNG_URL", None)
    host = f"{server.url}/page?q=%s" if provider.type == "local" else server.url
    assert sleuth("providers", "set", provider.id, "--api-host", host).exit == 0
    return weigh(sleuth, "search", "-p", provider.id, "--timeout", "3", "x", SLEUTH_WEBSEARCH_RETRIES="1")


# Where keys and requests go

# Who sends a key in a header, in the body, in the address, or a password.
CARRIERS = ("brave", "tavily", "serpapi", "searxng", "kagi", "google")
STATUSES = ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent")


@pytest.mark.parametrize("name", CARRIERS)
def test_key_goes_to_no_other_host(sleuth: Any, judge: Any, serve: Any, name: str) -> None:
    thief = serve(lambda caller: caller.answer(GOOD, "Set-Cookie: stolen=1"))
    status = [""]
    server = serve(lambda caller: caller.answer(b"", f"Location: {target[0]}{caller.path}", status=status[0]))
    target = [thief.url]
    provider = registry.load(name)
    sample = next(sample for sample in provider.samples if sample.finds)
    sleuth.environ.pop("SEARXNG_URL")
    search = set_up(sleuth, provider, server.url, sample)
    words = ["--basic-auth-username", "me", "--basic-auth-password", "-"]
    assert sleuth("providers", "set", name, *words, stdin=KEY).exit == 0
    other = thief.url.replace("127.0.0.1", "localhost")
    for target[0] in (thief.url, other, other.replace("http://", "http://me:pw@"), f"//127.0.0.1:{thief.port}"):
        for status[0] in STATUSES:
            done = sleuth(*search, SLEUTH_WEBSEARCH_RETRIES="1")
            check(judge, done)
            assert done.exit == 1
            assert "redirected to another host" in done.err
    assert thief.requests == []
    assert len(server.requests) == 20


PLACES = (
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


@pytest.mark.parametrize("place", PLACES)
def test_redirect_to_nowhere_is_an_error(sleuth: Any, judge: Any, serve: Any, place: str) -> None:
    server = serve(lambda caller: caller.answer(b"", f"Location: {place}", status="302 Found"))
    assert ask(sleuth, judge, server).exit in (1, 2, 6)
    assert read(sleuth, judge, server.url, SLEUTH_FETCH_ALLOW_PRIVATE="true").exit == 1


def test_circles_of_redirects_end(sleuth: Any, judge: Any, serve: Any) -> None:
    server = serve(lambda caller: caller.answer(b"", f"Location: {caller.path}x", status="302 Found"))
    assert ask(sleuth, judge, server).exit == 1
    assert read(sleuth, judge, server.url, SLEUTH_FETCH_ALLOW_PRIVATE="true").exit == 1
    assert len(server.requests) <= 20


def test_cookies_are_not_kept(sleuth: Any, judge: Any, serve: Any) -> None:
    def answer(caller: Any) -> None:
        if caller.path.endswith("again"):
            caller.answer(GOOD)
        else:
            caller.answer(b"", f"Location: {caller.path}&again", "Set-Cookie: id=1; Path=/", status="302 Found")

    server = serve(answer)
    assert ask(sleuth, judge, server, 10).exit == 0
    assert ask(sleuth, judge, server, 10).exit == 0
    assert len(server.requests) == 4
    assert not any(b"cookie" in request.lower() for request in server.requests)


# Pages


def read(sleuth: Any, judge: Any, url: str, **environ: str) -> Any:
    started = time.monotonic()
    environ = {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"} | environ
    done = sleuth("summarize", "--timeout", str(PATIENCE), url, **environ)
    assert time.monotonic() - started < PATIENCE + SLACK
    check(judge, done)
    return done


@pytest.fixture
def open_street(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 127.0.0.1 for a public address, and no other of this machine."""
    really = guard.is_public
    monkeypatch.setattr(guard, "is_public", lambda address: address == "127.0.0.1" or really(address))


PAGE = "<!doctype html><html><title>T</title><p>{}</p>".format("The quiet village has a library of many books. " * 9)
BEHIND = ("127.0.0.2", "localhost", "[::1]", "0.0.0.0", "2130706434", "0x7f000002", "127.0.0.2.", "[::ffff:127.0.0.2]")


@pytest.mark.usefixtures("open_street")
def test_pages_lead_to_no_private_address(sleuth: Any, judge: Any, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    private = serve(lambda caller: caller.answer(PAGE.encode(), "Content-Type: text/html"), host="")
    public = serve(
        lambda caller: caller.answer(b"", f"Location: http://{target[0]}:{private.port}/", status="302 Found")
    )
    really = socket.getaddrinfo
    names = {"localhost": "127.0.0.3", "127.0.0.2.": "127.0.0.2"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: really(names.get(text(host), host), *rest, **more)
    )
    target = [f"127.0.0.1:{private.port}/#"]
    assert read(sleuth, judge, public.url).exit == 0, "the street itself is open"
    private.requests.clear()
    for target[0] in BEHIND:
        assert read(sleuth, judge, f"{public.url}/{target[0]}").exit == 1
    assert private.requests == []


@pytest.mark.usefixtures("open_street")
def test_name_server_cannot_change_its_mind(
    sleuth: Any, judge: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look at the name shows a public address, every later one a private one: nobody looks twice."""
    private = serve(lambda caller: caller.answer(PAGE.encode(), "Content-Type: text/html"), host="127.0.0.2")
    asked: list[str] = []
    really = socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if text(host) != "rebind.test":
            return really(host, port, *rest, **more)
        asked.append(text(host))
        return really("127.0.0.1" if len(asked) == 1 else "127.0.0.2", port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert read(sleuth, judge, f"http://rebind.test:{private.port}/").exit == 1
    assert private.requests == []
    assert asked == ["rebind.test"]


def text(host: Any) -> str:
    return host.decode() if isinstance(host, bytes) else str(host)


def plain_page(kind: str, body: bytes) -> Callable[[Any], None]:
    return lambda caller: caller.answer(body, f"Content-Type: {kind}")


START = "<!doctype html><html><title>T</title><p>"
PAGE_BOMBS: dict[str, Callable[[Any], None]] = {
    "compressed page": lambda caller: inflated(caller, START.encode(), b"word ", "text/html"),
    "page of tags": page(START, "".join(f"<i>{number}" for number in range(900_000))),
    "page of attributes": page(START, PAGE, f"<b {numbered(280_000)}>"),
    "page of one long word": page(START, "a" * 9_900_000),
    "wide text": plain_page("text/plain", "😀".encode() + b"word. " * 1_600_000),
    "objects of json": plain_page("application/json", b"[" + b"{}," * 330_000 + b"{}]"),
    "markdown of brackets": plain_page("text/markdown", b"[" * 50_000 + b"](" * 50_000 + b"*_`" * 50_000),
}


@pytest.mark.parametrize("name", PAGE_BOMBS)
def test_page_costs_little_memory_and_no_more_than_its_time(
    sleuth: Any, judge: Any, serve: Any, weigh: Any, usual: dict[str, float], name: str
) -> None:
    def weighed(behaviour: Callable[[Any], None]) -> Any:
        environ = {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false", "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
        return weigh(sleuth, "summarize", "--timeout", "3", serve(behaviour).url, **environ)

    if "page" not in usual:
        usual["page"] = weighed(lambda caller: caller.answer(PAGE.encode(), "Content-Type: text/html")).megabytes
    done = weighed(PAGE_BOMBS[name])
    judge(done.out)
    judge(done.err)
    assert done.exit in (0, 1)
    assert b"tells more" not in done.err
    assert done.megabytes - usual["page"] < 100
    assert done.seconds < 3 + 3
