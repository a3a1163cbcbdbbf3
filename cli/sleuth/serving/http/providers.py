"""The provider table over HTTP."""

from contextlib import suppress

from sleuth.base import logs
from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.text import mask
from sleuth.base.urls import mask_login, origins
from sleuth.engine.trial import run_trials
from sleuth.runtime import Runtime
from sleuth.serving.http.models import ProviderPage, ProviderPatch, ProviderTestResult, ProviderView
from sleuth.store.provider_table import ProviderRow
from sleuth.store.settings import FETCH_PRIVATE
from sleuth_providers.net.connection import numeric_address
from sleuth_providers.net.guard import is_local
from sleuth_providers.net.urls import host_of

SECRETS = ("api_key", "basic_auth_password")
MASK_MARK = "…"  # part of every masked secret, and of no key


def provider_view(runtime: Runtime, row: ProviderRow) -> ProviderView:
    """Return a row with its secrets masked, and the URL that is in use."""
    host = row.api_host
    with suppress(SleuthError):  # the plug-in cannot be loaded
        host = host or runtime.selector.host(runtime.selector.candidate(row.id))
    is_reference = (row.api_key or "").startswith(("env:", "keyring:"))  # to a secret; a cmd: may contain one
    values = {name: getattr(row, name) for name in ProviderView.model_fields} | {
        "api_key": row.api_key if is_reference else mask(row.api_key),
        "api_host": mask_login(host) if host else None,
        "engines": list(row.engines) or None,
        "basic_auth_password": mask(row.basic_auth_password),
    }
    return ProviderView(**values)


def show_provider(runtime: Runtime, id: str) -> ProviderView:
    """Return one provider."""
    return provider_view(runtime, runtime.selector.table.get(id))


def list_providers(runtime: Runtime, page: int, limit: int) -> ProviderPage:
    """Return one page of the table."""
    rows = runtime.selector.table.all()
    shown = rows[(page - 1) * limit : page * limit]
    return ProviderPage(items=[provider_view(runtime, row) for row in shown], total=len(rows), page=page, limit=limit)


def change_provider(runtime: Runtime, id: str, patch: ProviderPatch) -> ProviderView:
    """Write the fields that were sent, all or none, and return the whole provider."""
    shown = provider_view(runtime, runtime.table.get(id))
    changes = patch.model_dump(exclude_unset=True)
    for field in (*SECRETS, "api_host"):
        value = changes.get(field)
        if value is not None and value == getattr(shown, field):
            del changes[field]  # the client sent back the masked value
        elif value is not None and field in SECRETS:
            logs.hide(*value.split(","), value)
            _check_secret(field, value)
    is_same = origins(changes.get("api_host") or "") <= origins(shown.api_host or "")
    public_only = None if is_same else not runtime.settings[FETCH_PRIVATE]
    if public_only and changes.get("api_host"):
        _check_host(changes["api_host"])
    changed = runtime.table.update(shown.id, changes, public_only=public_only)
    runtime.selector.health.forget(shown.id)
    return provider_view(runtime, changed)


def _check_host(hosts: str) -> None:
    """Refuse a host that is private by its name or number; other names are checked when they are connected to."""
    names = [host_of(part.strip()) for part in hosts.split(",")]
    if private := [name for name in names if is_local(numeric_address(name) or name)]:
        hint = "set it on that machine: sleuth providers set ID --api-host URL"
        raise RequestError("{host} is a private address, which cannot be set over HTTP", hint, host=private[0])


def _check_secret(field: str, value: str) -> None:
    if MASK_MARK in value:
        alias = ProviderPatch.model_fields[field].alias
        raise RequestError("{field} is masked", "send the whole value or omit the field", field=alias)
    if field == "api_key" and value.startswith(("cmd:", "env:", "keyring:")):
        raise RequestError(
            "cmd:, env: and keyring: keys cannot be set over HTTP: they run commands or read other secrets",
            "use: sleuth providers set ID --api-key …",
        )


def test_provider(runtime: Runtime, id: str) -> ProviderTestResult:
    """Make one real request to a provider."""
    result = next(run_trials(runtime.selector, [runtime.selector.candidate(id)], None))
    return ProviderTestResult(success=result.success, message=result.message, latency_ms=result.latency_ms)
