"""Refusals of a server, in whatever form it writes them, turned into errors of ours."""

import re
from collections.abc import Mapping
from typing import Any

from sleuth.answers.llm.errors import (
    ContextTooLongError,
    ModelAddressError,
    ModelBalanceError,
    ModelError,
    ModelKeyError,
    ModelLimitError,
    ModelNotFoundError,
    ModelRequestError,
    ModelUnavailableError,
)
from sleuth.base import logs
from sleuth.base.text import shorten
from sleuth.base.urls import clean_url
from sleuth_providers.base import Response
from sleuth_providers.errors import ProviderError
from sleuth_providers.json import as_dict, as_list, as_number, as_text
from sleuth_providers.net.client import MAX_RETRY_AFTER_S, retry_after
from sleuth_providers.records import Record

MAX_WORDS = 300
TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|exceed_context|too many tokens|(?:prompt|input|request) (?:is )?too (?:long|big)"
    r"|request too large|input length|maximum (?:prompt|input|sequence) length|max_model_len",
    re.IGNORECASE,
)
NO_MODEL = re.compile(
    r"model.{0,80}(?:not.?found|not.?exist|no such|unknown)|(?:unknown|invalid|no such|not a valid) model",
    re.IGNORECASE | re.DOTALL,
)
USED_UP = re.compile(
    r"insufficient.?(?:quota|balance|funds|credit)|balance.{0,9}insufficient|exceeded your current quota|余额不足",
    re.IGNORECASE,
)
SIGNS = ((r"rate.?limit", 429), (r"api.?key|authentication", 401), (r"overload|server.?error|unavailable", 503))


def words_of(document: Any) -> str:
    """Return what an error document says, in any of the forms servers write it."""
    body = as_dict(document)
    error = body.get("error")
    inner = as_dict(error)
    listed = as_list(body.get("detail"))
    found = (
        as_text(inner.get("message"))
        or as_text(error)
        or as_text(body.get("message"))
        or as_text(body.get("msg"))
        or as_text(body.get("detail"))
        or "; ".join(_complaint(as_dict(entry)) for entry in listed)
        or as_text(inner.get("code") or inner.get("type"))
    )
    return shorten(logs.safe(found.strip()), MAX_WORDS)


def _complaint(entry: dict[str, Any]) -> str:
    """Return one entry of FastAPI's list: the field it is about, and what is wrong with it."""
    place = ".".join(as_text(step) for step in as_list(entry.get("loc")) if step != "body")
    return f"{place}: {as_text(entry.get('msg'))}" if place else as_text(entry.get("msg"))


def is_refusal(document: Any) -> bool:
    """Tell whether a document that came with HTTP 200 is an error all the same."""
    body = as_dict(document)
    return bool(body.get("error")) or body.get("object") == "error" or ("choices" not in body and bool(words_of(body)))


class Asked(Record):
    """Who was asked, as errors name it."""

    server: str
    model: str
    address: str


def refusal(asked: Asked, reply: Response) -> ModelError:
    """Return the error that a reply other than 200 means."""
    try:
        document = as_dict(reply.json())
    except ProviderError:  # a page, a line of text, nothing: the status says enough
        document = {}
    if 300 <= reply.status < 400:
        target = logs.safe(reply.headers.get("location", ""))[:MAX_WORDS]
        return wrong_address(asked, f"HTTP {reply.status}, {target}", reply.status)
    return sort(asked, document, reply.status, _pause(reply))


def wrong_address(asked: Asked, detail: str, status: int) -> ModelError:
    """Return the error for an address where something else lives."""
    return ModelAddressError(server=asked.server, detail=detail, status=status, address=clean_url(asked.address))


def sort(asked: Asked, document: Any, status: int, wait: float | None = None) -> ModelError:
    """Return the error that an error document and a status mean together; the words decide where they can."""
    error, server = as_dict(as_dict(document).get("error")), asked.server
    said, field = words_of(document), as_text(error.get("param"))
    signs = f"{said} {as_text(error.get('code'))} {as_text(error.get('type'))}"
    status = _own_status(error) or (_likely_status(signs) if status == 200 else status)
    detail = said or f"HTTP {status}"
    hint = "try again in {wait:.0f} s" if wait else ""
    if status == 402 or (status in (403, 429) and USED_UP.search(signs)):
        return ModelBalanceError(server=server, detail=detail, status=status)
    if status in (401, 403):
        return ModelKeyError(server=server, detail=detail, status=status)
    if status == 429:
        return ModelLimitError(server=server, detail=detail, status=status, retry_after=wait, hint=hint)
    if status == 413 or TOO_LONG.search(signs):
        return ContextTooLongError(server=server, detail=detail, status=status)
    if status in (400, 404, 422) and NO_MODEL.search(signs):
        return ModelNotFoundError(server=server, detail=detail, status=status, model=asked.model)
    if status == 404:
        return wrong_address(asked, detail, status)
    if status >= 500:
        return ModelUnavailableError(server=server, detail=detail, status=status, retry_after=wait, hint=hint)
    if status >= 400:
        detail = detail if field in said else f"{field}: {detail}"
        return ModelRequestError(server=server, detail=detail, status=status)
    return ModelError(server=server, detail=detail, status=status)


def _own_status(error: Mapping[str, Any]) -> int:
    """Return the HTTP status that an error itself names: gateways pass errors on with HTTP 200."""
    code = as_number(error.get("code"))
    return int(code) if code is not None and 400 <= code < 600 else 0


def _likely_status(signs: str) -> int:
    """Return the status that an error in the middle of a stream would have had."""
    return next((status for pattern, status in SIGNS if re.search(pattern, signs, re.IGNORECASE)), 200)


def _pause(reply: Response) -> float | None:
    """Return how many seconds a server asks us to wait."""
    try:
        milliseconds = float(reply.headers.get("retry-after-ms", ""))
    except ValueError:
        return retry_after(reply)
    return min(max(0.0, milliseconds / 1000), MAX_RETRY_AFTER_S) if milliseconds == milliseconds else None
