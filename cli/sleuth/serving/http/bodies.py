"""Reading the body of a request: JSON and nothing else, whole, in time, and not too much of it."""

import asyncio
import json
from typing import Any

from starlette.requests import Request

from sleuth.base.errors import RequestError
from sleuth.serving.http.checking import check
from sleuth.serving.http.errors import JSON, DeniedError

MAX_BODY = 1_000_000  # bytes
SECONDS = 15.0  # for the whole of it


async def read_body(request: Request, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON object that was sent, checked against its schema."""
    kind, _, charset = request.headers.get("content-type", "").lower().replace(" ", "").partition(";")
    if kind != JSON or charset not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise DeniedError(
            "the body must be JSON in UTF-8",
            "send it with: Content-Type: application/json",
            status=415,
            code="UNSUPPORTED_MEDIA_TYPE",
        )
    try:
        async with asyncio.timeout(SECONDS):
            data = await _whole(request)
    except TimeoutError as problem:
        raise DeniedError(
            "the body did not come in time",
            "send it within {seconds:g} seconds",
            status=408,
            code="REQUEST_TIMEOUT",
            seconds=SECONDS,
        ) from problem
    value = parse(data)
    check(value, schema)
    return dict(value)


async def _whole(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced[:20]) > MAX_BODY:
        raise _too_large()
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise _too_large()
    return bytes(data)


def _too_large() -> DeniedError:
    return DeniedError(
        "the body is too large", "{most} bytes at the most", status=413, code="BODY_TOO_LARGE", most=MAX_BODY
    )


def parse(data: bytes) -> Any:
    """Return what JSON means; doubtful JSON is refused: names twice, numbers that are none, halves of characters."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_distinct, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # fails on half a surrogate pair
    except (ValueError, RecursionError) as problem:
        raise RequestError("the body is not valid JSON", "an object in UTF-8 is expected") from problem
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
