"""The HTTP API: which path means what. A handler reads a request, has the work done in a thread, and answers."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from sleuth import __version__
from sleuth.api import Client
from sleuth.base.errors import RequestError
from sleuth.serving.http import forms, providers
from sleuth.serving.http.bodies import read_body
from sleuth.serving.http.checking import HINT, check
from sleuth.serving.http.events import EventStream, EventWriter
from sleuth.serving.http.openapi import document
from sleuth.serving.http.searches import AUTO, check_provider, note_tracing, search
from sleuth.serving.workers import Work, Workers

WORKERS, WAITING = 16, 256  # requests worked on at the same time, and those that wait for their turn
ANSWERERS, ANSWERS_WAITING = 4, 8  # answers take long; they have threads of their own


class Api:
    """The handlers, and the threads behind them."""

    def __init__(self, client: Client) -> None:
        self.workers = Workers(client, WORKERS, WAITING)
        self.answerers = Workers(client, ANSWERERS, ANSWERS_WAITING)

    def start(self) -> None:
        """Begin to work; raises what is wrong with settings or database."""
        self.workers.start()
        self.answerers.start()

    def close(self) -> None:
        """Stop working."""
        self.workers.close()
        self.answerers.close()

    def router(self) -> Router:
        """Return the routes."""
        one = "/websearch-providers/{id}"
        return Router(
            [
                Route("/healthz", self.health, methods=["GET"]),
                Route("/openapi.json", self.describe, methods=["GET"]),
                Route("/websearch-providers", self.list_providers, methods=["GET"]),
                Route(one, self.one_provider, methods=["GET", "PATCH"]),
                Route(f"{one}/test", self.test_provider, methods=["POST"]),
                Route("/websearch/search", self.search, methods=["POST"]),
                Route("/ask", self.ask, methods=["POST"]),
            ],
            redirect_slashes=False,
        )

    async def health(self, request: Request) -> Response:
        """Say that the server is there."""
        return JSONResponse({"status": "ok", "version": __version__})

    async def describe(self, request: Request) -> Response:
        """Return the OpenAPI document."""
        return JSONResponse(document())

    async def list_providers(self, request: Request) -> Response:
        """Return a page of the provider table."""
        page, limit = _number(request, "page", forms.PAGE), _number(request, "limit", forms.LIMIT)
        return await self._answer(request, lambda client: providers.list_providers(client.runtime, page, limit))

    async def one_provider(self, request: Request) -> Response:
        """Return one provider, after changing some fields of it where that is asked for."""
        id = _id(request)
        if request.method != "PATCH":
            return await self._answer(request, lambda client: providers.show_provider(client.runtime, id))
        patch = await read_body(request, forms.PATCH)
        return await self._answer(request, lambda client: providers.change_provider(client.runtime, id, patch))

    async def test_provider(self, request: Request) -> Response:
        """Try a provider out."""
        return await self._answer(request, lambda client: providers.test_provider(client.runtime, _id(request)))

    async def search(self, request: Request) -> Response:
        """Search, or summarise links."""
        body = await read_body(request, forms.SEARCH)
        return await self._answer(request, lambda client: search(client, body))

    async def ask(self, request: Request) -> Response:
        """Answer a question, telling how it goes."""
        body = await read_body(request, forms.ASK)
        await self._run(request, lambda client: check_provider(client, body.get("providerId", AUTO)))
        note_tracing(body)
        telling = EventWriter()
        return EventStream(telling, self.answerers.submit(lambda client: telling.work(client, body)))

    async def _answer(self, request: Request, work: Callable[[Client], dict[str, Any]]) -> Response:
        return JSONResponse(await self._run(request, work))

    async def _run(self, request: Request, work: Work) -> Any:
        """Have work done in a thread; what nobody waits for any more is not begun."""
        future = self.workers.submit(work)
        done = asyncio.wrap_future(future)
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait({done, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                raise ClientDisconnect
            return done.result()
        finally:
            gone.cancel()
            done.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue  # a body that nobody asked for


def _id(request: Request) -> str:
    return str(request.path_params["id"])


def _number(request: Request, name: str, schema: forms.Schema) -> int:
    """Return a number of the query string, or what it usually is."""
    text = request.query_params.get(name)
    if text is None:
        return int(schema["default"])
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RequestError("{place} must be a whole number", HINT, place=name)
    check(int(text), schema, name)
    return int(text)
