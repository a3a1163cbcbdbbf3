"""Provider selection: rows of the table with their adapters, the chain, and why some providers are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError, describe, local_time
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.engine.accounts import ProviderAccounts
from sleuth.engine.chain import chain_entries, ordering_needs
from sleuth.engine.outcome import Attempt
from sleuth.store import settings as setting
from sleuth.store.health import Health
from sleuth.store.provider_table import ProviderRow, ProviderTable
from sleuth.store.settings import Settings
from sleuth_providers import registry
from sleuth_providers.base import Provider, Query
from sleuth_providers.errors import KeyInvalidError, ProviderError
from sleuth_providers.records import Record

LOOPBACK = "://localhost"  # in the default host of a server that users must set up first


class Candidate(Record):
    """A row of the provider table with its adapter."""

    row: ProviderRow
    adapter: Provider

    @property
    def id(self) -> str:
        """Return the id of the row."""
        return self.row.id


class ProviderSelector(ProviderAccounts):
    """Turns ids into candidates, and says which of them a search may use."""

    def __init__(
        self,
        settings: Settings,
        table: ProviderTable,
        health: Health,
        environ: Mapping[str, str],
        agent: str,
        own: Mapping[str, Callable[[], Provider]] | None = None,
    ) -> None:
        super().__init__(settings, health, environ, agent)
        self.table = table
        self.unloadable: dict[str, str] = {}  # why members of a chain are left out, by id
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
            message = "cannot load the adapter {adapter!r} of {id!r} ({reason})"
            hint = "install its package again, or: sleuth providers remove {id}"
            raise RequestError(message, hint, id=id, adapter=row.adapter, reason=reason) from problem

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
        """Return the providers with these ids; `all` means every usable provider of the category that is not opt-in.

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
        usual = [one for one in self.loadable(others) if not one.adapter.opt_in and self._is_allowed(one)]
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
            return "" if id.lower() == "auto" else self.table.get(id).id  # the setting may have other capitals
        return id

    def groups(
        self, query: Query, first: str, *, library: bool, tried: Iterable[str] = ()
    ) -> Iterator[list[Candidate]]:
        """Yield the chain in groups to search together: `first`, then the others except those in `tried`.

        Adapters are loaded one group at a time, because most searches need only one. With `library`, the chain may
        include the library.
        """
        if first:
            yield [self._first(first)]
        entries, written = chain_entries(self.settings, query)
        if any(id.lower() == name.lower() for id in self.unknown(query) for name in registry.plugins()):
            self.discover()
        known = {row.id.lower() for row in self.table.all()} - {id.lower() for id in (first, *tried)}
        members = (_ids(entry) for entry in dict.fromkeys(entries))
        loaded = (self._members(id for id in ids if id.lower() in known) for ids in members)
        groups = filter(None, ([one for one in group if self._joins(one, written, library)] for group in loaded))
        if not written and (needs := ordering_needs(query, Provider())):
            yield from sorted(groups, key=lambda group: self._rank(group, query, needs))
        else:
            yield from groups

    def _members(self, ids: Iterable[str]) -> Iterator[Candidate]:
        for id in ids:
            try:
                yield self.candidate(id)
            except RequestError as problem:  # its package is not installed any more
                self.unloadable[id] = tr(problem.message, **problem.values)

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
        ids = dict.fromkeys(id for entry in entries if written for id in _ids(entry))
        return [id for id in ids if id.lower() not in known]

    def _joins(self, candidate: Candidate, written: bool, library: bool) -> bool:
        """Tell whether a provider takes part in a chain: always in one that the user wrote, else if it is ready."""
        if candidate.adapter.offline or written:
            return library or not candidate.adapter.offline
        if not candidate.row.enabled or not self.is_set_up(candidate):
            return False
        if self.obstacle(candidate):
            return bool(candidate.row.api_key)  # the user expects it to answer, so the search says why it did not
        is_chosen = LOOPBACK in candidate.adapter.host or self.is_own(candidate)
        return is_chosen or (self.settings[setting.KEYLESS] and self._is_allowed(candidate))

    def _is_allowed(self, candidate: Candidate) -> bool:
        """Tell whether a provider that was not named may be used: the user may have disabled it in a lost table.

        Without a default provider, the user has most likely never changed the table.
        """
        is_known = not self.table.is_lost or self.default() in ("", candidate.id)
        return is_known or candidate.adapter.offline or self.is_own(candidate)

    def is_set_up(self, candidate: Candidate) -> bool:
        """Tell whether a provider that is expected on this machine was set up here, or has ever answered."""
        is_here = LOOPBACK in candidate.adapter.host
        return not is_here or self.is_own(candidate) or self.health.has_answered(candidate.id)

    def skipped(self, candidate: Candidate) -> Attempt | None:
        """Return the attempt of a provider that a chain must skip now; None when it is usable."""
        if not candidate.row.enabled:
            message = tr("{provider} is disabled", provider=candidate.row.name)
            hint = tr("enable it: sleuth providers set {id} --enable", id=candidate.id)
            return Attempt(candidate.id, "skipped", message=message, hint=hint, code="DISABLED")
        if error := self.obstacle(candidate):
            return failed(candidate, error)
        if cooldown := self.cooldown(candidate):
            text = (
                "{provider} is skipped until {until} after a failure ({state}); retry now: sleuth providers test {id}"
            )
            names = {"provider": candidate.row.name, "id": candidate.id}
            message = tr(text, until=local_time(cooldown.until), state=cooldown.state, **names)
            hint = tr(candidate.adapter.trouble_hint) if candidate.adapter.trouble_hint else ""
            attempt = Attempt(candidate.id, "cooldown", message=message, hint=hint, code="COOLDOWN")
            is_key_rejected = cooldown.state == KeyInvalidError.state  # waiting does not help
            return attempt._replace(code=KeyInvalidError.code) if is_key_rejected else attempt
        return None


def _ids(entry: str) -> list[str]:
    """Return the ids of an entry of a chain."""
    return [id.strip() for id in entry.split("+")]


def failed(candidate: Candidate, error: ProviderError | SleuthError, elapsed_ms: int = 0) -> Attempt:
    """Return the attempt that records a failure, with message and hint for the user."""
    message, hint = describe(error, provider=candidate.row.name, id=candidate.id)
    state = error.state if isinstance(error, ProviderError) else "bad_response"
    if state in ("unreachable", "timeout") and candidate.adapter.trouble_hint and error.hint == type(error).hint:
        hint = tr(candidate.adapter.trouble_hint, id=candidate.id)
    message, hint = clean(message, 2000, entities=False), clean(hint, 1000, entities=False)
    return Attempt(candidate.id, state, 0, elapsed_ms, message=message, hint=hint, code=error.code, status=error.status)
