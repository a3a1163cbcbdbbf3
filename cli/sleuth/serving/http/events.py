"""An answer over HTTP, as server-sent events or as one JSON document."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from sleuth.answers.answer import ProgressEvent, answer_as_json
from sleuth.answers.markdown import SafeStream
from sleuth.answers.presentation import safe
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.errors import SleuthError
from sleuth.serving.http.errors import error_body, internal_error, stopping
from sleuth.serving.http.models import AskBody
from sleuth.serving.http.search import named
from sleuth.serving.streamed_work import StreamedWork, Workers

KEEPALIVE_INTERVAL_S = 10.0

DISCONNECT_POLL_S = 1.0

Event = tuple[str, dict[str, Any]]
AnswerWork = StreamedWork[Event, dict[str, Any]]


def start_answer(pool: Workers, body: AskBody) -> AnswerWork:
    """Start to work on an answer."""

    def answer(client: Client, report: Callable[[Event], None]) -> dict[str, Any]:
        def progress(event: ProgressEvent) -> None:
            report((event.name, event.as_json()))

        stream = SafeStream(lambda text: report(("delta", {"text": text})))  # which has no control characters
        found = client.ask(**_arguments(body), tell=progress, write=stream.add)
        stream.close()
        return answer_as_json(safe(found))

    return StreamedWork(pool, answer)


async def answer_document(work: AnswerWork, request: Request) -> JSONResponse:
    """Return the answer when it is complete; a client that disconnects cancels the work."""
    try:
        async for _ in work.events(DISCONNECT_POLL_S):
            if await request.is_disconnected():
                raise stopping()  # nothing receives it
        return JSONResponse(work.result())
    finally:
        work.cancel()


class AnswerStream(StreamingResponse):
    """The events of one answer; a client that disconnects cancels the work."""

    def __init__(self, work: AnswerWork) -> None:
        self.work = work
        super().__init__(_encoded(work), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the answer is complete or the client is gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.work.cancel()


async def _encoded(work: AnswerWork) -> AsyncIterator[bytes]:
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
    given = body.model_dump(exclude={"provider_id", "max_iterations", "tracing"})
    return given | {"providers": named(body.provider_id), "rounds": body.max_iterations}
