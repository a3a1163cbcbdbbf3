"""The endpoint /mcp: the Model Context Protocol over streamable HTTP."""

import asyncio
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sleuth import __version__
from sleuth.serving.tools import Toolbox

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MAX_SESSIONS = 1000
SESSION_IDLE_TIMEOUT_S = 1800.0


class McpEndpoint:
    """An ASGI application; the SDK takes a second to import, so the first request loads it."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._task: asyncio.Task[None] | None = None
        self._started: asyncio.Future[StreamableHTTPSessionManager]
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if self._task is None:
            self._started = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run())
        manager = await asyncio.shield(self._started)
        await manager.handle_request({**scope, "user": _owner(scope["token_name"])}, receive, send)

    async def close(self) -> None:
        """End all sessions."""
        if self._task:
            self._stop.set()
            await self._task

    async def _run(self) -> None:
        """Run the session manager, which must start and stop in the same task."""
        try:
            manager = await asyncio.to_thread(self._load)
            async with manager.run():
                self._started.set_result(manager)
                await self._stop.wait()
        except Exception as problem:
            if self._started.done():
                raise
            self._started.set_exception(problem)

    def _load(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from sleuth.serving.http.auth import MAX_BODY_BYTES
        from sleuth.serving.mcp import McpServer

        return StreamableHTTPSessionManager(
            McpServer(self._toolbox),
            session_idle_timeout=SESSION_IDLE_TIMEOUT_S,
            max_request_body_size=MAX_BODY_BYTES,
            max_sessions=MAX_SESSIONS,
        )


def _owner(token_name: str) -> object:
    """Return the owner of a session that begins with this token; the SDK refuses requests of others for it."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=token_name, scopes=[]))


async def health(_: Request) -> JSONResponse:
    """Check that the server is up; needs no token."""
    return JSONResponse({"status": "ok", "version": __version__})


def mcp_app(endpoint: McpEndpoint) -> Starlette:
    """Return an application with /mcp and /healthz alone."""
    return Starlette(routes=[Route("/mcp", endpoint), Route("/healthz", health)])
