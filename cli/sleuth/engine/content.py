"""From a list of links to text one can use: the pages of results are read, squeezed, and put into the outcome."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sleuth.base import logs
from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.engine.outcome import Outcome, Status
from sleuth.library.ingester import to_document
from sleuth.library.library import Library
from sleuth.pages.page import Page, PageEvent
from sleuth.pages.reader import Reader
from sleuth.relevance.compress import Compressed, compress
from sleuth.relevance.hit import Hit
from sleuth.store import keys
from sleuth.store.settings import (
    COMPRESSION_METHOD,
    EMBEDDING_DIMENSIONS,
    EMBEDDING_KEY,
    EMBEDDING_MODEL,
    EMBEDDING_URL,
    LIBRARY_REMEMBER,
    LIBRARY_SIZE,
    RERANK_KEY,
    RERANK_MODEL,
    RERANK_URL,
    TIMEOUT,
    Setting,
    Settings,
)
from sleuth_providers.records import Record

LOCAL = "local"  # the embedding model that runs here, see relevance/local_model.py

Tell = Callable[[PageEvent], None]


class CompressionOptions(Record):
    """How page text is squeezed: what was typed over what is set."""

    method: str = "none"
    limit: int = 0
    unit: str = "char"
    max_tokens: int = 0
    document_count: int = 0


def compression_options(
    settings: Settings, method: str | None, limit: int | None, unit: str | None, max_tokens: int | None
) -> CompressionOptions:
    """Return how to squeeze; a budget without a method means passages that answer the query."""
    known = settings[COMPRESSION_METHOD]
    usual = known.get("method", "none")
    if method is None and usual == "none" and (limit or max_tokens):
        method = "rag" if max_tokens else "cutoff"
    return CompressionOptions(
        method or usual,
        limit or int(known.get("cutoff_limit", 0)),
        unit or known.get("cutoff_unit", "char"),
        max_tokens or 0,
        int(known.get("document_count", 0)),
    )


class ContentReader:
    """Reads and squeezes the pages of an outcome."""

    def __init__(self, settings: Settings, reader: Reader, library: Library) -> None:
        self.settings, self.reader, self.library = settings, reader, library

    def add(
        self, outcome: Outcome, squeeze: CompressionOptions, plan: Mapping[str, Any], tell: Tell | None = None
    ) -> Outcome:
        """Return the outcome with page text in `content`; a page that cannot be read leaves its snippet there."""
        missing = [hit.url for hit in outcome.results if not hit.content and not hit.url.startswith("file:")]
        pages = {page.url: page for page in self.reader.read(missing, on_event=tell, **plan)}
        self.remember(pages.values())
        texts = [_text(hit, pages) for hit in outcome.results]
        squeezed = self._squeeze(outcome.query, texts, squeeze)
        phase = squeezed.phase if squeeze.method != "none" or squeeze.max_tokens else "fetch_complete"
        return outcome._replace(
            results=tuple(_with_content(hit, kept) for hit, kept in zip(outcome.results, squeezed.pages, strict=True)),
            status=_status(outcome.status, phase, squeezed),
            pages=tuple(_as_json(page) for page in pages.values()),
            warnings=(*outcome.warnings, *_failures(pages.values()), *squeezed.warnings),
        )

    def _squeeze(self, query: str, texts: Sequence[str], squeeze: CompressionOptions) -> Compressed:
        return compress(
            query,
            texts,
            squeeze.method,
            limit=squeeze.limit,
            unit=squeeze.unit,
            document_count=squeeze.document_count,
            max_tokens=squeeze.max_tokens,
            dense=self._scorer(EMBEDDING_URL, EMBEDDING_MODEL, EMBEDDING_KEY),
            rerank=self._scorer(RERANK_URL, RERANK_MODEL, RERANK_KEY),
        )

    def _scorer(self, url: Setting[str], model: Setting[str], key: Setting[str]) -> Any:
        """Return the model behind HTTP that the settings name; None where they name none."""
        known = self.settings[COMPRESSION_METHOD]
        wanted = known.get("embedding_model_id" if url is EMBEDDING_URL else "rerank_model_id", "")
        if url is EMBEDDING_URL and (wanted or self.settings[model]) == LOCAL:
            from sleuth.engine.local_model import LocalModel

            return LocalModel()
        if not self.settings[url] or not (wanted or self.settings[model]):
            return None
        from sleuth.engine.dense import Embedder, Reranker, ScoringEndpoint
        from sleuth_providers.net.client import HttpClient
        from sleuth_providers.net.policy import Policy

        secret = keys.resolve(self.settings[key], self.settings.environ, f"sleuth/{key.key}")
        logs.hide(secret)
        dimensions = self.settings[EMBEDDING_DIMENSIONS] if url is EMBEDDING_URL else 0
        endpoint = ScoringEndpoint(self.settings[url], wanted or self.settings[model], secret, dimensions)
        kind = Embedder if url is EMBEDDING_URL else Reranker
        return kind(endpoint, HttpClient(Policy(timeout=self.settings[TIMEOUT])))

    def remember(self, pages: Iterable[Page]) -> None:
        """Keep what was read in the library, where the user wants that; trouble there costs nothing else."""
        if not self.settings[LIBRARY_REMEMBER]:
            return
        fresh = [page for page in pages if page.ok and not page.cached]
        if not fresh:
            return
        try:
            self.library.add(to_document(page) for page in fresh)
            self.library.trim(self.settings[LIBRARY_SIZE])
        except Exception as problem:
            logs.log("library: not written: %r", problem)


def _text(hit: Hit, pages: Mapping[str, Page]) -> str:
    page = pages.get(hit.url)
    return hit.content or (page.markdown or page.text if page and page.ok else hit.snippet)


def _with_content(hit: Hit, kept: Any) -> Hit:
    spans = tuple((passage.start, passage.end, round(passage.score, 4)) for passage in kept.passages)
    return hit._replace(content=kept.content, passages=spans)


def _status(status: Status, phase: str, squeezed: Compressed) -> Status:
    return status._replace(
        phase=phase,
        left_out=squeezed.left_out,
        size=squeezed.size_after,
        unit=squeezed.unit,
        estimated=squeezed.estimated,
    )


def _failures(pages: Any) -> list[str]:
    failed = [page for page in pages if not page.ok]
    if not failed:
        return []
    reasons = "; ".join(f"{domain(page.url)}: {page.problem}" for page in failed[:3])
    more = f" (+{len(failed) - 3})" if len(failed) > 3 else ""
    return [tr("FETCH_FAILED: snippets stand in for pages that could not be read: {reasons}", reasons=reasons + more)]


def _as_json(page: Page) -> dict[str, Any]:
    attempts = [
        {"layer": tried.layer, "state": tried.state, "message": tried.message or None, "elapsedMs": tried.elapsed_ms}
        for tried in page.attempts
    ]
    return {
        "url": page.url,
        "finalUrl": page.final_url or None,
        "title": page.title or None,
        "layer": page.layer or None,
        "cached": page.cached,
        "truncated": page.truncated,
        "elapsedMs": page.elapsed_ms,
        "attempts": attempts,
    }
