"""A server that sends model responses byte for byte as each test writes them."""

import contextlib
import json
import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sleuth.answers.llm.chat import Message, Prompt
from sleuth.answers.llm.client import ChatModel, ModelEndpoint

Answer = bytes | Callable[[Any], None]


def http(body: bytes | str = b"", status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """Return a whole HTTP reply."""
    data = body.encode() if isinstance(body, str) else body
    named = {"Content-Type": kind, "Content-Length": str(len(data))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in named.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + data


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"  # the body ends with the connection


def reply(text: str | None = "Hi", **more: Any) -> bytes:
    """Return a whole reply of a model."""
    message = {"role": "assistant", "content": text} | more.pop("message", {})
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return http(json.dumps({"id": "c1", "choices": [choice], "usage": usage} | more))


def refuse(status: int, document: Any, **headers: str) -> bytes:
    """Return a refusal."""
    return http(json.dumps(document), f"{status} No", **headers)


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    """Return one event of a stream."""
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta | more.pop("delta", {}), "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c1", "choices": [choice]} | more, ensure_ascii=False).encode() + b"\n\n"


USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}\n\n'
DONE = b"data: [DONE]\n\n"


class Server:
    """Answers each connection with the next of its answers, the last one again and again."""

    def __init__(self, answers: tuple[Answer, ...], context: ssl.SSLContext | None = None) -> None:
        self.answers, self.context = list(answers), context
        self.heads: list[str] = []
        self.bodies: list[Any] = []
        self.over = threading.Event()
        self.gone = threading.Event()  # set when a caller hung up on a function that writes
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.place = f"127.0.0.1:{self.port}"
        self.url = f"{'https' if context else 'http'}://{self.place}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Any) -> None:
        if self.context:
            try:
                connection = self.context.wrap_socket(connection, server_side=True)
            except OSError:
                return
        with contextlib.suppress(OSError), connection:
            if not self._read(connection):
                return
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            try:
                answer(connection) if callable(answer) else connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)  # or what was sent last may be lost with the connection
            except OSError:
                self.gone.set()

    def _read(self, connection: Any) -> bool:
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lengths = [line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        while len(body) < int(lengths[0] if lengths else 0):
            body += connection.recv(65536)
        self.heads.append(head.decode())
        self.bodies.append(json.loads(body) if body.startswith(b"{") else body)
        return True

    def drip(self, data: bytes, before: bytes = b"", pause: float = 0.01) -> Answer:
        """Return an answer that sends some bytes, then others one by one, again and again."""

        def answer(connection: Any) -> None:
            connection.sendall(before)
            while not self.over.is_set():
                for byte in data:
                    connection.sendall(bytes([byte]))
                    if self.over.wait(pause):
                        return

        return answer

    def close(self) -> None:
        self.over.set()
        self.listener.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers: serve(answer, answer, …)."""
    servers: list[Server] = []

    def start(*answers: Answer, context: ssl.SSLContext | None = None) -> Server:
        servers.append(Server(answers or (reply(),), context))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


class Naps(list[float]):
    """Pauses that were wanted; none is made."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def ask(text: str = "hello", **more: Any) -> Prompt:
    return Prompt((Message("user", text),), **more)


def model(server: Server | str, name: str = "m", **more: Any) -> Any:
    """Return a model at a server that takes no naps but remembers those it wanted."""
    base = server if isinstance(server, str) else server.url
    naps = Naps()
    made = ChatModel(ModelEndpoint(base, name, **more), sleep=naps)
    made.naps = naps  # type: ignore[attr-defined]  # for tests to look at
    return made


@pytest.fixture
def wire() -> Any:
    """Give all of the above, since tests cannot import one another."""
    from types import SimpleNamespace

    return SimpleNamespace(
        http=http, STREAM=STREAM, reply=reply, refuse=refuse, chunk=chunk, USAGE=USAGE, DONE=DONE, ask=ask, model=model
    )
