"""MCP over HTTP: a tool call as a JSON-RPC request, and its reply as JSON or as an event stream."""

from collections.abc import Iterator
from typing import Any

from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError, ProviderError, QuotaError
from sleuth_providers.json import as_dict, as_text, objects

HEADERS = {"Accept": "application/json, text/event-stream"}
MAX_EVENTS = 100
LIMIT_WORDS = ("limit", "quota", "too many")


def message(method: str, params: dict[str, Any] | None = None, number: int = 0) -> dict[str, Any]:
    """Return a JSON-RPC request, or a notification if it has no number."""
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    if number:
        body["id"] = number
    body["method"] = method
    return body | ({} if params is None else {"params": params})


def tool_call(tool: str, arguments: dict[str, Any], number: int = 1) -> dict[str, Any]:
    """Return the request that calls a tool."""
    return message("tools/call", {"name": tool, "arguments": arguments}, number)


def tool_result(response: Response) -> dict[str, Any]:
    """Return the result of a call; raise BadResponseError for a reply without one."""
    reply = _reply(response)
    if not isinstance(reply.get("result"), dict):
        raise BadResponseError("the tool returned no result", status=response.status)
    return as_dict(reply["result"])


def texts(result: dict[str, Any]) -> list[str]:
    """Return the text blocks of a result."""
    return [as_text(block.get("text")) for block in objects(result.get("content")) if block.get("type") == "text"]


def tool_error(response: Response) -> ProviderError | None:
    """Return the error of a reply with HTTP 200: a JSON-RPC error, or a result marked as one."""
    if response.status != 200:
        return None
    reply = _reply(response)
    result = as_dict(reply.get("result"))
    if not reply.get("error") and result.get("isError") is not True:
        return None
    text = " ".join([as_text(as_dict(reply.get("error")).get("message")), *texts(result)]).lower()
    kind = QuotaError if any(word in text for word in LIMIT_WORDS) else BadResponseError
    return kind("the API reports an error", status=200)


def _reply(response: Response) -> dict[str, Any]:
    """Return the first JSON-RPC message that has a result or an error; others are progress notifications."""
    is_stream = "event-stream" in response.headers.get("content-type", "")
    documents = _events(response) if is_stream else iter([response.json()])
    replies = (as_dict(document) for document in documents)
    return next((reply for reply in replies if "result" in reply or "error" in reply), {})


def _events(response: Response) -> Iterator[Any]:
    for event in response.body.replace(b"\r\n", b"\n").split(b"\n\n", MAX_EVENTS)[:MAX_EVENTS]:
        data = b"\n".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))
        if data:
            yield response._replace(body=data).json()
