"""The checks of this installation; none of them stops another."""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sleuth import __version__
from sleuth.base.errors import SettingsError, SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Check, Finding, fail, ok, skipped, warn
from sleuth.doctor.installation.accounts import check_keys, check_model
from sleuth.doctor.installation.shared_cache import check_shared_cache
from sleuth.doctor.installation.stores import check_cache, check_database, check_library, check_modes
from sleuth.doctor.installation.terminal import check_certificates, check_encoding, check_proxies, check_terminal
from sleuth.doctor.remedies import Remedy, remedy
from sleuth.store.settings import CACHE_URL, FETCH_BROWSER, Settings, read_toml

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

MIN_PYTHON = (3, 11)
EXTRAS = {"browser": "playwright", "keyring": "keyring", "mcp": "mcp", "serve": "uvicorn"}  # extra → package


def check_version(runtime: "Runtime", settings: Settings) -> Finding:
    """Report the versions of sleuth, Python and SQLite."""
    import sqlite3

    python, sqlite = ".".join(map(str, sys.version_info[:3])), sqlite3.sqlite_version
    evidence = f"sleuth {__version__}, Python {python}, SQLite {sqlite}, {sys.platform}"
    if sys.version_info[:2] >= MIN_PYTHON:
        return ok(evidence)
    # pip refuses to install on an older Python; a copied folder does not.
    return fail(evidence, remedy("python-too-old", version=".".join(map(str, MIN_PYTHON))))


def check_extras(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that optional parts which the settings require are installed."""
    installed = [name for name, package in EXTRAS.items() if find_spec(package)]
    missing = [name for name in EXTRAS if name not in installed]
    facts = {"installed": ", ".join(installed) or "–", "missing": ", ".join(missing) or "–"}
    evidence = tr("installed: {installed}; not installed: {missing}", **facts)
    if not settings[FETCH_BROWSER] or "browser" in installed:
        return ok(evidence)
    return warn(evidence, remedy("browser-not-installed"))


def check_settings(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that config.toml is TOML and that every value is valid."""
    path = runtime.paths.config_file
    try:
        read_toml(path)
    except SettingsError as problem:
        text = tr(problem.message, **problem.values)
        yield fail(clean(text, 500, entities=False), remedy("config-not-toml"))
        return
    problems = list(settings.problems())
    for text in problems:
        yield warn(clean(text, 500, entities=False), remedy("config-invalid-value"))
    if not problems:
        yield ok(path if os.path.exists(path) else tr("{path} does not exist; defaults apply", path=path))


CHECKS = (
    Check("install.version", "Versions are supported", "Python is too old", check_version),
    Check("install.extras", "Optional parts are installed as needed", "An optional part is missing", check_extras),
    Check("install.settings", "Settings are valid", "Settings are not valid", check_settings),
    Check("install.database", "Database is readable and intact", "Database cannot be used", check_database),
    Check("install.modes", "Files are private", "Files are not private", check_modes),
    Check("install.cache", "Cache works", "Cache has a problem", check_cache),
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
        settings = Settings(os.devnull, runtime.environ)
    for check in CHECKS:
        if check.id != "cache.shared" or settings[CACHE_URL]:
            yield from _run(check, runtime, settings)


def _run(check: Check, runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    try:
        yield from check.run(runtime, settings)
    except SleuthError as problem:
        message, hint = tr(problem.message, **problem.values), tr(problem.hint, **problem.values)
        yield check.label(fail(clean(message, 500, entities=False), Remedy("", hint)))
    except Exception as problem:
        from sleuth.base.logs import log

        log("doctor: %s: %r", check.id, problem)
        yield check.label(skipped(tr("internal error ({kind}); see the log", kind=type(problem).__name__)))
