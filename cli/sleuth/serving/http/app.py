"""The HTTP API: paths, error handlers and the OpenAPI document."""

from difflib import get_close_matches
from importlib.util import find_spec
from typing import Annotated, Any
from weakref import WeakSet

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sleuth import __version__
from sleuth.api import Client
from sleuth.base.errors import RequestError, SleuthError
from sleuth.serving.http import errors, models, providers
from sleuth.serving.http.errors import OPENAPI_HINT
from sleuth.serving.http.events import AnswerStream, AnswerWork, answer_document, start_answer
from sleuth.serving.http.mcp import McpEndpoint, health
from sleuth.serving.http.metrics import RequestMetrics
from sleuth.serving.http.search import check_providers, log_tracing, run_search
from sleuth.serving.streamed_work import Workers
from sleuth.serving.tools import Toolbox

MAX_REQUESTS, MAX_QUEUED_REQUESTS = 16, 256
MAX_ANSWERS, MAX_QUEUED_ANSWERS = 4, 8  # answers take minutes, so they have a separate thread pool

ABOUT = """\
Search, the provider table and answers of sleuth for other programs. Every request except `GET /healthz` needs the token
(`Authorization: Bearer …`; `sleuth serve --print-token` prints it). `Host` must name this server, and an `Origin` must
be allowed with `--allow-origin`. All errors share one body. Keys and passwords are masked. `/mcp` serves the tools for
agents over the Model Context Protocol (streamable HTTP)."""


def _error(description: str, header: str = "") -> dict[str, Any]:
    headers = {"headers": {header: {"schema": {"type": "string"}, "required": True}}} if header else {}
    return {"description": description, "model": models.ErrorBody} | headers


ERRORS = {
    400: _error("The request is invalid."),
    401: _error("The token is missing or wrong.", "WWW-Authenticate"),
    403: _error("The Host or Origin header is not allowed."),
    404: _error("There is no such provider."),
    405: _error("The path does not support the method.", "Allow"),
    408: _error("The request took too long to arrive."),
    413: _error("The body is larger than 1 MB."),
    415: _error("The body is not JSON."),
    429: _error("There are too many requests with this token.", "Retry-After"),
    500: _error("The search failed, or the database cannot be used."),
    503: _error("There are too many requests, or the server is stopping.", "Retry-After"),
}


VALIDATION_MESSAGES = {  # by the type of pydantic's error
    "json_invalid": "the body is not valid JSON",
    "missing": "{place} is missing",
    "extra_forbidden": "unknown field {place!r}",
    "other": "invalid {place}: {problem}",
}


def _errors(*more: int) -> dict[int | str, dict[str, Any]]:
    return {status: ERRORS[status] for status in sorted((400, 401, 403, 405, 429, 503, *more))}


PROVIDER_ERRORS = _errors(404, 500)
BODY_ERRORS = _errors(404, 408, 413, 415, 500)


class ApiState:
    """The threads, open streams and metrics behind the API."""

    def __init__(self, client: Client) -> None:
        self.requests = Workers(client, MAX_REQUESTS, MAX_QUEUED_REQUESTS)
        self.answers = Workers(client, MAX_ANSWERS, MAX_QUEUED_ANSWERS)
        self.running: WeakSet[AnswerWork] = WeakSet()
        self.metrics = RequestMetrics()
        self.mcp = McpEndpoint(Toolbox(client))

    def start(self) -> None:
        """Raise the error if settings or database cannot be used."""
        self.requests.submit(lambda client: client.runtime.selector).result()

    async def stop(self) -> None:
        """End open streams with an error."""
        for work in tuple(self.running):
            work.stop(errors.stopping())
        await self.mcp.close()

    def close(self) -> None:
        """Stop the threads."""
        self.requests.close()
        self.answers.close()


async def _state(request: Request) -> ApiState:
    state: ApiState = request.app.state.api
    return state


State = Annotated[ApiState, Depends(_state)]


async def _check_query(request: Request) -> None:
    """Refuse unknown query parameters; FastAPI ignores them."""
    known = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    for name in (name for name in request.query_params if name not in known):
        near = get_close_matches(name, known, 1)
        message = "unknown parameter {name!r}; did you mean {near}?" if near else "unknown parameter {name!r}"
        raise RequestError(message, OPENAPI_HINT, name=name[:100], near="".join(near))


router = APIRouter(dependencies=[Depends(_check_query)], generate_unique_id_function=lambda route: to_camel(route.name))


router.get("/healthz", responses=_errors(), openapi_extra={"security": []}, response_model=models.HealthStatus)(health)


@router.get("/openapi.json", responses=_errors())
async def describe(request: Request) -> dict[str, Any]:
    """Return this document."""
    return dict(request.app.openapi())


@router.get("/websearch-providers", responses=_errors(500))
async def list_providers(state: State, page: models.PageNumber = 1, limit: models.PageSize = 20) -> models.ProviderPage:
    """List the providers."""
    return await state.requests.run(lambda client: providers.list_providers(client.runtime, page, limit))


@router.get("/websearch-providers/{id}", responses=PROVIDER_ERRORS)
async def show_provider(state: State, id: str) -> models.ProviderView:
    """Show a provider."""
    return await state.requests.run(lambda client: providers.show_provider(client.runtime, id))


@router.patch("/websearch-providers/{id}", responses=BODY_ERRORS)
async def change_provider(state: State, id: str, patch: models.ProviderPatch) -> models.ProviderView:
    """Change some fields of a provider, all or none.

    `cmd:`, `env:` and `keyring:` keys cannot be set here, only with `sleuth providers set`.
    """
    return await state.requests.run(lambda client: providers.change_provider(client.runtime, id, patch))


@router.post("/websearch-providers/{id}/test", responses=PROVIDER_ERRORS, response_model_exclude_none=True)
async def test_provider(state: State, id: str) -> models.ProviderTestResult:
    """Make one real request to a provider."""
    return await state.requests.run(lambda client: providers.test_provider(client.runtime, id))


@router.post("/websearch/search", responses=BODY_ERRORS, response_model=models.SearchReply)
async def search(state: State, body: models.SearchBody) -> Response:
    """Search with one provider or several, or with `auto` as configured; or summarise links.

    If `websearch.compression` is set, or `content`, `limit` or `maxTokens` is sent, pages are read and `content` is
    their text; otherwise it is the snippet. With `summarize` as the first question and `links`, those pages are
    summarised and no provider is searched: a result is a page, its `content` the text of it, its `snippet` the summary
    of it, and `summary` is the summary of all.
    """
    document = await state.requests.run(lambda client: run_search(client, body))
    state.metrics.count_attempts(document["attempts"])
    return JSONResponse(document)


@router.post("/ask", responses=BODY_ERRORS, response_model=models.AnswerEvent)
async def ask(state: State, body: models.AskBody, request: Request) -> Response:
    """Answer a question with citations, as one document, or as server-sent events with `Accept: text/event-stream`.

    The events report progress; `delta` has pieces of the text, and the last event is `answer` with the complete answer
    or `error`. Lines that start with a colon keep the connection open. Closing the connection cancels the work.
    """
    await state.requests.run(lambda client: check_providers(client, body.provider_id))
    log_tracing(body.tracing)
    work = start_answer(state.answers, body)
    state.running.add(work)
    is_streamed = "text/event-stream" in request.headers.get("accept", "")
    return AnswerStream(work) if is_streamed else await answer_document(work, request)


@router.get("/metrics", responses=_errors(), response_model=str)
async def metrics(state: State) -> Response:
    """Return counters and durations of requests in the format of Prometheus."""
    return state.metrics.response()


def create_app(state: ApiState, root_path: str = "") -> FastAPI:
    """Return the application; `root_path` is the path under which a proxy publishes it."""
    app = Api(title="sleuth", version=__version__, description=ABOUT, openapi_url=None, redirect_slashes=False)
    app.servers = [{"url": root_path or "/"}]
    app.state.api = state
    app.router.routes.append(Route("/healthz", health))  # matches first, at half the cost of a route of FastAPI
    app.include_router(router)
    if find_spec("mcp"):
        app.router.routes.append(Route("/mcp", state.mcp))
    app.add_exception_handler(SleuthError, lambda _, error: errors.error_response(error))
    app.add_exception_handler(HTTPException, _routing_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(Exception, lambda *_: errors.error_response(errors.internal_error()))
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
        # Generated clients use the first type, and can parse JSON only.
        content["text/event-stream"] = content["application/json"]
        content["application/json"] = {"schema": {"$ref": "#/components/schemas/AnswerReply"}}
        metrics = document["paths"]["/metrics"]["get"]["responses"]["200"]["content"]
        metrics["text/plain"] = metrics.pop("application/json")
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
        return errors.error_response(errors.body_too_large())
    if status == 404:
        return errors.error_response(errors.HttpError("no such path", OPENAPI_HINT, 404, "NOT_FOUND"))
    if status == 405:
        path = request.scope["path"]
        routes = [route for route in router.routes if isinstance(route, APIRoute) and route.path_regex.match(path)]
        methods = {method for route in routes for method in route.methods or ()}
        allowed = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
        code = "METHOD_NOT_ALLOWED"
        error = errors.HttpError("the path supports {allowed} only", OPENAPI_HINT, 405, code, allowed=allowed)
        return errors.error_response(error, {"Allow": allowed})
    return errors.error_response(RequestError("the body is not valid JSON", OPENAPI_HINT))


def _validation_error(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    first = problem.errors()[0]
    source, *path = (part for part in first["loc"] if "constrained-str" not in str(part))  # the types of a union
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if source == "body" and content_type != "application/json":
        hint = "send it with: Content-Type: application/json"
        return errors.error_response(errors.HttpError("the body is not JSON", hint, 415, "UNSUPPORTED_MEDIA_TYPE"))
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")[:100] or source
    message = VALIDATION_MESSAGES[first["type"] if first["type"] in VALIDATION_MESSAGES else "other"]
    return errors.error_response(RequestError(message, OPENAPI_HINT, place=place, problem=first["msg"]))
