"""A page in a real Chromium, under a guard: whatever its scripts try, nothing private is reached, and it is shown."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.guarded_proxy import run_proxy

from sleuth_providers.browser import browser as browser_module
from sleuth_providers.browser.browser import find_program, read_page
from sleuth_providers.browser.proxy import GuardedProxy
from sleuth_providers.errors import BadRequestError, UnreachableError

pytestmark = pytest.mark.live

PUBLIC = "public.localhost"  # Chromium trusts such a name like https, so that no feature is kept from its scripts
POLL_TIMEOUT_S = 15.0
PRIVATE = ("127.0.0.1", "localhost", "[::1]", "0x7f.1")


class PrivateError(Exception):
    """What the guard of these tests raises."""


def poll(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; the test fails by its own assertions if it never does."""
    until = time.monotonic() + POLL_TIMEOUT_S
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)


class Trap:
    """A port on loopback, TCP and UDP, IPv4 and IPv6, that notes everything that comes near it."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        first = socket.create_server(("127.0.0.1", 0))
        self.port: int = first.getsockname()[1]
        self.listeners = [first, socket.create_server(("::1", self.port), family=socket.AF_INET6)]
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            self.listeners.append(socket.socket(family, socket.SOCK_DGRAM))
            self.listeners[-1].bind((host, self.port))
        for listener, work in zip(self.listeners, (self.accept, self.accept, self.receive, self.receive), strict=True):
            threading.Thread(target=work, args=(listener,), daemon=True).start()

    def accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, peer = listener.accept()
                self.seen.append(b"TCP %d" % peer[1])
                threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            if data := connection.recv(65536):
                self.seen.append(data)
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n"
            connection.sendall(head + b"Content-Length: 6\r\nConnection: close\r\n\r\nsecret")

    def receive(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := listener.recv(65536):
                self.seen.append(b"UDP " + data)

    def names(self) -> set[str]:
        """Return the first part of the path of every request."""
        requests = [data.split(b" ") for data in self.seen if b" /" in data]
        return {words[1].decode("utf-8", "replace").strip("/?") for words in requests}

    def received(self) -> list[bytes]:
        """Return what was sent before this call: every listener works in order, so that a marker comes last."""
        markers = set()
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.create_connection((host, self.port)) as connection:
                markers.add(b"TCP %d" % connection.getsockname()[1])
            with socket.socket(family, socket.SOCK_DGRAM) as sender:
                sender.sendto(host.encode(), (host, self.port))
                markers.add(b"UDP " + host.encode())
        poll(lambda: markers <= set(self.seen))
        return [data for data in self.seen if data not in markers]

    def close(self) -> None:
        for listener in self.listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


@pytest.fixture
def public(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A site under a name that only the test's resolver knows."""
    pytest.importorskip("playwright")
    if find_program() is None:
        pytest.skip("no Chromium here")
    real = socket.getaddrinfo

    def look_up(host: Any, *rest: Any, **more: Any) -> Any:
        known = host in (PUBLIC.encode(), b"other.example") and more.get("flags") != socket.AI_NUMERICHOST
        return real("127.0.0.1" if known else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(browser_module, "SCRIPT_TIMEOUT_S", 2 * POLL_TIMEOUT_S)  # for busy machines
    site.address = f"http://{PUBLIC}:{site.port}"
    return site


@pytest.fixture
def seen() -> list[str]:
    """The hosts that the guard was asked about."""
    return []


@pytest.fixture
def guard(seen: list[str]) -> Any:
    def check(host: str, addresses: list[str]) -> None:
        seen.append(host)
        if host != PUBLIC:
            raise PrivateError(host)

    return check


# Each goes to NAME, which is the private host, the port, and the name of the attempt.
ATTEMPTS = {
    "fetch": "return fetch('http://NAME').catch(() => 0)",
    "post": "return fetch('http://NAME', {method: 'POST', mode: 'no-cors', body: 'x'}).catch(() => 0)",
    "xhr": "let x = new XMLHttpRequest(); x.open('GET', 'http://NAME'); x.send()",
    "iframe": "add('iframe', {src: 'http://NAME'})",
    "script": "add('script', {src: 'http://NAME'})",
    "object": "add('object', {data: 'http://NAME'})",
    "style": "add('link', {rel: 'stylesheet', href: 'http://NAME'})",
    "prefetch": "add('link', {rel: 'prefetch', href: 'http://NAME'})",
    "form": "add('iframe', {name: 'hidden'}); add('form', {action: 'http://NAME', target: 'hidden'}).submit()",
    "socket": "new WebSocket('ws://NAME')",
    "beacon": "navigator.sendBeacon('http://NAME', 'x')",
    "events": "new EventSource('http://NAME')",
    "worker": "new Worker(code(`fetch('http://NAME')`))",
    "shared": "new SharedWorker(code(`fetch('http://NAME')`))",
    "popup": "window.open('http://NAME')",
    "redirect": "return fetch('/away').catch(() => 0)",
    "frame-redirect": "add('iframe', {src: '/frame-away'})",
}
# These leave no path behind, or are not always made: pictures are never loaded, and Chromium prefetches as it likes.
SILENT = {
    "image": "add('img', {src: 'http://NAME'})",
    "tls": "return fetch('https://NAME').catch(() => 0)",
    "preconnect": "add('link', {rel: 'preconnect', href: 'http://NAME'})",
    "service-worker": "return navigator.serviceWorker.register('/worker.js').catch(() => 0)",
    "rules": "add('script', {type: 'speculationrules', text: JSON.stringify("
    "{prefetch: [{source: 'list', urls: ['http://NAME'], eagerness: 'immediate'}]})})",
    "stun": "return call({urls: 'stun:HOST'})",
    "turn": "return call({urls: 'turn:HOST', username: 'a', credential: 'b'})",
    "turn-tcp": "return call({urls: 'turn:HOST?transport=tcp', username: 'a', credential: 'b'})",
    "transport": "return new WebTransport('https://NAME').ready.catch(() => 0)",
    "metadata": "return fetch('http://169.254.169.254/latest/meta-data/').catch(() => 0)",
}
# How those of them that are always made show themselves.
SIGNS: dict[str, Callable[[bytes], bool]] = {
    "stun": lambda data: data.startswith(b"UDP \x00\x01"),
    "turn-tcp": lambda data: data.startswith(b"\x00\x03"),
    "transport": lambda data: data.startswith(b"UDP ") and data[4] >= 0xC0,  # QUIC
}
PAGE = """<!doctype html><title>Page</title><body><p>Written by the server.</p><script>
const add = (name, given) => document.body.appendChild(Object.assign(document.createElement(name), given));
const code = text => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
const call = server => new Promise(done => {
  const peer = new RTCPeerConnection({iceServers: [server]});
  peer.onicegatheringstatechange = () => peer.iceGatheringState == 'complete' && done();
  peer.createDataChannel('x');
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
});
const attempts = {ATTEMPTS};
const started = Object.values(attempts).map(attempt => {
  try { return attempt() } catch (problem) { console.log(problem) }
});
Promise.allSettled(started).then(() => fetch('/settled'));
new WebSocket(`ws://${location.host}/own-socket`);
fetch('/wait').then(answer => answer.text()).then(text => add('p', {textContent: text}));
</script>"""


def page_that_tries(public: Any, host: str, trap: Trap, have_come: Callable[[], bool]) -> str:
    """Return the URL of a page that makes every attempt, and is complete when `have_come` says that they came."""

    def wait(send: Any) -> None:
        poll(have_come)
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\nWritten by its scripts.")

    place = f"{host}:{trap.port}"
    attempts = ",".join(
        f"'{name}': () => {{ {attempt.replace('NAME', f'{place}/{name}').replace('HOST', place)} }}"
        for name, attempt in (ATTEMPTS | SILENT).items()
    )
    public.behaves("/wait", wait)
    public.page("/away", "", status=302, Location=f"http://{place}/redirect")
    public.page("/frame-away", "", status=307, Location=f"http://{place}/frame-redirect")
    return str(public.page("/", PAGE.replace("ATTEMPTS", attempts)))


def test_without_a_guard_the_attempts_reach_a_private_server(public: Any, trap: Trap) -> None:
    """What the next test shows is worth nothing unless this one passes."""

    def missing() -> set[str]:
        silent = {name for name, sign in SIGNS.items() if not any(map(sign, trap.seen))}
        return silent | set(ATTEMPTS) - trap.names()

    reply = read_page(page_that_tries(public, "127.0.0.1", trap, lambda: not missing()), timeout=60)
    assert b"Written by its scripts." in reply.body
    assert missing() == set()


@pytest.mark.parametrize("host", PRIVATE)
def test_scripts_reach_nothing_private_and_the_page_is_shown(
    host: str, public: Any, trap: Trap, guard: Any, seen: list[str]
) -> None:
    hosts = {PUBLIC, {"0x7f.1": "127.0.0.1"}.get(host, host).strip("[]"), "169.254.169.254"}
    url = page_that_tries(
        public, host, trap, lambda: hosts <= set(seen) and {"/settled", "/own-socket"} <= set(public.paths())
    )
    reply = read_page(url, timeout=60, guard=guard)
    assert trap.received() == []
    assert (reply.status, reply.url) == (200, f"{public.address}/")
    assert b"Written by the server." in reply.body
    assert b"Written by its scripts." in reply.body
    assert b"secret" not in reply.body
    assert hosts <= set(seen)
    assert {"/settled", "/own-socket"} <= set(public.paths())  # what is allowed works, through a tunnel as well
    assert "/worker.js" not in public.paths()
    assert not any(name.startswith("proxy-") for asked in public.requests for name in asked.headers)


@pytest.mark.parametrize(
    "way",
    [
        "<script>location = 'http://NAME/'</script>",
        "<script>location = 'https://NAME/'</script>",
        "<meta http-equiv=refresh content='0; url=http://NAME/'>",
        "<script>addEventListener('load', () => add('form', {action: 'http://NAME/', method: 'post'}).submit());"
        "const add = (n, g) => document.body.appendChild(Object.assign(document.createElement(n), g))</script>",
        "http://NAME/",
        "https://NAME/",
    ],
    ids=["script", "script to https", "refresh", "form", "redirect", "redirect to https"],
)
def test_a_page_that_redirects_to_a_private_address_is_refused(way: str, public: Any, trap: Trap, guard: Any) -> None:
    way = way.replace("NAME", f"localhost:{trap.port}")
    url = public.page("/", f"<p>A page.</p>{way}")
    if not way.startswith("<"):
        url = public.page("/", "", status=302, Location=way)
    with pytest.raises(PrivateError):
        read_page(url, timeout=40, guard=guard)
    assert trap.received() == []


def test_a_private_page_is_refused(public: Any, trap: Trap, guard: Any) -> None:
    with pytest.raises(PrivateError):
        read_page(f"http://127.0.0.1:{trap.port}/", timeout=40, guard=guard)
    assert trap.received() == []


def test_a_guarded_browser_reads_only_web_pages(public: Any, guard: Any) -> None:
    for url in ("file:///etc/passwd", "chrome://version", "data:text/html,hello"):
        with pytest.raises(BadRequestError):
            read_page(url, timeout=40, guard=guard)


def test_all_requests_use_the_system_proxy(
    public: Any, trap: Trap, guard: Any, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: list[str] = []

    def decide(host: str, addresses: list[str]) -> None:
        decided.append(host)
        if host != "other.example":
            raise PrivateError

    attempt = f"fetch('http://localhost:{trap.port}/').catch(() => 0)"
    public.page("/", f"<p>A page.</p><script>{attempt}</script>")
    with run_proxy(GuardedProxy(decide, time.monotonic() + 40)) as proxy:
        monkeypatch.setenv("http_proxy", f"http://{proxy.username}:{proxy.password}@{proxy.host}:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        reply = read_page(f"http://other.example:{public.port}/", timeout=40, guard=guard)
    assert b"A page." in reply.body
    assert set(decided) == {"other.example", "localhost"}
    assert (seen, trap.received()) == ([], [])  # names are the proxy's business


def test_ip_addresses_are_checked_behind_a_proxy(public: Any, guard: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(PrivateError):
        read_page("http://192.168.1.1/", timeout=40, guard=guard)


@pytest.mark.parametrize("proxy", ["socks5h://me:word@127.0.0.1:9", "http://[bad:word"])
def test_an_unsupported_proxy_is_reported(proxy: str) -> None:
    with pytest.raises(UnreachableError) as caught:
        browser_module._system_proxy(proxy)
    assert "word" not in str(caught.value)


def test_a_socks_proxy_is_translated_for_the_browser() -> None:
    network = browser_module._system_proxy("socks5h://proxy.example:1080")
    assert network.proxy == {"server": "socks5://proxy.example:1080", "bypass": "<-loopback>"}
    assert "--host-resolver-rules=EXCLUDE proxy.example,MAP * ~NOTFOUND" in network.arguments
