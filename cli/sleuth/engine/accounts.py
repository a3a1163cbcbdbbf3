"""The accounts of providers: host, key and options of each, what is missing, and the policy of its requests."""

from __future__ import annotations

from collections.abc import Mapping

from sleuth.base import logs
from sleuth.base.urls import origins
from sleuth.store import keys
from sleuth.store import settings as setting
from sleuth.store.health import Cooldown, Health
from sleuth.store.provider_fields import number_option
from sleuth.store.provider_table import PUBLIC_ONLY
from sleuth.store.settings import Settings
from sleuth_providers.base import Account
from sleuth_providers.errors import KeyMissingError, PrivateAddressError, ProviderError
from sleuth_providers.net.identity import with_contact
from sleuth_providers.net.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.engine.selector import Candidate

MAX_BODY_BYTES = 5_000_000  # fifty results with their page text are smaller
OFFLINE_TIMEOUT_S = 120.0  # without a network, only the first search takes long: it indexes the handbook
# APIs that ask for a contact address; no other provider gets it.
CONTACT_ADAPTERS = ("arxiv", "crossref", "openalex", "openlibrary", "pubmed", "wikimedia")


class ProviderAccounts:
    """Turns candidates into accounts."""

    def __init__(self, settings: Settings, health: Health, environ: Mapping[str, str], agent: str) -> None:
        self.settings, self.health, self.environ, self.agent = settings, health, environ, agent

    def is_third_party(self, candidate: Candidate) -> bool:
        """Tell whether queries to a provider leave for a host that the user did not set."""
        return not candidate.adapter.offline and self.host(candidate) == candidate.adapter.host

    def is_own(self, candidate: Candidate) -> bool:
        """Tell whether the user set up this provider: its host, its key, or anything else in its row."""
        row, adapter = candidate
        changed = row.engines or row.options or row.basic_auth_username or not row.built_in
        return bool(changed or self.host(candidate) != adapter.host or keys.origin(row, adapter, self.environ))

    def obstacle(self, candidate: Candidate) -> ProviderError | None:
        """Return what is missing in the set-up of a provider: key, option or host."""
        unset = (candidate.row.api_key or "").removeprefix("env:")
        if (candidate.adapter.needs_key or unset) and not keys.origin(candidate.row, candidate.adapter, self.environ):
            message = "the API key of {provider} comes from {variable}, which is not set"
            return KeyMissingError(message=message, variable=unset) if unset else KeyMissingError()
        if candidate.adapter.needs_key and not self._is_key_host(candidate):
            return KeyMissingError(
                message="the API key of {provider} was set for another host",
                hint="set it for this one: sleuth providers set {id} --api-key -",
            )
        if lacking := [name for name in candidate.adapter.required_options if not self._options(candidate).get(name)]:
            hint = "set it: sleuth providers set {id} --option {option}=…"
            return KeyMissingError(message="{provider} needs the option {option}", hint=hint, option=lacking[0])
        if candidate.adapter.needs_host and not self.host(candidate):
            hint = "set it: sleuth providers set {id} --api-host URL"
            return KeyMissingError(message="{provider} needs a host", hint=hint)
        return None

    def cooldown(self, candidate: Candidate) -> Cooldown | None:
        """Return the cooldown of a provider at its present host."""
        return self.health.cooldown(self.cooldown_name(candidate))

    def cooldown_name(self, candidate: Candidate) -> str:
        """Return the name of the cooldown of a provider; one of another host has another name."""
        host = self.host(candidate)
        return candidate.id if host == candidate.adapter.host else keys.fingerprint(candidate.id, host)

    def host(self, candidate: Candidate) -> str:
        """Return the host: from the environment for a built-in row, else from the table, else from the adapter."""
        named = candidate.adapter.host_env if candidate.id == candidate.row.adapter else ()
        found = next((self.environ[name] for name in named if self.environ.get(name)), "")
        return found or candidate.row.api_host or candidate.adapter.host

    def accounts(self, candidate: Candidate, *, any_key: bool = False, unlogged: int = 0) -> list[Account]:
        """Return one account per key, rotated, without keys in cooldown; one without a key if none is needed.

        Keys take turns by the number of requests; `unlogged` are those that the log does not have yet.
        """
        row, adapter = candidate
        is_key_host = self._is_key_host(candidate)
        stored = keys.find_keys(row, adapter, self.environ) if not any_key and is_key_host else []
        found = ["replayed"] if any_key else stored
        if not found and (adapter.needs_key or (row.api_key and is_key_host)):
            source = keys.source_name(keys.origin(row, adapter, self.environ) or "")
            message = "the API key of {provider} comes from {source}, which returned nothing"
            raise self.obstacle(candidate) or KeyMissingError(message=message, source=source)
        usable = [key for key in found if not self.health.cooldown(keys.fingerprint(row.id, key))] or found
        first = (self.health.request_count(row.id) + unlogged) % len(usable) if len(usable) > 1 else 0
        host = self.host(candidate)
        # A login belongs to the host in the table; set without one, to the host that is in use.
        has_login = not row.api_host or origins(host) <= origins(row.api_host)
        account = Account(
            id=row.id,
            host=host,
            engines=row.engines,
            username=(row.basic_auth_username or "") if has_login else "",
            password=(row.basic_auth_password or "") if has_login else "",
            browser=row.using_browser and not any_key,  # a recording has no browser
            options=self._options(candidate),
            contact=self._contact(candidate),
        )
        with_keys = [account._replace(key=key) for key in usable[first:] + usable[:first]] or [account]
        made = [each._replace(host=host) for host in self._hosts(candidate) for each in with_keys]
        logs.hide(*(secret for each in made for secret in each.secrets))
        return made

    def _hosts(self, candidate: Candidate) -> list[str]:
        """Return the addresses of a provider in order, those that failed recently last."""
        host = self.host(candidate)
        if not candidate.adapter.several_hosts or "," not in host:
            return [host]
        hosts = [part.strip() for part in host.split(",") if part.strip()]
        return sorted(hosts, key=lambda each: bool(self.health.cooldown(keys.fingerprint(candidate.id, each))))

    def _contact(self, candidate: Candidate) -> str:
        return self.settings[setting.CONTACT] if candidate.row.adapter in CONTACT_ADAPTERS else ""

    def _is_key_host(self, candidate: Candidate) -> bool:
        """Tell whether the host is the one that the key was set for.

        A key in the table belongs to the host in the table. One in the environment belongs to the provider's own host,
        or to the host in the environment.
        """
        row, adapter, host = *candidate, self.host(candidate)
        if row.api_key:
            return origins(host) <= origins(row.api_host or adapter.host)
        return host != row.api_host or not adapter.host or origins(host) <= origins(adapter.host)

    def _options(self, candidate: Candidate) -> dict[str, Any]:
        known = candidate.adapter.option_env.items()
        found = {name: self.environ[env] for name, names in known for env in reversed(names) if env in self.environ}
        return found | candidate.row.options

    def policy(self, candidate: Candidate, timeout: float | None) -> Policy:
        """Return timeouts, retries and user agent for a provider."""
        row = candidate.row
        usual = self.settings[setting.SEARXNG_TIMEOUT if row.adapter == "searxng" else setting.TIMEOUT]
        limit = timeout or number_option(row.options, "timeout") or usual
        limit = max(limit, OFFLINE_TIMEOUT_S) if candidate.adapter.offline else limit
        return Policy(
            timeout=limit,
            connect_timeout=min(limit, self.settings[setting.CONNECT_TIMEOUT]),
            attempts=self.settings[setting.RETRIES],
            max_body=MAX_BODY_BYTES,
            user_agent=with_contact(self.agent, self._contact(candidate)),
            browser=candidate.adapter.kind == "page",
            impersonate=self.settings[setting.IMPERSONATE],
            guard=_check_public if row.options.get(PUBLIC_ONLY) and self.host(candidate) == row.api_host else None,
            trace=logs.debug,
        )


def _check_public(host: str, addresses: list[str]) -> None:
    """Refuse a private address to a host that was set over HTTP."""
    from sleuth_providers.net.guard import check

    try:
        check(host, addresses)
    except PrivateAddressError:
        raise PrivateAddressError(
            message="{provider} is at a private address, which cannot be set over HTTP",
            hint="set it on this machine: sleuth providers set {id} --api-host URL",
        ) from None
