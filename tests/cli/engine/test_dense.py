"""Embeddings and rerankers over HTTP, in the forms servers speak, and what happens when they fail."""

import json
import threading
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.base import logs
from sleuth.engine.dense import Embedder, Reranker, ScoringEndpoint
from sleuth.relevance.compress import compress
from sleuth_providers.errors import BadResponseError, KeyInvalidError, UnreachableError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

PAGES = ["Cars need fuel.", "Cars are red.", "Cars are old."]
GOOD = {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}


def http(**policy: Any) -> HttpClient:
    return HttpClient(Policy(**{"timeout": 5.0, "attempts": 1} | policy))


def vector(text: str) -> list[float]:
    return [1.0, 5.0 * ("old" in text), 5.0 * ("red" in text)]


def answer(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, content_type="application/json")


def openai(request: Request) -> Response:
    """Answer as OpenAI does, in a different order."""
    texts = request.get_json()["input"]
    return answer({"data": [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)][::-1]})


def ollama(request: Request) -> Response:
    return answer({"model": "model", "embeddings": [vector(text) for text in request.get_json()["input"]]})


def sent(httpserver: HTTPServer) -> list[dict[str, Any]]:
    return [request.get_json() for request, _ in httpserver.log]


def test_embeddings_are_put_in_order_and_the_key_is_sent(httpserver: HTTPServer) -> None:
    wanted = {"Authorization": "Bearer secret"}
    httpserver.expect_request("/v1/embeddings", "POST", headers=wanted).respond_with_handler(openai)
    scores = Embedder(ScoringEndpoint(httpserver.url_for("/v1"), "model", "secret"), http())("an old car", PAGES)
    assert scores == [pytest.approx(0.196, abs=0.001), pytest.approx(0.0385, abs=0.001), pytest.approx(1.0)]


def test_batches_are_small(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_handler(openai)
    endpoint = ScoringEndpoint(httpserver.url_for("/v1/"), "e5", dimensions=256)
    texts = [f"number {at}{' old' * (at == 99)}" for at in range(100)] + [""]
    scores = Embedder(endpoint, http())("old", texts)
    assert scores.index(max(scores)) == 99
    bodies = sorted(sent(httpserver), key=lambda body: len(body["input"]))
    assert [len(body["input"]) for body in bodies] == [1, 37, 64]
    assert bodies[0]["input"] == ["old"]
    assert bodies[2]["input"][0] == "number 0"
    assert bodies[1]["input"][-1] == " "  # servers refuse empty texts
    assert {body["dimensions"] for body in bodies} == {256}


@pytest.mark.parametrize("path", ["/api", "/api/embed", "/api/embed/"])
def test_ollama_requests_use_its_own_api(httpserver: HTTPServer, path: str) -> None:
    httpserver.expect_request("/api/embed", "POST").respond_with_handler(ollama)
    scores = Embedder(ScoringEndpoint(httpserver.url_for(path), "nomic"), http())("old", PAGES)
    assert scores.index(max(scores)) == 2
    assert all(body["truncate"] is False and body["model"] == "nomic" for body in sent(httpserver))


@pytest.mark.parametrize(
    ("base", "is_ollama"),
    [
        ("http://localhost:11434", True),
        ("http://localhost:11434/", True),
        ("http://localhost:11434/v1", False),
        ("https://api.openai.com/v1", False),
        ("https://example.org/ollama/api", True),
    ],
)
def test_ollama_is_recognised_by_its_url(base: str, is_ollama: bool) -> None:
    assert ScoringEndpoint(base, "model").is_ollama == is_ollama


def test_services_with_a_role_field_get_the_role() -> None:
    jina = Embedder(ScoringEndpoint("https://api.jina.ai/v1", "jina-embeddings-v3"), http())
    assert jina.request(["x"], question=True).json["task"] == "retrieval.query"
    assert jina.request(["x"]).json["task"] == "retrieval.passage"
    assert jina.request(["x"]).url == "https://api.jina.ai/v1/embeddings"
    voyage = Embedder(ScoringEndpoint("https://api.voyageai.com/v1/embeddings", "voyage-3.5"), http())
    assert voyage.request(["x"]).json["input_type"] == "document"
    assert voyage.request(["x"]).url == "https://api.voyageai.com/v1/embeddings"


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["a"]}]},
        {"data": [{"index": 0, "embedding": "AACAPw=="}]},
        {"data": [{"index": 5, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
    ],
)
def test_an_answer_without_an_embedding_for_each_text_is_refused(httpserver: HTTPServer, body: Any) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json(body)
    with pytest.raises(BadResponseError):
        Embedder(ScoringEndpoint(httpserver.url_for("/v1"), "model"), http())("query", ["text"])


RERANKED = [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
SHAPES = {
    "Jina and Cohere": {"results": RERANKED},
    "Voyage": {"object": "list", "data": RERANKED},
    "Bocha": {"code": 200, "data": {"results": RERANKED}},
    "TEI": [{"index": 2, "score": 0.9}, {"index": 0, "score": 0.2}],
    "echoed documents": {"results": [entry | {"document": {"text": "x"}} for entry in RERANKED]},
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_reranker_may_answer_in_any_of_its_forms(httpserver: HTTPServer, name: str) -> None:
    httpserver.expect_request("/v1/rerank", "POST", headers={"Authorization": "Bearer key"}).respond_with_json(
        SHAPES[name]
    )
    scores = Reranker(ScoringEndpoint(httpserver.url_for("/v1"), "model", "key"), http())("query", PAGES)
    assert scores == [0.2, pytest.approx(-0.8), 0.9]  # the one it does not mention comes last
    reranked = [body for body in sent(httpserver) if "documents" in body]  # a late request of another test may arrive
    assert reranked[0]["documents"] == PAGES


@pytest.mark.parametrize(
    "body", [{}, [], {"results": []}, {"results": [{"index": 9, "score": 1}]}, {"results": [{"index": 0}]}, "text"]
)
def test_scores_that_belong_nowhere_are_refused(httpserver: HTTPServer, body: Any) -> None:
    httpserver.expect_request("/v1/rerank").respond_with_json(body)
    with pytest.raises(BadResponseError):
        Reranker(ScoringEndpoint(httpserver.url_for("/v1"), "model"), http())("query", PAGES)


def test_services_get_only_supported_fields() -> None:
    cohere = Reranker(ScoringEndpoint("https://api.cohere.com/v2", "rerank-v4.0"), http()).request("q", PAGES)
    assert "return_documents" not in cohere.json
    voyage = Reranker(ScoringEndpoint("https://api.voyageai.com/v1", "rerank-2.5"), http()).request("q", PAGES)
    assert (voyage.json["top_k"], "top_n" in voyage.json) == (3, False)


def test_compression_uses_both(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_handler(openai)
    httpserver.expect_request("/v1/rerank").respond_with_json({"results": [{"index": 0, "relevance_score": 0.9}]})
    base = ScoringEndpoint(httpserver.url_for("/v1"), "model")
    found = compress("old cars", PAGES, "rag", limit=20, dense=Embedder(base, http()), rerank=Reranker(base, http()))
    assert (found.phase, [page.content for page in found.pages]) == ("rag_complete", ["", "", "Cars are old."])


@pytest.mark.parametrize("status", [400, 401, 402, 404, 413, 422, 429, 500])
def test_a_server_that_refuses_leaves_the_order_by_words(httpserver: HTTPServer, status: int) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json({"error": {"message": "no"}}, status)
    embedder = Embedder(ScoringEndpoint(httpserver.url_for("/v1"), "model", "secret"), http())
    found = compress("cars", PAGES, "rag", limit=30, dense=embedder)
    assert found.phase == "rag_complete"
    assert found.size_after <= 30
    assert f"HTTP {status}" in found.warnings[0]
    assert "secret" not in found.warnings[0]


def test_a_server_that_is_not_there_leaves_the_order_by_words() -> None:
    nobody = Reranker(ScoringEndpoint("http://127.0.0.1:1", "model"), http())
    with pytest.raises(UnreachableError):
        nobody("query", PAGES)
    assert compress("cars", PAGES, "rag", rerank=nobody).phase == "rag_complete"


def test_a_slow_server_is_abandoned_at_the_deadline(httpserver: HTTPServer) -> None:
    over = threading.Event()

    def drip(request: Request) -> Response:
        over.wait()
        return answer(GOOD)

    httpserver.expect_request("/v1/embeddings").respond_with_handler(drip)
    found = compress(
        "cars", PAGES, "rag", dense=Embedder(ScoringEndpoint(httpserver.url_for("/v1"), "m"), http(timeout=0.5))
    )
    over.set()
    assert found.phase == "rag_complete"


def test_an_answer_too_large_is_refused(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/embeddings").respond_with_json({"data": ["x" * 5000]})
    found = compress(
        "cars", PAGES, "rag", dense=Embedder(ScoringEndpoint(httpserver.url_for("/v1"), "m"), http(max_body=1000))
    )
    assert found.phase == "rag_complete"


@pytest.mark.parametrize("padding", [0, 29])
def test_a_key_in_the_host_of_a_redirect_is_not_shown(httpserver: HTTPServer, padding: int) -> None:
    key = "sk-Very-Secret-0123456789"
    logs.hide(key)
    location = f"http://{'xx.' * padding}{key}.evil.example/".lower()
    httpserver.expect_request("/v1/rerank").respond_with_data("", 302, headers={"Location": location})
    reranker = Reranker(ScoringEndpoint(httpserver.url_for("/v1"), "m", key), http())
    found = compress("cars", PAGES, "rag", rerank=reranker)
    assert "[hidden].evil.example" in found.warnings[0]
    assert "sk-" not in found.warnings[0]


def test_a_key_is_rejected_with_the_error_that_says_so(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/rerank").respond_with_json({"detail": "no"}, 401)
    with pytest.raises(KeyInvalidError):
        Reranker(ScoringEndpoint(httpserver.url_for("/v1"), "model"), http())("query", PAGES)
