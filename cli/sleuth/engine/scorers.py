"""The embedding model and the reranker that the settings name."""

from collections.abc import Sequence
from typing import Any

from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.i18n import tr
from sleuth.base.urls import host, is_in_clear
from sleuth.relevance.compress import explain_failure
from sleuth.store import keys
from sleuth.store import settings as setting
from sleuth.store.settings import Settings
from sleuth_providers.net.guard import is_local

LOCAL_MODEL = "local"  # the embedding model of `engine.dense`


def scorer(settings: Settings, kind: str, *, offline: bool = False) -> Any:
    """Return the `embedding` model or the `rerank` model, or None; offline, only one on the local network."""
    url, key = (setting.TABLE[f"{kind}.{name}"] for name in ("base_url", "api_key"))
    name = _model_name(settings, kind)
    is_embedding = kind == "embedding"
    if is_embedding and name == LOCAL_MODEL:
        from sleuth.engine.dense import LocalModel

        return LocalModel()
    if not settings[url] or not name or (offline and not is_local(host(settings[url]))):
        return None
    from sleuth.engine.dense import Embedder, Reranker, ScoringEndpoint
    from sleuth_providers.net.client import HttpClient
    from sleuth_providers.net.policy import Policy

    secret = keys.resolve(settings.key_for(key, url), settings.environ, f"sleuth/{key.key}")
    logs.hide(secret)
    if secret and is_in_clear(settings[url]):
        message = "refusing to send the API key unencrypted to {place}"
        raise SettingsError(message, "use https: sleuth config set {key} URL", place=host(settings[url]), key=url.key)
    described = settings[setting.COMPRESSION_METHOD].get("embedding_model_meta", {}).get("dimensions")
    dimensions = int(settings[setting.EMBEDDING_DIMENSIONS] or described or 0) if is_embedding else 0
    endpoint = ScoringEndpoint(settings[url], name, secret, dimensions)
    client = HttpClient(Policy(timeout=settings[setting.TIMEOUT]))
    return Embedder(endpoint, client) if is_embedding else Reranker(endpoint, client)


class ResultReranker:
    """Scores results by the configured reranker, each once; after a failure, by nothing."""

    def __init__(self, settings: Settings, *, offline: bool) -> None:
        self._scorer = scorer(settings, "rerank", offline=offline)
        self._known: dict[str, float] = {}
        self.warnings: tuple[str, ...] = ()

    def __call__(self, query: str, texts: Sequence[str]) -> list[float] | None:
        """Return a score for each text, or None without a reranker."""
        if self._scorer is None:
            return None
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        try:
            self._known |= zip(fresh, self._scorer(query, fresh), strict=True) if fresh else ()
        except Exception as problem:  # a server, which can fail in any way
            reason = explain_failure(problem)
            self.warnings = (tr("the reranker failed; results are ranked by word matches: {reason}", reason=reason),)
            self._scorer = None
            return None
        return [self._known[text] for text in texts]


def models_without_server(settings: Settings) -> list[str]:
    """Return a warning for each model that is configured without a server."""
    named = [kind for kind in ("embedding", "rerank") if _model_name(settings, kind) not in ("", LOCAL_MODEL)]
    named = [kind for kind in named if not settings[setting.TABLE[f"{kind}.base_url"]]]
    template = "the {kind} model is configured, but {kind}.base_url is not set; passages are ranked by word matches"
    return [tr(template, kind=kind) for kind in named]


def _model_name(settings: Settings, kind: str) -> str:
    model_id = settings[setting.COMPRESSION_METHOD].get(f"{kind}_model_id")
    return str(model_id or settings[setting.TABLE[f"{kind}.model"]])
