"""Scores from models behind HTTP: embeddings in OpenAI's or Ollama's form, and rerankers in Jina's or Cohere's."""

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from sleuth.base.urls import host
from sleuth_providers.base import Request, Response, Sender
from sleuth_providers.errors import BadResponseError
from sleuth_providers.json import as_dict, as_list, as_number
from sleuth_providers.records import Record

BATCH = 64
BATCHES = {"dashscope.aliyuncs.com": 10}  # who takes fewer texts at once
IN_FLIGHT = 4
MAX_CHARS = 2_000  # of a text that is sent: passages are short, and models cut or refuse what is long
OLLAMA_PORT = 11434
KINDS = {  # how some services are told which text is the question; others are told by a prefix, or not at all
    "api.jina.ai": ("task", "retrieval.query", "retrieval.passage"),
    "api.voyageai.com": ("input_type", "query", "document"),
}

Vector = list[float]


class ScoringEndpoint(Record):
    """A model behind HTTP, as the settings name it."""

    base_url: str
    model: str
    key: str = ""
    dimensions: int = 0  # nought leaves it to the model
    query_prefix: str = ""  # such as "query: " and "passage: " for E5
    passage_prefix: str = ""

    @property
    def host(self) -> str:
        """Return the name of the server."""
        return host(self.base_url)

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def address(self, name: str) -> str:
        """Return the address of one of its services; a base that names it already is taken as it is."""
        base = self.base_url.rstrip("/")
        return base if base.endswith(f"/{name}") else f"{base}/{name}"

    @property
    def is_ollama(self) -> bool:
        """Tell whether the address is Ollama's own interface rather than the one that resembles OpenAI's."""
        parts = urlsplit(self.base_url.rstrip("/"))
        return parts.path.endswith(("/api", "/api/embed")) or (parts.port == OLLAMA_PORT and not parts.path)


class Embedder:
    """Scores texts by how near their embeddings are to the query's."""

    def __init__(self, endpoint: ScoringEndpoint, http: Sender) -> None:
        self.endpoint, self.http = endpoint, http

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text and the query."""
        size = BATCHES.get(self.endpoint.host, BATCH)
        batches = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
        pool = ThreadPoolExecutor(IN_FLIGHT)
        try:
            question = pool.submit(self.embed, [query], question=True)
            vectors = [vector for found in pool.map(self.embed, batches) for vector in found]
            (target,) = question.result()
        finally:  # an interrupt, or the first failure, waits for nobody
            pool.shutdown(wait=False, cancel_futures=True)
        return [_cosine(target, vector) for vector in vectors]

    def embed(self, texts: Sequence[str], *, question: bool = False) -> list[Vector]:
        """Return the embedding of each text, in the order of the texts."""
        reply = self.http.send(self.request(texts, question))
        vectors = parse_ollama(reply) if self.endpoint.is_ollama else parse_embeddings(reply)
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            raise BadResponseError(f"{len(vectors)} embeddings for {len(texts)} texts, or of several lengths")
        return vectors

    def request(self, texts: Sequence[str], question: bool = False) -> Request:
        """Return the HTTP request for the embeddings of some texts."""
        endpoint = self.endpoint
        prefix = endpoint.query_prefix if question else endpoint.passage_prefix
        body: dict[str, Any] = {"model": endpoint.model, "input": [_sendable(text, prefix) for text in texts]}
        if endpoint.dimensions:
            body["dimensions"] = endpoint.dimensions
        if endpoint.is_ollama:
            base = endpoint.base_url.rstrip("/").removesuffix("/embed").removesuffix("/api")
            body["truncate"] = False  # else it cuts texts that are too long and says nothing
            return Request(f"{base}/api/embed", method="POST", headers=endpoint.headers, json=body)
        if kind := KINDS.get(endpoint.host):
            body[kind[0]] = kind[1] if question else kind[2]
        return Request(endpoint.address("embeddings"), method="POST", headers=endpoint.headers, json=body)


class Reranker:
    """Scores texts by a model that reads query and text together."""

    def __init__(self, endpoint: ScoringEndpoint, http: Sender) -> None:
        self.endpoint, self.http = endpoint, http

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the model's score of each text; one it did not mention is below all others."""
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
        address = self.endpoint.address("rerank")
        if self.endpoint.host == "api.cohere.com":  # refuses fields it does not know
            del body["return_documents"]
        elif self.endpoint.host == "api.voyageai.com":
            body["top_k"] = body.pop("top_n")
        return Request(address, method="POST", headers=self.endpoint.headers, json=body)


def parse_embeddings(reply: Response) -> list[Vector]:
    """Read OpenAI's form; entries say themselves where they belong."""
    entries = [as_dict(entry) for entry in as_list(as_dict(reply.json()).get("data"))]
    indexes = [entry.get("index", place) for place, entry in enumerate(entries)]
    if sorted(indexes, key=str) != sorted(range(len(entries)), key=str):
        raise BadResponseError("embeddings without an order", status=reply.status)
    ordered = sorted(zip(indexes, entries, strict=True), key=lambda pair: pair[0])
    return [_vector(entry.get("embedding"), reply.status) for _, entry in ordered]


def parse_ollama(reply: Response) -> list[Vector]:
    """Read Ollama's own form, which keeps the order of the texts."""
    return [_vector(entry, reply.status) for entry in as_list(as_dict(reply.json()).get("embeddings"))]


def parse_rerank(reply: Response, number: int) -> dict[int, float]:
    """Read the scores by index from `results`, `data`, `data.results` or a bare list."""
    scores: dict[int, float] = {}
    for entry in map(as_dict, _entries(reply.json())):
        value = as_number(entry.get("relevance_score", entry.get("score")))
        index = entry.get("index")
        if value is None or not isinstance(index, int) or not 0 <= index < number:
            raise BadResponseError("a rerank score without its text", status=reply.status)
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
        raise BadResponseError("an embedding that is no list of numbers", status=status)
    return vector


def _cosine(one: Vector, other: Vector) -> float:
    if len(one) != len(other):
        raise BadResponseError("query and texts have embeddings of several lengths")
    lengths = math.sqrt(math.fsum(x * x for x in one) * math.fsum(x * x for x in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _sendable(text: str, prefix: str = "") -> str:
    return prefix + (text[:MAX_CHARS].strip() or " ")  # servers refuse empty texts
