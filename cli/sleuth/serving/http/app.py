"""The HTTP API: paths, error handlers and the OpenAPI document."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from sleuth import __version__
from sleuth.answers.answer import EVENTS
from sleuth.api import Client
from sleuth.base.errors import RequestError, SleuthError
from sleuth.serving.http import models, providers
from sleuth.serving.http.errors import OPENAPI_HINT, HttpError, body_too_large, error_response, internal_error
from sleuth.serving.http.events import AnswerStream
from sleuth.serving.http.search import check_provider, log_tracing, search
from sleuth.serving.workers import WorkerPool

MAX_REQUESTS, MAX_QUEUED_REQUESTS = 16, 256
MAX_ANSWERS, MAX_QUEUED_ANSWERS = 4, 8  # answers take minutes, so they have threads of their own

ABOUT = """\
Search, the provider table and answers of sleuth for other programs. Every request except `GET /healthz` needs the token
(`Authorization: Bearer …`; `sleuth serve --print-token` prints it). `Host` must name this server, and an `Origin` must
be allowed with `--allow-origin`. All errors share one body. Keys and passwords are masked."""
EVENTS_ABOUT = f"""\
Server-sent events with JSON data: progress ({", ".join(EVENTS)}), `delta` with pieces of the text, and at the end
`answer` with the complete answer, or `error`. Lines that start with a colon keep the connection open."""
STATUSES = {
    400: "The request is invalid.",
    401: "The token is missing or wrong.",
    403: "The Host or Origin header is not allowed.",
    404: "There is no such provider.",
    405: "The path does not support the method.",
    408: "The request took too long to arrive.",
    413: "The body is larger than 1 MB.",
    415: "The body is not JSON.",
    500: "The search failed, or the database cannot be used.",
    503: "There are too many requests, or the server is stopping.",
}
RESPONSE_HEADERS = {401: ("WWW-Authenticate", "string"), 405: ("Allow", "string"), 503: ("Retry-After", "integer")}
ANY_REQUEST = (400, 401, 403, 405, 503)
WITH_BODY = (408, 413, 415)


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of error responses."""
    documented: dict[int | str, dict[str, Any]] = {}
    for status in sorted(statuses):
        documented[status] = {"description": STATUSES[status], "model": models.ErrorBody}
        if status in RESPONSE_HEADERS:
            name, kind = RESPONSE_HEADERS[status]
            documented[status]["headers"] = {name: {"schema": {"type": kind}, "required": True}}
    return documented


class ApiState:
    """The threads behind the API."""

    def __init__(self, client: Client) -> None:
        self.requests = WorkerPool(client, MAX_REQUESTS, MAX_QUEUED_REQUESTS)
        self.answers = WorkerPool(client, MAX_ANSWERS, MAX_QUEUED_ANSWERS)

    def start(self) -> None:
        """Raise the error if settings or database cannot be used."""
        self.requests.submit(lambda client: client.runtime.selector).result()

    def close(self) -> None:
        """Stop the threads."""
        self.requests.close()
        self.answers.close()


def _state(request: Request) -> ApiState:
    state: ApiState = request.app.state.api
    return state


State = Annotated[ApiState, Depends(_state)]
router = APIRouter(redirect_slashes=False)


@router.get(
    "/healthz",
    operation_id="health",
    responses=_errors(400, 403, 405, 503),
    openapi_extra={"security": []},
)
async def health() -> models.HealthStatus:
    """Check that the server is up; needs no token."""
    return models.HealthStatus(version=__version__)


@router.get("/openapi.json", operation_id="describe", responses=_errors(*ANY_REQUEST))
async def describe(request: Request) -> dict[str, Any]:
    """Return this document."""
    document: dict[str, Any] = request.app.openapi()
    return document


@router.get("/websearch-providers", operation_id="listProviders", responses=_errors(*ANY_REQUEST, 500))
async def list_providers(state: State, page: models.PageNumber = 1, limit: models.PageSize = 20) -> models.ProviderPage:
    """List the providers."""
    return await state.requests.run(lambda client: providers.list_providers(client.runtime, page, limit))


@router.get("/websearch-providers/{id}", operation_id="showProvider", responses=_errors(*ANY_REQUEST, 404, 500))
async def show_provider(state: State, id: str) -> models.ProviderView:
    """Show a provider."""
    return await state.requests.run(lambda client: providers.provider_view(client.runtime.selector.table.get(id)))


@router.patch(
    "/websearch-providers/{id}",
    operation_id="changeProvider",
    responses=_errors(*ANY_REQUEST, *WITH_BODY, 404, 500),
)
async def change_provider(state: State, id: str, patch: models.ProviderPatch) -> models.ProviderView:
    """Change some fields of a provider, all or none.

    `cmd:`, `env:` and `keyring:` keys cannot be set here, only with `sleuth providers set`.
    """
    return await state.requests.run(lambda client: providers.change_provider(client.runtime, id, patch))


@router.post(
    "/websearch-providers/{id}/test",
    operation_id="testProvider",
    response_model_exclude_none=True,
    responses=_errors(*ANY_REQUEST, 404, 500),
)
async def test_provider(state: State, id: str) -> models.ProviderTestResult:
    """Make one real request to a provider."""
    return await state.requests.run(lambda client: providers.test_provider(client.runtime, id))


@router.post(
    "/websearch/search",
    operation_id="search",
    response_model=models.SearchReply,
    responses=_errors(*ANY_REQUEST, *WITH_BODY, 404, 500),
)
async def run_search(state: State, body: models.SearchBody) -> Response:
    """Search with one provider, or with `auto` as configured; or summarise links.

    If `websearch.compression` is set, pages are read and `content` is their compressed text; otherwise it is the
    snippet. With `summarize` as the first question and `links`, those pages are summarised and no provider is searched:
    a result is a page, its `content` the summary of it, and `summary` is the summary of all.
    """
    return JSONResponse(await state.requests.run(lambda client: search(client, body)))


@router.post(
    "/ask",
    operation_id="ask",
    response_model=models.AnswerEvent,
    response_description=EVENTS_ABOUT,
    responses=_errors(*ANY_REQUEST, *WITH_BODY, 404, 500),
)
async def ask(state: State, body: models.AskBody) -> Response:
    """Answer a question with citations, as server-sent events."""
    await state.requests.run(lambda client: check_provider(client, body.provider_id))
    log_tracing(body.tracing)
    return AnswerStream(state.answers, body)


def create_app(state: ApiState) -> FastAPI:
    """Return the application."""
    app = Api(title="sleuth", version=__version__, description=ABOUT, openapi_url=None, redirect_slashes=False)
    app.state.api = state
    app.include_router(router)
    app.add_exception_handler(SleuthError, lambda _, error: error_response(error))
    app.add_exception_handler(HTTPException, _routing_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(Exception, lambda *_: error_response(internal_error()))
    return app


class Api(FastAPI):
    """FastAPI with the parts of the OpenAPI document that it cannot derive."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        if self.openapi_schema:
            return self.openapi_schema
        document = super().openapi()
        schemas = document["components"]["schemas"]
        document["security"] = [{"token": []}]
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        content = document["paths"]["/ask"]["post"]["responses"]["200"]["content"]
        content["text/event-stream"] = content.pop("application/json")
        event = schemas["AnswerEvent"]["properties"]
        event["data"] = {"type": "string", "contentMediaType": "application/json", "contentSchema": event["data"]}
        for name in ("HTTPValidationError", "ValidationError"):  # validation errors are 400 with our body
            schemas.pop(name)
        for operation in (operation for path in document["paths"].values() for operation in path.values()):
            operation["responses"].pop("422", None)
        return document


def _routing_error(request: Request, problem: Exception) -> Response:
    """Return our body for the errors of the router and of the body parser."""
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    if status == 413:
        error: SleuthError = body_too_large()
    elif status == 405:
        routes = (route for route in router.routes if isinstance(route, APIRoute))
        allowed = {
            method for route in routes if route.path_regex.match(request.url.path) for method in route.methods or ()
        }
        error = HttpError(
            "the path does not support {method}",
            OPENAPI_HINT,
            status=405,
            code="METHOD_NOT_ALLOWED",
            headers={"Allow": ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))},
            method=request.method[:20],
        )
    elif status == 404:
        error = HttpError("no such path", OPENAPI_HINT, status=404, code="NOT_FOUND")
    else:
        error = RequestError("the body is not valid JSON", OPENAPI_HINT)
    return error_response(error)


def _validation_error(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    first = problem.errors()[0]
    (source, *path), kind = first["loc"], first["type"]
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if source == "body" and content_type != "application/json":
        hint = "send it with: Content-Type: application/json"
        return error_response(HttpError("the body is not JSON", hint, status=415, code="UNSUPPORTED_MEDIA_TYPE"))
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".") or source
    if kind == "json_invalid":
        error = RequestError("the body is not valid JSON", OPENAPI_HINT)
    elif kind == "missing":
        error = RequestError("{place} is missing", OPENAPI_HINT, place=place)
    elif kind == "extra_forbidden":
        error = RequestError("unknown field {place!r}", OPENAPI_HINT, place=place[:100])
    else:
        error = RequestError("invalid {place}: {problem}", OPENAPI_HINT, place=place, problem=first["msg"])
    return error_response(error)
