"""Spans: their tree and attributes, what they never contain, and that a missing collector costs nothing."""

import gzip
import json
import re
import subprocess
import sys
from typing import Any, NamedTuple
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth import __version__

QUERY = "very private words"
KEY = "secret-key-0123456789"
PAGE = (
    f"<html><title>T</title><body><article>{'<p>Foxes sleep in dens below old trees.</p>' * 9}</article></body></html>"
)
INSIDE = """
import json, sys, sleuth
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
with trace.get_tracer("program").start_as_current_span("outer"):
    sleuth.search("very private words", providers="searxng", content=True)
    try:
        sleuth.search("crash", providers="searxng")
    except sleuth.SleuthError:
        pass
spans = exporter.get_finished_spans()
names = {span.context.span_id: span.name for span in spans}
print(json.dumps([[span.name, names.get(span.parent.span_id) if span.parent else None, dict(span.attributes),
    span.status.status_code.name] for span in spans]))
"""


class Span(NamedTuple):
    """What a collector has received."""

    name: str
    trace: bytes
    id: bytes
    parent: bytes
    attributes: dict[str, Any]


@pytest.fixture
def web(httpserver: HTTPServer) -> HTTPServer:
    """A SearXNG with one page, and a model."""

    def answer(request: Request) -> Response:
        if request.args["q"] == "crash":
            return Response(f"failed: {KEY}", 500)
        hit = {"url": httpserver.url_for(f"/page?token={KEY}"), "title": "Foxes", "content": "Text."}
        return Response(json.dumps({"results": [hit]}), content_type="application/json")

    reply = {"choices": [{"message": {"content": "Dens."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7}}
    httpserver.expect_request("/search").respond_with_handler(answer)
    httpserver.expect_request("/page").respond_with_data(PAGE, content_type="text/html")
    httpserver.expect_request("/v1/chat/completions").respond_with_json(reply)
    return httpserver


@pytest.fixture
def environ(sleuth: Any, web: HTTPServer) -> dict[str, str]:
    options = {"SEARXNG_URL": web.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_WEBSEARCH_RETRIES": "1"}
    variables: dict[str, str] = sleuth.environ | options
    return variables


@pytest.fixture
def received(web: HTTPServer, environ: dict[str, str]) -> list[bytes]:
    """What a collector on loopback received, decompressed."""
    bodies: list[bytes] = []

    def take(request: Request) -> Response:
        data = request.get_data()
        bodies.append(gzip.decompress(data) if request.headers.get("Content-Encoding") == "gzip" else data)
        return Response(b"", content_type="application/x-protobuf")

    web.expect_request("/otlp/v1/traces", method="POST").respond_with_handler(take)
    environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = web.url_for("/otlp")
    return bodies


def run(environ: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sleuth", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300)


def spans(bodies: list[bytes]) -> list[Span]:
    found = []
    for body in bodies:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
            assert (about["service.name"], about["service.version"]) == ("sleuth", __version__)
            for one in (span for scope in resource.scope_spans for span in scope.spans):
                values = {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in one.attributes}
                found.append(Span(one.name, one.trace_id, one.span_id, one.parent_span_id, values))
    return found


def test_spans_join_those_of_the_calling_program(environ: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", INSIDE], env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert QUERY not in done.stdout
    assert KEY not in done.stdout
    [request, search, page, crash, failed, outer] = json.loads(done.stdout)
    assert [one[:2] for one in (request, search, page, outer)] == [
        ["provider request", "search"],
        ["search", "outer"],
        ["page read", "outer"],
        ["outer", None],
    ]
    assert request[2] == {"sleuth.provider": "searxng", "sleuth.results": 1}
    assert search[2] == {
        "sleuth.category": "general",
        "sleuth.outcome": "success",
        "sleuth.provider": "searxng",
        "sleuth.cached": False,
        "sleuth.results": 1,
    }
    assert page[2] == {"server.address": "127.0.0.1"}
    assert (crash[0], crash[2]["error.type"], crash[3]) == ("provider request", "UnavailableError", "ERROR")
    assert failed[2]["sleuth.outcome"] == "failed"


def test_command_sends_its_spans_to_a_collector(environ: dict[str, str], received: list[bytes]) -> None:
    assert run(environ, "search", "-p", "searxng", QUERY).returncode == 0
    assert sorted(span.name for span in spans(received)) == ["provider request", "search"]
    for secret in (QUERY, QUERY.replace(" ", "+"), KEY):
        assert secret.encode() not in b"".join(received)
    received.clear()
    assert run(environ | {"SLEUTH_TRACING_QUERIES": "true"}, "search", "-p", "searxng", "foxes").returncode == 0
    assert [span.attributes["sleuth.query"] for span in spans(received) if span.name == "search"] == ["foxes"]


def test_model_call_is_a_span_with_its_tokens(environ: dict[str, str], received: list[bytes], web: HTTPServer) -> None:
    model = {"SLEUTH_LLM_BASE_URL": web.url_for("/v1"), "SLEUTH_LLM_MODEL": "small", "SLEUTH_LLM_API_KEY": KEY}
    assert run(environ | model, "ask", "--search", "off", QUERY).returncode == 0
    [call] = [span for span in spans(received) if span.name == "model call"]
    assert call.attributes["gen_ai.request.model"] == "small"
    assert call.attributes["gen_ai.usage.input_tokens"] == 7
    assert KEY.encode() not in b"".join(received)
    assert QUERY.encode() not in b"".join(received)


def test_tool_of_an_agent_is_a_span_above_its_search(environ: dict[str, str], received: list[bytes]) -> None:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "web_search", "arguments": {"query": QUERY}}
    with subprocess.Popen(
        [sys.executable, "-m", "sleuth", "mcp"], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for message in (
            {"id": 1, "method": "initialize", "params": start},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ):
            print(json.dumps({"jsonrpc": "2.0"} | message), file=process.stdin, flush=True)
        while '"id":2' not in process.stdout.readline().replace(" ", ""):
            pass
        process.stdin.close()
        assert process.wait(300) == 0
    found = {span.name: span for span in spans(received)}
    assert found["search"].parent == found["tools/call web_search"].id
    assert found["provider request"].parent == found["search"].id
    assert QUERY.encode() not in b"".join(received)


def test_request_over_http_is_a_span_above_its_search(environ: dict[str, str], received: list[bytes]) -> None:
    token = "token-of-the-tests-0123456789"
    with subprocess.Popen(
        [sys.executable, "-m", "sleuth", "serve", "--port", "0"],
        env=environ | {"SLEUTH_SERVE_TOKEN": token},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        found = re.search(r"http://\S+?:\d+", process.stderr.readline())
        assert found
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        body = json.dumps({"providerId": "searxng", "questions": [QUERY]}).encode()
        with urlopen(HttpRequest(f"{found[0]}/websearch/search", body, headers), timeout=300) as response:
            assert response.status == 200
        process.terminate()
        assert process.wait(300) == 0
    found_spans = spans(received)
    [search] = [span for span in found_spans if span.name == "search"]
    [request] = [span for span in found_spans if span.name == "POST /websearch/search"]
    assert (request.trace, request.parent) == (search.trace, b"")
    assert QUERY.encode() not in b"".join(received)
    assert token.encode() not in b"".join(received)


@pytest.mark.parametrize(
    "off", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}], ids=["disabled", "none"]
)
def test_standard_variables_turn_spans_off(off: dict[str, str], environ: dict[str, str], received: list[bytes]) -> None:
    assert run(environ | off, "search", "-p", "searxng", QUERY).returncode == 0
    assert received == []


def test_missing_collector_costs_no_search(environ: dict[str, str]) -> None:
    done = run(environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "search", "-p", "searxng", QUERY)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Foxes" in done.stdout
