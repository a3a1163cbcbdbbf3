"""Provider selection: rows of the table with their adapters, keys and hosts, and why some are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from sleuth.base import logs
from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError, describe, local_time
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import origins
from sleuth.engine.chain import chain_entries, ordering_needs
from sleuth.engine.outcome import Attempt
from sleuth.store import keys
from sleuth.store import settings as setting
from sleuth.store.health import Health
from sleuth.store.provider_fields import number_option
from sleuth.store.provider_table import PUBLIC_ONLY, ProviderRow, ProviderTable
from sleuth.store.settings import Settings
from sleuth_providers import registry
from sleuth_providers.base import Account, Provider, Query
from sleuth_providers.errors import KeyInvalidError, KeyMissingError, PrivateAddressError, ProviderError
from sleuth_providers.net.identity import with_contact
from sleuth_providers.net.policy import Policy
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BODY_BYTES = 5_000_000  # fifty results with their page text are smaller
OFFLINE_TIMEOUT_S = 120.0  # without a network, only the first search takes long: it indexes the handbook
LOOPBACK = "://localhost"  # in the default host of a server that users must set up first
# APIs that ask for a contact address; no other provider gets it.
CONTACT_ADAPTERS = ("arxiv", "crossref", "openalex", "openlibrary", "pubmed", "wikimedia")


class Candidate(Record):
    """A row of the provider table with its adapter."""

    row: ProviderRow
    adapter: Provider

    @property
    def id(self) -> str:
        """Return the id of the row."""
        return self.row.id


class ProviderSelector:
    """Turns ids into candidates, and candidates into accounts with key and host."""

    def __init__(
        self,
        settings: Settings,
        table: ProviderTable,
        health: Health,
        environ: Mapping[str, str],
        agent: str,
        own: Mapping[str, Callable[[], Provider]] | None = None,
    ) -> None:
        self.settings, self.table, self.health, self.environ, self.agent = settings, table, health, environ, agent
        self.own = own or {}  # adapters of this SLEUTH_HOME; another one in the same process has others

    def candidate(self, id: str) -> Candidate:
        """Return one provider by its id."""
        try:
            row = self.table.get(id)
        except UnknownProviderError:
            self.discover()
            row = self.table.get(id)
        try:
            own = self.own.get(row.adapter)
            return Candidate(row, own() if own else registry.load(row.adapter))
        except (registry.PluginError, KeyError) as problem:
            reason = problem if isinstance(problem, registry.PluginError) else tr("not installed")
            raise RequestError(
                "cannot load the adapter {adapter!r} of {id!r} ({reason})",
                "install its package again, or: sleuth providers remove {id}",
                id=id,
                adapter=row.adapter,
                reason=reason,
            ) from problem

    def loadable(self, rows: Iterable[ProviderRow]) -> Iterator[Candidate]:
        """Yield the providers of rows, except those whose package is not installed."""
        for row in rows:
            with suppress(RequestError):
                yield self.candidate(row.id)

    def discover(self) -> list[str]:
        """Add providers of newly installed packages to the table; returns messages about those that fail to load."""
        problems = []
        for name in registry.plugins():
            try:
                self.table.add_plugin(registry.load(name))
            except registry.PluginError as problem:
                problems.append(tr("the plug-in {name!r} cannot be loaded ({reason})", name=name, reason=problem))
        return problems

    def named(self, ids: tuple[str, ...], category: str = "") -> list[Candidate]:
        """Return the providers with these ids; `all` stands for every usable one of the category but opt-in ones.

        `a+b` are two providers of the same weight.
        """
        if "auto" in ids:
            other = next(id for id in ids if id != "auto")
            raise RequestError("{one} and {other} cannot be combined", "use only one of them", one="auto", other=other)
        named = (self.candidate(part) for id in ids if id != "all" for part in id.split("+"))
        candidates = list({candidate.id: candidate for candidate in named}.values())
        for candidate in candidates:
            if not candidate.row.enabled:
                raise RequestError("{id} is disabled", "enable it: sleuth providers set {id} --enable", id=candidate.id)
        known = {candidate.id for candidate in candidates}
        others = [row for row in self.table.all() if row.enabled and row.id not in known] if "all" in ids else []
        usual = [one for one in self.loadable(others) if not one.adapter.opt_in]
        fitting = [one for one in usual if not category or category in one.adapter.categories]
        return candidates + [one for one in fitting if self.is_set_up(one) and not self.obstacle(one)]

    def chain(self) -> list[Candidate]:
        """Return the providers that a search of the web without -p may use, in order."""
        known = any(row.id == self.default() for row in self.table.all())
        groups = self.groups(Query(""), self.default() if known else "", library=True)
        return [candidate for group in groups for candidate in group]

    def default(self) -> str:
        """Return the id of the default provider; empty for `auto`."""
        id = self.settings[setting.DEFAULT_PROVIDER]
        with suppress(UnknownProviderError):
            return "" if id == "auto" else self.table.get(id).id  # the setting may have other capitals
        return id

    def groups(
        self, query: Query, first: str, *, library: bool, tried: Iterable[str] = ()
    ) -> Iterator[list[Candidate]]:
        """Yield the providers of the chain: the first, then the others but those tried, in groups to search together.

        Adapters are loaded one group at a time, because most searches need only one. With `library`, the chain may
        include the library.
        """
        if first:
            yield [self._first(first)]
        entries, written = chain_entries(self.settings, query)
        known = {row.id.lower() for row in self.table.all()} - {id.lower() for id in (first, *tried)}
        members = (_ids(entry) for entry in dict.fromkeys(entries))
        loaded = ([self.candidate(id) for id in ids if id.lower() in known] for ids in members)
        groups = filter(None, ([one for one in group if self._joins(one, written, library)] for group in loaded))
        if not written and (needs := ordering_needs(query, Provider())):
            yield from sorted(groups, key=lambda group: self._rank(group, query, needs))
        else:
            yield from groups

    def _rank(self, group: list[Candidate], query: Query, needs: set[str]) -> tuple[bool, bool]:
        """Return a key that puts the user's own server and providers with all options first, and no web search last."""
        lacking = all(self.is_third_party(one) and needs & ordering_needs(query, one.adapter) for one in group)
        return any(one.adapter.offline or one.adapter.caveat for one in group), lacking

    def _first(self, id: str) -> Candidate:
        try:
            return self.candidate(id)
        except UnknownProviderError as problem:  # an error, because no other provider may see the query instead
            hint = "set it: sleuth providers use ID"
            raise UnknownProviderError("websearch.default_provider: unknown provider {id!r}", hint, id=id) from problem

    def unknown(self, query: Query) -> list[str]:
        """Return the ids in the chain of the user that no provider has."""
        entries, written = chain_entries(self.settings, query)
        known = {row.id.lower() for row in self.table.all()} if written else set()
        return [id for entry in entries if written for id in _ids(entry) if id.lower() not in known]

    def _joins(self, candidate: Candidate, written: bool, library: bool) -> bool:
        """Tell whether a provider takes part in a chain: always in one that the user wrote, else if it is ready."""
        if candidate.adapter.offline or written:
            return library or not candidate.adapter.offline
        if not candidate.row.enabled or not self.is_set_up(candidate):
            return False
        if self.obstacle(candidate):
            return bool(candidate.row.api_key)  # the user expects it to answer, so the search says why it did not
        allowed = self.settings[setting.KEYLESS] or LOOPBACK in candidate.adapter.host or self.is_own(candidate)
        return bool(allowed or keys.origin(candidate.row, candidate.adapter, self.environ))

    def is_set_up(self, candidate: Candidate) -> bool:
        """Tell whether a provider that is expected on this machine was set up here, or has ever answered."""
        is_here = LOOPBACK in candidate.adapter.host
        return not is_here or self.is_own(candidate) or self.health.has_answered(candidate.id)

    def is_third_party(self, candidate: Candidate) -> bool:
        """Tell whether queries to a provider leave for a host that the user did not set."""
        return not candidate.adapter.offline and self.host(candidate) == candidate.adapter.host

    def is_own(self, candidate: Candidate) -> bool:
        """Tell whether the user set up this provider: its host, or anything else in its row."""
        row = candidate.row
        changed = row.engines or row.options or row.basic_auth_username or not row.built_in
        return bool(changed or self.host(candidate) != candidate.adapter.host)

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

    def skipped(self, candidate: Candidate) -> Attempt | None:
        """Return the attempt of a provider that a chain must skip now; None when it is usable."""
        if not candidate.row.enabled:
            message = tr("{provider} is disabled", provider=candidate.row.name)
            hint = tr("enable it: sleuth providers set {id} --enable", id=candidate.id)
            return Attempt(candidate.id, "skipped", message=message, hint=hint, code="DISABLED")
        if error := self.obstacle(candidate):
            return failed(candidate, error)
        if cooldown := self.health.cooldown(candidate.id):
            message = tr(
                "{provider} is skipped until {until} after a failure ({state}); retry now: sleuth providers test {id}",
                provider=candidate.row.name,
                until=local_time(cooldown.until),
                state=cooldown.state,
                id=candidate.id,
            )
            hint = tr(candidate.adapter.trouble_hint) if candidate.adapter.trouble_hint else ""
            attempt = Attempt(candidate.id, "cooldown", message=message, hint=hint, code="COOLDOWN")
            is_key_rejected = cooldown.state == KeyInvalidError.state  # waiting does not help
            return attempt._replace(code=KeyInvalidError.code) if is_key_rejected else attempt
        return None

    def host(self, candidate: Candidate) -> str:
        """Return the host: from the environment for a built-in row, else from the table, else from the adapter."""
        named = candidate.adapter.host_env if candidate.id == candidate.row.adapter else ()
        found = next((self.environ[name] for name in named if self.environ.get(name)), "")
        return found or candidate.row.api_host or candidate.adapter.host

    def accounts(self, candidate: Candidate, *, any_key: bool = False) -> list[Account]:
        """Return one account per key, rotated, without keys in cooldown; one without a key if none is needed."""
        row, adapter = candidate
        is_key_host = self._is_key_host(candidate)
        stored = keys.find_keys(row, adapter, self.environ) if not any_key and is_key_host else []
        found = ["replayed"] if any_key else stored
        if not found and (adapter.needs_key or (row.api_key and is_key_host)):
            source = keys.source_name(keys.origin(row, adapter, self.environ) or "")
            message = "the API key of {provider} comes from {source}, which returned nothing"
            raise self.obstacle(candidate) or KeyMissingError(message=message, source=source)
        usable = [key for key in found if not self.health.cooldown(keys.fingerprint(row.id, key))] or found
        first = self.health.request_count(row.id) % len(usable) if len(usable) > 1 else 0
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
        return [each._replace(host=host) for host in self._hosts(candidate) for each in with_keys]

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


def _ids(entry: str) -> list[str]:
    """Return the ids of an entry of a chain."""
    return [id.strip() for id in entry.split("+")]


def _check_public(host: str, addresses: list[str]) -> None:
    """Refuse a private address to a host that was set over HTTP."""
    from sleuth_providers.net.guard import is_public

    if not addresses or not all(map(is_public, addresses)):
        raise PrivateAddressError(
            message="{provider} is at a private address, which cannot be set over HTTP",
            hint="set it on this machine: sleuth providers set {id} --api-host URL",
        )


def failed(candidate: Candidate, error: ProviderError | SleuthError, elapsed_ms: int = 0) -> Attempt:
    """Return the attempt that records a failure, with message and hint for the user."""
    message, hint = describe(error, provider=candidate.row.name, id=candidate.id)
    state = error.state if isinstance(error, ProviderError) else "bad_response"
    if state in ("unreachable", "timeout") and candidate.adapter.trouble_hint and error.hint == type(error).hint:
        hint = tr(candidate.adapter.trouble_hint, id=candidate.id)
    message, hint = clean(message, 2000, entities=False), clean(hint, 1000, entities=False)
    return Attempt(
        candidate.id, state, elapsed_ms=elapsed_ms, message=message, hint=hint, code=error.code, status=error.status
    )
