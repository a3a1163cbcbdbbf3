"""API keys of the providers in use, and the model endpoint."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sleuth.answers.llm.endpoint import find_key, models_url, sends_key_in_clear
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.doctor import USER_AGENT
from sleuth.doctor.finding import Finding, fail, ok, skipped, warn
from sleuth.doctor.remedies import remedy
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.store import keys
from sleuth.store.settings import DEFAULT_PROVIDER, FALLBACK, LLM_KEY, LLM_MODEL, LLM_URL, Settings
from sleuth_providers.base import Request
from sleuth_providers.json import as_dict, as_list

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

MODEL_TIMEOUT_S = 3.0


def check_keys(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that each provider in use has the key it needs, and report where keys come from."""
    from sleuth.store.health import Health

    try:
        selector = ProviderSelector(settings, runtime.table, Health(runtime.database), runtime.environ, USER_AGENT)
    except SleuthError:  # reported by the database check
        yield skipped(tr("the database with the keys cannot be used"))
        return
    default = selector.table.default() or settings[DEFAULT_PROVIDER]
    used = list(_in_use(selector, {default, *settings[FALLBACK]}))
    sources = {candidate.id: keys.origin(candidate.row, candidate.adapter, runtime.environ) for candidate in used}
    shown = ", ".join(f"{id}: {clean(source, 60)}" for id, source in sources.items() if source)
    missing = [candidate.id for candidate in used if candidate.adapter.needs_key and not sources[candidate.id]]
    if "keyring" in sources.values() and find_spec("keyring") is None:
        yield fail(shown, remedy("keyring-not-installed"))
    if missing:
        report = fail if default in missing else warn
        set_keys = [f"sleuth providers set {id} --api-key -" for id in missing]
        yield report(tr("no key: {names}", names=", ".join(missing)), remedy("keys-missing", set_keys=set_keys))
    else:
        names = ", ".join(candidate.id for candidate in used)
        yield ok(shown or tr("no key is needed for {names}", names=names))


def _in_use(selector: ProviderSelector, named: set[str]) -> Iterator[Candidate]:
    """Yield the providers that a search may query, and those that have a key or were added."""
    for row in selector.table.all():
        if row.enabled and (row.id in named or row.api_key or not row.built_in):
            try:
                yield selector.candidate(row.id)
            except SleuthError:  # its package is gone; `providers list` shows that
                continue


def check_model(runtime: "Runtime", settings: Settings) -> Finding:
    """Request the list of models from the model endpoint, where one is configured."""
    value, url = settings[LLM_KEY], settings[LLM_URL].strip()
    if value.startswith(("cmd:", "keyring:")):
        return skipped(tr("its key is in {where} and is not fetched here", where=value.partition(":")[0]))
    key = find_key(settings, runtime.environ)
    if not value and not key and settings.look_up(LLM_URL).origin == "default":
        return skipped(tr("no model is configured; answers are extracted from pages without one"))
    if value and not key:
        return fail(f"llm.api_key = {clean(value, 60)}", remedy("model-key-empty", variable=value[4:]))
    if key and sends_key_in_clear(url):
        better = clean_url(url).replace("http:", "https:", 1)
        return warn(clean_url(url), remedy("model-key-in-clear", url=better))
    return _list_models(models_url(url), key, settings[LLM_MODEL])


def _list_models(url: str, key: str, model: str) -> Finding:
    from sleuth.doctor.server.probe import Prober

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    prober = Prober(USER_AGENT, time.monotonic() + MODEL_TIMEOUT_S, url)
    seen = prober.send(Request(url, headers=headers), MODEL_TIMEOUT_S)
    evidence = f"{clean_url(url)}: {seen.summary}"
    if seen.status == 200:
        models = [str(as_dict(entry).get("id", "")) for entry in as_list(as_dict(seen.json()).get("data"))]
        if not models or model in models:
            return ok(evidence)
        choose = [f"sleuth config set llm.model {clean(name, 80)}" for name in models[:3]]
        return warn(evidence, remedy("model-unknown", model=clean(model, 80), choose=choose))
    if seen.status in (401, 403):
        return fail(evidence, remedy("model-key-rejected" if key else "model-key-needed"))
    if seen.status:
        shown, better = clean_url(url), urljoin(clean_url(url), "/v1")
        set_address = "" if shown.startswith(f"{better}/") else f"sleuth config set llm.base_url {better}"
        return warn(evidence, remedy("model-address-incomplete", url=shown, set_address=set_address))
    return fail(evidence, remedy("model-silent"))
