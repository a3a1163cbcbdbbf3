"""The provider table: ids, keys, hosts and options of providers."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from sleuth.base.errors import RequestError, UnknownProviderError, UnwritableError
from sleuth.base.files import touch
from sleuth.base.paths import stamp_of
from sleuth.base.text import clean
from sleuth.base.urls import origins
from sleuth.store.database import explain_errors, transaction
from sleuth.store.provider_fields import CLEARABLE, TEXT_FIELDS, check_engines, check_host, checked
from sleuth.store.settings import DEFAULT_PROVIDER, Settings, change
from sleuth.store.toml_file import read_toml, value_at
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth_providers.base import Provider

MAX_NAME_CHARS = 200
PUBLIC_ONLY = "public_only"  # an option of all providers: the host may not be at a private address


class ProviderRow(Record):
    """One provider of the table."""

    id: str
    name: str
    type: str
    api_key: str | None
    api_host: str | None
    engines: tuple[str, ...]
    using_browser: bool
    basic_auth_username: str | None
    basic_auth_password: str | None
    created_at: int
    updated_at: int
    enabled: bool
    options: dict[str, Any]
    adapter: str
    built_in: bool


COLUMNS = ", ".join(ProviderRow._fields)
ROWS = f"SELECT {COLUMNS} FROM websearch_provider"  # noqa: S608 - constants
ALL_ROWS = f"{ROWS} ORDER BY id"
CHECK = f"SELECT {COLUMNS}, is_default FROM websearch_provider ORDER BY id"  # noqa: S608 - constants
# Reads a row of the provider table too, so that a damaged one is found before a search depends on it.
SEEDED = f"SELECT value FROM meta, ({ROWS} LIMIT 1) WHERE meta.name = 'seeded'"  # noqa: S608 - constants
INSERT = (
    "INSERT OR IGNORE INTO websearch_provider (id, name, type, created_at, updated_at, adapter, built_in)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class ProviderTable:
    """Reads and changes the table; every change is one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.connection, self.path = connection, path
        self.is_lost = False  # the rows of the user cannot be read; these are the built-in ones

    def seed(self, mark: str, adapters: Callable[[], Iterable[Provider]]) -> None:
        """Add missing built-in providers, unless that was done already for this `mark`."""
        if [(mark,)] == [tuple(row) for row in self._rows(SEEDED)]:
            return
        self.check()
        new = list(adapters())
        with self._transaction():
            for adapter in new:
                self._insert(adapter.id, adapter.name, adapter.type, adapter.id, built_in=True)
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('seeded', ?)", (mark,))

    def add_plugin(self, adapter: Provider) -> None:
        """Add the provider of an installed package if it is missing."""
        with self._transaction():
            self._insert(adapter.id, adapter.name, adapter.type, adapter.id, built_in=False)

    def move_default(self, settings: Settings) -> None:
        """Move the default provider to the settings, unless they have one: older versions kept it in the table."""
        # `check` has read the table, but not its index, which may be damaged.
        for row in self._rows(f"{ROWS} NOT INDEXED WHERE is_default = 1"):
            if value_at(settings.file, DEFAULT_PROVIDER.key) is None:
                change(settings.path, DEFAULT_PROVIDER.key, _sanitized(row).id)
                settings.file = read_toml(settings.path)
            with suppress(UnwritableError), self._transaction():
                self.connection.execute("UPDATE websearch_provider SET is_default = 0")

    def _insert(self, id: str, name: str, type: str, adapter: str, *, built_in: bool) -> bool:
        """Insert a row; False when the id exists already."""
        now = int(time.time())
        return bool(self.connection.execute(INSERT, (id, name, type, now, now, adapter, built_in)).rowcount)

    def check(self) -> None:
        """Raise DatabaseError if a row cannot be read; damage may be in one page only."""
        self._rows(CHECK)

    def all(self) -> list[ProviderRow]:
        """Return all rows by id."""
        return [row for row in map(_sanitized, self._rows(ALL_ROWS)) if row.id]

    def get(self, id: str) -> ProviderRow:
        """Return one row; the error for an unknown id suggests the closest one."""
        if rows := self._rows(f"{ROWS} WHERE id = ?", (id,)):
            return _sanitized(rows[0])
        known, wanted = self.all(), id.strip().lower()  # as it is written in a list, or with other capitals
        for row in sorted(known, key=lambda row: row.id.lower() != wanted):
            if wanted in (row.id.lower(), row.name.lower()):
                return row
        from difflib import get_close_matches

        ids = [row.id for row in known]
        if id.split()[1:] and id.split()[0] in ids:
            raise UnknownProviderError("unknown provider {id!r}", "separate ids with commas", id=id)
        if near := get_close_matches(id.lower(), ids, 1, 0.6):
            raise UnknownProviderError("unknown provider {id!r}; did you mean {near}?", id=id, near=near[0])
        raise UnknownProviderError("unknown provider {id!r}", id=id)

    def update(
        self,
        id: str,
        changes: dict[str, Any],
        options: Mapping[str, Any] | None = None,
        *,
        public_only: bool | None = False,
    ) -> ProviderRow:
        """Change the given fields and options of a row in one transaction; None clears a field.

        With `public_only`, a new host must be on the public internet, which is checked at every connection; None leaves
        this as it is.
        """
        with self._transaction():  # options are merged with the stored ones, so the read belongs to it
            row = self.get(id)
            if "api_host" in changes and public_only is not None and (public_only or PUBLIC_ONLY in row.options):
                options = {**(options or {}), PUBLIC_ONLY: public_only and bool(changes["api_host"])}
            if options:
                changes = changes | {"options": (changes.get("options", row.options) or {}) | dict(options)}
            return self._update(row, changes)

    def _update(self, row: ProviderRow, changes: dict[str, Any]) -> ProviderRow:
        type = changes.get("type", row.type)
        values = {name: checked(name, value, type) for name, value in changes.items()}
        if type != row.type and row.api_host and "api_host" not in changes:
            check_host(row.api_host, type)
        if "api_host" in changes:
            _check_secrets(row, changes)
        if values.get("engines"):
            check_engines(row.adapter, changes["engines"])
        if values:
            columns = ", ".join(f"{name} = ?" for name in values)
            self.connection.execute(
                f"UPDATE websearch_provider SET {columns}, updated_at = ? WHERE id = ?",  # noqa: S608 - names from FIELDS
                (*values.values(), int(time.time()), row.id),
            )
        return self.get(row.id)

    def add(self, id: str, name: str, type: str, adapter: str, changes: dict[str, Any]) -> ProviderRow:
        """Add a custom provider."""
        is_reserved = id.lower() in ("all", "auto")  # which -p understands
        is_word = id.isascii() and id.replace("-", "").replace("_", "").isalnum()
        if is_reserved or not is_word or id.startswith("-"):
            raise RequestError("invalid id {id!r}", "use letters, digits, - and _, but not all or auto", id=id)
        name, type = checked("name", name, type), checked("type", type, type)
        with self._transaction():
            known = {row.id.lower() for row in self.all()}
            if id.lower() in known or not self._insert(id, name, type, adapter, built_in=False):
                hint = "change it: sleuth providers set {id} …"
                raise RequestError("the provider {id!r} exists already", hint, id=id)
            return self._update(self.get(id), changes)

    def remove(self, id: str) -> None:
        """Remove a custom provider; a built-in one can only be disabled."""
        row = self.get(id)
        if row.built_in:
            hint = "disable it: sleuth providers set {id} --disable"
            raise RequestError("{id!r} is built in and cannot be removed", hint, id=id)
        with self._transaction():
            self.connection.execute("DELETE FROM websearch_provider WHERE id = ?", (row.id,))

    def reset(self, id: str, adapter: Provider) -> ProviderRow:
        """Reset a built-in row to its initial values."""
        if not self.get(id).built_in:
            hint = "change it: sleuth providers set {id} …"
            raise RequestError("{id!r} is not built in and has no defaults", hint, id=id)
        initial = {"name": adapter.name, "type": adapter.type, "using_browser": False, "enabled": True}
        return self.update(id, dict.fromkeys(CLEARABLE) | initial)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Change the table and touch its stamp, which invalidates caches: before the commit too, in case of a crash."""
        with explain_errors(self.path), transaction(self.connection):
            yield
            touch(stamp_of(self.path))
        touch(stamp_of(self.path))

    def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        with explain_errors(self.path):
            return self.connection.execute(statement, values).fetchall()


def _sanitized(row: sqlite3.Row) -> ProviderRow:
    """Return a row with invalid values, from damage or another program, replaced by empty ones."""
    values: dict[str, Any] = {name: row[name] for name in ProviderRow._fields}
    for name in ("id", "adapter", *TEXT_FIELDS):
        if not isinstance(values[name], str):
            values[name] = None if name in CLEARABLE else ""
    for name in ("created_at", "updated_at"):
        values[name] = values[name] if isinstance(values[name], int) else 0
    engines, options = _json(values["engines"]), _json(values["options"])
    values["engines"] = tuple(entry for entry in engines if isinstance(entry, str)) if type(engines) is list else ()
    values["options"] = options if isinstance(options, dict) else {}
    values["name"] = clean(values["name"], MAX_NAME_CHARS, entities=False) or values["id"]
    for name in ("using_browser", "enabled", "built_in"):
        values[name] = bool(values[name])
    return ProviderRow(**values)


def _json(text: Any) -> Any:
    with suppress(TypeError, ValueError, RecursionError):
        return json.loads(text)
    return None


def _check_secrets(row: ProviderRow, changes: dict[str, Any]) -> None:
    """Refuse to point a provider elsewhere while it keeps a key or password, which belong to their host."""
    if origins(changes["api_host"] or "") <= origins(row.api_host or ""):
        return
    for name in ("api_key", "basic_auth_password"):
        if getattr(row, name) and name not in changes:
            message = "{id} has a key or a password for its present host"
            hint = "set both, or clear it first: sleuth providers set {id} --api-host URL --{option} -"
            raise RequestError(message, hint, id=row.id, option=name.replace("_", "-"))
