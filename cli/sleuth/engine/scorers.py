"""The embedding model and the reranker that the settings name."""

from collections.abc import Sequence
from math import inf
from typing import Any

from sleuth.base import logs
from sleuth.base.errors import SettingsError, SleuthError
from sleuth.base.i18n import tr
from sleuth.base.urls import host, is_in_clear
from sleuth.relevance.compress import explain_failure
from sleuth.store import keys
from sleuth.store import settings as setting
from sleuth.store.settings import Setting, Settings
from sleuth_providers.exchange import secrets_in
from sleuth_providers.net.guard import is_local
from sleuth_providers.records import Record

LOCAL_MODEL = "local"  # the embedding model of `engine.dense`


def scorer(settings: Settings, kind: str, *, offline: bool = False, time_left: float = inf) -> Any:
    """Return the `embedding` model or the `rerank` model, or None; offline, only one on the local network."""
    url, _, key = setting.MODELS[kind]
    name = _model_name(settings, kind)
    is_embedding = kind == "embedding"
    if is_embedding and name == LOCAL_MODEL:
        from sleuth.engine.dense import LocalModel

        try:
            return LocalModel()
        except SleuthError as problem:
            return _Failing(problem)
    if not settings[url] or not name or (offline and not is_local(host(settings[url]))):
        return None
    from sleuth.engine.dense import Embedder, Reranker, ScoringEndpoint
    from sleuth_providers.net.client import HttpClient
    from sleuth_providers.net.policy import Policy

    try:
        secret = _api_key(settings, key, url)
    except SleuthError as problem:
        return _Failing(problem)
    described = settings[setting.COMPRESSION_METHOD].get("embedding_model_meta", {}).get("dimensions")
    dimensions = int(settings[setting.EMBEDDING_DIMENSIONS] or described or 0) if is_embedding else 0
    endpoint = ScoringEndpoint(settings[url], name, secret, dimensions)
    client = HttpClient(Policy(timeout=min(settings[setting.TIMEOUT], time_left)))
    return Embedder(endpoint, client) if is_embedding else Reranker(endpoint, client)


def _api_key(settings: Settings, key: Setting[str], url: Setting[str]) -> str:
    """Return the API key of a server; raise SleuthError if it cannot be read or must not be sent."""
    stored = settings.key_for(key, url)
    secret = keys.resolve(stored, settings.environ, f"sleuth/{key.key}")
    logs.hide(secret, *secrets_in(settings[url]))
    if stored and not secret:
        raise SettingsError("{key} refers to an API key that is not set", key=key.key)
    if secret and is_in_clear(settings[url]):
        raise SettingsError("refusing to send the API key unencrypted to {place}", place=host(settings[url]))
    return secret


class _Failing(Record):
    """A model that cannot be used: it fails with a warning, as one whose server fails."""

    error: SleuthError

    def __call__(self, *_: object) -> Any:
        raise self.error


class ResultReranker:
    """Scores results by the configured reranker, each once; after a failure, by nothing."""

    def __init__(self, settings: Settings, *, offline: bool, time_left: float) -> None:
        self._scorer = scorer(settings, "rerank", offline=offline, time_left=time_left)
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
    unset = [kind for kind, (url, *_) in setting.MODELS.items() if not settings[url]]
    named = [kind for kind in unset if _model_name(settings, kind) not in ("", LOCAL_MODEL)]
    template = "the {kind} model is configured, but {kind}.base_url is not set; passages are ranked by word matches"
    return [tr(template, kind=kind) for kind in named]


def _model_name(settings: Settings, kind: str) -> str:
    return str(settings[setting.COMPRESSION_METHOD].get(f"{kind}_model_id") or settings[setting.MODELS[kind][1]])
