"""Who may be asked: rows of the table with their adapters, keys and addresses, and why some are passed over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from sleuth.base.errors import RequestError, SleuthError, UnknownProviderError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.engine.outcome import Attempt
from sleuth.store import keys
from sleuth.store.health import Health
from sleuth.store.provider_table import ProviderRow, ProviderSeed, ProviderTable, number_option
from sleuth.store.settings import (
    CONNECT_TIMEOUT,
    DEFAULT_PROVIDER,
    FALLBACK,
    RETRIES,
    SEARXNG_TIMEOUT,
    TIMEOUT,
    Settings,
)
from sleuth_providers import registry
from sleuth_providers.base import Account, Provider
from sleuth_providers.errors import KeyMissingError, ProviderError
from sleuth_providers.net.policy import BROWSER_USER_AGENT, Policy
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BODY = 5_000_000  # bytes; page texts of fifty results are less


class Candidate(Record):
    """A provider that could be asked, as the table and its adapter describe it."""

    row: ProviderRow
    adapter: Provider

    @property
    def id(self) -> str:
        """Return the id of the row."""
        return self.row.id


class ProviderSelector:
    """Turns ids into candidates, and candidates into accounts with a key and an address."""

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
        self.own = own or {}  # adapters of this home, where another home in the same process has another

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
        except registry.PluginError as problem:
            raise RequestError(
                "the plug-in behind {id!r} is broken ({reason})",
                "update or uninstall its package",
                id=id,
                reason=problem,
            ) from problem
        except KeyError as problem:
            raise RequestError(
                "{id!r} needs the adapter {adapter!r}, which is not installed",
                "install the package it came with, or: sleuth providers remove {id}",
                id=id,
                adapter=row.adapter,
            ) from problem

    def discover(self) -> list[str]:
        """Take the providers of newly installed packages into the table; returns what is wrong with broken ones."""
        problems = []
        for name in registry.plugins():
            try:
                adapter = registry.load(name)
                self.table.take_in(ProviderSeed(adapter.id, adapter.name, adapter.type))
            except registry.PluginError as problem:
                problems.append(tr("the plug-in {name!r} is broken ({reason})", name=name, reason=problem))
        return problems

    def named(self, ids: tuple[str, ...]) -> list[Candidate]:
        """Return the providers a user named; `all` means everyone who is ready."""
        if "all" in ids:
            every = [self.candidate(row.id) for row in self.table.all() if row.enabled]
            return [candidate for candidate in every if self.obstacle(candidate) is None]
        return [self.candidate(id) for id in dict.fromkeys(ids)]

    def chain(self, first: str | None = None) -> list[Candidate]:
        """Return who is asked in turn: the one given or the default, then those of the fallbacks that exist."""
        default = first or self.table.default() or self.settings[DEFAULT_PROVIDER]
        ids = [default] if default != "auto" else []
        known = {row.id for row in self.table.all()}
        if ids:
            self.table.get(ids[0])
        ids += [id for id in self.settings[FALLBACK] if id in known]
        return [self.candidate(id) for id in dict.fromkeys(ids)]

    def obstacle(self, candidate: Candidate) -> ProviderError | None:
        """Return why a provider cannot be asked as it is set up: no key, no address."""
        if candidate.adapter.needs_key and not keys.origin(candidate.row, candidate.adapter, self.environ):
            return KeyMissingError()
        options = self._options(candidate)
        if lacking := [name for name in candidate.adapter.required_options if not options.get(name)]:
            return KeyMissingError(
                message="{provider} needs the option {option}",
                hint="set it: sleuth providers set {id} --option {option}=…",
                values={"option": lacking[0]},
            )
        if candidate.adapter.needs_host and not self.host(candidate):
            return KeyMissingError(
                message="{provider} needs an address", hint="set it: sleuth providers set {id} --api-host URL"
            )
        return None

    def passed_over(self, candidate: Candidate) -> Attempt | None:
        """Return the record of a provider that a chain does not ask now; None when it may be asked."""
        if not candidate.row.enabled:
            return Attempt(candidate.id, "skipped", message=tr("{provider} is turned off", provider=candidate.row.name))
        if error := self.obstacle(candidate):
            return failed(candidate, error)
        if rest := self.health.resting(candidate.id):
            until = time.strftime("%H:%M", time.localtime(rest.until))
            message = tr(
                "{provider} rests until {until} after trouble ({state})",
                provider=candidate.row.name,
                until=until,
                state=rest.state,
            )
            return Attempt(candidate.id, "cooldown", message=message, code="COOLDOWN")
        return None

    def host(self, candidate: Candidate) -> str:
        """Return the address to ask: the environment's for a built-in row, else the table's, else the adapter's."""
        named = candidate.adapter.host_env if candidate.id == candidate.row.adapter else ()
        found = next((self.environ[name] for name in named if self.environ.get(name)), "")
        return found or candidate.row.api_host or candidate.adapter.host

    def accounts(self, candidate: Candidate, *, any_key: bool = False) -> list[Account]:
        """Return an account a key, taking turns and leaving out those that rest; one without where none is needed."""
        row, adapter = candidate
        found = ["replayed"] if any_key else keys.find_keys(row, adapter, self.environ)
        if adapter.needs_key and not found:
            raise KeyMissingError()
        rested = [key for key in found if not self.health.resting(keys.fingerprint(row.id, key))] or found
        turn = self.health.turn(row.id) % len(rested) if len(rested) > 1 else 0
        account = Account(
            id=row.id,
            host=self.host(candidate),
            engines=row.engines,
            username=row.basic_auth_username or "",
            password=row.basic_auth_password or "",
            browser=row.using_browser,
            options=self._options(candidate),
        )
        in_turn = rested[turn:] + rested[:turn]
        return [account._replace(key=key) for key in in_turn] or [account]

    def _options(self, candidate: Candidate) -> dict[str, Any]:
        known = candidate.adapter.option_env.items()
        return {name: self.environ[named] for name, named in known if named in self.environ} | candidate.row.options

    def policy(self, candidate: Candidate, timeout: float | None) -> Policy:
        """Return how patient to be with a provider."""
        usual = self.settings[SEARXNG_TIMEOUT if candidate.row.adapter == "searxng" else TIMEOUT]
        limit = timeout or number_option(candidate.row.options, "timeout") or usual
        return Policy(
            timeout=limit,
            connect_timeout=min(limit, self.settings[CONNECT_TIMEOUT]),
            attempts=self.settings[RETRIES],
            max_body=MAX_BODY,
            user_agent=BROWSER_USER_AGENT if candidate.adapter.scraped else self.agent,
        )


def failed(candidate: Candidate, error: ProviderError | SleuthError, elapsed_ms: int = 0) -> Attempt:
    """Return the record of a failure, in words for the user."""
    message, hint = describe(error, candidate.row.name, candidate.id)
    state = error.state if isinstance(error, ProviderError) else "bad_response"
    if state in ("unreachable", "timeout") and candidate.adapter.trouble_hint:
        hint = tr(candidate.adapter.trouble_hint, id=candidate.id)
    message, hint = clean(message, 2000, entities=False), clean(hint, 1000, entities=False)
    return Attempt(
        candidate.id, state, elapsed_ms=elapsed_ms, message=message, hint=hint, code=error.code, status=error.status
    )


def describe(error: ProviderError | SleuthError, provider: str, id: str) -> tuple[str, str]:
    """Return what happened and what to do, in the user's language."""
    values = {"provider": provider, "id": id} | error.values
    message, hint = tr(error.message, **values), tr(error.hint, **values)
    detail = getattr(error, "detail", "")
    if detail:
        message = tr("{message} ({detail})", message=message, detail=detail)
    if error_wait := getattr(error, "retry_after", None):
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + error_wait))
        message = tr("{message}; it may be asked again at {until}", message=message, until=until)
    return message, hint
