"""The published JSON form of a provider, which its list and its details show too."""

from itertools import chain
from typing import TYPE_CHECKING, Any

from sleuth.base.json_output import record_as_json
from sleuth.base.text import mask
from sleuth.base.urls import mask_login
from sleuth.store import keys
from sleuth.store.provider_table import ProviderRow

if TYPE_CHECKING:
    from sleuth.engine.selector import Candidate, ProviderSelector


def places(selector: "ProviderSelector") -> dict[str, int]:
    """Return the place of each provider in the fallback chain."""
    return {candidate.id: place for place, candidate in enumerate(selector.chain(), 1)}


def provider_as_json(
    selector: "ProviderSelector", candidate: "Candidate", chain_places: dict[str, int], *, full: bool = False
) -> dict[str, Any]:
    """Return the published JSON form of a provider, with masked keys."""
    row, adapter = candidate
    obstacle, skipped = selector.obstacle(candidate), selector.skipped(candidate)
    facts: dict[str, Any] = {
        **record_as_json(row, "id", "name", "type"),
        "usable": skipped is None,
        "why": skipped.message if skipped else None,
        "hint": (skipped.hint or None) if skipped else None,
        "needs": "key" if obstacle and (adapter.needs_key or row.api_key) else "host" if obstacle else None,
        "keySource": keys.origin(row, adapter, selector.environ),
        "keyPage": adapter.key_page or None,
        "isDefault": row.id == selector.default(),
        "chain": chain_places.get(row.id),
        "setUp": selector.is_set_up(candidate),
        "enabled": row.enabled,
    }
    if full:
        facts |= {
            "adapter": row.adapter,
            "kind": adapter.kind,
            "apiKey": _masked_key(row),
            "apiHost": mask_login(selector.host(candidate)) or None,
            "engines": list(row.engines) or None,
            **record_as_json(row, "using_browser", "basic_auth_username"),
            "basicAuthPassword": mask(row.basic_auth_password),
            "options": row.options,
            "understands": dict(adapter.options),
            "supports": sorted(adapter.supports),
            "categories": list(adapter.categories),
            **record_as_json(adapter, "max_results", "max_query"),
            "perMinute": adapter.per_minute or None,
            "perDay": adapter.per_day or None,
            **record_as_json(adapter, "price", "homepage"),
            "environment": [*adapter.env, *adapter.host_env, *chain(*adapter.option_env.values())],
            **record_as_json(adapter, "opt_in", "attribution", "notes"),
            **record_as_json(row, "created_at", "updated_at"),
        }
    return facts


def _masked_key(row: ProviderRow) -> str | None:
    """Return the stored key masked; env: and keyring: are not secret, a command may contain one."""
    stored = row.api_key or ""
    if stored.startswith(("env:", "keyring:")):
        return stored
    if stored.startswith("cmd:"):
        return "cmd:…"
    return ", ".join(mask(key.strip()) or "" for key in stored.split(",")) or None
