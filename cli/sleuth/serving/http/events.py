"""Streams an answer as server-sent events."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from sleuth.answers.answer import ProgressEvent, answer_as_json
from sleuth.answers.llm.chat import Message
from sleuth.answers.presentation import safe
from sleuth.answers.sanitize import SafeStream
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.base.text import strip_controls
from sleuth.serving.http.errors import error_body, internal_error
from sleuth.serving.http.models import AskBody
from sleuth.serving.workers import StreamedWork, WorkerPool

KEEPALIVE_INTERVAL_S = 10.0

Event = tuple[str, dict[str, Any]]


class AnswerStream(StreamingResponse):
    """The events of one answer; a client that disconnects cancels the work."""

    def __init__(self, pool: WorkerPool, body: AskBody) -> None:
        def answer(client: Client, report: Callable[[Event], None]) -> dict[str, Any]:
            def progress(event: ProgressEvent) -> None:
                report((event.name, event.as_json()))

            stream = SafeStream(lambda text: report(("delta", {"text": strip_controls(text)})))
            found = client.ask(**_arguments(body), tell=progress, write=stream.add)
            stream.close()
            return answer_as_json(safe(found))

        self.work = StreamedWork(pool, answer)
        super().__init__(_encoded(self.work), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the answer is complete or the client is gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.work.cancel()


async def _encoded(work: StreamedWork[Event, dict[str, Any]]) -> AsyncIterator[bytes]:
    async for event in work.events(KEEPALIVE_INTERVAL_S):
        yield _encode(*event) if event else b": keep-alive\n\n"
    try:
        yield _encode("answer", work.result())
    except SleuthError as error:
        yield _encode("error", error_body(error))
    except Exception as problem:
        logs.log("serve: unexpected: %r", problem)
        yield _encode("error", error_body(internal_error()))


def _encode(name: str, document: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


def _arguments(body: AskBody) -> dict[str, Any]:
    given = body.model_dump(include={"question", "search", "pages", "language", "region"})
    history = [Message(message.role, message.content) for message in body.history]
    return given | {"history": history, "providers": body.provider_id, "rounds": body.max_iterations}
