"""Stands in front of the API: who may come in, what is told when something goes wrong, and the access log."""

import asyncio
import hmac
import re
import time
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sleuth.base import logs
from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.text import clean
from sleuth.serving.http.errors import DeniedError, body_of, not_http, status_of, unexpected
from sleuth_providers.records import Record

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN = ("/healthz",)  # what needs no token
HOST = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._:\[\]-]+")
MAX_HEAD = 32_768  # bytes of a request's head
DRAIN_SECONDS, DRAIN_BYTES = 2.0, 16_000_000
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, PATCH, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}


class AccessRules(Record):
    """Who may come in."""

    token: str
    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()


def allowed_hosts(host: str, port: int, more: Iterable[str]) -> frozenset[str]:
    """Return the Host headers that mean this server: a page that calls it by another name was sent by somebody else."""
    bound = f"[{host}]" if ":" in host else host
    names = {*LOOPBACK, *([] if host in ("0.0.0.0", "::") else [bound.lower()])}  # noqa: S104 - compared, not bound
    allowed = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
    for name in (text.lower() for text in more):
        if not HOST.fullmatch(name):
            raise RequestError("{name!r} is not a host", "write it like search.example.org or host:8443", name=name)
        allowed |= {name} if re.search(r":\d+$", name) else {name, f"{name}:{port}"}
    return frozenset(allowed)


def allowed_origins(origins: Iterable[str]) -> frozenset[str]:
    """Return the origins whose pages may call the API from a browser."""
    wanted = [text.lower().rstrip("/") for text in origins]
    for text in wanted:
        if not ORIGIN.fullmatch(text):
            raise RequestError("{origin!r} is not an origin", "write it like https://app.example.org", origin=text)
    return frozenset(wanted)


class AccessMiddleware:
    """Lets in who names this server rightly, comes from nowhere else, and knows the token."""

    def __init__(self, inner: ASGIApp, gate: AccessRules) -> None:
        self.inner, self.gate = inner, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one request, and see to it that there is an answer."""
        started, headers = time.monotonic(), Headers(scope=scope)
        exchange = _Exchange(headers, receive, send)
        try:
            exchange.check()
            self._check_caller(headers)
            exchange.origin = headers.get("origin", "")
            if scope["method"] == "OPTIONS" and exchange.origin and "access-control-request-method" in headers:
                await exchange.answer(Response(status_code=204, headers=PREFLIGHT))
                return
            if scope["path"] not in OPEN:
                self._check_token(headers)
            await self.inner({**scope, "app": self}, exchange.receive, exchange.send)
        except ClientDisconnect:
            exchange.status = exchange.status or 499  # as others log it; nobody gets to see it
        except HTTPException as problem:
            await exchange.refuse(_routed(problem))
        except SleuthError as error:
            await exchange.refuse(error)
        except asyncio.CancelledError:
            await exchange.refuse(_ending())
        except Exception as problem:
            logs.log("serve: unexpected: %r", problem)
            await exchange.refuse(unexpected())
        finally:
            took = round((time.monotonic() - started) * 1000)
            client = (scope.get("client") or ("?",))[0]
            path = clean(scope["path"], 200, entities=False)
            logs.log("serve: %s %s %s %s %s ms", client, scope["method"], path, exchange.status, took)

    def _check_caller(self, headers: Headers) -> None:
        if headers.get("host", "").lower() not in self.gate.hosts:
            raise DeniedError(
                "this server does not go by that name",
                "call it by the address it printed, or start it with --allow-host",
                status=403,
                code="HOST_REFUSED",
            )
        if "origin" in headers and headers["origin"].lower() not in self.gate.origins:
            raise DeniedError(
                "pages from that origin may not call this server",
                "start it with --allow-origin",
                status=403,
                code="ORIGIN_REFUSED",
            )

    def _check_token(self, headers: Headers) -> None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(token.strip().encode(), self.gate.token.encode())
        if scheme.lower() != "bearer" or not known:
            raise DeniedError(
                "the token is missing or wrong",
                "send it in the header Authorization, after Bearer; to see it: sleuth serve --print-token",
                status=401,
                code="TOKEN_REFUSED",
                headers={"WWW-Authenticate": "Bearer"},
            )


class _Exchange:
    """One request and its response: headers of ours on the way out, and whether the body was read to its end."""

    def __init__(self, headers: Headers, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        self._waits = "expect" in headers
        self._has_two_ends = "transfer-encoding" in headers and "content-length" in headers
        self._size = sum(len(name) + len(value) for name, value in headers.raw)
        self.origin = ""
        self.status = 0

    def check(self) -> None:
        """Refuse a head that came in one piece but is too large, and a body of which it is doubtful where it ends."""
        if self._has_two_ends or self._size > MAX_HEAD:
            raise not_http()

    async def receive(self) -> Message:
        """Hand on a part of the body."""
        message = await self._receive()
        if not message.get("more_body", False):
            self._unread = False
        return message

    async def send(self, message: Message) -> None:
        """Hand on a part of the response."""
        if message["type"] == "http.response.start":
            await self._drain(message["status"])
            self.status = message["status"]
            headers = MutableHeaders(raw=message["headers"])
            headers["Cache-Control"] = "no-store"
            headers["X-Content-Type-Options"] = "nosniff"
            if self.origin:
                headers["Access-Control-Allow-Origin"] = self.origin
                headers["Vary"] = "Origin"
            if self._unread or self._has_two_ends:
                headers["Connection"] = "close"  # whatever else comes is not the next request
        await self._send(message)

    async def _drain(self, status: int) -> None:
        """Take in a body that nobody wants: a client that is cut off while it sends does not get to read the answer."""
        if self._waits or status == 408:
            return
        taken = 0
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while self._unread and taken < DRAIN_BYTES:
                    taken += len((await self.receive()).get("body", b""))
        except TimeoutError:
            return

    async def answer(self, response: Response) -> None:
        """Send a whole response."""
        await response({"type": "http"}, self.receive, self.send)

    async def refuse(self, error: SleuthError) -> None:
        """Tell an error, unless a response was begun already."""
        if not self.status:
            more = error.headers if isinstance(error, DeniedError) else {}
            await self.answer(JSONResponse(body_of(error), status_of(error), more))


def _routed(problem: HTTPException) -> DeniedError:
    """Return our words for what the router says."""
    if problem.status_code == 405:
        return DeniedError(
            "this path does not know that method",
            "see what there is: GET /openapi.json",
            status=405,
            code="METHOD_NOT_ALLOWED",
            headers=problem.headers,
        )
    return DeniedError(
        "there is nothing at this path", "see what there is: GET /openapi.json", status=404, code="NOT_FOUND"
    )


def _ending() -> DeniedError:
    return DeniedError(
        "the server is being stopped",
        "start it again: sleuth serve",
        status=503,
        code="STOPPING",
        headers={"Retry-After": "5"},
    )
