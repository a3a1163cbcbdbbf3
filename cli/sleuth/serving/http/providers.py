"""The provider table over HTTP: rows as their published form, and changes as they are sent."""

from typing import Any

from sleuth.base import logs
from sleuth.base.errors import RequestError
from sleuth.base.text import clean, mask
from sleuth.base.urls import mask_login
from sleuth.engine.trial import test_providers
from sleuth.runtime import Runtime
from sleuth.store.provider_table import ProviderRow

COLUMNS = {
    "name": "name",
    "type": "type",
    "apiKey": "api_key",
    "apiHost": "api_host",
    "engines": "engines",
    "usingBrowser": "using_browser",
    "basicAuthUsername": "basic_auth_username",
    "basicAuthPassword": "basic_auth_password",
}
MASK = "…"  # stands in every mask, and in no key


def as_json(row: ProviderRow) -> dict[str, Any]:
    """Return the published form of a row; secrets are masked."""
    return {
        "id": row.id,
        "name": row.name,
        "type": row.type,
        "apiKey": masked_key(row.api_key),
        "apiHost": mask_login(row.api_host) if row.api_host else None,
        "engines": list(row.engines) or None,
        "usingBrowser": row.using_browser,
        "basicAuthUsername": row.basic_auth_username,
        "basicAuthPassword": mask(row.basic_auth_password),
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def masked_key(stored: str | None) -> str | None:
    """Return a key as it may be shown; env: and keyring: name no secret, a command may contain one."""
    return stored if stored and stored.startswith(("env:", "keyring:")) else mask(stored)


def list_providers(runtime: Runtime, page: int, limit: int) -> dict[str, Any]:
    """Return one page of the table."""
    rows = runtime.selector.table.all()
    shown = rows[(page - 1) * limit : page * limit]
    return {"items": [as_json(row) for row in shown], "total": len(rows), "page": page, "limit": limit}


def show_provider(runtime: Runtime, id: str) -> dict[str, Any]:
    """Return one row."""
    return as_json(runtime.selector.table.get(id))


def change_provider(runtime: Runtime, id: str, patch: dict[str, Any]) -> dict[str, Any]:
    """Change what was sent, all of it or nothing, and return the whole row."""
    row = runtime.table.get(id)
    shown = as_json(row)
    changes: dict[str, Any] = {}
    for field, value in patch.items():
        if field in ("apiKey", "basicAuthPassword", "apiHost") and value is not None and value == shown[field]:
            continue  # the client sent back what it was shown
        if field in ("apiKey", "basicAuthPassword") and value is not None:
            logs.hide(*value.split(","), value)
            _check_secret(field, value)
        changes[COLUMNS[field]] = _stored(field, value)
    changed = runtime.table.update(id, changes)
    runtime.selector.health.forget(id)
    return as_json(changed)


def _stored(field: str, value: Any) -> Any:
    """Return a value as the table keeps it; names that will be seen on a terminal are cleaned."""
    if field == "usingBrowser":
        return bool(value)
    if field == "name":
        return clean(value, entities=False)
    if field == "engines":
        return [clean(name, entities=False) for name in value or ()] or None
    return value


def _check_secret(field: str, value: str) -> None:
    if MASK in value:
        raise RequestError(
            "{field} is masked, and not the mask of what is there", "send the whole of it, or leave it out", field=field
        )
    if field == "apiKey" and value.startswith(("cmd:", "env:", "keyring:")):
        raise RequestError(
            "where a key comes from is not set over HTTP: it could run commands, or read other secrets",
            "set it at the machine: sleuth providers set ID --api-key …",
        )


def test_provider(runtime: Runtime, id: str) -> dict[str, Any]:
    """Make one real request and tell how it went."""
    candidate = runtime.selector.candidate(id)
    verdict = next(test_providers(runtime.selector, [candidate], None))
    return {"success": verdict.success, "message": verdict.message, "latencyMs": verdict.latency_ms}
