"""The address in `cache.url`: parsed, and shown without its password."""

from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.text import clean
from sleuth.store.keys import resolve
from sleuth_providers.records import Record

USES_TLS = {"redis": False, "valkey": False, "rediss": True, "valkeys": True, "unix": False}
DEFAULT_PORT = 6379
MAX_DATABASE = 1_000_000


class RedisAddress(Record):
    """A server and the login for it."""

    host: str = ""
    port: int = DEFAULT_PORT
    path: str = ""  # of a Unix socket, instead of a host
    database: int = 0
    user: str = ""
    password: str = ""
    secure: bool = False

    @property
    def place(self) -> str:
        """Return host and port, or the path of the socket, for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return clean(self.path or f"{host}:{self.port}", 200, entities=False)

    @property
    def shown(self) -> str:
        """Return the URL without user name and password."""
        if self.path:
            return f"unix://{self.place}" + (f"?db={self.database}" if self.database else "")
        return f"{'rediss' if self.secure else 'redis'}://{self.place}/{self.database}"

    @property
    def greeting(self) -> list[tuple[str, ...]]:
        """Return the commands that start a new connection."""
        commands: list[tuple[str, ...]] = []
        if self.password:
            commands.append(("AUTH", self.user, self.password) if self.user else ("AUTH", self.password))
        if self.database:
            commands.append(("SELECT", str(self.database)))
        return commands


def find_address(setting: str, environ: Mapping[str, str]) -> RedisAddress:
    """Return the server that `cache.url` names, as a URL or through env:, cmd: or keyring:."""
    text = resolve(setting, environ, "sleuth/cache").strip()
    if not text:
        where = setting if setting.startswith("env:") else setting.partition(":")[0]
        raise SettingsError(
            "cache.url refers to {where}, which is empty",
            "set {where}, or give the address itself: sleuth config set cache.url -",
            where=where,
        )
    try:
        address = _parse(text)
    except (ValueError, KeyError):  # their messages may quote the password
        logs.hide(text)
        raise SettingsError(
            "cache.url is not a valid Redis or Valkey URL",
            "use the form redis://user:password@host:6379/0, and percent-encode the password (%2F for /, %40 for @)",
        ) from None
    logs.hide(address.password)
    return address


def _parse(text: str) -> RedisAddress:
    parts = urlsplit(text)
    socket = parts.scheme == "unix"
    if bool(parts.hostname) == socket or (socket and not parts.path):
        raise ValueError("a socket has a path and no host; everything else has a host")
    database = parse_qs(parts.query).get("db", [""])[0] or ("" if socket else parts.path.strip("/"))
    if not 0 <= int(database or 0) <= MAX_DATABASE:
        raise ValueError("no such database")
    return RedisAddress(
        host=parts.hostname or "",
        port=parts.port or DEFAULT_PORT,
        path=unquote(parts.path) if socket else "",
        database=int(database or 0),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        secure=USES_TLS[parts.scheme],
    )
