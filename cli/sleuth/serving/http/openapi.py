"""The OpenAPI document: every path, status and body of the HTTP API, from the schemas that requests pass."""

from typing import Any

from sleuth import __version__
from sleuth.answers.answer import EVENTS
from sleuth.serving.http import forms

Schema = dict[str, Any]

ABOUT = """\
Search, the provider table and answers of sleuth for other programs. Every request but `GET /healthz` shows the token
(`Authorization: Bearer …`; `sleuth serve --print-token` prints it), names this server rightly in `Host`, and has no
`Origin` but one that was allowed. Every error has the same body. Keys and passwords are masked wherever they appear."""
SUMMARY_NOTE = """\
Asks the provider, or for `auto` those of the settings in turn. Where `websearch.compression` is set, the pages are read
and squeezed, and `content` is their text; otherwise it is the snippet. With `summarize` as the first question and
`links`, those pages are read and summarised instead: a result is a page, its `content` the summary of it, and `summary`
is what they say together; no provider is asked."""
EVENT_NOTE = f"""\
Server-sent events, each with JSON as its data: how the work goes ({", ".join(EVENTS)}), `delta` with pieces of the text
as it is written, and at the end `answer` with the whole, or `error`. Lines that begin with a colon keep the connection
open. Who goes away ends the work at its next step."""
STATUSES = {
    400: ("The request makes no sense as it is.", "INVALID_REQUEST", "providerId is missing"),
    401: ("The token is missing or wrong.", "TOKEN_REFUSED", "the token is missing or wrong"),
    403: (
        "Called by a foreign name, or from a page that may not.",
        "HOST_REFUSED",
        "this server does not go by that name",
    ),
    404: ("There is no such provider.", "PROVIDER_NOT_FOUND", "no provider is called 'gogle'; did you mean google?"),
    405: ("The path does not know that method.", "METHOD_NOT_ALLOWED", "this path does not know that method"),
    408: ("The body did not come in time.", "REQUEST_TIMEOUT", "the body did not come in time"),
    413: ("The body is larger than 1 MB.", "BODY_TOO_LARGE", "the body is too large"),
    415: ("The body is not JSON.", "UNSUPPORTED_MEDIA_TYPE", "the body must be JSON in UTF-8"),
    500: ("The search failed, or the database cannot be used.", "TIMEOUT", "SearXNG did not answer in time"),
    503: ("Too many requests at the moment, or the server is being stopped.", "BUSY", "there are too many requests"),
}
HEADERS = {401: ("WWW-Authenticate", "string"), 405: ("Allow", "string"), 503: ("Retry-After", "integer")}
EVERYWHERE = (400, 401, 403, 405, 503)
WITH_BODY = (408, 413, 415)
PROVIDER: Schema = {
    "id": "tavily",
    "name": "Tavily",
    "type": "api",
    "apiKey": "tvly…9f",
    "apiHost": None,
    "engines": None,
    "usingBrowser": False,
    "basicAuthUsername": None,
    "basicAuthPassword": None,
    "createdAt": 1793491200,
    "updatedAt": 1793577600,
}
SEARCH = {"providerId": "searxng", "questions": ["rust async runtimes"]}
SUMMARIZE = {"providerId": "auto", "questions": ["summarize", "which is fastest"], "links": ["https://example.org/"]}
RESULT: Schema = {
    "citation": 1,
    "title": "Async programming in Rust",
    "url": "https://rust-lang.github.io/async-book/",
    "snippet": "A guide to futures and executors.",
    "content": "A guide to futures and executors.",
    "siteName": "rust-lang.github.io",
    "published": None,
    "score": 0.0325,
    "providers": ["searxng"],
    "engines": ["brave"],
    "thumbnail": None,
}
FOUND: Schema = {
    "query": "rust async runtimes",
    "provider": "searxng",
    "elapsedMs": 132,
    "cached": False,
    "ageSeconds": None,
    "results": [RESULT],
    "outcome": "success",
    "status": {"phase": "default", "countBefore": 10, "countAfter": 1},
    "attempts": [],
    "answers": [],
    "suggestions": [],
    "corrections": [],
    "warnings": [],
}
EVENT = {"event": "delta", "data": '{"text": "Tokio is a runtime [1]."}'}
SCHEMAS = {
    "Answer": forms.ANSWER,
    "Ask": forms.ASK,
    "Delta": forms.DELTA,
    "Error": forms.ERROR,
    "Found": forms.FOUND,
    "Health": forms.HEALTH,
    "Progress": forms.PROGRESS,
    "Provider": forms.PROVIDER,
    "ProviderChanges": forms.PATCH,
    "Providers": forms.PROVIDERS,
    "Search": forms.SEARCH,
    "Verdict": forms.VERDICT,
}
TOKEN = {"type": "http", "scheme": "bearer", "description": "Printed by `sleuth serve --print-token`."}


def document() -> Schema:
    """Return the whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "sleuth", "version": __version__, "description": ABOUT, "license": {"name": "MIT"}},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": {
            "/healthz": {"get": _health()},
            "/openapi.json": {"get": _itself()},
            "/websearch-providers": {"get": _list()},
            "/websearch-providers/{id}": {"parameters": [_id()], "get": _show(), "patch": _change()},
            "/websearch-providers/{id}/test": {"parameters": [_id()], "post": _test()},
            "/websearch/search": {"post": _search()},
            "/ask": {"post": _ask()},
        },
        "components": {"securitySchemes": {"token": TOKEN}, "schemas": SCHEMAS},
    }


def _health() -> Schema:
    good = _json("It is there.", "Health", {"status": "ok", "version": __version__})
    return _operation("health", "Tell that the server is there; needs no token", good, (400, 403, 405, 503)) | {
        "security": []
    }


def _itself() -> Schema:
    good = {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return _operation("describe", "Describe the API", good, EVERYWHERE)


def _list() -> Schema:
    example = {"items": [PROVIDER], "total": 1, "page": 1, "limit": forms.PAGE_SIZE}
    operation = _operation(
        "listProviders", "List the providers", _json("A page.", "Providers", example), (*EVERYWHERE, 500)
    )
    return operation | {"parameters": [_query("page", forms.PAGE), _query("limit", forms.LIMIT)]}


def _show() -> Schema:
    good = _json("The provider.", "Provider", PROVIDER)
    return _operation("showProvider", "Show a provider", good, (*EVERYWHERE, 404, 500))


def _change() -> Schema:
    examples = {"key": {"value": {"apiKey": "tvly-0123456789"}}, "clear": {"value": {"apiKey": None, "engines": None}}}
    good = _json("The whole provider, changed.", "Provider", PROVIDER)
    operation = _operation(
        "changeProvider", "Change some fields of a provider", good, (*EVERYWHERE, *WITH_BODY, 404, 500)
    )
    note = (
        "What was sent is written, all of it or nothing. Keys with `cmd:`, `env:` or `keyring:` are set on the machine."
    )
    return operation | {"description": note, "requestBody": _body("ProviderChanges", examples)}


def _test() -> Schema:
    good = _json("How it went.", "Verdict", {"success": True, "message": "10 results", "latencyMs": 341})
    return _operation("testProvider", "Make one real request to a provider", good, (*EVERYWHERE, 404, 500))


def _search() -> Schema:
    examples = {"search": {"value": SEARCH}, "summarize": {"value": SUMMARIZE}}
    good = _json("What was found.", "Found", FOUND)
    operation = _operation("search", "Search, or summarise links", good, (*EVERYWHERE, *WITH_BODY, 404, 500))
    return operation | {"description": SUMMARY_NOTE, "requestBody": _body("Search", examples)}


def _ask() -> Schema:
    kinds = {**dict.fromkeys(EVENTS, "Progress"), "delta": "Delta", "answer": "Answer", "error": "Error"}
    schema = {"oneOf": [_event(name, kind) for name, kind in kinds.items()], "description": "one event"}
    content = {"text/event-stream": {"schema": schema, "example": EVENT}}
    good = {"description": EVENT_NOTE, "content": content}
    examples = {"question": {"value": {"question": "What is tokio?", "search": "on"}}}
    operation = _operation("ask", "Answer a question with citations", good, (*EVERYWHERE, *WITH_BODY, 404, 500))
    return operation | {"requestBody": _body("Ask", examples)}


def _event(name: str, kind: str) -> Schema:
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": _reference(kind)}
    return {"type": "object", "required": ["event", "data"], "properties": {"event": {"const": name}, "data": data}}


def _operation(name: str, summary: str, good: Schema, errors: tuple[int, ...]) -> Schema:
    responses = {"200": good} | {str(status): _error(status) for status in sorted(errors)}
    return {"operationId": name, "summary": summary, "responses": responses}


def _error(status: int) -> Schema:
    description, code, message = STATUSES[status]
    response = _json(description, "Error", {"error": {"code": code, "message": message, "hint": None}})
    if status in HEADERS:
        name, kind = HEADERS[status]
        response["headers"] = {name: {"schema": {"type": kind}, "required": True}}
    return response


def _json(description: str, schema: str, example: Any) -> Schema:
    return {
        "description": description,
        "content": {"application/json": {"schema": _reference(schema), "example": example}},
    }


def _body(schema: str, examples: Schema) -> Schema:
    return {"required": True, "content": {"application/json": {"schema": _reference(schema), "examples": examples}}}


def _reference(schema: str) -> Schema:
    return {"$ref": f"#/components/schemas/{schema}"}


def _id() -> Schema:
    return {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
        "example": "searxng",
    }


def _query(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "required": False, "schema": schema}
