"""The checks of this installation; none of them stops another."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sleuth import __version__
from sleuth.answers.llm.endpoint import find_key, models_url
from sleuth.base.errors import RequestError, SettingsError, SleuthError, UnknownProviderError, UnwritableError, describe
from sleuth.base.extras import MODULES, install_command
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url, is_in_clear, mask_login
from sleuth.doctor import USER_AGENT
from sleuth.doctor.finding import Check, Finding, as_fix, fail, ok, shell, skipped, warn
from sleuth.doctor.installation.shared_cache import check_shared_cache
from sleuth.doctor.installation.stores import check_cache, check_database, check_disk, check_library, check_modes
from sleuth.doctor.installation.terminal import check_certificates, check_encoding, check_proxies, check_terminal
from sleuth.engine.selector import ProviderSelector
from sleuth.store import keys
from sleuth.store.database import open_copy
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.settings import (
    CACHE_URL,
    DEFAULT_PROVIDER,
    FETCH_BROWSER,
    IMPERSONATE,
    LLM_KEY,
    LLM_MODEL,
    LLM_REASONER,
    LLM_URL,
    Settings,
)
from sleuth.store.toml_file import read_toml
from sleuth_providers.base import Request
from sleuth_providers.json import as_dict, as_list, as_text

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

MODEL_TIMEOUT_S = 3.0


def check_keys(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that each provider in use has the key it needs, and report where keys come from."""
    try:
        selector = _selector(runtime, settings)
    except SleuthError:  # reported by the database check
        yield skipped(tr("the database with the keys cannot be used"))
        return
    default = selector.default()
    chain = {candidate.id for candidate in selector.chain()}
    rows = (row for row in selector.table.all() if row.id in chain or row.api_key or not row.built_in)
    used = list(selector.loadable(row for row in rows if row.enabled))
    sources = {candidate.id: keys.origin(candidate.row, candidate.adapter, runtime.environ) for candidate in used}
    shown = ", ".join(f"{id}: {clean(source, 60)}" for id, source in sources.items() if source)
    missing = [one.id for one in used if (one.adapter.needs_key or one.row.api_key) and not sources[one.id]]
    if "keyring" in sources.values() and find_spec("keyring") is None:
        yield fail(shown, "keyring-not-installed", install=install_command("keyring"))
    if missing:
        report = fail if default in missing else warn
        set_keys = [f"sleuth providers set {id} --api-key -" for id in missing]
        yield report(tr("no key: {names}", names=", ".join(missing)), "keys-missing", set_keys=set_keys)
    else:
        yield ok(shown or tr("no key is needed for {names}", names=", ".join(sources)))


def _selector(runtime: "Runtime", settings: Settings) -> ProviderSelector:
    from sleuth.store.health import Health

    try:
        table, database = runtime.table, runtime.database
    except UnwritableError:  # reported by another check; searches read a copy, too
        database = open_copy(runtime.paths.database, MIGRATIONS)
        table = runtime.table_in(database)
    return ProviderSelector(settings, table, Health(database), runtime.environ, USER_AGENT)


def check_model(runtime: "Runtime", settings: Settings) -> Finding:
    """Request the list of models from the model endpoint, where one is configured."""
    value, url = settings.key_for(LLM_KEY, LLM_URL), settings[LLM_URL].strip()
    if value.startswith(("cmd:", "keyring:")):
        return skipped(tr("the key comes from {where}:, which this check does not run", where=value.partition(":")[0]))
    key = find_key(settings, runtime.environ)
    if not value and not key and settings.look_up(LLM_URL).origin == "default":
        return skipped(tr("no model is configured; answers are extracted from pages without one"))
    if value and not key:
        return fail(f"llm.api_key = {clean(value, 60)}", "model-key-empty", variable=value[4:])
    if key and is_in_clear(url):
        shown = mask_login(clean_url(url))
        return warn(shown, "model-key-in-clear", url=shown.replace("http:", "https:", 1))
    wanted = {setting.key: settings[setting] for setting in (LLM_MODEL, LLM_REASONER) if settings[setting]}
    return _list_models(models_url(url), key, wanted)


def _list_models(url: str, key: str, wanted: dict[str, str]) -> Finding:
    from sleuth.doctor.server.probe import Prober

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    seen = Prober(time.monotonic() + MODEL_TIMEOUT_S, url).send(Request(url, headers=headers), MODEL_TIMEOUT_S)
    shown = mask_login(clean_url(url))
    evidence = f"{shown}: {seen.summary}"
    if seen.status == 200:
        listed = (as_text(as_dict(entry).get("id")) for entry in as_list(as_dict(seen.json()).get("data")))
        models = list(filter(None, listed))
        unknown = {setting: model for setting, model in wanted.items() if models and model not in models}
        if not unknown:
            return ok(evidence)
        choose = [f"sleuth config set {name} {shell(clean(model, 300))}" for name in unknown for model in models[:3]]
        names = ", ".join(clean(model, 300) for model in unknown.values())
        return warn(evidence, "model-unknown", model=names, choose=choose)
    if seen.status in (401, 403):
        return fail(evidence, "model-key-rejected" if key else "model-key-needed")
    if seen.status:
        better = urljoin(shown, "/v1")
        set_address = "" if shown.startswith(f"{better}/") else f"sleuth config set llm.base_url {better}"
        return warn(evidence, "model-address-incomplete", url=shown, set_address=set_address)
    return fail(evidence, "model-silent")


def check_version(runtime: "Runtime", settings: Settings) -> Finding:
    """Report the versions of sleuth, Python and SQLite."""
    import sqlite3

    python, sqlite = ".".join(map(str, sys.version_info[:3])), sqlite3.sqlite_version
    return ok(f"sleuth {__version__}, Python {python}, SQLite {sqlite}, {sys.platform}")


def check_extras(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that the extras which settings and providers require are installed."""
    missing = [name for name, path in MODULES.items() if not (find_spec(path.partition(".")[0]) and find_spec(path))]
    installed = [name for name in MODULES if name not in missing]
    lines = [tr("installed: {names}", names=", ".join(installed) or "–")]
    lines += [
        tr("not installed: {name}; to install it: {command}", name=name, command=install_command(name))
        for name in missing
    ]
    if settings[IMPERSONATE] and find_spec("wreq") is None:
        lines.append(tr("wreq is not installed: pages are fetched with Python's TLS, which some sites block"))
    users = {"fetch.browser": "sleuth config set fetch.browser false"} if settings[FETCH_BROWSER] else {}
    with suppress(SleuthError):  # a broken database is reported by its own check
        rows = runtime.table.all() if os.path.exists(runtime.paths.database) else []
        ids = [row.id for row in rows if row.using_browser and row.enabled]
        users |= {id: f"sleuth providers set {id} --no-using-browser" for id in ids}
    if not users or "browser" in installed:
        return ok("\n".join(lines))
    values = {"users": ", ".join(users), "install": install_command("browser"), "turn_off": list(users.values())}
    return warn("\n".join(lines), "browser-not-installed", **values)


def check_settings(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that config.toml is TOML, that every value is valid, and that the providers it names exist."""
    path = runtime.paths.config_file
    try:
        read_toml(path)
    except SettingsError as problem:
        yield fail(clean(tr(problem.message, **problem.values), 500, entities=False), "config-not-toml")
        return
    problems = [warn(clean(text, 500, entities=False), "config-invalid-value") for text in settings.problems()]
    for setting, id in settings.named_providers():
        try:
            _selector(runtime, settings).candidate(id)
        except (UnknownProviderError, RequestError) as error:
            text = tr("{key}: {problem}", key=setting.key, problem=describe(error)[0])
            is_default = setting is DEFAULT_PROVIDER
            problems.append(fail(text, "config-unknown-default") if is_default else warn(text, "config-unknown-chain"))
        except SleuthError:  # a broken database is reported by its own check
            break
    existing = path if os.path.exists(path) else tr("{path} does not exist; defaults apply", path=path)
    yield from problems or [ok(existing)]


CHECKS = (
    Check("install.version", "Versions are supported", "", check_version),
    Check("install.extras", "Required extras are installed", "An extra is missing", check_extras),
    Check("install.settings", "Settings are valid", "Settings are not valid", check_settings),
    Check("install.disk", "Files can be saved", "Files cannot be saved", check_disk),
    Check("install.database", "Database is readable and intact", "Database cannot be used", check_database),
    Check("install.modes", "Files are private", "Files are not private", check_modes),
    Check("install.cache", "Cache is readable", "Cache has a problem", check_cache),
    Check("install.library", "Library is intact", "Library has a problem", check_library),
    Check("install.keys", "API keys are present", "API keys are missing", check_keys),
    Check("install.proxies", "Proxies are reachable", "Proxy is not usable", check_proxies),
    Check("install.certificates", "CA certificates are found", "CA certificates have a problem", check_certificates),
    Check("install.terminal", "Terminal is suitable", "Terminal is very narrow", check_terminal),
    Check("install.encoding", "Locale is UTF-8", "Locale is not UTF-8", check_encoding),
    Check("install.model", "Model endpoint answers", "Model endpoint has a problem", check_model),
    Check("cache.shared", "Shared cache works", "Shared cache has a problem", check_shared_cache),
)


def check_installation(runtime: "Runtime") -> Iterator[Finding]:
    """Run every check; the shared cache only where one is configured."""
    try:
        settings = Settings(runtime.paths.config_file, runtime.environ)
    except SettingsError:  # reported by its own check; the others get the defaults
        settings = Settings("", runtime.environ)
    for check in CHECKS:
        if check.id != "cache.shared" or settings[CACHE_URL]:
            yield from _run(check, runtime, settings)


def _run(check: Check, runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    try:
        yield from check.run(runtime, settings)
    except SleuthError as problem:
        message, hint = describe(problem)
        yield check.label(Finding("fail", clean(message, 500, entities=False), fix=as_fix(hint)))
    except Exception as problem:
        from sleuth.base.logs import log

        log("doctor: %s: %r", check.id, problem)
        yield check.label(skipped(tr("internal error ({kind}); see the log", kind=type(problem).__name__)))
