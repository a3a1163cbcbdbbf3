"""Access control in front of the API: Host, Origin and token; body size, CORS and the access log."""

import asyncio
import hmac
import math
import re
import time
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sleuth.base import logs
from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.text import clean
from sleuth.serving.http import errors
from sleuth.serving.http.tokens import Token
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from sleuth.serving.http.metrics import RequestMetrics

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
PUBLIC_PATHS = ("/healthz",)  # need no token
PLAIN_PATHS = ("/healthz", "/mcp")  # whose routes are not FastAPI's, and not in the scope
HOST = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._:\[\]-]+")
METHODS = ("DELETE", "GET", "OPTIONS", "PATCH", "POST")
MAX_BODY_BYTES = 1_000_000
PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "DELETE, GET, PATCH, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id",
    "Access-Control-Max-Age": "600",
}


class AccessRules(Record):
    """Which requests are let in."""

    tokens: tuple[Token, ...]
    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()


def allowed_hosts(host: str, port: int, more: Iterable[str]) -> frozenset[str]:
    """Return the Host headers that name this server; others are DNS rebinding attacks."""
    bound = f"[{host}]" if ":" in host else host
    names = {*LOOPBACK_NAMES, *([] if host in ("0.0.0.0", "::") else [bound.lower()])}  # noqa: S104 - compared, not bound
    allowed = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
    for name in (text.lower() for text in more):
        if not HOST.fullmatch(name):
            hint = "use a name such as search.example.org or host:8443"
            raise RequestError("invalid --allow-host {name!r}", hint, name=name)
        allowed |= {name} if re.search(r":\d+$", name) else {name, f"{name}:{port}"}
    return frozenset(allowed)


def allowed_origins(origins: Iterable[str]) -> frozenset[str]:
    """Return the origins whose pages may call the API from a browser."""
    allowed = [text.lower().rstrip("/") for text in origins]
    for text in allowed:
        if not ORIGIN.fullmatch(text):
            hint = "use an origin such as https://app.example.org"
            raise RequestError("invalid --allow-origin {origin!r}", hint, origin=text)
    return frozenset(allowed)


class AccessMiddleware:
    """Lets requests through that name this server, come from an allowed origin and carry the token."""

    def __init__(self, app: ASGIApp, rules: AccessRules, metrics: "RequestMetrics | None" = None) -> None:
        self.app, self.rules, self.metrics = app, rules, metrics
        self._times: dict[str, deque[float]] = {token.name: deque() for token in rules.tokens}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, with exactly one response and one line in the log."""
        started, exchange = time.monotonic(), _Exchange(Headers(scope=scope), receive, send)
        # uvicorn leaves the body of a HEAD out
        scope = {**scope, "method": "GET" if scope["method"] == "HEAD" else scope["method"], "token_name": ""}
        try:
            await self._handle(scope, exchange)
        except SleuthError as error:
            await exchange.respond(errors.error_response(error))
        except HTTPException:
            await exchange.respond(errors.error_response(errors.body_too_large()))
        except asyncio.CancelledError:
            await exchange.respond(errors.error_response(errors.stopping()))
        except Exception as problem:
            logs.log("serve: unexpected: %r", problem)
            await exchange.respond(errors.error_response(errors.internal_error()))
        finally:
            self._record(scope, exchange.status, time.monotonic() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        client, name, path = (scope.get("client") or ("?",))[0], scope["token_name"] or "-", scope["path"]
        template = str(getattr(scope.get("route"), "path", path if path in PLAIN_PATHS else "other"))  # not a raw path
        if status != 200 or path not in PUBLIC_PATHS:  # health checks would fill the log
            write, path = (logs.log_facts, path) if path == template else (logs.log, clean(path, 200, entities=False))
            write("serve: %s %s %s %s %s %s ms", client, name, scope["method"], path, status, round(seconds * 1000))
        if self.metrics:
            method = scope["method"] if scope["method"] in METHODS else "other"  # each label value is kept forever
            self.metrics.count_request(method, template, status, name, seconds)

    async def _handle(self, scope: Scope, exchange: "_Exchange") -> None:
        headers = exchange.headers
        exchange.check_framing()
        self._check_source(headers)
        exchange.origin = headers.get("origin", "")
        if scope["method"] == "OPTIONS" and exchange.origin and "access-control-request-method" in headers:
            await exchange.respond(Response(status_code=204, headers=PREFLIGHT_HEADERS))
            return
        if scope["path"] not in PUBLIC_PATHS:
            token = self._check_token(headers)
            scope["token_name"] = token.name
            self._check_limit(token)
        exchange.check_length()
        await self.app(scope, exchange.receive, exchange.send)

    def _check_source(self, headers: Headers) -> None:
        if headers.get("host", "").lower() not in self.rules.hosts:
            hint = "use the URL that sleuth serve printed, or start it with --allow-host"
            raise errors.HttpError("the Host header does not name this server", hint, 403, "HOST_REFUSED")
        if "origin" in headers and headers["origin"].lower() not in self.rules.origins:
            hint = "start sleuth serve with --allow-origin"
            raise errors.HttpError("the Origin header is not allowed", hint, 403, "ORIGIN_REFUSED")

    def _check_token(self, headers: Headers) -> Token:
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        matches = [one for one in self.rules.tokens if hmac.compare_digest(sent.strip().encode(), one.text.encode())]
        if scheme.lower() != "bearer" or not matches:
            hint = "send the header Authorization: Bearer TOKEN; to print the token: sleuth serve --print-token"
            raise errors.HttpError("the token is missing or wrong", hint, 401, "TOKEN_REFUSED")
        return matches[0]

    def _check_limit(self, token: Token) -> None:
        """Count a request in the last minute of its token, or refuse it."""
        times, now = self._times[token.name], time.monotonic()
        while times and times[0] <= now - 60:
            times.popleft()
        if token.per_minute and len(times) >= token.per_minute:
            hint = "try again in {seconds} s"
            code, wait = "RATE_LIMIT_EXCEEDED", math.ceil(times[0] + 60 - now)
            refusal = errors.HttpError("too many requests with this token", hint, 429, code, seconds=wait)
            refusal.retry_after = wait
            raise refusal
        if token.per_minute:
            times.append(now)


class _Exchange:
    """One request and its response: limits what comes in, adds headers to what goes out."""

    def __init__(self, headers: Headers, receive: Receive, send: Send) -> None:
        self.headers, self._receive, self._send = headers, receive, send
        self._received = 0
        self.origin = ""
        self.status = 0
        # A client that waits for "100 Continue" may send its next request where the parser expects the body.
        self._close = "expect" in headers

    def check_framing(self) -> None:
        """Refuse a body whose end is ambiguous (request smuggling)."""
        if "transfer-encoding" in self.headers and "content-length" in self.headers:
            self._close = True
            raise errors.malformed_request()

    def check_length(self) -> None:
        """Refuse a body that is announced as too large before it is sent."""
        length = self.headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > MAX_BODY_BYTES:
            raise errors.body_too_large()

    async def receive(self) -> Message:
        """Receive a part of the body."""
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received > MAX_BODY_BYTES:
            raise HTTPException(413)  # the one exception that FastAPI passes on while it reads a body
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=message["headers"])
            headers["Cache-Control"] = "no-store"
            headers["X-Content-Type-Options"] = "nosniff"
            if self.origin:
                headers["Access-Control-Allow-Origin"] = self.origin
                headers["Access-Control-Expose-Headers"] = "Mcp-Session-Id, Retry-After"
                headers["Vary"] = "Origin"
            if self.status == 401:
                headers["WWW-Authenticate"] = "Bearer"
            if self._close:
                headers["Connection"] = "close"
        await self._send(message)

    async def respond(self, response: Response) -> None:
        """Send a whole response, unless one was begun already."""
        if not self.status:
            await response({"type": "http"}, self._receive, self.send)
