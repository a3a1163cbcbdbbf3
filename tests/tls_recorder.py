"""A TLS server on loopback that records what it sees of a client: ClientHello, HTTP/2 settings, headers in order.

JA4 follows its public description: version, SNI, counts and ALPN, then hashes of the sorted ciphers and extensions.
"""

import contextlib
import hashlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RemoteSettingsChanged, RequestReceived, StreamEnded, WindowUpdated

SNI, SIGNATURES, ALPN, VERSIONS = 0, 13, 16, 43
VARYING = {SNI, 21, 41, 42, 44}  # depend on the name, the length and resumption: SNI, padding, PSK, early data, cookie
PAGE = (
    b"<!doctype html><title>larch at DuckDuckGo</title><link rel=icon href='data:,'><form action=/html/ method=post>"
    b"<input name=q value=larch><input name=b value=''><button>go</button></form>"
)


class Hello(NamedTuple):
    """The parts of a ClientHello that tell clients apart, in the order sent, without GREASE."""

    ciphers: list[int]
    extensions: list[int]
    signatures: list[int]
    alpn: list[str]
    has_grease: bool

    @property
    def ja4(self) -> str:
        """Return the JA4 of the program: without what varies from connection to connection."""
        kinds = [kind for kind in self.extensions if kind not in VARYING]
        first = f"{self.alpn[0][0]}{self.alpn[0][-1]}" if self.alpn else "00"
        head = f"t13_{len(self.ciphers):02}{len(kinds):02}{first}"
        tail = _hexed(sorted(set(kinds) - {ALPN})) + "_" + _hexed(self.signatures)
        return f"{head}_{_short(_hexed(sorted(self.ciphers)))}_{_short(tail)}"


class Record(NamedTuple):
    """One request."""

    hello: Hello
    http: str  # "h2" or "http/1.1"
    settings: str  # of HTTP/2: settings, window update and the order of the pseudo-headers
    method: str
    path: str
    headers: list[tuple[str, str]]

    def header(self, name: str) -> str:
        """Return a header, empty if it was not sent."""
        return {key.lower(): value for key, value in self.headers}.get(name, "")

    @property
    def names(self) -> list[str]:
        """Return the names of the headers in the order sent."""
        return [name.lower() for name, _ in self.headers]


class TlsRecorder:
    """Answers every request with a page that has a form."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.records: list[Record] = []
        self._context = context
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._context.num_tickets = 0  # no resumption: every connection is a first one
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"https://localhost:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError), connection:
            header = connection.recv(5, socket.MSG_PEEK | socket.MSG_WAITALL)
            size = struct.unpack(">H", header[3:])[0]
            hello = parse_hello(connection.recv(5 + size, socket.MSG_PEEK | socket.MSG_WAITALL)[5:])
            with self._context.wrap_socket(connection, server_side=True) as secure:
                if secure.selected_alpn_protocol() == "h2":
                    self._http2(secure, hello)
                else:
                    self._http1(secure, hello)

    def _http1(self, secure: ssl.SSLSocket, hello: Hello) -> None:
        stream = secure.makefile("rb")
        method, path, _ = stream.readline().decode("latin-1").split(" ", 2)
        headers = []
        while line := stream.readline().strip().decode("latin-1"):
            name, _, value = line.partition(": ")
            headers.append((name, value))
        stream.read(int(dict(headers).get("Content-Length", 0)))
        self.records.append(Record(hello, "http/1.1", "", method, path, headers))
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(PAGE)}\r\n\r\n"
        secure.sendall(head.encode() + PAGE)

    def _http2(self, secure: ssl.SSLSocket, hello: Hello) -> None:
        server = H2Connection(H2Configuration(client_side=False, header_encoding="latin-1"))
        server.initiate_connection()
        secure.sendall(server.data_to_send())
        setup: list[str] = []
        started: dict[int, list[tuple[str, str]]] = {}
        while data := secure.recv(65536):
            for event in server.receive_data(data):
                if isinstance(event, RemoteSettingsChanged) and not setup:
                    sent = ((code, change.new_value) for code, change in event.changed_settings.items())
                    setup.append(";".join(f"{int(code)}:{value}" for code, value in sent if not is_grease(int(code))))
                elif isinstance(event, WindowUpdated) and event.stream_id == 0 and len(setup) == 1:
                    setup.append(str(event.delta))
                elif isinstance(event, RequestReceived):
                    started[event.stream_id or 0] = [(str(name), str(value)) for name, value in event.headers or []]
                elif isinstance(event, DataReceived):
                    server.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
                elif isinstance(event, StreamEnded):
                    self._note(hello, setup, started.pop(event.stream_id or 0))
                    server.send_headers(event.stream_id or 0, [(":status", "200"), ("content-type", "text/html")])
                    server.send_data(event.stream_id or 0, PAGE, end_stream=True)
            secure.sendall(server.data_to_send())

    def _note(self, hello: Hello, setup: list[str], headers: list[tuple[str, str]]) -> None:
        pseudo = dict(pair for pair in headers if pair[0].startswith(":"))
        order = ",".join(name[1] for name in pseudo)
        plain = [pair for pair in headers if not pair[0].startswith(":")]
        self.records.append(Record(hello, "h2", "|".join([*setup, order]), pseudo[":method"], pseudo[":path"], plain))


def parse_hello(message: bytes) -> Hello:
    """Take a ClientHello apart."""
    at = 4 + 2 + 32
    at += 1 + message[at]  # session id
    ciphers, at = _vector(message, at, 2)
    at += 1 + message[at]  # compression
    block, _ = _vector(message, at, 2)
    content: dict[int, bytes] = {}
    at = 0
    while at < len(block):
        kind = int.from_bytes(block[at : at + 2], "big")
        content[kind], at = _vector(block, at + 2, 2)
    names, at = _vector(content[ALPN], 0, 2)[0] if ALPN in content else b"", 0
    alpn = []
    while at < len(names):
        name, at = _vector(names, at, 1)
        alpn.append(name.decode())
    numbers, kinds = list(_numbers(ciphers)), list(content)
    signatures = _vector(content[SIGNATURES], 0, 2)[0] if SIGNATURES in content else b""
    has_grease = any(map(is_grease, numbers)) and any(map(is_grease, kinds))
    return Hello(_plain(numbers), _plain(kinds), _plain(_numbers(signatures)), alpn, has_grease)


def is_grease(value: int) -> bool:
    """Tell the reserved values 0x0a0a, 0x1a1a … that browsers send so that servers stay tolerant."""
    return value & 0x0F0F == 0x0A0A and value >> 8 == value & 0xFF


def _vector(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    start = at + size
    end = start + int.from_bytes(data[at:start], "big")
    return data[start:end], end


def _numbers(data: bytes) -> Iterator[int]:
    return (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))


def _plain(values: Iterable[int]) -> list[int]:
    return [value for value in values if not is_grease(value)]


def _hexed(values: Iterable[int]) -> str:
    return ",".join(f"{value:04x}" for value in values)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
