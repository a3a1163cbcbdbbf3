"""Replies of embedding models and rerankers: scores or a ProviderError. The first line names the API."""

import math

from sleuth.engine.dense import parse_embeddings, parse_ollama, parse_rerank
from sleuth_providers.base import Response
from sleuth_providers.errors import ProviderError

WORDS = '"index": ¦ "embedding": [ ¦ "relevance_score": ¦ "score": ¦ "results": [ ¦ "data": [ ¦ 1e300 ¦ -1e308 ¦ 1e400'
ROUNDS = 900
TEXTS = 3


def check(data: bytes) -> None:
    """Read a reply."""
    whose, _, body = data.partition(b"\n")
    reply = Response(200, {"content-type": "application/json"}, body)
    try:
        if whose == b"rerank":
            scores = parse_rerank(reply, TEXTS)
            assert set(scores) <= set(range(TEXTS))
            numbers = list(scores.values())
        else:
            vectors = parse_ollama(reply) if whose == b"ollama" else parse_embeddings(reply)
            numbers = [number for vector in vectors for number in vector]
    except ProviderError:
        return
    assert all(type(number) is float and math.isfinite(number) for number in numbers)
