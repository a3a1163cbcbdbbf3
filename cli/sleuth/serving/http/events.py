"""An answer told as server-sent events while it is being made."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from sleuth.answers.answer import ProgressEvent, Question, answer_as_json
from sleuth.answers.llm.chat import Message
from sleuth.answers.presentation import safe
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.text import strip_controls
from sleuth.engine.options import language
from sleuth.runtime import Runtime
from sleuth.serving.http.errors import body_of, unexpected
from sleuth.serving.http.searches import AUTO

QUIET = 10.0  # seconds without an event after which a comment keeps the connection open


class LeftError(BaseException):
    """Whoever asked is gone. No Exception, so that nothing on the way takes it for a failed search and goes on."""


class EventWriter:
    """Carries events from the thread that works to the event loop that sends them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._left = threading.Event()
        self._worker: threading.Thread | None = None

    def work(self, client: Client, body: dict[str, Any]) -> None:
        """Answer a question in the calling thread; the end of it is an event too."""
        self._worker = threading.current_thread()
        try:
            answer = client.ask(_question(client.runtime, body), tell=self._tell, write=self._write)
            self._put("answer", answer_as_json(safe(answer)))
        except LeftError:
            logs.log("serve: an answer was given up, nobody waits for it")
        except SleuthError as error:
            self._put("error", body_of(error))
        except Exception as problem:
            logs.log("serve: unexpected: %r", problem)
            self._put("error", body_of(unexpected()))
        finally:
            self._send(b"")

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the events as they come, with a comment where nothing comes for long."""
        while True:
            try:
                line = await asyncio.wait_for(self._lines.get(), QUIET)
            except TimeoutError:
                line = b": still working\n\n"
            if not line:
                return
            yield line

    def leave(self) -> None:
        """Let the work end at its next step."""
        self._left.set()

    def _tell(self, event: ProgressEvent) -> None:
        self._put(event.name, event.as_json())

    def _write(self, text: str) -> None:
        self._put("delta", {"text": strip_controls(text)})

    def _put(self, name: str, document: dict[str, Any]) -> None:
        if self._left.is_set() and threading.current_thread() is self._worker:
            raise LeftError
        self._send(f"event: {name}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n".encode("utf-8", "replace"))

    def _send(self, line: bytes) -> None:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:  # the server has ended
            self._left.set()


def _question(runtime: Runtime, body: dict[str, Any]) -> Question:
    return Question(
        body["question"],
        search=body.get("search", "auto"),
        history=tuple(Message(turn["role"], turn["content"]) for turn in body.get("history", ())),
        providers=(body.get("providerId", AUTO),),
        rounds=body.get("maxIterations", 0),
        pages=body.get("pages", 0),
        lang=language(body.get("language", "")),
        region=body.get("region", "").upper(),
        rules=runtime.rules(),
    )


class EventStream(StreamingResponse):
    """The response that sends the events; when its client goes away, the work is told."""

    def __init__(self, telling: EventWriter, future: "Future[Any]") -> None:
        super().__init__(telling.lines(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self.telling, self.future = telling, future

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until there are no more, or nobody to send them to."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.future.cancel()
            self.telling.leave()
