"""This installation: settings, database, cache, keys, network, terminal, model. No check stops another."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sleuth import __version__
from sleuth.base.errors import SettingsError, SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.store.settings import CACHE_URL, FETCH_BROWSER, Settings, read_toml

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

Check = Callable[["Runtime", Settings], Iterator[Finding]]

OLDEST_PYTHON = (3, 11)
EXTRAS = {"browser": "playwright", "keyring": "keyring"}  # what `sleuth[…]` brings → the package it brings
SETTINGS_LINK = "troubleshooting.md#settings-file-is-broken-configtoml-is-not-toml"
VALUES_LINK = "settings.md#bad-values-unknown-keys-and-syntax-errors-in-configtoml"
INSTALL_LINK = "getting-started.md#install-sleuth-with-pip-pipx-or-uv"


def check_installation(runtime: "Runtime") -> Iterator[Finding]:
    """Check everything of sleuth's own and around it."""
    from sleuth.doctor.installation.accounts import check_keys, check_model
    from sleuth.doctor.installation.shared_cache import check_shared
    from sleuth.doctor.installation.stores import check_cache, check_database, check_library, check_modes
    from sleuth.doctor.installation.terminal import check_certificates, check_encoding, check_proxies, check_terminal

    settings = _usable_settings(runtime)
    checks: dict[str, tuple[str, Check]] = {
        "install.version": (tr("sleuth and Python"), check_version),
        "install.extras": (tr("optional parts"), check_extras),
        "install.settings": (tr("the settings of sleuth"), check_settings),
        "install.database": (tr("the database"), check_database),
        "install.modes": (tr("private files"), check_modes),
        "install.cache": (tr("the cache of answers"), check_cache),
        "install.library": (tr("the library and its handbook"), check_library),
        "install.keys": (tr("keys of the providers in use"), check_keys),
        "install.proxies": (tr("proxies"), check_proxies),
        "install.certificates": (tr("certificates"), check_certificates),
        "install.terminal": (tr("the terminal"), check_terminal),
        "install.encoding": (tr("characters"), check_encoding),
        "install.model": (tr("the model"), check_model),
    }
    if settings[CACHE_URL]:
        checks["cache.shared"] = (tr("the server that cache.url names"), check_shared)
    for id, (title, check) in checks.items():
        yield from _guarded(id, title, check, runtime, settings)


def _guarded(id: str, title: str, check: Check, runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Run one check; what goes wrong inside is a finding too. A check leaves id and title to be filled in here."""
    started = time.monotonic()
    try:
        for finding in check(runtime, settings):
            elapsed = round((time.monotonic() - started) * 1000)
            yield finding._replace(id=id, title=title, elapsed_ms=elapsed)
    except Exception as problem:
        from sleuth.base.logs import log

        log("doctor: %s: %r", id, problem)
        yield _broken_check(id, title, problem)


def _broken_check(id: str, title: str, problem: Exception) -> Finding:
    if isinstance(problem, SleuthError):
        message, hint = tr(problem.message, **problem.values), tr(problem.hint, **problem.values)
        return Finding(id, "fail", title, clean(message, 500, entities=False), fix=(clean(hint, 500, entities=False),))
    remark = tr("the check itself went wrong ({kind}); see the log", kind=type(problem).__name__)
    return Finding(id, "skipped", title, remark)


def _usable_settings(runtime: "Runtime") -> Settings:
    """Return the settings, or the defaults where the file cannot be read: other checks need some."""
    try:
        return Settings(runtime.paths.config_file, runtime.environ)
    except SettingsError:
        return Settings(os.devnull, runtime.environ)


def check_version(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Say which sleuth and which Python run."""
    import sqlite3

    python = ".".join(map(str, sys.version_info[:3]))
    seen = tr(
        "sleuth {version}, Python {python}, SQLite {sqlite}, {system}",
        version=__version__,
        python=python,
        sqlite=sqlite3.sqlite_version,
        system=sys.platform,
    )
    if sys.version_info[:2] < OLDEST_PYTHON:  # pip refuses this; a copied folder does not
        wanted = ".".join(map(str, OLDEST_PYTHON))
        cause = tr("sleuth needs Python {wanted} or newer", wanted=wanted)
        yield Finding("", "fail", "", seen, cause, ("pipx install --python python3.13 sleuth",), INSTALL_LINK)
    else:
        yield Finding("", "ok", "", seen)


def check_extras(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Say which optional parts are installed; one that the settings ask for must be."""
    there = {name: find_spec(package) is not None for name, package in EXTRAS.items()}
    seen = ", ".join(
        tr("{name}: installed", name=name) if found else tr("{name}: not installed", name=name)
        for name, found in there.items()
    )
    if settings[FETCH_BROWSER] and not there["browser"]:
        cause = tr("fetch.browser is on, but the part that runs a browser is not installed")
        fix = ("pip install 'sleuth[browser]'", "sleuth config set fetch.browser false")
        yield Finding("", "warn", "", seen, cause, fix, INSTALL_LINK)
    else:
        yield Finding("", "ok", "", seen)


def check_settings(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that the settings file is TOML and every value fits."""
    path = runtime.paths.config_file
    try:
        read_toml(path)
    except SettingsError as problem:
        evidence = clean(tr(problem.message, **problem.values), 500, entities=False)
        cause = tr("nothing of the file is used while it cannot be read")
        yield Finding("", "fail", "", evidence, cause, ("sleuth config edit",), SETTINGS_LINK)
        return
    misfits = list(settings.problems())
    for misfit in misfits:
        cause = tr("the default is used in its place")
        evidence = clean(misfit, 500, entities=False)
        yield Finding("", "warn", "", evidence, cause, ("sleuth config edit", "sleuth config validate"), VALUES_LINK)
    if not misfits:
        seen = path if os.path.exists(path) else tr("{path}: not there, so the defaults hold", path=path)
        yield Finding("", "ok", "", clean(seen, 500, entities=False))
