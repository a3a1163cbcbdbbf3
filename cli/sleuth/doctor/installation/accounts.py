"""Who can be asked: keys of the providers in use, and the model's endpoint."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sleuth import __version__
from sleuth.answers.llm.endpoint import find_key, models_url, sends_key_in_clear
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.doctor.finding import Finding
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.store import keys
from sleuth.store.settings import DEFAULT_PROVIDER, FALLBACK, LLM_KEY, LLM_MODEL, LLM_URL, Settings
from sleuth_providers.base import Request
from sleuth_providers.json import as_dict, as_list
from sleuth_providers.net.policy import user_agent

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

AGENT = user_agent(__version__)
SECONDS = 3.0  # for the one request to the model's endpoint
KEY_LINK = "troubleshooting.md#api-key-missing-or-rejected"
SOURCES_LINK = "providers.md#api-keys-where-sleuth-looks-for-them"
MODEL_LINK = "models.md"


def check_keys(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that every provider in use has the key it needs, and say where keys come from."""
    from sleuth.store.health import Health

    try:
        selector = ProviderSelector(settings, runtime.table, Health(runtime.database), runtime.environ, AGENT)
    except SleuthError:  # said by the check of the database
        yield Finding("", "skipped", "", tr("the database with the keys cannot be used"))
        return
    used = list(_in_use(selector))
    sources = {candidate.id: keys.origin(candidate.row, candidate.adapter, runtime.environ) for candidate in used}
    shown = ", ".join(f"{id}: {clean(source, 60)}" for id, source in sources.items() if source)
    missing = [candidate for candidate in used if candidate.adapter.needs_key and not sources[candidate.id]]
    if "keyring" in sources.values() and find_spec("keyring") is None:
        cause = tr("a key is to come from the keyring, but the part that reads it is not installed")
        yield Finding("", "fail", "", shown, cause, ("pip install 'sleuth[keyring]'",), SOURCES_LINK)
    if missing:
        names = ", ".join(candidate.id for candidate in missing)
        cause = tr("they are in use and need a key; until then others are asked, or nobody")
        fix = tuple(f"sleuth providers set {candidate.id} --api-key -" for candidate in missing)
        chosen = _first_choice(selector)
        state = "fail" if any(candidate.id == chosen for candidate in missing) else "warn"
        yield Finding("", state, "", tr("no key: {names}", names=names), cause, fix, KEY_LINK)
    elif shown:
        yield Finding("", "ok", "", shown)
    else:
        asked = ", ".join(candidate.id for candidate in used)
        yield Finding("", "ok", "", tr("none is needed by {names}", names=asked))


def _first_choice(selector: ProviderSelector) -> str:
    return selector.table.default() or selector.settings[DEFAULT_PROVIDER]


def _in_use(selector: ProviderSelector) -> Iterator[Candidate]:
    """Yield whom a search may ask, and whom somebody has set up: not all that could be."""
    named = {_first_choice(selector), *selector.settings[FALLBACK]}
    for row in selector.table.all():
        touched = row.api_key or not row.built_in or row.updated_at > row.created_at
        if row.enabled and (row.id in named or touched):
            try:
                yield selector.candidate(row.id)
            except SleuthError:  # its package is gone; `providers list` tells
                continue


def check_model(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Ask the model's endpoint for its list of models, where one was set up."""
    value, url = settings[LLM_KEY], settings[LLM_URL].strip()
    if value.startswith(("cmd:", "keyring:")):
        remark = tr("its key is kept elsewhere ({where}) and not fetched here", where=value.partition(":")[0])
        yield Finding("", "skipped", "", remark)
        return
    key = find_key(settings, runtime.environ)
    if not value and not key and settings.look_up(LLM_URL).origin == "default":
        yield Finding("", "skipped", "", tr("none is set up; answers are put together without one"))
        return
    if value and not key:
        cause = tr("the variable that should hold the key is empty")
        yield Finding(
            "", "fail", "", f"llm.api_key = {clean(value, 60)}", cause, (f"export {value[4:]}=…",), MODEL_LINK
        )
        return
    if key and sends_key_in_clear(url):
        cause = tr("the key would travel unencrypted to another machine; it was not sent")
        fix = (f"sleuth config set llm.base_url {clean_url(url).replace('http:', 'https:', 1)}",)
        yield Finding("", "warn", "", clean_url(url), cause, fix, MODEL_LINK)
        return
    yield _ask(models_url(url), key, settings[LLM_MODEL])


def _ask(url: str, key: str, model: str) -> Finding:
    from sleuth.doctor.server.probe import Prober

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    prober = Prober(AGENT, time.monotonic() + SECONDS, url)
    seen = prober.send(Request(url, headers=headers), SECONDS)
    evidence = f"{clean_url(url)}: {seen.summary}"
    if seen.status == 200:
        known = [str(as_dict(entry).get("id", "")) for entry in as_list(as_dict(seen.json()).get("data"))]
        if known and model not in known:
            cause = tr("the endpoint does not list the model {model}", model=clean(model, 80))
            fix = tuple(f"sleuth config set llm.model {clean(name, 80)}" for name in known[:3])
            return Finding("", "warn", "", evidence, cause, fix, MODEL_LINK)
        return Finding("", "ok", "", evidence)
    if seen.status in (401, 403):
        cause = tr("the endpoint rejects the key") if key else tr("the endpoint wants a key")
        return Finding("", "fail", "", evidence, cause, ("sleuth config set llm.api_key -",), MODEL_LINK)
    if seen.status:
        cause = tr("something answers, but not with a list of models: is the address complete, with /v1 at the end?")
        fix = (f"sleuth config set llm.base_url {urljoin(clean_url(url), '/v1')}",)
        return Finding("", "warn", "", evidence, cause, fix, MODEL_LINK)
    cause = tr("the endpoint does not answer: check the address, the network, or start the program there")
    return Finding("", "fail", "", evidence, cause, ("sleuth config show llm",), MODEL_LINK)
