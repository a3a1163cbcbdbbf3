"""The connection to a model: proxies, certificates, names; every wait ends in time."""

import base64
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sleuth.answers.llm import client
from sleuth.answers.llm.errors import ModelBrokenOffError, ModelTimeoutError, ModelUnreachableError
from sleuth_providers.net import tls

KEY = "sk-secret-0123456789"


class Proxy:
    """An HTTP proxy that forwards or tunnels to one place whatever is asked for, and remembers the heads."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.heads: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller: socket.socket) -> None:
        with caller, socket.create_connection(("127.0.0.1", self.target)) as beyond:
            head = caller.recv(65536)
            self.heads.append(head.partition(b"\r\n\r\n")[0].decode())
            if head.startswith(b"CONNECT"):
                caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                beyond.sendall(head)
            back = threading.Thread(target=_pass_on, args=(beyond, caller), daemon=True)
            back.start()
            _pass_on(caller, beyond)
            back.join()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        return


@pytest.fixture
def proxy() -> Iterator[Callable[[int], Proxy]]:
    made: list[Proxy] = []

    def start(port: int) -> Proxy:
        made.append(Proxy(port))
        return made[-1]

    yield start
    for each in made:
        each.listener.close()


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """Give the server's side of a certificate for model.test that is trusted here."""
    file, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    words += f" -addext subjectAltName=DNS:model.test,DNS:localhost -keyout {key} -out {file}"
    subprocess.run(words.split(), check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    tls.tls_context.cache_clear()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    yield context
    tls.tls_context.cache_clear()


def test_certificate_that_is_good_is_accepted(trusted: ssl.SSLContext, serve: Any, wire: Any) -> None:
    server = serve(wire.STREAM + wire.chunk("Hi", "stop") + wire.DONE, context=trusted)
    pieces = wire.model(f"https://localhost:{server.port}").stream(wire.ask())
    assert [piece.text for piece in pieces] == ["Hi", ""]


def test_certificate_that_is_bad_is_refused_and_named(trusted: ssl.SSLContext, serve: Any, wire: Any) -> None:
    server = serve(context=trusted)
    with pytest.raises(ModelUnreachableError, match="bad certificate"):
        wire.model(server, key=KEY).complete(wire.ask())
    assert server.heads == []


def test_server_without_tls_is_named(serve: Any, wire: Any) -> None:
    with pytest.raises((ModelUnreachableError, ModelTimeoutError)):
        wire.model(serve().url.replace("http:", "https:")).complete(wire.ask(timeout=1))


def test_proxy_of_the_system_is_used(
    trusted: ssl.SSLContext, serve: Any, wire: Any, proxy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(context=trusted)
    between = proxy(server.port)
    monkeypatch.setenv("HTTPS_PROXY", f"http://name:w%40rd@127.0.0.1:{between.port}")
    assert wire.model("https://model.test", key=KEY).complete(wire.ask()).text == "Hi"
    assert between.heads[0].startswith("CONNECT model.test:443 ")
    assert base64.b64encode(b"name:w@rd").decode() in between.heads[0]
    assert KEY not in between.heads[0]


def test_proxy_forwards_plain_http(serve: Any, wire: Any, proxy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    between = proxy(server.port)
    monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{between.port}")
    assert wire.model("http://model.test").complete(wire.ask()).text == "Hi"
    assert between.heads[0].startswith("POST http://model.test")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_goes_through_no_proxy(host: str, serve: Any, wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert wire.model(f"http://{host}:{serve().port}").complete(wire.ask()).text == "Hi"


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "socks5://127.0.0.1:1", "http://name:secret@[nonsense", "http://h:port"]
)
def test_proxy_that_cannot_be_used_is_named_without_its_password(
    address: str, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(ModelUnreachableError, match="proxy") as caught:
        wire.model("https://model.test").complete(wire.ask())
    assert "secret" not in str(caught.value)


def test_socks_proxy_that_is_none_is_named(serve: Any, wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        caller, _ = listener.accept()
        caller.recv(100)
        caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        caller.close()

    threading.Thread(target=answer, daemon=True).start()
    monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{listener.getsockname()[1]}")
    with listener, pytest.raises(ModelUnreachableError, match="proxy"):
        wire.model("https://model.test").complete(wire.ask())


def test_name_that_is_looked_up_for_ever_ends_in_time(wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait())
    with pytest.raises(ModelTimeoutError):
        wire.model("https://silent.test").complete(wire.ask(timeout=0.3))
    over.set()


def test_connection_has_a_limit_of_its_own(wire: Any, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CONNECT_TIMEOUT_S", 0.3)
    server = serve()
    server._read = lambda _: server.over.wait()  # the handshake of TLS is never answered
    with pytest.raises(ModelTimeoutError):
        wire.model(server.url.replace("http:", "https:")).complete(wire.ask(timeout=30))


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000, b"\0" * 100]
)
def test_what_is_no_http_is_an_error(answer: bytes, serve: Any, wire: Any) -> None:
    with pytest.raises(ModelBrokenOffError, match="not HTTP"):
        wire.model(serve(answer)).complete(wire.ask())
